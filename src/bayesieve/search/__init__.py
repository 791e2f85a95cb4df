"""Searches over subsets of columns; a search sees an objective and nothing else."""

from .strategies.base import Limits, Search
from .strategies.dependency import DependencySearch
from .strategies.diversified import DiversifiedSearch, RandomSearch
from .strategies.exhaustive import ExhaustiveSearch
from .strategies.greedy import FloatingSearch, GreedySearch, PhaseSearch
from .strategies.ranked import RankedSearch, ShortlistSearch

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
    "shortlist": ShortlistSearch(),
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
    "ShortlistSearch",
]
