"""Weighted terms of rows on Dask workers: how lines hold them, and counts of pairs of columns."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...checks import Array, Foreign
from ...models.base import Floats
from ..contract import Ints, Ledger
from ..weighted import TermTables
from .ledgers import RemoteRows
from .transport import Message, narrow


def flat(arrays: Sequence[Array], kind: Foreign = np.int64) -> tuple[Ints, Array]:
    """Arrays end to end, and where each starts.

    Examples
    --------
    >>> import numpy as np
    >>> from bayesieve.engine.dask.terms import apart, flat
    >>> starts, numbers = flat([np.array([3, 4]), np.array([5])])
    >>> starts.tolist(), [each.tolist() for each in apart(starts, numbers)]
    ([0, 2, 3], [[3, 4], [5]])
    """
    starts = np.cumsum([0, *(array.size for array in arrays)], dtype=np.int64)
    return starts, np.concatenate([np.empty(0, kind), *arrays]).astype(kind)


def apart(starts: Ints, numbers: Array) -> list[Array]:
    """What `flat` has joined."""
    return [numbers[lo:hi] for lo, hi in pairwise(starts.tolist())]


class Reads(NamedTuple):
    """How lines hold terms: columns first, then pairs of them."""

    kinds: Ints  #: of each term
    slots: Ints  #: where the columns stand with a holder
    pairs: Ints  #: two columns each, by their place among the slots
    group_starts: Ints  #: of pairs: the groups of the first column's codes, then of the second's
    groups: Ints
    lone: Ints  #: terms of which some codes read as the last one, which is silent
    lone_starts: Ints
    lone_codes: NDArray[np.bool_]


# Counts that one answer holds at most.
_MOST_COUNTS = 1 << 21


@dataclass(frozen=True)
class LineReads:
    """How lines hold terms, as plain data.

    Parameters
    ----------
    kinds : of each term.
    columns : positions of the columns that are terms, in their order.
    pairs : two of these terms each; with the group of each of their codes.
    lone : codes of some terms that read as the last one, which is silent.
    """

    kinds: Ints
    columns: tuple[int, ...]
    pairs: tuple[tuple[tuple[int, int], tuple[Ints, Ints]], ...]
    lone: Mapping[int, NDArray[np.bool_]]

    def ledger(
        self, held: RemoteRows, tables: TermTables, rows: Ints, labels: Ints, weights: Ints
    ) -> Ledger:
        """A ledger of weighted terms whose lines workers hold.

        Parameters
        ----------
        held : where to ask.
        tables : what the terms say.
        rows, labels, weights : who is scored: its row, its class, and what it counts.
        """
        return held.weighted_ledger(tables, self._reads(held), rows, labels, weights)

    def _reads(self, rows: RemoteRows) -> Reads:
        """The same by the slots of workers."""
        pairs = np.array([pair for pair, _ in self.pairs], np.int64).reshape(-1, 2)
        groups = flat([each for _, both in self.pairs for each in both])
        lone = flat(list(self.lone.values()), np.bool_)
        slots = rows.slots[list(self.columns)]
        return Reads(self.kinds, slots, pairs, *groups, np.array(list(self.lone), np.int64), *lone)


def row_marks(
    held: RemoteRows, columns: Sequence[int], drawn: Sequence[NDArray[np.uint64]]
) -> NDArray[np.uint64]:
    """Of each row, the sum of what was drawn for its codes: eight bytes a row come here."""
    message = Message("row marks", {}, (held.slots[list(columns)], *flat(drawn, np.uint64)))
    found = np.empty(held.n_rows, np.uint64)
    for holder, answer in enumerate(held.ask(message)):
        found[held.numbers(holder)] = answer.arrays[0]
    return found


@dataclass(frozen=True)
class RemoteCells:
    """Columns on workers whose codes fall into groups, the last of which is silent.

    Parameters
    ----------
    held : where to ask.
    columns, groups : which columns, and the group of each of their codes.
    """

    held: RemoteRows
    columns: tuple[int, ...]
    groups: tuple[Ints, ...]

    def counts(
        self,
        sorted_rows: Ints,
        labels: Ints,
        weights: Ints,
        n_classes: int,
        pairs: tuple[Ints, Ints],
    ) -> Iterator[tuple[slice, Ints, Ints]]:
        """Weight of the rows by cell and class, end to end, some pairs of columns at a time.

        Parameters
        ----------
        sorted_rows, labels, weights : who is counted.
        pairs : places of first and of second columns.

        Yields
        ------
        which, counts, ends : of these pairs the counts, those of pair p from ends[p] on.
        """
        n_groups = np.array([groups[-1] for groups in self.groups], np.int64)
        first, second = pairs
        sizes = (n_groups[first] * n_groups[second] + 1) * n_classes
        cuts = np.flatnonzero(np.diff(np.cumsum(sizes) // _MOST_COUNTS)) + 1
        ones = bool((weights == 1).all())
        grouped = (self.held.slots[list(self.columns)], *flat(self.groups))
        for lo, hi in pairwise([0, *cuts.tolist(), first.size]):
            which = slice(lo, hi)

            def make(worker: int, which: slice = which) -> Message:
                at = self.held.held_by(worker, sorted_rows)
                rows = self.held.places(sorted_rows[at]), narrow(labels[at])
                count = np.empty(0, np.int64) if ones else narrow(weights[at])
                arrays = (*grouped, first[which], second[which], *rows, count)
                return Message("cells", {"n_classes": n_classes, "plain": ones}, arrays)

            found = np.sum([each.arrays[0] for each in self.held.ask_each(make)], axis=0)
            yield which, found, np.cumsum([0, *sizes[which]])

    def informations(
        self, rows: Ints, labels: Ints, weights: Ints, n_classes: int, pairs: tuple[Ints, Ints]
    ) -> Floats:
        """What pairs of the columns tell of the classes."""
        from ..kernels.weighted import informations_of

        out = np.empty(pairs[0].size)
        for which, counts, ends in self.counts(rows, labels, weights, n_classes, pairs):
            informations_of(counts, ends, n_classes, 0, ends.size - 1, out[which])
        return out
