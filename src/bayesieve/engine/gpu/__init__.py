"""Rows on a GPU: the same integers, much sooner."""
