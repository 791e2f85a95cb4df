"""Rankings (filters): an order of the features, without a model."""

from .base import DiscreteColumns, Ranking
from .information import MRMR, ChiSquare, MutualInformation

#: Every ranking by name; a new member is one entry here.
RANKINGS = {
    "mutual-information": MutualInformation(),
    "chi2": ChiSquare(),
    "mrmr": MRMR(),
}

__all__ = ["MRMR", "RANKINGS", "ChiSquare", "DiscreteColumns", "MutualInformation", "Ranking"]
