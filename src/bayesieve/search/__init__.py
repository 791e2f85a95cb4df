"""Searches: which subset next.  A search sees an objective and nothing else."""

from .base import Limits, Search
from .chance import RandomSearch
from .dependency import DependencySearch
from .diversified import DiversifiedSearch
from .exhaustive import ExhaustiveSearch
from .floating import FloatingSearch
from .greedy import GreedySearch
from .phases import PhaseSearch
from .ranked import RankedSearch

#: Every search by name; a new member is one entry here.
SEARCHES: dict[str, Search] = {
    "forward": GreedySearch("forward"),
    "backward": GreedySearch("backward"),
    "forward-backward": PhaseSearch("forward"),
    "backward-forward": PhaseSearch("backward"),
    "sffs": FloatingSearch("forward"),
    "sbfs": FloatingSearch("backward"),
    "ranked": RankedSearch(),
    "dependency": DependencySearch(),
    "exhaustive": ExhaustiveSearch(),
    "diversified": DiversifiedSearch(),
    "random": RandomSearch(),
}

__all__ = [
    "SEARCHES",
    "DependencySearch",
    "DiversifiedSearch",
    "ExhaustiveSearch",
    "FloatingSearch",
    "GreedySearch",
    "Limits",
    "PhaseSearch",
    "RandomSearch",
    "RankedSearch",
    "Search",
]
