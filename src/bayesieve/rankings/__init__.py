"""Rankings (filters): an order of the features, without a model."""

from .base import DiscreteColumns, Ranking
from .information import CMIM, MRMR, ChiSquare, MutualInformation

#: Every ranking by name; a new member is one entry here.
RANKINGS = {
    "mutual-information": MutualInformation(),
    "chi2": ChiSquare(),
    "mrmr": MRMR(),
    "cmim": CMIM(),
}

__all__ = [
    "CMIM",
    "MRMR",
    "RANKINGS",
    "ChiSquare",
    "DiscreteColumns",
    "MutualInformation",
    "Ranking",
]
