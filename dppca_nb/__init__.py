"""See what differential privacy does to principal components."""
