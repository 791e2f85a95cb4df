"""Evidence: what each feature said in a decision, as plain data."""

from .evidence import Evidence, Explanation, explain
from .model import FeatureEvidence, ModelExplanation, explain_model
from .verdict import Verdict

__all__ = [
    "Evidence",
    "Explanation",
    "FeatureEvidence",
    "ModelExplanation",
    "Verdict",
    "explain",
    "explain_model",
]
