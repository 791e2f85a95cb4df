"""The channel: what it takes, whom it lets in, and how often it is asked."""

import json
import pickle
import socket
import struct
import threading
import time

import numpy as np
import pytest

from bayesieve.criteria import CRITERIA
from bayesieve.data.columns import encode, learn
from bayesieve.engine.contract import AS_IT_IS, WHOLE, Units
from bayesieve.engine.dask.ledgers import CodedPart
from bayesieve.engine.dask.transport import TOKEN_BYTES, Channel, Message, dial, receive, send
from bayesieve.engine.dask.worker import Holder, serve
from bayesieve.engine.dense import DenseLedger
from bayesieve.engine.layout import DenseColumns, scoring
from bayesieve.engine.threads import Threads
from bayesieve.models import ModelSettings
from bayesieve.search import SEARCHES
from bayesieve.search.objective import Objective, SubsetScorer
from bayesieve.search.strategies.base import Limits
from ledgers import check_alike
from workers import RowWorkers


def test_messages_arrive_as_they_left():
    here, there = socket.socketpair()
    arrays = (np.arange(6).reshape(2, 3), np.empty((0, 4), np.uint8), np.array([1.5, -0.0]))
    with here, there:
        send(here, Message("ask", {"a": [1, "two"], "b": None}, arrays))
        found = receive(there)
    assert (found.op, found.plain) == ("ask", {"a": [1, "two"], "b": None})
    for one, other in zip(arrays, found.arrays, strict=True):
        assert one.dtype == other.dtype
        assert one.tobytes() == other.tobytes()
        assert one.shape == other.shape


def framed(head, body=b"", size=None):
    head = head if isinstance(head, bytes) else json.dumps(head).encode()
    return struct.pack(">QQ", len(head), len(body) if size is None else size) + head + body


@pytest.mark.parametrize(
    "frame",
    [
        framed(pickle.dumps(["ask", {}, []])),
        framed(["ask", {}, [["|O", [1]]]], b"12345678"),
        framed(["ask", {}, [["<i8", [2]]]], b"12345678"),
        framed(["ask", {}, [["<i8", [-1]]]], b""),
        framed(["ask", {}]),
        struct.pack(">QQ", 2**40, 0),
    ],
)
def test_other_frames_are_refused(frame):
    here, there = socket.socketpair()
    with here, there:
        here.sendall(frame)
        with pytest.raises(ConnectionError):
            receive(there)


def test_strangers_are_not_heard():
    """Without the key nothing else is read, and the line is closed; the others do not wait."""
    channel = Channel("127.0.0.1", 1, lambda holder: None)
    try:
        silent = socket.create_connection(channel.address)
        stranger = socket.create_connection(channel.address)
        stranger.sendall(bytes(TOKEN_BYTES))
        stranger.settimeout(60)
        assert stranger.recv(1) == b""
        part = CodedPart.of([np.zeros(3, np.uint8)], (), 3)
        line = dial(channel.address, channel.token, 0)
        threading.Thread(target=serve, args=(line, Holder([part])), daemon=True).start()
        assert channel.ask(lambda holder: Message("nothing"))[0].op == "ok"
        for each in (silent, stranger):
            each.close()
    finally:
        channel.close()


def test_errors_of_holders_are_told():
    channel = Channel("127.0.0.1", 1, lambda holder: None)
    try:
        line = dial(channel.address, channel.token, 0)
        thread = threading.Thread(target=serve, args=(line, Holder([])))
        thread.start()
        with pytest.raises(RuntimeError, match="KeyError"):
            channel.ask(lambda holder: Message("unheard of"))
    finally:
        channel.close()
    thread.join(600)
    assert not thread.is_alive()


class Rows(RowWorkers):
    """Rows with workers, a ledger of them, and one of the same rows here."""

    def __init__(self, X, y, cv, n_workers, weights=None):
        specs = [learn(f"x{j}", "categorical", X[:, j], True) for j in range(X.shape[1])]
        super().__init__([encode(spec, X[:, j]) for j, spec in enumerate(specs)], specs, n_workers)
        weights = np.ones(len(y)) if weights is None else weights.astype(float)
        factors = [1] * (int(y.max()) + 1)
        self.scored = scoring(cv, y, weights, np.arange(len(y)), factors)
        self.columns = DenseColumns(
            self.scored.sets, self.scored.lines, self.scored.loo, len(specs)
        )
        for spec, column in zip(specs, self.codes, strict=True):
            self.columns.add(spec, column[self.scored.training], column)
        settings = ModelSettings(1.0, None, self.scored.sets.class_weight)
        given = settings, None, tuple(factors), Threads(1)
        self.near = DenseLedger.build([self.columns], *given)[0]
        self.ledger = self.dense(self.near)


@pytest.fixture(params=[1, 2, 3, 7])
def far(request):
    rng = np.random.default_rng(0)
    y = np.append(np.arange(3), rng.integers(0, 3, 87))
    X = rng.integers(0, 4, (90, 8)).astype(float)
    X[:, 0] = (y + rng.integers(0, 2, 90)) % 4
    X[rng.random(X.shape) < 0.05] = np.nan
    made = Rows(X, y, 3, request.param, rng.integers(1, 3, 90))
    yield made
    made.channel.close()


UNITS = Units(((0,), (1, 2), (3,), (4,), (5,), (6,), (7,)))


def test_a_far_ledger_answers_as_a_near_one(far):
    counts = far.rows.count(far.scored.sets, far.scored.training)
    for mine, theirs in zip(counts, far.columns.statistics, strict=True):
        np.testing.assert_array_equal(mine, theirs)
    check_alike(far.near, far.ledger, UNITS)


@pytest.mark.parametrize(("criterion", "most"), [("error", 1), ("probability", 2)])
def test_rounds_and_bytes_of_a_step(far, criterion, most):
    objective = Objective(SubsetScorer(far.ledger, CRITERIA[criterion], UNITS), UNITS)
    before, n_steps = far.channel.tally, 0
    for _ in SEARCHES["forward"].steps(objective, Limits(0, 8)):
        n_steps += 1
    after = far.channel.tally
    # One more for the units, and one for the empty subset.
    assert after.rounds - before.rounds <= most * n_steps + 2
    per_step = (after.received + after.sent - before.received - before.sent) / n_steps
    n_holders, width = far.channel.n_holders, 3 if criterion == "error" else 2
    assert per_step <= 1.2 * n_holders * len(UNITS) * 8 * width + n_holders * 2**16


def test_holders_that_are_lost_catch_up(far):
    rule, every = CRITERIA["probability"].rule(far.near), np.arange(-1, len(UNITS))
    draw = np.random.default_rng(1)
    for unit in (3, 1, 6):
        for ledger in (far.ledger, far.near):
            ledger.apply(UNITS.members[unit], WHOLE)
        far.cut_off(int(draw.integers(far.channel.n_holders)))
        one, other = (each.losses(rule, UNITS, every, WHOLE) for each in (far.ledger, far.near))
        np.testing.assert_array_equal(one, other)
    now = far.ledger.losses(rule, UNITS, np.array([AS_IT_IS]), WHOLE)
    np.testing.assert_array_equal(now, far.near.losses(rule, UNITS, np.array([AS_IT_IS]), WHOLE))


def test_marks_tell_every_cell(far):
    marks = far.rows.marks()
    place = int(far.parts[-1][0])
    far.codes[2, place] = (far.codes[2, place] + 1) % 4
    far.cut_off(far.channel.n_holders - 1)
    changed = far.rows.marks()
    assert np.flatnonzero(marks != changed).tolist() == [2]


def test_silence_is_no_long_answer(monkeypatch):
    """Who works says so and is waited for; who says nothing is lost, and replaced."""
    from bayesieve.engine.dask import transport as channels
    from bayesieve.engine.dask import worker as holders

    monkeypatch.setattr(channels, "_LINE_SILENCE", 0.15)
    monkeypatch.setattr(holders, "BEAT", 0.05)
    dialled = []

    def watch(number):
        if len(dialled) == 1:
            dialled.append(dial(channel.address, channel.token, number))
            threading.Thread(target=serve, args=(dialled[1], Holder([])), daemon=True).start()

    channel = Channel("127.0.0.1", 1, watch)
    slow = holders.Holder.answer

    def answer(self, message):
        time.sleep(0.6 if message.op == "nothing" else 0)
        return slow(self, message)

    monkeypatch.setattr(holders.Holder, "answer", answer)
    try:
        # Nobody answers on the first line.
        dialled.append(dial(channel.address, channel.token, 0))
        start = time.monotonic()
        assert channel.ask(lambda holder: Message("nothing"))[0].op == "ok"
        assert len(dialled) == 2
        assert 0.6 < time.monotonic() - start < 60
        # The second takes four times as long as silence may, and is not replaced.
        assert channel.ask(lambda holder: Message("nothing"))[0].op == "ok"
        assert len(dialled) == 2
    finally:
        channel.close()
        dialled[0].close()
