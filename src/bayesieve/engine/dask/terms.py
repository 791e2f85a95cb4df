"""Weighted terms on Dask workers: storage of rows, and counts of pairs of columns."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ...checks import Array, Bools, Foreign
from ...models.base import Floats
from ..contract import Ints
from .transport import Message, narrow

if TYPE_CHECKING:
    from .ledgers import RemoteRows


def flat(arrays: Sequence[Array], kind: Foreign = np.int64) -> tuple[Ints, Array]:
    """Arrays end to end, and where each starts.

    Examples
    --------
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
    slots: Ints  #: where the columns stand with a worker
    pairs: Ints  #: two columns each, by their place among the slots
    group_starts: Ints  #: of pairs: the groups of the first column's codes, then of the second's
    groups: Ints
    lone: Ints  #: terms of which some codes read as the last one, which is silent
    lone_starts: Ints
    lone_codes: Bools

    @classmethod
    def of(
        cls,
        kinds: Ints,
        slots: Ints,
        pairs: Sequence[tuple[tuple[int, int], tuple[Ints, Ints]]],
        lone: Mapping[int, Bools],
    ) -> "Reads":
        """Terms as one names them where a search runs; pairs come with the groups of their codes.

        `lone` tells which codes of some terms read as the last one.
        """
        both = np.array([columns for columns, _ in pairs], np.int64).reshape(-1, 2)
        groups = flat([each for _, two in pairs for each in two])
        codes = flat(list(lone.values()), np.bool_)
        return cls(kinds, slots, both, *groups, np.array(list(lone), np.int64), *codes)


# Counts that one answer holds at most.
_MOST_COUNTS = 1 << 21


@dataclass(frozen=True)
class RemoteCells:
    """Columns on workers whose codes fall into groups, the last of which is silent."""

    held: "RemoteRows"  #: where to ask
    columns: tuple[int, ...]  #: which columns, and the group of each of their codes
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

        Gives which pairs, their counts, and where those of each begin.
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
                at = self.held.spans.held_by(worker, sorted_rows)
                rows = self.held.spans.places[sorted_rows[at]], narrow(labels[at])
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
