"""Checkpoints: what resumes, what is refused, and what is left alone."""

import errno
import os
import threading
import time
from fractions import Fraction
from functools import partial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.model_selection import KFold

import victim
from bayesieve import NaiveBayes
from bayesieve.criteria import AUC, Criterion, SizePenalty
from bayesieve.search import RankedSearch
from bayesieve.search import checkpoint as journal
from bayesieve.search import objective as walking
from bayesieve.search.checkpoint import Journal, fingerprint, pack, unpack
from plain import plain_selector
from tables import binary_table

CASES = victim.searches()


def fit(checkpoint, **parameters):
    X, y = binary_table(200, 12)
    settings = {"search": "forward", "random_state": 0, "checkpoint": checkpoint, **parameters}
    return plain_selector(**settings).fit(X, y)


@pytest.mark.parametrize("name", CASES)
def test_every_search_goes_on_from_any_record(name, tmp_path, monkeypatch):
    monkeypatch.setattr(walking, "_WALK", float("inf"))  # records do not depend on the time
    goes_on_from_any_record(*CASES[name], tmp_path)


def test_walks_of_one_step_go_on_from_any_record(tmp_path, monkeypatch):
    """So it is where a subset takes long."""
    monkeypatch.setattr(walking, "_WALK", 1e-9)
    monkeypatch.setattr(walking, "_TRIP", 0.0)
    parameters, X, y = CASES["exhaustive"]
    goes_on_from_any_record(parameters, X[:, :6], y, tmp_path)


def test_subsets_of_one_size_go_on_from_any_record(tmp_path, monkeypatch):
    monkeypatch.setattr(walking, "_WALK", 1e-9)
    monkeypatch.setattr(walking, "_TRIP", 0.0)
    selector, X, y = CASES["exhaustive"]
    goes_on_from_any_record(clone(selector).set_params(n_features=2), X[:, :8], y, tmp_path)


def goes_on_from_any_record(selector, X, y, tmp_path):
    selector = clone(selector).set_params(random_state=0)
    wanted = victim.outcome(selector.fit(X, y), X)
    whole = tmp_path / "whole"
    selector.set_params(checkpoint=whole)
    assert victim.outcome(selector.fit(X, y), X) == wanted
    before = whole.read_bytes()
    records, header = read(whole)
    assert sum(record[0] in ("start", "add", "drop") for record in records) == len(wanted[1])
    for n in {1, 2, len(records) // 2, len(records) - 1, len(records)}:
        part = tmp_path / f"part{n}"
        file = Journal(part, header["release"], header["parts"])
        for record in records[:n]:
            file.append(record)
        file.close()
        assert victim.outcome(clone(selector).set_params(checkpoint=part).fit(X, y), X) == wanted
        assert part.read_bytes()[60:] == before[60:]  # but for the mark's own place
    assert whole.read_bytes() == before


def read(path):
    """Records and header, by a way of its own."""
    import json

    lines = path.read_text().splitlines()
    return [json.loads(line[9:]) for line in lines[3:]], json.loads(lines[2][9:])


class Counting(Criterion):
    name = "counting"
    calls = 0

    def loss(self, scores, classes, weights):
        Counting.calls += 1
        own = scores[np.arange(len(classes)), classes]
        return np.float32(-(weights @ (own - scores.max(axis=1))))


def test_known_steps_are_not_evaluated_again(tmp_path):
    path = tmp_path / "c"
    Counting.calls = 0
    first = fit(path, criterion=Counting())
    assert Counting.calls > 70
    Counting.calls = 0
    second = fit(path, criterion=Counting())
    assert Counting.calls == 0
    assert second.path_.steps == first.path_.steps
    assert second.n_tried_ == first.n_tried_
    # Cut back to its first steps, only the rest is asked for.
    records, header = read(path)
    file = Journal(tmp_path / "part", header["release"], header["parts"])
    for record in records[:10]:
        file.append(record)
    file.close()
    assert fit(tmp_path / "part", criterion=Counting()).path_.steps == first.path_.steps
    assert 0 < Counting.calls < 12


def test_any_changed_or_missing_byte_is_refused_and_nothing_written(tmp_path):
    whole = tmp_path / "whole"
    fit(whole, max_features=3)
    content = whole.read_bytes()
    _, header = read(whole)
    opened = Journal(whole, header["release"], header["parts"])
    assert len(opened.records) == 5
    opened.close()
    damaged = tmp_path / "damaged"
    for at in range(len(content)):
        for wrong in (content[:at], content[:at] + bytes([content[at] ^ 4]) + content[at + 1 :]):
            damaged.write_bytes(wrong)
            with pytest.raises(ValueError, match=r"checkpoint='.*damaged' (is|has|was|belongs)"):
                Journal(damaged, header["release"], header["parts"])
            assert damaged.read_bytes() == wrong


def test_records_cannot_change_places(tmp_path):
    path = tmp_path / "c"
    fit(path)
    lines = path.read_bytes().split(b"\n")
    lines[4], lines[5] = lines[5], lines[4]
    path.write_bytes(b"\n".join(lines))
    with pytest.raises(ValueError, match="damaged in record 2"):
        fit(path)


def test_what_a_kill_leaves_behind_the_mark_is_written_over(tmp_path):
    path = tmp_path / "c"
    wanted = fit(path).path_.steps
    content = path.read_bytes()
    records, header = read(path)
    part = tmp_path / "part"
    file = Journal(part, header["release"], header["parts"])
    for record in records[:6]:
        file.append(record)
    file.close()
    begun = part.read_bytes()
    with part.open("ab") as more:
        more.write(content[len(begun) : len(begun) + 50])  # a record and a torn one
    assert fit(part).path_.steps == wanted
    assert part.read_bytes() == content


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"criterion": "error"}, "criterion"),
        ({"search": "backward"}, "search"),
        ({"search": RankedSearch("score")}, "search"),
        ({"cv": 3}, "cv"),
        ({"cv": KFold(3, shuffle=True)}, "cv"),
        ({"cv": "loo"}, "cv"),
        ({"random_state": 1}, "validation"),
        ({"validation": 0.4}, "validation"),
        ({"max_features": 4}, "n_features"),
        ({"min_features": 2}, "n_features"),
        ({"n_features": 4}, "n_features"),
        ({"keep": [3]}, "keep"),
        ({"feature_groups": [[1, 2]]}, "feature_groups"),
        ({"class_weight": "balanced"}, "class_weight"),
        ({"estimator": NaiveBayes(smoothing=0.5)}, "estimator"),
    ],
)
def test_another_search_is_refused_by_what_differs(change, named, tmp_path):
    path = tmp_path / "c"
    fit(path)
    before = path.read_bytes()
    with pytest.raises(ValueError, match=f"belongs to another search: it differs in .*{named}"):
        fit(path, **change)
    assert path.read_bytes() == before
    fit(path, n_jobs=2, time_limit=100.0)  # these decide nothing


def test_other_data_are_refused(tmp_path):
    X, y = binary_table(200, 12)
    path = tmp_path / "c"
    selector = plain_selector(search="forward", random_state=0, checkpoint=path).fit(X, y)
    other = X.copy()
    other[7, 5] ^= 1
    with pytest.raises(ValueError, match=r"differs in X\."):
        selector.fit(other, y)
    with pytest.raises(ValueError, match=r"differs in y\b"):
        selector.fit(X, np.where(np.arange(200) == 3, (y + 1) % 3, y))
    with pytest.raises(ValueError, match="sample_weight"):
        selector.fit(X, y, sample_weight=1 + (np.arange(200) == 3))
    import pandas as pd

    selector.fit(pd.DataFrame(X, dtype=float), y)  # the same values


def test_foreign_and_older_files_are_refused(tmp_path):
    path = tmp_path / "c"
    for content, message in [
        (b"", "not a checkpoint"),
        (b"step,score\n1,2\n", "not a checkpoint"),
        (b"\x00" * 5000, "not a checkpoint"),
        (b"bayesieve-checkpoint 0\n" + b"x" * 100, "format version '0'; this bayesieve reads"),
        (b"bayesieve-checkpoint 1", "cut short"),
    ]:
        path.write_bytes(content)
        with pytest.raises(ValueError, match=message):
            fit(path)
        assert path.read_bytes() == content
    path.unlink()
    fit(path)
    _, header = read(path)
    with pytest.raises(ValueError, match=r"written by bayesieve .*; this is 99\.0"):
        Journal(path, "99.0", header["parts"])


def test_bad_paths_are_said_before_any_work(tmp_path):
    for bad, error in [(7, TypeError), ("", TypeError), (tmp_path, ValueError)]:
        with pytest.raises(error, match="checkpoint must be"):
            fit(bad)
    with pytest.raises(ValueError, match="folder that exists"):
        fit(tmp_path / "no" / "c")
    with pytest.raises(ValueError, match="checkpoint needs random_state"):
        fit(tmp_path / "c", random_state=None)
    fit(tmp_path / "c", random_state=None, validation=None)  # nothing is drawn


def test_a_failing_fit_leaves_no_file(tmp_path):
    with pytest.raises(ValueError, match="criterion='auc' needs two classes"):
        fit(tmp_path / "c", criterion="auc")
    assert list(tmp_path.iterdir()) == []


def test_one_search_a_file(tmp_path):
    path = tmp_path / "c"
    fit(path)
    _, header = read(path)
    held = Journal(path, header["release"], header["parts"])
    with pytest.raises(ValueError, match="in use by another search"):
        fit(path)
    held.close()
    fit(path)


def test_a_search_that_does_not_repeat_itself_is_found_out(tmp_path):
    X, y = binary_table(200, 12)

    class Fickle:
        """Another order every time."""

        turn = 0

        def __reduce__(self):
            return (Fickle, ())

        def steps(self, objective, limits):
            Fickle.turn += 1
            objective.start((), "forward")
            for unit in range(12) if Fickle.turn == 1 else reversed(range(12)):
                objective.add(unit)
                yield

    selector = plain_selector(search=Fickle(), random_state=0, checkpoint=tmp_path / "c")
    selector.fit(X, y)
    before = (tmp_path / "c").read_bytes()
    with pytest.raises(ValueError, match="record 1 does not follow"):
        selector.fit(X, y)
    assert (tmp_path / "c").read_bytes() == before


def test_writes_are_rare_and_end_with_the_search(tmp_path, monkeypatch):
    syncs = []
    monkeypatch.setattr(journal.os, "fsync", lambda number: syncs.append(time.monotonic()))
    selector = fit(tmp_path / "c", search="forward-backward")
    phases = {step.phase for step in selector.path_.steps}
    # The file itself, then two a phase and two at the end; not one a step.
    assert len(syncs) <= 2 * (len(phases) + 2) < len(selector.path_)


def test_threads_write_their_own_files(tmp_path):
    wanted = fit(tmp_path / "alone").path_.steps
    found = {}

    def work(i):
        found[i] = fit(tmp_path / f"{i}").path_.steps

    threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [found[i] for i in range(4)] == [wanted] * 4


answers = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.fractions(),
    lambda inner: st.lists(inner) | st.tuples(inner, inner),
)


@given(answers)
def test_answers_come_back_as_they_were(value):
    import json

    back = unpack(json.loads(json.dumps(pack(value))))
    assert repr(back) == repr(value)


def test_long_integers_and_odd_types():
    long = -(7**9000)  # more digits than Python turns into decimals
    assert unpack(pack(long)) == long
    assert unpack(pack(Fraction(1, 3 * long))) == Fraction(1, 3 * long)
    assert type(unpack(pack(np.float64(0.5)))) is float
    with pytest.raises(TypeError, match="losses are numbers"):
        pack(object())


def test_fingerprints_tell_values_apart():
    def price(n, factor=2):
        return factor * n

    def other(n, factor=3):
        return factor * n

    different = [
        None, 0, 0.0, False, "", "0", (0,), [0], {0}, {0: 0}, np.zeros(1), np.zeros((1, 1)),
        np.zeros(1, np.float32), np.array(["a"], object), np.array(["ab"], object), b"0", price,
        other, partial(price, 1), partial(price, 2), AUC(), AUC(SizePenalty()),
        AUC(SizePenalty(31)), AUC(price), AUC(lambda n: n), AUC(lambda n: n + 1), KFold(3),
        KFold(4), np.random.RandomState(0), np.random.RandomState(1), ("a", "bc"), ("ab", "c"),
    ]  # fmt: skip
    marks = [fingerprint(value) for value in different]
    assert len(set(marks)) == len(marks)
    assert fingerprint(AUC(SizePenalty())) == fingerprint(AUC(SizePenalty()))
    assert fingerprint({"b": 1, "a": {2, 1}}) == fingerprint({"a": {1, 2}, "b": 1})
    knot = []
    knot.append(knot)
    assert fingerprint(knot) == fingerprint(knot)


@pytest.mark.parametrize("first", [0, 2])
def test_a_full_disk_is_named_and_what_was_written_counts(first, tmp_path, monkeypatch):
    wanted = fit(None)
    path = tmp_path / "c"
    monkeypatch.setattr(journal, "_PAUSE", 0.0)  # every record is written at once
    written, real = [], Journal._write

    def narrow(file, at, content):
        written.append(at)
        if len(written) > first:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        real(file, at, content)

    with monkeypatch.context() as patch:
        patch.setattr(Journal, "_write", staticmethod(narrow))
        with pytest.raises(OSError, match="cannot be written: no space left on device") as caught:
            fit(path)
    assert caught.value.errno == errno.ENOSPC
    assert str(caught.value).startswith(f"checkpoint={str(path)!r} ")
    assert ("go on from it" if first else "begin again") in str(caught.value)
    assert path.exists() == bool(first)
    assert [each.name for each in tmp_path.iterdir()] == ["c"] * bool(first)
    found = fit(path)
    assert found.selected_.tolist() == wanted.selected_.tolist()
    assert found.path_.to_dict() == wanted.path_.to_dict()
