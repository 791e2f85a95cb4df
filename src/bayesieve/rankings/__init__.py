"""Rankings (filters): an order of the features, without a model."""

from .base import DiscreteColumns, MixedColumns, Ranking, RankingMethod
from .divergence import Divergence
from .information import CMIM, MRMR, ChiSquare, MutualInformation
from .relief import ReliefF
from .weights import Weights

#: Every ranking by name; a new member is one entry here.
RANKINGS: dict[str, RankingMethod] = {
    "mutual-information": MutualInformation(),
    "chi2": ChiSquare(),
    "mrmr": MRMR(),
    "cmim": CMIM(),
    "relieff": ReliefF(),
    "divergence": Divergence(),
    "divergence-normalised": Divergence("normalised"),
    "divergence-sbfs": Divergence("sbfs"),
    "weights": Weights(),
}

__all__ = [
    "CMIM",
    "MRMR",
    "RANKINGS",
    "ChiSquare",
    "DiscreteColumns",
    "Divergence",
    "MixedColumns",
    "MutualInformation",
    "Ranking",
    "RankingMethod",
    "ReliefF",
    "Weights",
]
