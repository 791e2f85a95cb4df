"""Explanations: the evidence of each feature for a decision, reports, exports."""

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
