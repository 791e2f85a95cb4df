"""Rankings (filters): an order of the features, without a model."""

from .base import DiscreteColumns, MixedColumns, Ranking
from .information import CMIM, MRMR, ChiSquare, MutualInformation
from .relief import ReliefF

#: Every ranking by name; a new member is one entry here.
RANKINGS = {
    "mutual-information": MutualInformation(),
    "chi2": ChiSquare(),
    "mrmr": MRMR(),
    "cmim": CMIM(),
    "relieff": ReliefF(),
}

__all__ = [
    "CMIM",
    "MRMR",
    "RANKINGS",
    "ChiSquare",
    "DiscreteColumns",
    "MixedColumns",
    "MutualInformation",
    "Ranking",
    "ReliefF",
]
