"""Pictures of models, paths, evidence and trust; matplotlib is imported when one is drawn."""

from .explain.displays import (
    EvidenceDisplay,
    NomogramDisplay,
    PathDisplay,
    RelevanceDisplay,
    plot_evidence,
    plot_nomogram,
    plot_path,
    plot_relevance,
)
from .explain.plots import plot_calibration, plot_signal

__all__ = [
    "EvidenceDisplay",
    "NomogramDisplay",
    "PathDisplay",
    "RelevanceDisplay",
    "plot_calibration",
    "plot_evidence",
    "plot_nomogram",
    "plot_path",
    "plot_relevance",
    "plot_signal",
]
