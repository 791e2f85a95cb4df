"""Counts of the columns of a part: weight of its rows by training set, code and class."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ...checks import Array
from ...models.base import Floats
from ..contract import Ints
from ..sparse_tables import sets_of_rows
from .part import CodedPart, RareCodes


@dataclass(frozen=True)
class CountedRows:
    """Who is counted of one part.

    Parameters
    ----------
    part : the rows.
    rows : those that count, ascending; some may come several times.
    labels, weights : of these.
    left_out : positions among them that each set leaves out.
    n_classes : how many there are.
    """

    part: CodedPart
    rows: Ints
    labels: Ints
    weights: Floats
    left_out: tuple[Ints, ...]
    n_classes: int

    def counter(
        self, slots: Ints, n_codes: Ints, offsets: Ints, total: Floats
    ) -> Callable[[int, int], None]:
        """Adds the counts of columns lo to hi to a total, in which they stand end to end.

        Parameters
        ----------
        slots, n_codes : the columns.
        offsets : where each one's counts begin.
        total : written.
        """
        rare = np.array([isinstance(self._kept(slot), RareCodes) for slot in slots.tolist()])

        def task(lo: int, hi: int) -> None:
            for j in range(lo, hi):
                if not rare[j]:
                    found = self._count(int(slots[j]), int(n_codes[j]))
                    total[offsets[j] : offsets[j + 1]] += found.ravel()
            few = lo + np.flatnonzero(rare[lo:hi])
            if few.size:
                counts = self._count_rare(slots[few], n_codes[few])
                for j, found in zip(few.tolist(), counts, strict=True):
                    total[offsets[j] : offsets[j + 1]] += found.ravel()

        return task

    def _kept(self, slot: int) -> Array | RareCodes:
        return self.part.codes[slot] if slot >= 0 else self.part.wide[-1 - slot]

    @cached_property
    def _everything(self) -> bool:
        return np.array_equal(self.rows, np.arange(self.part.n_rows))

    @cached_property
    def _told_weights(self) -> Floats:
        """The weights, or nothing where every row counts once."""
        return np.empty(0) if (self.weights == 1.0).all() else self.weights

    @cached_property
    def _gone(self) -> tuple[Ints, Ints]:
        """What sets leave out, end to end, and where each begins."""
        cuts = np.cumsum([0, *(left.size for left in self.left_out)], dtype=np.int64)
        return np.concatenate(self.left_out), cuts

    def _count(self, slot: int, n_codes: int) -> Floats:
        """Row by row: sets x codes x classes."""
        column = self.part.column(slot)
        return self._count_codes(column if self._everything else column[self.rows], n_codes)

    def _count_codes(self, codes: Array, n_codes: int) -> Floats:
        from ...data.kernels.exact import count_by_class

        counts = np.empty((len(self.left_out), n_codes, self.n_classes))
        count_by_class(codes, self.labels, self._told_weights, *self._gone, counts)
        return counts

    @cached_property
    def _whole(self) -> Floats:
        """Of all rows: sets x classes."""
        return self._count_codes(np.zeros(self.rows.size, np.uint8), 1)[:, 0]

    def _count_rare(self, slots: Ints, n_codes: Ints) -> list[Floats]:
        """By rows that have rare codes; the others have the usual one."""
        from ...data.kernels.exact import count_moves

        kept = [self._kept(slot) for slot in slots.tolist()]
        rare = [each for each in kept if isinstance(each, RareCodes)]
        pointers = np.cumsum([0, *(each.rows.size for each in rare)])
        rows = np.concatenate([each.rows for each in rare])
        codes = np.concatenate([each.codes for each in rare])
        if not self._everything:
            # A row that counts several times stands at several places.
            first, last = (np.searchsorted(self.rows, rows, side) for side in ("left", "right"))
            times = last - first
            ends = np.append(0, np.cumsum(times))
            rows = np.repeat(first - ends[:-1], times) + np.arange(ends[-1])
            codes, pointers = np.repeat(codes, times), ends[pointers]
        starts = np.append(0, np.cumsum(n_codes))
        left = sets_of_rows(self.left_out, self.rows.size)
        counts = np.empty((int(starts[-1]), *self._whole.shape))
        told = (self.labels[:, None], self.weights, *left)
        count_moves(pointers, rows.astype(np.int64), codes, starts[:-1], *told, counts)
        found = []
        for k, each in enumerate(rare):
            mine = np.ascontiguousarray(counts[starts[k] : starts[k + 1]].swapaxes(0, 1))
            mine[:, each.usual] += self._whole - mine.sum(1)
            found.append(mine)
        return found
