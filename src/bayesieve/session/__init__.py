"""Interactive selection: a table stays in memory while an expert edits the subset."""
