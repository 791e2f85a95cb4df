"""Evidence: what each feature said in a decision, as plain data."""

from .evidence import Evidence, Explanation, Explanations, Verdict, explain
from .model import FeatureEvidence, ModelExplanation, explain_model

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
