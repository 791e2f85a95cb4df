"""bayesieve: feature selection for naive Bayes, exact and fast."""

from .calibration import Calibration, calibrate
from .classifier import NaiveBayes
from .displays import (
    EvidenceDisplay,
    NomogramDisplay,
    PathDisplay,
    RelevanceDisplay,
    plot_evidence,
    plot_nomogram,
    plot_path,
    plot_relevance,
)
from .eliminate import eliminate
from .ensemble import GreedyEnsemble, SubsetEnsemble
from .evaluate import evaluate_ranking
from .explain import explain, explain_model
from .export import to_python, to_sql
from .modelfile import load_model, save_model
from .nested import Nested, nested
from .packing import pack
from .ranking import rank
from .relevance import relevance_matrix
from .selector import NaiveBayesSelector
from .stability import Stability, nogueira, stability
from .trees import TreeLevels
from .votes import FeatureVotes

__version__ = "0.1.0"

__all__ = [
    "Calibration",
    "EvidenceDisplay",
    "FeatureVotes",
    "GreedyEnsemble",
    "NaiveBayes",
    "NaiveBayesSelector",
    "Nested",
    "NomogramDisplay",
    "PathDisplay",
    "RelevanceDisplay",
    "Stability",
    "SubsetEnsemble",
    "TreeLevels",
    "calibrate",
    "eliminate",
    "evaluate_ranking",
    "explain",
    "explain_model",
    "load_model",
    "nested",
    "nogueira",
    "pack",
    "plot_evidence",
    "plot_nomogram",
    "plot_path",
    "plot_relevance",
    "rank",
    "relevance_matrix",
    "save_model",
    "stability",
    "to_python",
    "to_sql",
]
