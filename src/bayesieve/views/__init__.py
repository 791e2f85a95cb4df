"""Columns as codes or numbers: what is known about a column, and how it is stored."""

from .columns import ColumnSpec, encode, learn, merge_specs

__all__ = ["ColumnSpec", "encode", "learn", "merge_specs"]
