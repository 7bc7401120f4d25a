"""Results to Altair charts: pure functions, same result in, same specification out."""
