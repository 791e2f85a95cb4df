"""A ledger whose columns others hold answers as one that holds them itself, also when cut off."""

import numpy as np
import pytest
import scipy.sparse as sp

from bayesieve.engine.contract import WHOLE, Measure
from bayesieve.engine.dask.ledgers import CodedPart, DealtColumns, RareCodes, deal
from bayesieve.engine.dask.worker import CountedRows
from ledgers import same_answers
from workers import DEALT_UNITS as UNITS
from workers import ColumnWorkers


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
