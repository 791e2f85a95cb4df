"""Workers that are threads: rows, or columns, with several of them; they can be cut off."""

import socket
import threading

import numpy as np

from bayesieve.data.sample import Targets
from bayesieve.data.storage import from_codes, moves_of
from bayesieve.engine.contract import Units
from bayesieve.engine.dask.ledgers import (
    CodedPart,
    DealtColumns,
    DealtLedger,
    RareCodes,
    RemoteRows,
    Spans,
    deal,
    deal_out,
)
from bayesieve.engine.dask.transport import Channel, dial
from bayesieve.engine.dask.worker import ColumnHolder, Holder, serve
from bayesieve.engine.dense import FixedTables
from bayesieve.engine.sparse import Scoring, SparseLedger, SparseProblem, SparseTables
from bayesieve.engine.threads import Threads
from bayesieve.models.base import Scale
from bayesieve.search.remote import RemoteColumns
from bayesieve.search.term_pool import CodedRows


class Workers:
    """Threads that dial when they are waited for, each once; cut off, they come again."""

    def __init__(self, n_workers):
        self.lines = {}
        self.channel = Channel("127.0.0.1", n_workers, self.dial)

    def dial(self, worker):
        if worker in self.lines:
            return
        line = self.lines[worker] = dial(self.channel.address, self.channel.token, worker)
        threading.Thread(target=serve, args=(line, self.holder(worker)), daemon=True).start()

    def cut_off(self, worker):
        self.lines.pop(worker).shutdown(socket.SHUT_RDWR)


class RowWorkers(Workers):
    """Rows of codes, which must fit a byte, with several workers."""

    def __init__(self, codes, specs, n_workers):
        self.codes = np.stack([column.astype(np.uint8) for column in codes])
        n_rows = self.codes.shape[1]
        self.parts = np.array_split(np.arange(n_rows), n_workers)
        super().__init__(n_workers)
        ends = tuple(((int(part[0]), int(part[-1]) + 1),) for part in self.parts)
        self.rows = RemoteRows(self.channel, Spans(ends, n_rows), specs)

    def holder(self, worker):
        mine = self.parts[worker]
        return Holder([CodedPart.of(self.codes[:, mine], (), mine.size)])

    def dense(self, ledger):
        """The lines of a dense ledger of all columns."""
        tables = FixedTables.of(ledger._tables)
        return self.rows.ledger(tables, ledger._rows.lines, ledger.outline.factors)

    def coded(self, rows):
        """Coded rows whose columns are with the workers."""
        columns = rows.columns
        which = tuple(range(len(columns.specs)))
        given = (columns.specs, columns.kinds, (), columns.n_rows)
        remote = RemoteColumns(*given, held=self.rows, which=which)
        who = (rows.rows, rows.labels, rows.weights, rows.classes, rows.class_weight)
        return CodedRows(remote, *who)


#: Groups of the columns that are dealt out.
DEALT_UNITS = Units(((0, 4), (1,), (2,), (3,), (5, 6), (7,)))


class ColumnWorkers(Workers):
    """Sparse columns with several workers, and the ledger that has them all: near, and remote."""

    def __init__(self, n_workers, n_classes, n_labels, seed=0):
        rng = np.random.default_rng(seed)
        n_rows = 70
        self.codes = [rng.integers(0, 3, n_rows) * (rng.random(n_rows) < 0.4) for _ in range(8)]
        self.codes[2] = 2 - self.codes[2]
        self.codes[7][:] = 1
        self.cuts = [0, 25, 25, 60, n_rows]
        counts = [np.bincount(column, minlength=3) for column in self.codes]
        self.moves = moves_of(counts)
        self.columns = deal_out(np.ones(8, np.int64), DEALT_UNITS.members, n_workers)
        super().__init__(len(self.columns))
        classes = rng.integers(0, n_classes, (n_rows, n_labels))
        targets = Targets(classes, n_classes, tuple("abc"[:n_labels]), n_labels > 1)
        rows = rng.permutation(n_rows)[:50]
        nothing = np.empty(0, np.int64)
        scoring = Scoring(nothing, (nothing, nothing), rows, np.array([30, 50]))
        whole = from_codes(self.codes, [3] * 8)
        width = n_labels if n_classes == 2 else n_classes
        table = rng.integers(-(2**20), 2**20, (8, 3, 2, width))
        offset = rng.integers(-(2**20), 2**20, (2, width))
        who = (targets, rng.integers(1, 4, n_rows).astype(float), scoring, np.ones(n_classes))
        scale, self.ledgers = Scale(20, 0, 8.0), []
        for moves, make in ((whole, self.near), (self.moves, self.remote)):
            problem = SparseProblem(moves, (), (), *who)
            owner = np.repeat(np.arange(8), np.diff(moves.first))
            base = table[np.arange(8), moves.usual]
            delta = table[owner, moves.codes] - base[owner]
            tables = SparseTables(offset, base, delta, scale)
            self.ledgers.append(make(problem, tables, (1,) * n_classes))

    def near(self, problem, tables, factors):
        return SparseLedger(problem, tables, factors, Threads(1))

    def remote(self, problem, tables, factors):
        return DealtLedger(DealtColumns(self.channel, self.columns), problem, tables, factors)

    def holder(self, worker):
        mine, pieces = self.columns[worker], []
        for lo, hi in zip(self.cuts[:-1], self.cuts[1:], strict=True):
            part = CodedPart.of([self.kept(column[lo:hi]) for column in self.codes], (), hi - lo)
            pieces.append(deal(part, mine, self.moves.usual[mine].tolist()))
        return ColumnHolder(pieces)

    def kept(self, column):
        """Some columns by the rows that are not 0."""
        if column.size < 30:
            return column.astype(np.uint8)
        rows = np.flatnonzero(column)
        return RareCodes(0, rows.astype(np.int32), column[rows].astype(np.uint8))
