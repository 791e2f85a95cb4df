"""What came in: tables, targets, weights, splits, files."""
