"""Columns of codes that others hold, as weights are fitted on them: counts and sums travel."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from ..checks import Array
from ..engine.cells import CODED, TWO, TermTables
from ..engine.contract import WeightLedger
from ..engine.far.rows import FarRows
from ..engine.far.table import FarTable
from ..engine.far.weights import FarCells, FarWeights, LineReads, row_marks
from ..engine.threads import Threads
from ..models.base import Floats, Ints, one_set
from .coded import CoarseColumns, CodedColumns, CodedRows, CodedTerms
from .pairs import Pair


@dataclass(frozen=True)
class FarCoded(CodedColumns):
    """Columns far away; `columns` is empty.

    Parameters
    ----------
    held : whoever holds the rows.
    which : the positions of the columns in the table.
    """

    held: FarRows = field(kw_only=True)
    which: tuple[int, ...] = field(kw_only=True)

    @classmethod
    def of(cls, table: FarTable, which: Sequence[int]) -> "FarCoded":
        """Some columns of a table, in this order."""
        held, n_rows = table.held, table.held.n_rows
        sets = one_set(np.zeros(n_rows, np.int64), np.ones(n_rows), np.ones(1))
        counts = held.count(sets, np.arange(n_rows), which)
        two = [each.shape[1] == 3 and not each[0, 2].any() for each in counts]
        specs = tuple(held.specs[j] for j in which)
        kinds = np.where(np.array(two, bool), TWO, CODED)
        return cls(specs, kinds, (), n_rows, held=held, which=tuple(which))

    def codes(self, j: int) -> Array:
        """Codes of all rows, which come here."""
        return self.held.codes(self.which[j])

    def contents(self) -> Sequence[object]:
        """A number for each column."""
        return self.held.marks()[list(self.which)].tolist()

    def marks(self, drawn: Sequence[NDArray[np.uint64]]) -> NDArray[np.uint64]:
        """One round; a number for each row comes here."""
        return row_marks(self.held, self.which, drawn)

    def statistics(self, rows: CodedRows) -> list[Floats]:
        """One round."""
        return self.held.count(rows.sets, rows.rows, self.which)

    def coarse(self, rows: CodedRows, grouped: Sequence[tuple[int, Ints]]) -> CoarseColumns:
        """Groups alone travel."""
        return FarCoarse(np.empty((0, 0), np.uint8), np.empty(0, np.int64), self._cells(grouped))

    def pair_counts(self, rows: CodedRows, pairs: Sequence[Pair]) -> list[Floats]:
        """One round for all pairs, as a rule."""
        if not pairs:
            return []
        grouped = [each for pair in pairs for each in zip(pair.columns, pair.groups, strict=True)]
        told = (rows.rows, rows.labels, rows.weights, rows.n_classes)
        places = np.arange(2 * len(pairs)).reshape(-1, 2).T
        found = []
        cells = self._cells(grouped)
        for which, counts, ends in cells.counts(*told, (places[0].copy(), places[1].copy())):
            for p, pair in enumerate(pairs[which]):
                shape = (pair.groups[0][-1], pair.groups[1][-1], rows.n_classes)
                mine = counts[ends[p] : ends[p + 1] - rows.n_classes]
                found.append(mine.astype(np.float64).reshape(shape))
        return found

    def terms(self, pairs: Sequence[Pair], threads: Threads) -> CodedTerms:
        """Terms of rows that stay away."""
        return FarTerms(self, tuple(pairs), threads)

    def _cells(self, grouped: Sequence[tuple[int, Ints]]) -> FarCells:
        columns = tuple(self.which[j] for j, _ in grouped)
        return FarCells(self.held, columns, tuple(groups for _, groups in grouped))


@dataclass(frozen=True)
class FarCoarse(CoarseColumns):
    """Codes in groups, far away."""

    cells: FarCells

    def informations(self, rows: CodedRows, first: Ints, second: Ints, threads: Threads) -> Floats:
        """Counts come here."""
        told = (rows.rows, rows.labels, rows.weights, rows.n_classes)
        return self.cells.informations(*told, (first, second))


@dataclass(frozen=True)
class FarTerms(CodedTerms):
    """Columns, then pairs of them, far away."""

    columns: FarCoded

    def ledger(
        self,
        tables: TermTables,
        kinds: Ints,
        lone: Mapping[int, NDArray[np.bool_]],
        rows: CodedRows,
        weights: Ints,
    ) -> WeightLedger:
        """A ledger whose lines others hold."""
        pairs = tuple((pair.columns, pair.groups) for pair in self.pairs)
        reads = LineReads(kinds, self.columns.which, pairs, lone)
        return FarWeights(self.columns.held, tables, reads, rows.rows, rows.labels, weights)
