"""Rankings (filters): an order of the features, without a model."""

from .base import DiscreteColumns, MixedColumns, Ranking, RankingMethod
from .divergence import Divergence, relevance_matrix
from .greedy import CMIM, DISR, FCBF, ICAP, JMI, JMIM, MIFS, MRMR, NJMIM
from .information import ChiSquare, MutualInformation
from .redundancy import eliminate
from .relief import ReliefF
from .trees import TreeLevels
from .weights import Weights

#: Every ranking by name; a new member is one entry here.
RANKINGS: dict[str, RankingMethod] = {
    "mutual-information": MutualInformation(),
    "chi2": ChiSquare(),
    "mrmr": MRMR(),
    "cmim": CMIM(),
    "jmi": JMI(),
    "jmim": JMIM(),
    "disr": DISR(),
    "njmim": NJMIM(),
    "fcbf": FCBF(),
    "mifs": MIFS(),
    "icap": ICAP(),
    "relieff": ReliefF(),
    "divergence": Divergence(),
    "divergence-normalised": Divergence("normalised"),
    "divergence-sbfs": Divergence("sbfs"),
    "weights": Weights(),
}

__all__ = [
    "CMIM",
    "DISR",
    "FCBF",
    "ICAP",
    "JMI",
    "JMIM",
    "MIFS",
    "MRMR",
    "NJMIM",
    "RANKINGS",
    "ChiSquare",
    "DiscreteColumns",
    "Divergence",
    "MixedColumns",
    "MutualInformation",
    "Ranking",
    "RankingMethod",
    "ReliefF",
    "TreeLevels",
    "Weights",
    "eliminate",
    "relevance_matrix",
]
