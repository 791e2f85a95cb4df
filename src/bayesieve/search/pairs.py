"""Which pairs of columns are worth a look: those that tell together what neither tells alone."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from ..engine.threads import Threads
from ..models.base import Floats, Ints
from ..models.pairs import cells
from .coded import CodedColumns, CodedRows

#: Pairs are looked for among so many of the most informative columns,
MOST_COLUMNS = 100

#: have at most so many cells,
MOST_CELLS = 200

#: and so many of them are offered.
MOST_PAIRS = 60

#: From more classes on, tables of pairs are too large to say anything.
MOST_CLASSES = 100


@dataclass(frozen=True)
class Pair:
    """Two columns, and the coarse code of each of their codes."""

    columns: tuple[int, int]
    groups: tuple[Ints, Ints]

    @property
    def n_cells(self) -> int:
        """Cells in which both columns speak."""
        return int(self.groups[0][-1] * self.groups[1][-1])

    def codes(self, columns: CodedColumns) -> NDArray[np.uint8]:
        """Codes of all rows of the table."""
        first, second = (columns.codes(j) for j in self.columns)
        return cells(self.groups, first, second).astype(np.uint8)

    def counts(self, rows: CodedRows) -> Floats:
        """Rows of each class in each cell: groups x groups x classes."""
        first, second = (rows.codes(j) for j in self.columns)
        at = cells(self.groups, first, second) * rows.n_classes + rows.labels
        size = (self.n_cells + 1) * rows.n_classes
        found = np.bincount(at, rows.weights, size).astype(np.float64)[: -rows.n_classes]
        return found.reshape(self.groups[0][-1], self.groups[1][-1], rows.n_classes)


def coarse(rows: CodedRows, j: int, bins: int) -> Ints:
    """Coarse code of each code of a column, without a look at the classes.

    Categories stay as they are; numbers fall into bins of about equally many rows.
    """
    spec = rows.columns.specs[j]
    if not spec.on_grid:
        return np.arange(spec.n_codes)
    seen = rows.summary.statistics[j][0, :-1].sum(1)
    below = np.cumsum(seen)
    total = below[-1] if below.size else 0.0
    # A code belongs to the bin in which the first row beyond a cut lies.
    cuts = np.unique(np.searchsorted(below, total * np.arange(1, bins) / bins))
    cuts = cuts[cuts < seen.size - 1]
    groups = np.searchsorted(cuts, np.arange(seen.size))
    return np.append(groups, cuts.size + 1)


def find_pairs(
    problems: Sequence[CodedRows],
    allowed: Sequence[int],
    bins: int,
    threads: Threads,
    asked: Sequence[tuple[int, int]] = (),
) -> list[Pair]:
    """Pairs that are worth a look, and those that somebody asks for.

    Parameters
    ----------
    problems : the same rows, with the classes of each problem.
    allowed : columns that may be in a pair.
    bins : of numbers.
    threads : who runs the kernels.
    asked : pairs that are offered whatever they tell.
    """
    found = _telling_pairs(problems, allowed, bins, threads)
    known, rows = {pair.columns for pair in found}, problems[0]
    more = [pair for pair in asked if pair not in known]
    return found + [Pair((a, b), (coarse(rows, a, bins), coarse(rows, b, bins))) for a, b in more]


def most_cells(columns: CodedColumns, pair: tuple[int, int], bins: int) -> int:
    """Cells that a pair may have."""
    specs = [columns.specs[j] for j in pair]
    first, second = (bins if spec.on_grid else spec.n_codes - 1 for spec in specs)
    return first * second


def _telling_pairs(
    problems: Sequence[CodedRows], allowed: Sequence[int], bins: int, threads: Threads
) -> list[Pair]:
    """The pairs of largest interaction information, over all problems together.

    I(ab; y) - I(a; y) - I(b; y), each less what chance would make of as many cells.  Where columns
    say much the same it is below 0, and their pair may still be worth a term.
    """
    rows = problems[0]
    if rows.n_classes > MOST_CLASSES:
        return []
    groups = {j: coarse(rows, j, bins) for j in allowed}
    usable = [
        j for j in allowed if groups[j][-1] <= MOST_CELLS // 2 and _differs(rows, j, groups[j])
    ]
    if len(usable) < 2:
        return []
    sizes = np.array([groups[j][-1] for j in usable], np.int64)
    single = _alone(problems, usable, groups)
    order = np.argsort(-single, kind="stable")[:MOST_COLUMNS]
    found = [
        (a, b) for a, b in combinations(order.tolist(), 2) if sizes[a] * sizes[b] <= MOST_CELLS
    ]
    if not found:
        return []
    first, second = np.array(found, np.int64).T
    coarse_columns = rows.columns.coarse(rows, [(usable[at], groups[usable[at]]) for at in order])
    place = np.empty(len(usable), np.int64)
    place[order] = np.arange(order.size)
    both = np.zeros(first.size)
    for problem in problems:
        both += coarse_columns.informations(problem, place[first], place[second], threads)
    more = both - single[first] - single[second]
    pairs = []
    for p in np.argsort(-more, kind="stable")[:MOST_PAIRS].tolist():
        a, b = sorted((usable[first[p]], usable[second[p]]))
        pairs.append(Pair((a, b), (groups[a], groups[b])))
    return pairs


def _differs(rows: CodedRows, j: int, groups: Ints) -> bool:
    """Are two groups of a column seen?  With one, a pair is the other column under two names."""
    seen = groups[:-1][rows.summary.statistics[j][0, :-1].any(-1)]
    return bool(seen.size) and bool((seen != seen[0]).any())


def _alone(
    problems: Sequence[CodedRows], usable: Sequence[int], groups: Mapping[int, Ints]
) -> Floats:
    """Information of each column about the classes, from counts, summed over problems."""
    from ..engine.kernels.interaction import informations_of

    total, sizes = np.zeros(len(usable)), [int(groups[j][-1]) + 1 for j in usable]
    for rows in problems:
        ends = np.cumsum([0, *sizes]) * rows.n_classes
        counts, out = np.zeros((sum(sizes), rows.n_classes), np.int64), np.empty(len(usable))
        for j, first in zip(usable, np.cumsum([0, *sizes]).tolist(), strict=False):
            seen = rows.summary.statistics[j][0].astype(np.int64)
            np.add.at(counts, first + groups[j], seen)
        informations_of(counts.ravel(), ends, rows.n_classes, 0, len(usable), out)
        total += out
    return total
