"""A collection as it was given to a fit, and what is made of it while the fit lasts."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...data.collection import Collection
from ...data.columns import ColumnSpec
from ...data.sparse import Moves
from ...models.base import one_set
from .cluster import Cluster
from .moves import DealtColumns, deal_out, moves_of
from .rows import FarRows
from .tasks import Seen, Wanted


class Dealt(NamedTuple):
    """Columns that were dealt out, and how they are numbered."""

    columns: DealtColumns
    moves: Moves  #: without entries


@dataclass(frozen=True)
class Given:
    """A collection as it was given to a fit: what it takes to read its rows once more.

    Parameters
    ----------
    cluster, collection : where, and what.
    wanted, sizes : which rows of each part count, and how many each has.
    """

    cluster: Cluster
    collection: Collection
    wanted: tuple[Wanted, ...]
    sizes: tuple[int, ...]
    _dealt: list[Dealt] = field(default_factory=list, init=False)

    def hold(self, specs: Sequence[ColumnSpec]) -> FarRows:
        """Rows as codes."""
        return self.cluster.hold(self.collection, self.wanted, specs, self.sizes)

    def comparable(self, n_whole: int, n_parts: int) -> list[ColumnSpec]:
        """Columns as they are compared with each other, however often rows count.

        Parameters
        ----------
        n_whole : whole numbers from 0 on, so many of them, are what they are.
        n_parts : other numbers are told by the part of their column, of so many, that they are in.
        """
        once = [Wanted(each.number, each.rows) for each in self.wanted]
        return self.cluster.comparable(self.collection, once, n_whole, n_parts)

    def deal(self, rows: FarRows, units: Sequence[Sequence[int]]) -> Dealt:
        """Columns of rows, each with all of them; dealt out once, however often they are asked for.

        Parameters
        ----------
        rows : whoever holds them.
        units : columns that must stay together.
        """
        if not self._dealt:
            n_rows = rows.n_rows
            sets = one_set(np.zeros(n_rows, np.int64), np.ones(n_rows), np.ones(1))
            counts = [found[0, :, 0] for found in rows.count(sets, np.arange(n_rows))]
            moves = moves_of(counts)
            others = n_rows - np.array([each.max() for each in counts]).astype(np.int64)
            columns = self.cluster.hold_columns(
                rows, lambda n_holders: deal_out(others, units, n_holders), moves.usual
            )
            self._dealt.append(Dealt(columns, moves))
        return self._dealt[0]

    def cut(
        self,
        which: Sequence[int],
        rows: NDArray[np.int64],
        labels: NDArray[np.int64],
        weights: NDArray[np.float64],
        n_classes: int,
    ) -> list[NDArray[np.float64]]:
        """Where numbers are cut, as some rows (numbered among those that count) have it."""
        seen, first = [], 0
        for wanted, size in zip(self.wanted, self.sizes, strict=True):
            mine = np.arange(size) if wanted.rows is None else wanted.rows
            at = slice(*np.searchsorted(rows, [first, first + mine.size]))
            seen.append(Seen(mine[rows[at] - first], labels[at], weights[at], n_classes))
            first += mine.size
        return self.cluster.cut(self.collection, self.wanted, which, seen)


def wanted_of(sizes: Sequence[int], weights: NDArray[np.float64]) -> list[Wanted]:
    """Which rows of each part count, and how often.

    Parameters
    ----------
    sizes : rows of each part.
    weights : of all rows.
    """
    found = []
    once = bool((weights[weights > 0] == 1).all())
    for number, part in enumerate(np.split(weights, np.cumsum(sizes)[:-1])):
        rows = np.flatnonzero(part > 0)
        found.append(Wanted(number, rows, None if once else part[rows]))
    return found
