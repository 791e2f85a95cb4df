"""Evidence: what each feature said in a decision, as plain data."""

from .evidence import explain
from .explanations import Evidence, Explanation, Explanations
from .model import FeatureEvidence, ModelExplanation, explain_model
from .verdict import Verdict

__all__ = [
    "Evidence",
    "Explanation",
    "Explanations",
    "FeatureEvidence",
    "ModelExplanation",
    "Verdict",
    "explain",
    "explain_model",
]
