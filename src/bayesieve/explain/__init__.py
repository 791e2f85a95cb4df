"""Evidence: what each feature said in a decision, as plain data."""

from .evidence import Evidence, Explanation, explain
from .model import FeatureEvidence, ModelExplanation, explain_model

__all__ = [
    "Evidence",
    "Explanation",
    "FeatureEvidence",
    "ModelExplanation",
    "explain",
    "explain_model",
]
