"""Controls to core to charts: widgets compute nothing themselves."""
