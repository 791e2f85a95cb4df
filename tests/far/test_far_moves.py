"""A ledger whose columns others hold answers as one that holds them itself, also when cut off."""

import numpy as np
import pytest
import scipy.sparse as sp

<<<<<<< HEAD
from bayesieve.data.sample import Targets
from bayesieve.data.storage import from_codes
from bayesieve.engine.contract import AS_IT_IS, WHOLE, Measure, Units
from bayesieve.engine.dask.ledgers import (
    CodedPart,
    DealtColumns,
    DealtLedger,
    RareCodes,
    deal,
    deal_out,
    moves_of,
)
from bayesieve.engine.dask.transport import Channel, dial
from bayesieve.engine.dask.worker import ColumnHolder, CountedRows, serve
from bayesieve.engine.sparse import Scoring, SparseLedger, SparseProblem, SparseTables
from bayesieve.engine.threads import Threads
from bayesieve.models.base import Scale

UNITS = Units(((0, 4), (1,), (2,), (3,), (5, 6), (7,)))


class Dealt:
    """Columns with several holders, which are threads; they can be cut off and come again."""

    def __init__(self, n_holders, n_classes, n_labels, seed=0):
        rng = np.random.default_rng(seed)
        n_rows = 70
        self.codes = [rng.integers(0, 3, n_rows) * (rng.random(n_rows) < 0.4) for _ in range(8)]
        self.codes[2] = 2 - self.codes[2]
        self.codes[7][:] = 1
        self.cuts = [0, 25, 25, 60, n_rows]
        counts = [np.bincount(column, minlength=3) for column in self.codes]
        self.moves = moves_of(counts)
        self.columns = deal_out(np.ones(8, np.int64), UNITS.members, n_holders)
        self.lines = {}
        self.channel = Channel("127.0.0.1", len(self.columns), self.dial)
        classes = rng.integers(0, n_classes, (n_rows, n_labels))
        targets = Targets(classes, n_classes, tuple("abc"[:n_labels]), n_labels > 1)
        rows = rng.permutation(n_rows)[:50]
        nothing = np.empty(0, np.int64)
        scoring = Scoring(nothing, (nothing, nothing), rows, np.array([30, 50]))
        whole = from_codes(self.codes, [3] * 8)
        width = n_labels if n_classes == 2 else n_classes
        table = rng.integers(-(2**20), 2**20, (8, 3, 2, width))
        offset = rng.integers(-(2**20), 2**20, (2, width))
        told = (targets, rng.integers(1, 4, n_rows).astype(float), scoring, np.ones(n_classes))
        scale, self.ledgers = Scale(20, 0, 8.0), []
        for moves, make in ((whole, self.near), (self.moves, self.far)):
            problem = SparseProblem(moves, (), (), *told)
            owner = np.repeat(np.arange(8), np.diff(moves.first))
            base = table[np.arange(8), moves.usual]
            delta = table[owner, moves.codes] - base[owner]
            tables = SparseTables(offset, base, delta, scale)
            self.ledgers.append(make(problem, tables, (1,) * n_classes))

    def near(self, problem, tables, factors):
        return SparseLedger(problem, tables, factors, Threads(1))

    def far(self, problem, tables, factors):
        return DealtLedger(DealtColumns(self.channel, self.columns), problem, tables, factors)

    def dial(self, holder):
        """Whoever is waited for dials, once."""
        if holder in self.lines:
            return
        mine, pieces = self.columns[holder], []
        for lo, hi in zip(self.cuts[:-1], self.cuts[1:], strict=True):
            part = CodedPart.of([self.kept(column[lo:hi]) for column in self.codes], (), hi - lo)
            pieces.append(deal(part, mine, self.moves.usual[mine].tolist()))
        line = self.lines[holder] = dial(self.channel.address, self.channel.token, holder)
        threading.Thread(target=serve, args=(line, ColumnHolder(pieces)), daemon=True).start()

    def kept(self, column):
        """Some columns by the rows that are not 0."""
        if column.size < 30:
            return column.astype(np.uint8)
        rows = np.flatnonzero(column)
        return RareCodes(0, rows.astype(np.int32), column[rows].astype(np.uint8))

    def cut_off(self, holder):
        self.lines.pop(holder).shutdown(socket.SHUT_RDWR)
=======
from bayesieve.engine.contract import WHOLE, Measure
from bayesieve.engine.dask.ledgers import CodedPart, DealtColumns, RareCodes, deal
from bayesieve.engine.dask.worker import CountedRows
from ledgers import same_answers
from workers import DEALT_UNITS as UNITS
from workers import ColumnWorkers
>>>>>>> house-ledger


@pytest.fixture(params=[(1, 2, 1), (2, 2, 3), (3, 4, 1), (9, 2, 2)])
def dealt(request):
    found = ColumnWorkers(*request.param)
    yield found
    found.channel.close()


def compare(dealt):
    same_answers(*dealt.ledgers, UNITS)


def steps(dealt):
    for columns, sign in [((5, 6), 1), ((1,), 1), ((0, 4), 1), ((5, 6), -1), ((2, 3), 1)]:
        for ledger in dealt.ledgers:
            ledger.apply(columns, WHOLE * sign)
        yield


def test_a_ledger_of_dealt_columns_answers_as_a_near_one(dealt):
    near, far = dealt.ledgers
    assert near.outline == far.outline
    np.testing.assert_array_equal(near.totals(), far.totals())
    compare(dealt)
    for _ in steps(dealt):
        compare(dealt)
    told = Measure("error"), UNITS, np.array([1, 2, 5]), WHOLE * np.array([-1, -1, 1])
    np.testing.assert_array_equal(near.walk(*told), far.walk(*told))
    compare(dealt)


def test_holders_that_are_lost_are_told_where_lines_stand(dealt):
    for number, _ in enumerate(steps(dealt)):
        dealt.cut_off(number % len(dealt.columns))
        compare(dealt)


def test_what_was_not_heard_is_told_again(dealt):
    """An interrupted question may have been heard by some; the next one says all of it."""
    far = dealt.ledgers[1]
    measure, which = Measure("error"), np.arange(6)
    asked = DealtColumns.ask_each
    for _ in steps(dealt):

        def interrupted(self, make):
            found = asked(self, make)
            if make(0).plain.get("method") == "losses":
                raise KeyboardInterrupt
            return found

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(DealtColumns, "ask_each", interrupted)
            with pytest.raises(KeyboardInterrupt):
                far.losses(measure, UNITS, which, WHOLE)
    compare(dealt)


def test_rounds_and_bytes_of_a_step():
    dealt = ColumnWorkers(3, 2, 2)
    far, which = dealt.ledgers[1], np.arange(6)
    far.losses(Measure("pairs"), UNITS, which, WHOLE)
    before = dealt.channel.tally
    far.apply((1,), WHOLE)
    far.losses(Measure("pairs"), UNITS, which, WHOLE)
    spent = dealt.channel.tally
    assert spent.rounds - before.rounds == 2
    moved = int((dealt.codes[1] != dealt.moves.usual[1]).sum())
    # Lines that moved, to each holder: a number and a sum for each label.
    assert spent.sent - before.sent < 3 * (moved * (4 + 2 * 8) + 600)
    dealt.channel.close()


def test_a_part_gives_out_columns_however_it_keeps_them():
    rng = np.random.default_rng(1)
    column = rng.integers(0, 3, 40)
    rows = np.flatnonzero(column != 1)
    rare = RareCodes(1, rows.astype(np.int32), column[rows].astype(np.uint8))
    part = CodedPart.of([column, rare, column > 0], [column * 1000], 40)
    for slot, codes in ((0, column), (1, column), (2, column > 0), (-1, column * 1000)):
        np.testing.assert_array_equal(part.column(slot), codes)
        for usual in np.unique(codes):
            found = deal(part, [slot], [usual])
            entries = sp.csc_array((found.codes, found.rows, found.pointers), shape=(40, 1))
            whole = np.full(40, usual)
            whole[entries.indices] = entries.data
            np.testing.assert_array_equal(whole, codes)


@pytest.mark.parametrize("everything", [True, False])
def test_counts_of_columns_however_they_are_kept(everything):
    rng = np.random.default_rng(2)
    columns = [rng.integers(0, 3, 30) * (rng.random(30) < 0.3) for _ in range(5)]
    columns[3] += 300
    kept = []
    for column in columns[:3]:
        rows = np.flatnonzero(column)
        kept.append(RareCodes(0, rows.astype(np.int32), column[rows].astype(np.uint8)))
    part = CodedPart.of([*kept, columns[4]], [columns[3]], 30)
    rows = np.arange(30) if everything else np.sort(rng.choice(30, 40))
    labels, weights = rng.integers(0, 2, rows.size), rng.integers(1, 4, rows.size).astype(float)
    left_out = (np.empty(0, np.int64), np.array([0, 1, 5]), np.array([5, 9, 20]))
    counted = CountedRows(part, rows, labels, weights, left_out, 2)
    slots, n_codes = np.array([0, 1, 2, -1, 3]), np.array([3, 3, 3, 303, 3])
    offsets = np.append(0, np.cumsum(len(left_out) * n_codes * 2))
    total = np.zeros(offsets[-1])
    task = counted.counter(slots, n_codes, offsets, total)
    task(0, 2), task(2, 5)
    for j, column in enumerate(columns):
        expected = np.zeros((len(left_out), n_codes[j], 2))
        for s, gone in enumerate(left_out):
            for at, row in enumerate(rows):
                if at not in gone:
                    expected[s, column[row], labels[at]] += weights[at]
        found = total[offsets[j] : offsets[j + 1]].reshape(expected.shape)
        np.testing.assert_array_equal(found, expected)
