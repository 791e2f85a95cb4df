"""One search a file; each sees its objective and nothing else."""
