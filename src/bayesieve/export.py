"""A model in other languages: one SQL query, one Python function."""

from .explain.python_source import to_python
from .explain.sql import to_sql

__all__ = ["to_python", "to_sql"]
