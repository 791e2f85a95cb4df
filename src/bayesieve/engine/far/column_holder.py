"""Whoever holds columns, with all their rows, answers for them: AUC compares rows of all parts."""

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import scipy.sparse

from ...checks import Array, Foreign
from ...data.columns import MOST_CODES
from ...data.sparse import Moves
from ...data.targets import Targets
from ...models.base import Scale
from ..contract import Ints, Measure, Units
from ..sparse import SparseLedger
from ..sparse_tables import Scoring, SparseProblem, SparseTables
from ..threads import Threads
from .part import Piece
from .wire import Answers, Message, answered


class _Held(NamedTuple):
    """A ledger of all lines and of the columns here, and the units that were named."""

    ledger: SparseLedger
    n_cells: dict[bool, int]  #: of an answer, by whether pairs are asked for
    units: dict[int, Units]


class ColumnHolder:
    """Answers for some columns of a table.

    Parameters
    ----------
    pieces : the columns, part by part in the order of the rows.
    n_threads : for the kernels.
    """

    def __init__(self, pieces: Sequence[Piece], n_threads: int = 1):
        self._threads = Threads(n_threads)
        self._n_rows = sum(piece.n_rows for piece in pieces)
        starts = np.cumsum([0, *(piece.n_rows for piece in pieces)])
        columns = np.concatenate(
            [np.repeat(np.arange(p.pointers.size - 1), np.diff(p.pointers)) for p in pieces]
        )
        # Stable: rows stay in order within a column.
        order = np.argsort(columns, kind="stable")
        rows = [piece.rows + start for piece, start in zip(pieces, starts, strict=False)]
        self._columns = columns[order]
        self._rows = np.concatenate(rows)[order].astype(np.int32)
        self._codes = np.concatenate([piece.codes for piece in pieces])[order]
        self._ledgers: dict[int, _Held] = {}
        self._answers: Answers = {
            "open": self._open,
            "units": self._units,
            "stand": self._stand,
            "changes": self._changes,
            "losses": self._losses,
            "nothing": lambda plain, arrays: arrays,
        }

    def answer(self, message: Message) -> Message:
        """The answer to a message; what went wrong is an answer too."""
        return answered(message, self._answers, lambda number: self._ledgers.pop(number, None))

    def close(self) -> None:
        """Let the threads go."""
        self._threads.close()

    def _open(self, plain: dict[str, Foreign], arrays: tuple[Array, ...]) -> list[Array]:
        rows, ends, classes, weights, offset, base, delta, first, usual, codes = arrays
        n_classes = int(plain["n_classes"])
        names = ("",) * classes.shape[1]
        targets = Targets(classes.astype(np.int64), n_classes, names, bool(plain["labelled"]))
        scale = Scale(int(plain["bits"]), int(plain["impossible"]), float(plain["bound"]))
        nothing = np.empty(0, np.int64)
        scoring = Scoring(nothing, (nothing,), rows.astype(np.int64), ends.astype(np.int64))
        moves = self._moves(first.astype(np.int64), usual, codes)
        problem = SparseProblem(
            moves, (), (), targets, weights.astype(np.float64), scoring, np.ones(n_classes)
        )
        factors = tuple(map(int, plain["factors"]))
        tables = SparseTables(offset, base, delta, scale)
        ledger = SparseLedger(problem, tables, factors, self._threads)
        n_cells = {True: classes.shape[1] * ends.size, False: n_classes}
        self._ledgers[int(plain["ledger"])] = _Held(ledger, n_cells, {})
        return []

    def _moves(self, first: Ints, usual: Array, codes: Array) -> Moves:
        """The columns by kinds, as whoever has counted all rows numbers them."""
        codes = codes.astype(np.int64)
        most = int(max(codes.max(initial=0), self._codes.max(initial=0))) + 1
        known = np.repeat(np.arange(first.size - 1), np.diff(first)) * most + codes
        kinds = np.searchsorted(known, self._columns * most + self._codes) - first[self._columns]
        wide = kinds.max(initial=0) >= MOST_CODES
        pointers = np.searchsorted(self._columns, np.arange(first.size))
        entries = scipy.sparse.csc_array(
            ((kinds + 1).astype(np.int32 if wide else np.uint8), self._rows, pointers),
            shape=(self._n_rows, first.size - 1),
        )
        return Moves(entries, first, usual.astype(np.int64), codes)

    def _units(self, plain: dict[str, Foreign], arrays: tuple[Array, ...]) -> list[Array]:
        starts, columns = (array.astype(np.int64).tolist() for array in arrays)
        members = tuple(tuple(columns[lo:hi]) for lo, hi in pairwise(starts))
        self._ledgers[int(plain["ledger"])].units[int(plain["units"])] = Units(members)
        return []

    def _stand(self, plain: dict[str, Foreign], arrays: tuple[Array, ...]) -> list[Array]:
        """Where the lines stand: those that are named have moved since this was told last."""
        lines, sums, offset = arrays
        ledger = self._ledgers[int(plain["ledger"])].ledger
        ledger.stand(lines.astype(np.int64), sums.astype(np.int64), offset.astype(np.int64))
        return []

    def _changes(self, plain: dict[str, Foreign], arrays: tuple[Array, ...]) -> list[Array]:
        """Lines that columns here would move by joining and leaving, and by how much."""
        held = self._ledgers[int(plain["ledger"])]
        found = held.ledger.changes(arrays[0].tolist(), arrays[1].tolist())
        lines = np.flatnonzero(found.any(0))
        return [lines, found[:, lines]]

    def _losses(self, plain: dict[str, Foreign], arrays: tuple[Array, ...]) -> list[Array]:
        held, which = self._ledgers[int(plain["ledger"])], arrays[0].astype(np.int64)
        self._stand(plain, arrays[1:])
        measure = Measure(str(plain["kind"]), int(plain["bits"]))
        if not which.size:
            return [np.zeros((0, held.n_cells[measure.kind == "pairs"]), np.int64)]
        units = held.units[int(plain["units"])]
        return [held.ledger.losses(measure, units, which, int(plain["sign"]))]
