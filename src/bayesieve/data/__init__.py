"""Input: tables, targets, weights, splits, files."""
