"""Packed tables, in memory and mapped, answer as the whole table does."""

import csv
import errno
import gc
import gzip
import io
import os
import pickle
import tracemalloc

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.model_selection import GroupKFold

from bayesieve import FeatureVotes, NaiveBayes, explain, rank
from bayesieve.data import pack as distinct
from bayesieve.data.files.formats import read_data
from bayesieve.data.storage import Lookup, Room
from bayesieve.engine import pack
from plain import plain_selector

KINDS = ("bool", "bits", "small", "wide", "float", "same", "text", "name", "category", "nothing")


def mixed_column(rng, kind, labels):
    """A polars column of one kind that knows a little about the labels."""
    n = labels.size
    told = (labels + (rng.random(n) < 0.4) * rng.integers(0, 3, n)) % 3
    if kind == "bool":
        values = pl.Series((told > 0).tolist())
    elif kind == "bits":
        values = pl.Series((told > 1).astype(np.int8))
    elif kind == "small":
        values = pl.Series(told * 7 - 3)
    elif kind == "wide":
        values = pl.Series(rng.permutation(n) * 2**55 + told)  # beyond what a float64 tells apart
    elif kind == "float":
        values = pl.Series(np.round(rng.normal(size=n) + told, int(rng.integers(0, 4))))
    elif kind == "same":
        values = pl.Series(np.full(n, 2.5, np.float32))
    elif kind == "text":
        values = pl.Series(np.array(["", "é", "Z"])[told].tolist())
    elif kind == "name":
        values = pl.Series([f"row {i}" for i in range(n)])
    elif kind == "category":
        values = pl.Series(np.array(["lo", "mid", "hi"])[told].tolist(), dtype=pl.Categorical)
    else:
        values = pl.Series([None] * n, dtype=(pl.String, pl.Float64, pl.Null)[rng.integers(3)])
    if rng.random() < 0.5:
        holes = rng.random(n) < 0.2
        values = pl.Series([None if hole else v for hole, v in zip(holes, values, strict=True)],
                           dtype=values.dtype)  # fmt: skip
    return values


def mixed_frame(seed, kinds, n_rows=40):
    rng = np.random.default_rng(seed)
    labels = np.concatenate([np.arange(3).repeat(4), rng.integers(0, 3, n_rows - 12)])
    rng.shuffle(labels)
    columns = {f"{kind} {j}": mixed_column(rng, kind, labels) for j, kind in enumerate(kinds)}
    return pl.DataFrame({**columns, "class": np.array(["a", "b", "c"])[labels]})


def same_answers(one, other, X_one, X_other):
    """Two selectors with one path, one choice, one model."""
    # Every key, score and validation error, to the last digit.
    assert repr(one.path_.steps) == repr(other.path_.steps)
    assert one.path_.names == other.path_.names
    np.testing.assert_array_equal(one.selected_, other.selected_)
    np.testing.assert_array_equal(one.feature_names_in_, other.feature_names_in_)
    for call in ("predict", "predict_proba", "decision_function"):
        np.testing.assert_array_equal(getattr(one, call)(X_one), getattr(other, call)(X_other))


@settings(max_examples=25, deadline=None)
@given(
    seed=st.integers(0, 10**6),
    kinds=st.lists(st.sampled_from(KINDS), min_size=1, max_size=6),
    mapped=st.booleans(),
    lazy=st.booleans(),
    block_cells=st.sampled_from([1, 7, 64, 10**6]),
    few=st.sampled_from([0, 3, 2**16 - 1]),
    cv=st.sampled_from(["train", "loo", 3]),
    criterion=st.sampled_from(["error", "probability", "log-likelihood"]),
    weighted=st.booleans(),
    rounded=st.booleans(),
)
def test_a_packed_table_is_searched_as_the_frame_is(
    tmp_path_factory, seed, kinds, mapped, lazy, block_cells, few, cv, criterion, weighted, rounded
):
    frame = mixed_frame(seed, kinds)
    X, y = frame.drop("class"), frame["class"].to_numpy()
    folder = tmp_path_factory.mktemp("packed") if mapped else None
    with pytest.MonkeyPatch.context() as patch:
        # Numbers as they are from fewer distinct values on.
        patch.setattr(distinct, "_MOST_NUMBERS", few)
        packed = pack(frame.lazy() if lazy else frame, folder, target="class",
                      block_cells=block_cells)  # fmt: skip
    np.testing.assert_array_equal(packed.target, y)
    weights = np.random.default_rng(seed).integers(0, 3, y.size) if weighted else None
    if weighted:
        weights[:12] = 1
    model = NaiveBayes(rounded=rounded)
    selector = plain_selector(model, "forward-backward", criterion, cv, random_state=seed,
                                  class_weight="balanced" if weighted else None)  # fmt: skip
    wanted = selector.fit(X, y, sample_weight=weights)
    found = clone(selector).fit(packed, y, sample_weight=weights)
    same_answers(found, wanted, packed, X)
    assert folder is None or not os.listdir(folder)


def write(frame, path):
    {
        ".csv": frame.write_csv, ".tsv": lambda p: frame.write_csv(p, separator="\t"),
        ".parquet": lambda p: frame.write_parquet(p, row_group_size=17), ".arrow": frame.write_ipc,
    }[path.suffix](path)  # fmt: skip
    return path


@pytest.mark.parametrize("block_cells", [30, 2**22])
@pytest.mark.parametrize("mapped", [False, True])
@pytest.mark.parametrize("ending", [".csv", ".tsv", ".parquet", ".arrow"])
def test_files_answer_as_frames(tmp_path, ending, mapped, block_cells):
    frame = mixed_frame(5, ["bits", "small", "float", "text", "name", "float", "bool"], 90)
    if ending in (".csv", ".tsv"):
        frame = frame.with_columns(pl.col("text 3").replace("", None))
    path = write(frame, tmp_path / f"table{ending}")
    read = (
        pl.read_csv(path, separator="," if ending == ".csv" else "\t") if "sv" in ending else frame
    )
    folder = tmp_path / "scratch"
    folder.mkdir()
    packed = pack(path, folder if mapped else None, target="class", block_cells=block_cells)
    options = {"cv": 3, "random_state": 0, "max_features": 4}
    X = read.drop("class")
    wanted = plain_selector(**options).fit(X, frame["class"])
    found = plain_selector(**options).fit(packed, packed.target)
    same_answers(found, wanted, packed, X)
    assert packed.columns == X.columns
    assert packed.shape == X.shape
    assert not os.listdir(folder)  # files without a name


@settings(max_examples=60, deadline=None)
@given(
    rows=st.lists(
        st.lists(st.sampled_from(["1", "-2.5", "", "x", 'a"b', "c\nd", "é, f", '"', "\n", " 3",
                                  "true", "FALSE", "NaN", "nan", " "]), min_size=2, max_size=2),
        min_size=1, max_size=12,
    ),
    line_end=st.sampled_from(["\n", "\r\n"]),
    before=st.sampled_from(["", "\ufeff", "\n\n"]),
    behind=st.sampled_from(["", "\n\n"]),
    ending=st.sampled_from([".csv", ".tsv", ".csv.gz"]),
    block_cells=st.integers(1, 40),
)  # fmt: skip
def test_text_in_blocks_reads_as_the_whole_file(
    tmp_path_factory, rows, line_end, before, behind, ending, block_cells
):
    separator = "\t" if ending == ".tsv" else ","
    text = io.StringIO()
    writer = csv.writer(text, lineterminator=line_end, delimiter=separator)
    writer.writerows([['odd "name"\nof two lines', "b"], *rows])
    content = (before + text.getvalue() + behind).encode()
    path = tmp_path_factory.mktemp("text") / f"t{ending}"
    path.write_bytes(gzip.compress(content) if ending.endswith("gz") else content)
    wanted = read_data(path).X
    assert wanted.height == len(rows)
    packed = pack(path, block_cells=block_cells)
    assert packed.shape == wanted.shape
    for j, series in enumerate(wanted.iter_columns()):
        found = packed.column(j)
        if series.null_count() < len(series):
            assert (found.dtype == object) == (series.dtype == pl.String)
        known = [None if v != v else v for v in found.tolist()]
        assert known == [None if v != v else v for v in series.to_list()]
    target = pack(path, target=["b"], block_cells=block_cells).target["b"]
    assert target.to_list() == pytest.approx(wanted["b"].to_list(), nan_ok=True)


def test_everything_else_takes_packed_tables(tmp_path):
    frame = mixed_frame(8, ["bits", "small", "float", "text", "category", "float"], 120)
    X, y = frame.drop("class"), frame["class"].to_numpy()
    Y = np.column_stack([y == "a", y != "b"]).astype(int)
    for folder in (None, tmp_path):
        packed = pack(frame, folder, columns=X.columns)
        model, wanted = NaiveBayes().fit(packed, y), NaiveBayes().fit(X, y)
        for call in ("predict_joint_log_proba", "predict_log_proba", "terms", "predict"):
            np.testing.assert_array_equal(getattr(model, call)(packed), getattr(wanted, call)(X))
        np.testing.assert_array_equal(model.predict_proba(X), wanted.predict_proba(packed))
        for method in ("mrmr", "chi2", "weights", "relieff"):
            np.testing.assert_array_equal(rank(packed, y, method).order, rank(X, y, method).order)
        groups = np.arange(y.size) % 8
        for options in (
            {"search": "dependency"}, {"search": "ranked"}, {"criterion": "auc", "Y": Y},
            {"cv": GroupKFold(4), "groups": groups}, {"validation": None, "cv": 4},
            {"feature_groups": [["small 1", "float 2"]], "keep": ["bits 0"]},
            {"estimator": NaiveBayes({"float 2": "categorical", 5: "mixture"})},
        ):  # fmt: skip
            target, more = options.pop("Y", y), {"groups": options.pop("groups", None)}
            one = plain_selector(random_state=0, **options).fit(packed, target, **more)
            two = plain_selector(random_state=0, **options).fit(X, target, **more)
            same_answers(one, two, packed, X)
        chosen = one.transform(packed)
        assert chosen.columns == one.get_feature_names_out().tolist()
        np.testing.assert_array_equal(one.estimator_.predict(chosen), two.predict(X))
        assert [e.to_dict() for e in explain(model, packed.take(np.arange(2)))] == [
            e.to_dict() for e in explain(wanted, X[:2])
        ]
        batches = NaiveBayes()
        for part in (np.arange(60), np.arange(60, 120)):
            batches.partial_fit(packed.take(part), y[part], classes=["a", "b", "c"])
        np.testing.assert_array_equal(batches.class_count_, wanted.class_count_)
    assert not os.listdir(tmp_path)


def test_votes_take_packed_tables(tmp_path):
    frame = mixed_frame(3, ["bits", "bool", "bits", "bits"], 120)
    X, y = frame.drop("class"), frame["class"].to_numpy()
    Y = np.column_stack([y == "a", y != "b"]).astype(int)
    packed = pack(frame, tmp_path, target="class")
    selector = plain_selector(FeatureVotes(), "diversified", "auc", random_state=0)
    wanted = selector.fit(X, Y)
    found = clone(selector).fit(packed, Y)
    same_answers(found, wanted, packed, X)


def test_a_level_that_lost_its_rows_is_gone():
    frame = pl.DataFrame({"t": ["x", "y", "z", "x", "y"], "n": [1.0, 2.0, 4.0, 1.0, 2.0]})
    y, weights = [0, 1, 0, 1, 0], [1, 1, 0, 1, 1]
    model = NaiveBayes().fit(pack(frame), y, sample_weight=weights)
    assert [spec.levels.tolist() for spec in model.fitted_.specs[:1]] == [["x", "y"]]
    wanted = NaiveBayes().fit(frame, y, sample_weight=weights)
    np.testing.assert_array_equal(model.terms(frame), wanted.terms(frame))


def test_cells_are_as_small_as_their_values_allow():
    rng = np.random.default_rng(0)
    n = 70_000
    frame = pl.DataFrame({
        "byte": np.arange(n) % 255, "two": np.arange(n) % 256, "eight": rng.normal(size=n),
        "texts": [f"t{i % 300}" for i in range(n)], "many": [f"t{i % 66000}" for i in range(n)],
    })  # fmt: skip
    packed = pack(frame, block_cells=10_000)
    assert [c.cells.dtype.itemsize for c in packed.packed] == [1, 2, 8, 2, 4]
    for j, name in enumerate(frame.columns):
        np.testing.assert_array_equal(packed.column(j), frame[name].to_numpy())
    assert packed.nbytes == n * 17
    assert "1.2 MB in memory" in repr(packed)


@pytest.mark.parametrize("block_cells", [7, 30, 2**22])
def test_two_values_take_a_bit_unless_one_is_missing(block_cells, tmp_path):
    rng = np.random.default_rng(1)
    n = 83
    codes = rng.integers(0, 2, (n, 4))
    frame = pl.DataFrame({
        "numbers": codes[:, 0] * 2.5 - 1, "texts": np.array(["no", "yes"])[codes[:, 1]],
        "flags": codes[:, 2].astype(bool), "one": np.full(n, 7.0),
        "gaps": [None if i == 40 else float(code) for i, code in enumerate(codes[:, 3])],
    })  # fmt: skip
    frame.write_csv(tmp_path / "table.csv")
    for source in (frame, tmp_path / "table.csv"):
        packed = pack(source, tmp_path, block_cells=block_cells)
        assert [column.cells.nbytes for column in packed.packed] == [11, 11, 11, 11, 83]
        plain = pack(frame.head(0).vstack(frame))
        some = rng.permutation(n)[:20]
        for j, name in enumerate(frame.columns):
            np.testing.assert_array_equal(packed.column(j), plain.column(j))
            wanted = np.asarray(frame[name].cast(pl.String if name == "texts" else pl.Float64))
            np.testing.assert_array_equal(packed.column(j), wanted)
            np.testing.assert_array_equal(packed.take(some).column(j), wanted[some])
    # A column of bits as numbers: its values are looked up when they are read.
    y = codes[:, 0] ^ (rng.random(n) < 0.2)
    model = NaiveBayes({"numbers": "gaussian"})
    selector = plain_selector(estimator=model, search="forward", cv="loo", validation=None)
    one = selector.fit(packed, y).path_
    assert [s.key for s in one.steps] == [s.key for s in selector.fit(frame, y).path_.steps]


def test_identifiers_are_left_out_when_asked():
    frame = pl.DataFrame({
        "id": ["a", "b", None], "kind": ["u", "u", "v"], "number": [1, 2, 3],
        "category": pl.Series(["p", "q", "r"], dtype=pl.Categorical),
    })  # fmt: skip
    packed = pack(frame, identifiers=False)
    assert packed.identifiers == ("id",)
    assert packed.columns == ["kind", "number", "category"]
    assert pack(frame).columns == frame.columns


def test_a_search_in_mapped_files_keeps_no_column_in_memory(tmp_path):
    rng = np.random.default_rng(0)
    n_rows, n_bytes, n_numbers = 10_000, 300, 20
    columns = {f"b{j}": rng.integers(0, 2 + j % 3, n_rows) for j in range(n_bytes)}
    columns |= {f"n{j}": rng.integers(0, 2000, n_rows) / 8 for j in range(n_numbers)}
    frame = pl.DataFrame({**columns, "y": rng.integers(0, 2, n_rows)})
    peaks, answers = [], []
    for folder in (None, tmp_path):
        packed = pack(frame, folder, target="y")
        n_bits = n_bytes // 3  # of two values: eight rows to a byte
        assert packed.nbytes == n_rows * (n_bytes - n_bits + 2 * n_numbers) + n_rows // 8 * n_bits
        numbers = dict.fromkeys(range(10, 15), "gaussian")
        selector = plain_selector(search="forward", max_features=2, random_state=0, n_jobs=2)
        selector.set_params(estimator=NaiveBayes(numbers))
        selector.fit(packed.pick(np.arange(290, 305)), packed.target)  # compiles
        numbers = {f"n{j}": "gaussian" for j in range(n_numbers)}
        selector.set_params(estimator=NaiveBayes(numbers))
        tracemalloc.start()
        answers.append(repr(selector.fit(packed, packed.target).path_.steps))
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert answers[0] == answers[1]
    # The codes in the order of the lines, and the terms of the numbers for both classes.
    assert peaks[0] - peaks[1] > 0.99 * n_rows * (n_bytes + 2 * 8 * n_numbers)


def test_mapped_files_go_with_the_last_array(tmp_path):
    def files():
        links = [f"/proc/self/fd/{fd}" for fd in os.listdir("/proc/self/fd")]
        targets = [os.readlink(link) for link in links if os.path.islink(link)]
        return sum(each.startswith(str(tmp_path)) for each in targets)

    packed = pack(mixed_frame(1, ["bits", "float"]), tmp_path, target="class")
    assert str(tmp_path) in repr(packed)
    assert files() == 1
    assert not os.listdir(tmp_path)
    selector = plain_selector(random_state=0).fit(packed, packed.target)
    pickle.dumps(selector)  # holds nothing of the table
    gc.collect()
    assert files() == 1
    del packed
    gc.collect()
    assert files() == 0


def test_a_failing_read_leaves_nothing(tmp_path):
    path = tmp_path / "t.csv"
    path.write_bytes(b"a,b\n1,2\n3,inf\n")
    folder = tmp_path / "scratch"
    folder.mkdir()
    with pytest.raises(ValueError, match=r"infinity \(column 'b', row 1\)"):
        pack(path, folder, block_cells=2)
    assert not os.listdir(folder)


def test_a_full_disk_is_said_before_anything_is_written(tmp_path, monkeypatch):
    def full(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "posix_fallocate", full)
    with pytest.raises(OSError, match=r"has no room for .* MB .* name a folder on a larger disk"):
        Room(str(tmp_path))((1000,), np.float64)
    assert not os.listdir(tmp_path)


def test_lookup_reads_rows_in_any_order():
    look = Lookup(np.array([5.0, 7.0, np.nan]), np.array([0, 2, 1], np.uint8), np.array([2, 0, 1]))
    np.testing.assert_array_equal(look[0:3], [7.0, 5.0, np.nan])
    np.testing.assert_array_equal(Lookup(None, np.array([1.5, 2.5]), np.array([1, 0]))[1:], [1.5])


@pytest.mark.parametrize(
    ("source", "options", "error", "sentence"),
    [
        ([[1, 2]], {}, TypeError, "source must be the path of a file, or a polars frame"),
        ("none.parquet", {}, ValueError, "'none.parquet' does not exist"),
        ("FOLDER/x.docx", {}, ValueError, "the ending of 'x.docx' is unknown"),
        ("FOLDER/x.parquet", {}, ValueError, "x.parquet cannot be read as parquet"),
        ("FRAME", {"target": "z"}, ValueError, "there is no column 'z'; the columns are 'a', 'b'"),
        ("FRAME", {"target": ["a", "b"]}, ValueError, "no column left to learn from"),
        ("FRAME", {"target": "a", "columns": ["a"]}, ValueError, "must not hold the target"),
        ("FRAME", {"block_cells": 0}, ValueError, "block_cells must be a whole number from 1"),
        ("FRAME", {"identifiers": 1}, TypeError, "identifiers must be True or False"),
        ("FRAME", {"folder": "nowhere"}, ValueError, "folder must be a folder that exists"),
        ("FRAME", {"folder": 3}, TypeError, "folder must be None or a path"),
        (pl.DataFrame({"a": []}, schema={"a": pl.Int8}), {}, ValueError, "has no rows"),
        (pl.DataFrame({"d": [[1]]}), {}, TypeError, "X column 'd': allowed are numbers"),
    ],
)
def test_mistakes_are_named(tmp_path, source, options, error, sentence):
    for name in ("x.docx", "x.parquet"):
        (tmp_path / name).write_bytes(b"nothing")
    if isinstance(source, str):
        source = source.replace("FOLDER", str(tmp_path))
    if isinstance(source, str) and source == "FRAME":
        source = pl.DataFrame({"a": [0, 1], "b": [1, 1]})
    with pytest.raises(error, match=sentence):
        pack(source, **options)


def test_names_and_width_are_compared():
    frame = mixed_frame(2, ["bits", "float"])
    packed = pack(frame, target="class")
    model = NaiveBayes().fit(packed, packed.target)
    with pytest.raises(ValueError, match="feature names should match"):
        model.predict(pack(frame.rename({"bits 0": "other"}), target="class"))
    with pytest.raises(ValueError, match="y has 3 values, but X has 40 rows"):
        NaiveBayes().fit(packed, [0, 1, 0])
    names = pd.DataFrame({"^a$": [0, 1, 1, 0], "*": [1, 1, 0, 0]})
    odd = pack(pl.from_pandas(names))
    assert NaiveBayes().fit(odd, [0, 1, 1, 0]).predict(names).tolist() == [0, 1, 1, 0]
