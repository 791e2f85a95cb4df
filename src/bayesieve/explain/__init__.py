"""Explanations: the evidence of each feature for a decision, reports, exports."""

from .evidence import Evidence, Explanation, Explanations, Verdict, explain
from .model import CellEvidence, FeatureEvidence, ModelExplanation, explain_model

__all__ = [
    "CellEvidence",
    "Evidence",
    "Explanation",
    "Explanations",
    "FeatureEvidence",
    "ModelExplanation",
    "Verdict",
    "explain",
    "explain_model",
]
