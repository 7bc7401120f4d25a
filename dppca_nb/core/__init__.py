"""Numbers only: numpy, scipy and pandas labels. Knows no chart, no widget, no file, no screen."""
