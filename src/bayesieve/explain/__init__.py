"""Evidence: what each feature said in a decision, as plain data."""

from .evidence import Evidence, Explanation, explain

__all__ = ["Evidence", "Explanation", "explain"]
