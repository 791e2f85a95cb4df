"""The sparse ledger: sums of the lines that columns move, and an offset for all others."""

from collections.abc import Iterator, Sequence
from copy import copy

import numpy as np

from ..checks import Array
from ..data.kernels.options import ROW_KINDS
from ..data.targets import Targets
from ..models.base import Ints
from .contract import Bounds, Measure, Outline, Scores, Units, walk
from .kernels.arrays import EntryArrays, UnitArrays
from .sparse_tables import SparseProblem, SparseTables
from .strata import Strata
from .threads import Threads

# Moved lines on one side that are compared with the other side one by one.
_FEW = 16


class MovedLines:
    """Lines, their sums, and what can be told of these whoever knows the columns.

    Parameters
    ----------
    problem : rows, targets, and which lines are scored.
    tables : the terms.
    factors : what a line of each class counts.
    lines : which of the problem's lines; all by default.
    """

    def __init__(
        self,
        problem: SparseProblem,
        tables: SparseTables,
        factors: tuple[int, ...],
        lines: Ints | None = None,
    ):
        self._tables = tables
        scored = problem.scoring
        every = np.arange(scored.rows.size) if lines is None else lines
        self._rows, self._sets = scored.rows[every], scored.sets[every]
        self._ends = np.searchsorted(self._sets, np.arange(scored.ends.size), side="right")
        self._targets: Targets = problem.targets.take(self._rows)
        self._weights = problem.weights[self._rows].astype(np.int64)
        self.outline = Outline(
            self._targets.n_classes,
            self._targets.names,
            self._targets.labelled,
            factors,
            tables.scale.bits,
            tables.scale.bound,
        )
        self._offset = tables.offset
        self._sums = np.zeros((tables.offset.shape[1], self._rows.size), np.int64)

    def totals(self) -> Ints:
        """Weight of the lines: problems x folds x classes."""
        found = np.zeros(
            (self._targets.n_groups, self._ends.size, self.outline.n_classes), np.int64
        )
        for g, classes in enumerate(self._targets.classes.T):
            np.add.at(found[g], (self._sets, classes), self._weights)
        return found

    def bounds(self, measure: Measure, units: Units, which: Ints, sign: int) -> Bounds:
        """No way is faster than the exact one: nothing is ruled out."""
        n = len(which)
        return Bounds(np.zeros(n), np.full(n, np.inf))

    def _told(self, sums: Ints, offset: Ints) -> Iterator[Scores]:
        """All lines at once; of log-odds, the first class stands at 0."""
        whole = sums + offset[self._sets].T
        if self._targets.odds:
            found = np.stack([np.zeros_like(whole), whole], axis=-1)
        else:
            found = whole.T[None]
        yield Scores(self._rows, self._sets, self._weights, self._targets.classes.T, found)


class SparseLedger(MovedLines):
    """Integer sums for sparse columns: log-odds of each label, or a sum for each class.

    A column has a usual value; lines with another value move by the difference.  What the usual
    value says is the same for all lines of a table set and is kept once, in the offset.

    Parameters
    ----------
    problem : rows, targets, and which lines are scored.
    tables : the terms.
    factors : what a line of each class counts.
    threads : who runs the kernels.
    lines : which of the problem's lines; all by default.
    """

    def __init__(
        self,
        problem: SparseProblem,
        tables: SparseTables,
        factors: tuple[int, ...],
        threads: Threads,
        lines: Ints | None = None,
    ):
        super().__init__(problem, tables, factors, lines)
        self._problem, self._threads = problem, threads
        entries = problem.moves.of_rows(self._rows)
        self._entries = EntryArrays(
            entries.pointers,
            entries.lines,
            entries.kinds,
            problem.moves.first,
            self._sets,
            tables.base,
            tables.delta,
        )
        self._moved: list[Array] = []  # lines, since the strata were sorted
        self._strata: Strata | None = None

    def cut(self, n_parts: int) -> list["SparseLedger"]:
        """The same lines in several ledgers, each with all lines of its rows; none is empty."""
        found = []
        distinct = np.unique(self._rows)
        for part in np.array_split(distinct, min(n_parts, distinct.size)):
            lines = np.flatnonzero(np.isin(self._problem.scoring.rows, part))
            found.append(
                SparseLedger(
                    self._problem, self._tables, self.outline.factors, self._threads, lines
                )
            )
        return found

    def afresh(self, threads: Threads) -> "SparseLedger":
        """The same lines and tables with no column in: sums of its own, run by these threads."""
        found = copy(self)
        found.clear(threads)
        return found

    def clear(self, threads: Threads) -> None:
        """Take all columns out; from now on these threads run the kernels."""
        self._threads, self._offset = threads, self._tables.offset
        self._sums, self._moved, self._strata = np.zeros_like(self._sums), [], None

    # -- the contract --------------------------------------------------------------------------

    def apply(self, columns: Sequence[int], sign: int) -> None:
        """Let columns join (1) or leave (-1); exact, so leaving undoes joining to the bit."""
        self._offset = self._move(self._sums, self._offset, columns, sign)
        pointers = self._entries.pointers
        self._moved += [self._entries.lines[pointers[f] : pointers[f + 1]] for f in columns]

    def changes(self, joining: Sequence[int], leaving: Sequence[int]) -> Ints:
        """By how much columns that join and leave would move the lines; the ledger stays."""
        found = np.zeros_like(self._sums)
        self._move(found, self._offset, joining, 1)
        self._move(found, self._offset, leaving, -1)
        return found

    def stand(self, lines: Ints, sums: Ints, offset: Ints) -> None:
        """Where lines stand, and all others beside them, as somebody who knows all columns says.

        Parameters
        ----------
        lines, sums : some lines, and their sums, problems x lines.
        offset : what the usual values say.
        """
        self._offset = offset
        if lines.size:
            self._sums[:, lines] = sums
            self._moved.append(lines)

    def losses(self, measure: Measure, units: Units, which: Ints, sign: int) -> Ints:
        """Exact losses: by class, or doubled concordant pairs of each problem and fold."""
        which, flat = np.asarray(which, np.int64), UnitArrays(*units.flat)
        if measure.kind == "pairs":
            return self._scan_pairs(flat, which, sign)
        by_class = self._scan_odds if self._targets.odds else self._scan_classes
        return by_class(measure, flat, which, sign)

    def walk(self, measure: Measure, units: Units, which: Ints, signs: Ints) -> Ints:
        """One step after the other."""
        return walk(self, measure, units, which, signs)

    def scores(self, joining: Sequence[int], leaving: Sequence[int]) -> Iterator[Scores]:
        """All lines at once."""
        sums = self._sums.copy()
        offset = self._move(sums, self._offset, joining, 1)
        offset = self._move(sums, offset, leaving, -1)
        return self._told(sums, offset)

    # -- sums and answers ----------------------------------------------------------------------

    def _move(self, sums: Ints, offset: Ints, columns: Sequence[int], sign: int) -> Ints:
        from .kernels.moves import apply_moves

        for f in columns:
            apply_moves(sums, self._entries, f, sign)
            offset = offset + sign * self._tables.base[f]
        return offset

    def _sorted(self) -> tuple[Strata, Ints]:
        """Lines by score, and the concordant pairs as they are."""
        if self._strata is None:
            self._strata = Strata(self._targets.classes, self._weights, self._ends)
        return self._strata, self._strata.pairs(self._sums, self._moved)

    def _scan_odds(self, measure: Measure, flat: UnitArrays, which: Ints, sign: int) -> Ints:
        from .kernels.odds import scan_odds

        strata, _ = self._sorted()
        kind, scales = ROW_KINDS[measure.kind], (self._tables.scale.unit, 2.0**measure.bits)
        out = np.empty((which.size, self._sums.shape[0], 2), np.int64)

        def task(lo: int, hi: int) -> None:
            scan_odds(
                kind,
                strata.arrays,
                self._entries,
                self._offset,
                flat,
                which,
                sign,
                *scales,
                lo,
                hi,
                out,
            )

        work = int(strata.arrays.n_distinct.sum()) + self._entries_a_column
        self._threads.run(task, which.size, 20 * which.size * int(work))
        return out.sum(1)

    def _scan_classes(self, measure: Measure, flat: UnitArrays, which: Ints, sign: int) -> Ints:
        from .kernels.odds import scan_classes

        kind, scales = ROW_KINDS[measure.kind], (self._tables.scale.unit, 2.0**measure.bits)
        labels = np.ascontiguousarray(self._targets.classes[:, 0])
        out = np.empty((which.size, self.outline.n_classes), np.int64)

        def task(lo: int, hi: int) -> None:
            scan_classes(
                kind,
                self._sums,
                labels,
                self._weights,
                self._entries,
                self._offset,
                flat,
                which,
                sign,
                *scales,
                lo,
                hi,
                out,
            )

        self._threads.run(task, which.size, 10 * which.size * self._sums.size)
        return out

    def _scan_pairs(self, flat: UnitArrays, which: Ints, sign: int) -> Ints:
        from .kernels.pairs import scan_pairs

        strata, now = self._sorted()
        out = np.zeros((which.size, *now.shape), np.int64)
        moving = np.flatnonzero(which >= 0)
        if moving.size:
            found, chosen = np.empty((moving.size, *now.shape), np.int64), which[moving]

            def task(lo: int, hi: int) -> None:
                scan_pairs(strata.arrays, self._entries, flat, chosen, sign, _FEW, lo, hi, found)

            # An entry costs about as much as five cells of a dense scan.
            work = 5 * moving.size * self._entries_a_column * now.size
            self._threads.run(task, moving.size, int(work))
            out[moving] = found
        return (out + now).reshape(which.size, now.size)

    @property
    def _entries_a_column(self) -> float:
        return self._entries.lines.size / max(self._entries.pointers.size - 1, 1)
