"""Tables from files: every format, whole and in batches."""

import builtins
import csv
import gzip
import importlib
import io
import re
import signal
import subprocess
import sys
import zipfile

import numpy as np
import polars as pl
import pytest
import scipy.sparse
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import dump_svmlight_file

import bayesieve
from bayesieve import checks
from bayesieve.app import tables as app_tables
from bayesieve.checks import BadUseError
from bayesieve.data.files import base as files_base
from bayesieve.data.files import output, sources
from bayesieve.data.files import text as text_module
from bayesieve.data.files.formats import Column, read_batches, read_data
from bayesieve.data.storage import PackedTable
from bayesieve.engine import pack
from bayesieve.search.checkpoint import Journal


def write(path, content):
    data = content if isinstance(content, bytes) else content.encode()
    path.write_bytes(gzip.compress(data) if path.suffix == ".gz" else data)
    return path


# -- CSV and TSV ---------------------------------------------------------------------------------


def test_spaces_around_numbers_do_not_make_them_text(tmp_path):
    frame = read_data(write(tmp_path / "a.csv", 'a, b,c,"d"\n1, 2.5,u,"7"\n 3,4, v,""\n')).X
    assert frame.columns == ["a", " b", "c", "d"]
    assert frame["a"].to_list() == [1.0, 3.0]
    assert frame[" b"].to_list() == [2.5, 4.0]
    assert frame["d"].to_list() == [7, None]
    assert frame["c"].to_list() == ["u", " v"]  # text stays as it is


def test_empty_lines_at_the_end_are_no_rows(tmp_path):
    for end in ("", "\n", "\n\n\n", "\r\n\r\n"):
        path = write(tmp_path / "a.csv", "a,b\n1,2\n3,4" + end)
        assert read_data(path).X.rows() == [(1, 2), (3, 4)]
        columns = [Column("b", False), Column("a", True)]
        assert pl.concat(read_batches(path, columns)).rows() == [(2.0, "1"), (4.0, "3")]


def test_an_empty_line_of_a_single_column_is_a_missing_value(tmp_path, monkeypatch):
    path = write(tmp_path / "a.csv", "a\n\n1\n\n2\n")
    for size in (8 << 20, 1, 2, 3):
        monkeypatch.setattr(text_module, "_BLOCK", size)
        found = pl.concat(read_batches(path, [Column("a", False)]))
        assert found["a"].to_list() == [None, 1.0, None, 2.0]


cells = st.text(st.sampled_from('ab"\n\r,;é 1'), max_size=4)


@given(
    rows=st.lists(st.tuples(cells, cells, st.floats(-9, 9)), min_size=1, max_size=9),
    size=st.integers(1, 40),
    most=st.integers(1, 5),
)
@settings(max_examples=150, deadline=None)
def test_batches_of_any_size_read_as_the_whole_file(rows, size, most, tmp_path_factory):
    path = tmp_path_factory.mktemp("any") / "a.csv"
    frame = pl.DataFrame(
        rows, schema={"a": pl.String, "b": pl.String, "c": pl.Float64}, orient="row"
    )
    frame.write_csv(path)
    columns = [Column("c", False), Column("a", True), Column("b", True)]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(text_module, "_BLOCK", size)
        parts = list(read_batches(path, columns, most))
    assert max(part.height for part in parts) <= most
    found = pl.concat(parts)
    assert found.rows() == frame.select("c", "a", "b").rows()


@given(
    values=st.lists(
        st.one_of(st.integers(-(2**70), 2**70), st.floats(allow_nan=False, allow_infinity=False)),
        min_size=1,
        max_size=9,
    )
)
@settings(max_examples=60, deadline=None)
def test_numbers_are_the_same_to_the_bit_in_batches(values, tmp_path_factory):
    path = write(
        tmp_path_factory.mktemp("bits") / "a.csv", "a,b\n" + "".join(f"{v!r},x\n" for v in values)
    )
    batch = next(read_batches(path, [Column("a", False)]))["a"].to_numpy()
    assert batch.tobytes() == np.array(values, float).tobytes()
    whole = read_data(path).X["a"]
    if whole.dtype.is_numeric():
        assert whole.cast(pl.Float64).to_numpy().tobytes() == batch.tobytes()


def test_cells_are_read_as_the_model_takes_them(tmp_path):
    path = write(
        tmp_path / "a.tsv.gz", 'n\tt\tf\n1\t1\ttrue\n\t\tFALSE\n 2e1 \t01\t""\nnan\tx\t0\n'
    )
    columns = [Column("n", False), Column("t", True), Column("f", False)]
    found = next(read_batches(path, columns))
    assert found.dtypes == [pl.Float64, pl.String, pl.Float64]
    assert found["n"].to_list()[:3] == [1.0, None, 20.0]
    assert np.isnan(found["n"][3])
    assert found["t"].to_list() == ["1", None, "01", "x"]
    assert found["f"].to_list() == [1.0, 0.0, None, 0.0]


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        ("a,b\n1,2\n3\n", "line 3: expected 2 cells, as the header has; got 1"),
        ("a,b\n1,2\n\n3,4\n", "line 3: expected 2 cells, as the header has; got an empty line"),
        ("a,b\n1\n1,2,3\n", "line 2: expected 2 cells, as the header has; got 1"),
        ('a,b\n"1\n1",2\n1,"2,3",4\n', "line 4: expected 2 cells, as the header has; got 3"),
        ('a,b\n1,2\n3,5" pipe\n', "line 3: a quotation mark opens and does not close"),
        (b"a,b\n1,2\n1,\xe9\n", "line 3: this is not UTF-8 text"),
        (b"a,b\n1,\0\n", "is not a text file in UTF-8"),
        ("a,b\n1,2\n".encode("utf-16"), "is not a text file in UTF-8"),
        ("a,b,a\n1,2,3\n", "several columns named 'a'"),
        ("a;b\n1;2\n", "another delimiter"),
        ("\n\n", "is empty"),
        ("a,b\n", "has no rows"),
    ],
)
def test_broken_text_is_named_by_its_line(content, sentence, tmp_path):
    for name in ("a.csv", "a.csv.gz"):
        path = write(tmp_path / name, content)
        with pytest.raises(BadUseError, match=sentence):
            read_data(path)
        with pytest.raises(BadUseError, match=sentence):
            list(read_batches(path, [Column("b", True), Column("a", True)]))
        with pytest.raises(ValueError, match=sentence):
            pack(path)


def test_the_cell_that_is_no_number_is_named(tmp_path, monkeypatch):
    monkeypatch.setattr(text_module, "_BLOCK", 5)
    path = write(tmp_path / "a.csv", "a,b\n" + "1,x\n" * 5 + "two,y\n")
    with pytest.raises(BadUseError, match=r"column 'a', row 5 \(from 0\): 'two' is not a number"):
        list(read_batches(path, [Column("a", False)], 2))
    path = write(tmp_path / "a.csv", "a,b\n1,x\n-inf,y\n")
    with pytest.raises(BadUseError, match=r"row 1 \(from 0\): '-inf' is infinite"):
        list(read_batches(path, [Column("a", False)]))


def test_a_quote_that_never_closes_does_not_eat_the_memory(tmp_path, monkeypatch):
    monkeypatch.setattr(text_module, "_BLOCK", 10)
    monkeypatch.setattr(text_module, "_LONGEST", 30)
    path = write(tmp_path / "a.csv", 'a,b\n1,2\n1,"2\n' + "1,2\n" * 50)
    with pytest.raises(BadUseError, match="line 3: a quotation mark opens"):
        list(read_batches(path, [Column("a", False)]))


def test_a_line_that_never_ends_is_not_called_a_quote(tmp_path, monkeypatch):
    monkeypatch.setattr(text_module, "_BLOCK", 10)
    monkeypatch.setattr(text_module, "_LONGEST", 30)
    path = write(tmp_path / "a.csv", "a,b\n1,2\n1," + "2" * 200)
    with pytest.raises(BadUseError, match="line 3: the line is longer than") as caught:
        list(read_batches(path, [Column("a", False)]))
    assert "quotation" not in str(caught.value)


@pytest.mark.parametrize("content", ["a,b\r1,2\r3,4\r", "a\r1\r2\r", "a,b\n1,2\r3,4\n"])
def test_lines_that_end_with_carriage_returns(content, tmp_path):
    path = write(tmp_path / "a.csv", content)
    for read in (read_data, pack):
        with pytest.raises(ValueError, match="has a carriage return") as caught:
            read(path)
        assert "universal-newline" not in str(caught.value)


@pytest.mark.parametrize("content", ['"{}",1', "{},1", "1,{}"])
def test_cells_above_128_kilobytes(content, tmp_path):
    """The csv module's own limit, which is as it was afterwards."""
    limit, long = csv.field_size_limit(), "x" * 200_000
    path = write(tmp_path / "a.csv", f"a,{long}\n{content.format(long)}\n2,3\n")
    found = read_data(path)
    assert found.names == ["a", long]
    assert found.X.shape == (2, 2)
    assert long in found.X.row(0)
    parts = list(read_batches(path, [Column("a", True)]))
    assert parts[0]["a"][0] in (long, "1")
    assert pack(path).names == ["a", long]
    single = write(tmp_path / "b.csv", f"{long}\n{long}\n\ny\n")
    parts = list(read_batches(single, [Column(long, True)]))
    assert parts[0][long].to_list() == [long, None, "y"]
    assert csv.field_size_limit() == limit


def test_numbers_beyond_all_bounds_in_files(tmp_path):
    huge = "1" + "0" * 400
    path = write(tmp_path / "a.csv", f"a,b\n{huge},1\n2,3\n")
    with pytest.raises(
        BadUseError, match=r"column 'a' holds '1000.*…', a number too large"
    ) as caught:
        read_data(path)
    assert len(str(caught.value)) < 200
    head = "@relation r\n@attribute a numeric\n@data\n"
    for row in (f"{{0 {huge}}}", f"{{{'9' * 5000} 1}}"):
        path = write(tmp_path / "a.arff", f"{head}{row}\n{{0 2}}\n")
        with pytest.raises(BadUseError, match="line 4: ") as caught:
            read_data(path)
        assert len(str(caught.value)) < 200


class Reads:
    """How often a file is opened, and how many bytes of its text are read."""

    def __init__(self, path, monkeypatch):
        self.path, self.opened, self.n_bytes = path, 0, 0
        for module in (io, builtins):
            monkeypatch.setattr(module, "open", self._counting(module.open))
        inside, name = text_module.open_unpacked, "open_unpacked"
        monkeypatch.setattr(text_module, name, lambda path: CountedFile(inside(path), self))
        parse = pl.read_csv
        monkeypatch.setattr(pl, "read_csv", lambda source, **more: parse(bytes(source), **more))
        monkeypatch.delattr(pl, "scan_csv")

    def _counting(self, real):
        def counted(file, *options, **more):
            self.opened += str(file) == str(self.path)
            return real(file, *options, **more)

        return counted


class CountedFile:
    """An open file that tells what is read."""

    def __init__(self, file, reads):
        self._file, self._reads = file, reads
        self.close = file.close

    def read(self, size):
        return self._count(self._file.read(size))

    def readline(self, size):
        return self._count(self._file.readline(size))

    def _count(self, data):
        self._reads.n_bytes += len(data)
        return data


@pytest.mark.parametrize("name", ["a.csv", "a.tsv", "a.csv.gz"])
@pytest.mark.parametrize("size", [11, 8 << 20])
def test_a_text_file_is_read_through_once(name, size, tmp_path, monkeypatch):
    content = "a,b,c\n" + "".join(f"{i},t{i % 3},{i % 2}\n" for i in range(50))
    content = content.replace(",", "\t") if "tsv" in name else content
    path = write(tmp_path / name, content)
    monkeypatch.setattr(text_module, "_BLOCK", size)
    reads = Reads(path, monkeypatch)
    assert read_data(path).X.shape == (50, 3)
    assert (reads.opened, reads.n_bytes) == (1, len(content))
    assert pl.concat(read_batches(path, [Column("c", False)])).height == 50
    assert (reads.opened, reads.n_bytes) == (2, 2 * len(content))


def test_packing_reads_a_text_file_twice(tmp_path, monkeypatch):
    """Once for its values, once for their codes; before, the header alone."""
    header, rows = "a,b,c\n", "".join(f"{i},t{i % 3},{i % 2}\n" for i in range(500))
    path = write(tmp_path / "a.csv", header + rows)
    reads = Reads(path, monkeypatch)
    packed = pack(path, target="c", block_cells=99)
    assert packed.shape == (500, 2)
    assert (reads.opened, reads.n_bytes) == (3, len(header) + 2 * len(header + rows))
    # What the command line does with a large file: its first block tells whether it holds series.
    monkeypatch.setattr(app_tables, "_LARGE", 0)
    reads.opened = reads.n_bytes = 0
    app_tables.read_problem(path, "c", [], identifiers=False)
    assert (reads.opened, reads.n_bytes) == (4, len(header) + 3 * len(header + rows))
    # Numbers that turn out to be texts are looked at once more.
    path = write(path, header + rows + "x,y,0\n")
    reads.opened = reads.n_bytes = 0
    assert pack(path, block_cells=99).column(0).tolist() == [*map(str, range(500)), "x"]
    assert (reads.opened, reads.n_bytes) == (4, 4 * len(header) + 3 * len(rows + "x,y,0\n"))


# -- Parquet and Arrow ---------------------------------------------------------------------------


@pytest.mark.parametrize("ending", ["parquet", "arrow", "feather"])
def test_columnar_files_in_slices(ending, tmp_path):
    frame = pl.DataFrame(
        {
            "i": range(20), "s": ["u", "v"] * 10, "b": [True, False] * 10,
            "c": pl.Series(["p", "q"] * 10, dtype=pl.Categorical), "none": [None] * 20,
        }
    )  # fmt: skip
    path = tmp_path / f"a.{ending}"
    frame.write_parquet(path) if ending == "parquet" else frame.write_ipc(path)
    columns = [
        Column("s", True), Column("i", False), Column("b", False), Column("c", True),
        Column("none", True),
    ]  # fmt: skip
    parts = list(read_batches(path, columns, 7))
    assert [part.height for part in parts] == [7, 7, 6]
    found = pl.concat(parts)
    assert found.columns == ["s", "i", "b", "c", "none"]
    assert found["i"].to_list() == [float(i) for i in range(20)]
    assert found["b"].to_list() == [1.0, 0.0] * 10
    assert found["c"].to_list() == ["p", "q"] * 10
    assert found["none"].null_count() == 20
    assert next(read_batches(path, [Column("i", True)]))["i"].to_list()[:2] == ["0", "1"]
    with pytest.raises(BadUseError, match="column 'b' holds Boolean, but the model learnt text"):
        next(read_batches(path, [Column("b", True)]))
    with pytest.raises(BadUseError, match="lacks 1 of the model's 2 columns, such as 'z'"):
        next(read_batches(path, [Column("i", False), Column("z", True)]))
    path.write_bytes(b"PAR1 nothing")
    with pytest.raises(BadUseError, match=f"cannot be read as {ending}"):
        read_data(path)
    with pytest.raises(BadUseError, match=f"cannot be read as {ending}"):
        next(read_batches(path, columns))


# -- ARFF ----------------------------------------------------------------------------------------

ARFF = r"""% a comment
@RELATION 'any thing'
@attribute 'two words' REAL
@attribute kind {u, 'v, w' , "x"}
@attribute "note" string
@attribute	n	integer [0, 9]
@attribute class {no,yes}

@DATA
1.5, u, 'it\'s "so"', 3, no
?, 'v, w', ?, ?, yes
% between rows
-2e-3,"x",plain text, 4 ,no
1,?,'?',5,yes
"""


def test_arff_with_quotes_and_missing_values(tmp_path):
    for name in ("a.arff", "a.arff.gz", "A.ARFF"):
        frame = read_data(write(tmp_path / name, ARFF)).X
        assert frame.to_dict(as_series=False) == {
            "two words": [1.5, None, -0.002, 1.0],
            "kind": ["u", "v, w", "x", None],
            "note": ['it\'s "so"', None, "plain text", "?"],
            "n": [3.0, None, 4.0, 5.0],
            "class": ["no", "yes", "no", "yes"],
        }


def test_arff_agrees_with_scipy(tmp_path):
    from scipy.io import arff

    rng = np.random.default_rng(0)
    rows = "".join(f"{rng.normal()!r},{rng.choice(['p', 'q'])}\n" for _ in range(50))
    path = write(
        tmp_path / "a.arff", f"@relation r\n@attribute a real\n@attribute c {{p,q}}\n@data\n{rows}"
    )
    data, _ = arff.loadarff(path)
    frame = read_data(path).X
    assert frame["a"].to_list() == data["a"].tolist()
    assert frame["c"].to_list() == [value.decode() for value in data["c"]]


SPARSE = """@relation r
@attribute a numeric
@attribute b {0, 1}
@attribute kind {u, v}
@attribute 'c c' numeric
@data
{0 2.5, 1 1}
{}
{1 1, 2 v, 3 -1}
"""


def test_sparse_arff_stays_sparse(tmp_path):
    found = read_data(write(tmp_path / "a.arff", SPARSE))
    assert found.sparse
    assert found.names == ["a", "b", "c c"]
    assert found.X.toarray().tolist() == [[2.5, 1, 0], [0, 0, 0], [0, 1, -1]]
    # What is not written is the first value.
    assert found.texts.to_dict(as_series=False) == {"kind": ["u", "u", "v"]}
    with pytest.raises(BadUseError, match="column 'kind' is text"):
        next(read_batches(tmp_path / "a.arff", [Column("kind", True)]))


@pytest.mark.parametrize(
    ("old", "new", "sentence"),
    [
        ("1.5, u", "one, u", "line 10: 'one' is not a number, but attribute 'two words' says so"),
        ("1.5, u", "1.5, z", "line 10: 'z' is not among its values"),
        ("1.5, u", "1.5", "line 10: expected 5 values, one an attribute; got 4"),
        ('"so"\'', '"so"', "line 10: .* quotation marks that do not close"),
        ("REAL", "relational", "line 3: the type of 'two words' must be numeric"),
        ("REAL", "", "line 3: expected '@attribute NAME TYPE'"),
        ("@DATA", "@dta", "line 9: expected @relation, @attribute or @data; got '@dta'"),
        ('"note"', "kind", "several attributes named 'kind'"),
        (ARFF[ARFF.index("1.5") :], "", "has no rows"),
        (ARFF[ARFF.index("@DATA") :], "", "has no @data line"),
        ("1.5, u", "{0 1}\n1.5, u", "line 11: full and sparse rows are mixed"),
    ],
)
def test_broken_arff_is_named_by_its_line(old, new, sentence, tmp_path):
    path = write(tmp_path / "a.arff", ARFF.replace(old, new, 1))
    with pytest.raises(BadUseError, match=sentence):
        read_data(path)


@pytest.mark.parametrize("row", ["{1 1, 0 2}", "{9 1}", "{0 x}", "{0 ?}", "{a b}", "{0 1"])
def test_broken_sparse_rows_are_named(row, tmp_path):
    path = write(tmp_path / "a.arff", SPARSE.replace("{}", row))
    with pytest.raises(BadUseError, match="line 8: "):
        read_data(path)


# -- svmlight and npz ----------------------------------------------------------------------------


def test_svmlight_columns_go_by_their_numbers(tmp_path):
    X = scipy.sparse.csr_array(np.array([[0, 2.0, 0], [1, 0, 0]]))
    for first in (0, 1):
        path = tmp_path / f"a{first}.svm"
        dump_svmlight_file(X, [1, -1], str(path), zero_based=first == 0)
        found = read_data(path)
        assert found.names == [f"x{j + first}" for j in range(2)]
        assert found.target.tolist() == [1, -1]
        assert found.target.dtype.kind == "i"
        # Columns beyond are zero, and the order is the model's.
        names = [f"x{first + 7}", f"x{first + 1}", f"x{first}"]
        batch = next(read_batches(path, [Column(name, False) for name in names]))
        assert scipy.sparse.issparse(batch)
        assert batch.toarray().tolist() == [[0, 2, 0], [0, 0, 1]]
        with pytest.raises(BadUseError, match="lacks 1 of the model's 1 columns, such as 'age'"):
            next(read_batches(path, [Column("age", False)]))
    zipped = tmp_path / "a.libsvm.gz"
    zipped.write_bytes(gzip.compress(path.read_bytes()))
    assert read_data(zipped).names == found.names
    path.write_text("what is this\n")
    with pytest.raises(BadUseError, match="cannot be read as svmlight"):
        read_data(path)


def test_a_column_number_of_any_size(tmp_path):
    """A few bytes name two thousand million columns: none of them is listed."""
    path = tmp_path / "huge.svm"
    path.write_text("1 1:1 2000000000:5\n-1 2:1\n1 3:4 2147483647:2\n")
    found = read_data(path)
    assert len(found.names) == 2**31 - 1
    assert found.names[:3] == ["x1", "x2", "x3"]
    assert found.names[1_999_999_999] == "x2000000000"
    assert "x2147483647" in found.names
    for name in ("x0", "x2147483648", "x01", "x", "y1", "x" + "9" * 5000, "x٣", 1):
        assert name not in found.names
    names = ["x2147483647", "x7", "x3", "x2000000000", "x01", "x1"]
    batch = next(read_batches(path, [Column(name, False) for name in names]))
    assert batch.toarray().tolist() == [[0, 0, 0, 5, 0, 1], [0] * 6, [2, 0, 4, 0, 0, 0]]
    with pytest.raises(BadUseError, match="lacks 1 of the model's 1 columns, such as 'age'"):
        next(read_batches(path, [Column("age", False)]))
    for number in (2**31, 2**63, 10**30):
        path.write_text(f"1 1:1\n-1 {number}:1\n")
        with pytest.raises(BadUseError, match="has a column number above 2147483647"):
            read_data(path)


@pytest.mark.parametrize("number", [2_000_001, 2**31 - 1])
def test_more_columns_than_can_be_learnt_from(number, tmp_path):
    from bayesieve import NaiveBayesSelector
    from bayesieve.app.commands import rank_problem, select_rows
    from bayesieve.app.options import Settings
    from bayesieve.app.tables import Rows, read_problem

    path = tmp_path / "huge.svm"
    path.write_text(f"1 1:1\n-1 {number}:1\n" * 9)
    words = f"the table has {number} columns, empty ones included; at most 2000000 can be learnt"
    problem, _ = read_problem(path, None, [], identifiers=False)
    with pytest.raises(BadUseError, match=words):
        rank_problem(problem, "chi2")
    rows = Rows(problem, [], problem.X, problem.y)
    with pytest.raises(BadUseError, match=words):
        select_rows(NaiveBayesSelector(), rows, Settings(out=tmp_path / "out"), "t")
    with pytest.raises(BadUseError, match=words):
        read_problem(path, "x1", [], identifiers=False)
    shape = np.array([2, number])
    np.savez(
        tmp_path / "huge.npz", data=[1.0], indices=[0], indptr=[0, 1, 1], shape=shape, y=[0, 1]
    )
    with pytest.raises(BadUseError, match=words):
        read_data(tmp_path / "huge.npz")


def test_npz_dense_sparse_and_with_labels(tmp_path):
    X = np.array([[0, 1.5], [2, 0]])
    np.savez(tmp_path / "d.npz", X=X, y=np.array(["p", "q"]), feature_names=np.array(["f", "g"]))
    found = read_data(tmp_path / "d.npz")
    assert found.X.to_dict(as_series=False) == {"f": [0, 2], "g": [1.5, 0]}
    assert found.target.tolist() == ["p", "q"]
    sparse = scipy.sparse.csr_array(X)
    np.savez(
        tmp_path / "s.npz", data=sparse.data, indices=sparse.indices, indptr=sparse.indptr,
        shape=np.array(sparse.shape), y=np.array([1.0, 0.0]),
    )  # fmt: skip
    found = read_data(tmp_path / "s.npz")
    assert found.sparse
    assert found.X.toarray().tolist() == X.tolist()
    assert found.names == ["x0", "x1"]
    assert found.target.tolist() == [1, 0]
    # The layout of `bayesieve.datasets`: labels in a file of their own.
    scipy.sparse.save_npz(tmp_path / "n_X.npz", scipy.sparse.csc_array(X))
    assert read_data(tmp_path / "n_X.npz").target is None
    np.savez(tmp_path / "n_labels.npz", Y=np.eye(2, dtype=int), label_names=np.array(["l", "m"]))
    found = read_data(tmp_path / "n_X.npz")
    assert found.X.toarray().tolist() == X.tolist()
    assert found.target.to_dict(as_series=False) == {"l": [1, 0], "m": [0, 1]}


@pytest.mark.parametrize(
    ("arrays", "sentence"),
    [
        ({"y": np.arange(3)}, "must hold a table X"),
        ({"X": np.arange(3), "y": np.arange(3)}, "must hold a table X"),
        ({"X": np.eye(3), "y": np.arange(2)}, "y must have 3 rows"),
        ({"X": np.eye(2), "feature_names": np.array(["a"])}, "feature_names must have 2 entries"),
        ({"X": np.eye(2), "feature_names": np.array(["a", "a"])}, "must differ"),
        ({"X": np.eye(2), "y": np.array(["a", 1], object)}, "holds Python objects"),
        (None, "is no archive of arrays"),
    ],
)
def test_broken_npz(arrays, sentence, tmp_path):
    path = tmp_path / "a.npz"
    path.write_bytes(b"nothing") if arrays is None else np.savez(path, **arrays)
    with pytest.raises(BadUseError, match=sentence):
        read_data(path)


def test_endings_and_files_that_are_not_there(tmp_path):
    with pytest.raises(BadUseError, match="does not exist"):
        read_data(tmp_path / "a.csv")
    with pytest.raises(BadUseError, match="is not a file"):
        read_data(tmp_path)
    for name in ("a.docx", "a.parquet.gz", "a", "a.gz"):
        with pytest.raises(BadUseError, match=f"the ending of '{name}' is unknown"):
            read_data(write(tmp_path / name, b"x"))


# -- what a killed process leaves behind ---------------------------------------------------------

_BEGIN = {
    "file": "with output.whole_file(folder / 'out.txt') as out:\n    out.write(b'half')\n    end()",
    "folder": "with output.hidden_folder(folder) as part:\n    (part / 'a').touch()\n    end()",
    "checkpoint": """
from bayesieve.search import checkpoint as journal
link = journal.os.link
journal.os.link = lambda *given: (link(*given), end())
journal.Journal(folder / 'out.txt', '1', {}).append(['add', [1], []], True)
""",
}


def _other_process(what, folder, end):
    """A process that begins to write, and then says so and waits, or kills itself."""
    lines = [
        "import os, signal, sys, types",
        "from pathlib import Path",
        # Without the package's own imports, which would take seconds.
        "bare = sys.modules['bayesieve'] = types.ModuleType('bayesieve')",
        "bare.__path__ = [sys.argv[1]]",
        "from bayesieve.data.files import output",
        "folder = Path(sys.argv[2])",
        "def wait():\n    print('begun', flush=True)\n    sys.stdin.readline()",
        "def kill():\n    os.kill(os.getpid(), signal.SIGKILL)",
        f"end = {end}",
        _BEGIN[what],
    ]
    return subprocess.Popen(
        [sys.executable, "-c", "\n".join(lines), bayesieve.__path__[0], str(folder)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )


def _hidden(folder):
    return [each for each in folder.iterdir() if each.name.startswith(".")]


@pytest.mark.parametrize("what", _BEGIN)
def test_what_a_killed_process_left_is_gone_after_the_next(what, tmp_path):
    with _other_process(what, tmp_path, "kill") as killed:
        assert killed.wait(120) == -signal.SIGKILL
    assert len(_hidden(tmp_path)) == 1
    # Whatever has another name, or is no file and no folder, is somebody else's.
    planted = tmp_path / f".bayesieve-{'0' * 16}.part"
    planted.symlink_to(tmp_path / "elsewhere")
    others = [planted, tmp_path / ".bayesieve-1.part", tmp_path / f".bayesieve-{'1' * 16}.part.txt"]
    for each in others[1:]:
        each.touch()
    if what == "checkpoint":
        book = Journal(tmp_path / "out.txt", "1", {})
        assert book.records == [["add", [1], []]]
        book.close()
    else:
        output.write_text(tmp_path / "out.txt", "whole")
        assert (tmp_path / "out.txt").read_text() == "whole"
    assert sorted(_hidden(tmp_path)) == sorted(others)


@pytest.mark.parametrize("what", ["file", "folder"])
def test_what_a_living_process_writes_stays(what, tmp_path):
    with _other_process(what, tmp_path, "wait") as living:
        assert living.stdout.readline() == "begun\n"
        before = _hidden(tmp_path)
        assert len(before) == 1
        output.write_text(tmp_path / "other.txt", "whole")
        with output.output_folder(tmp_path) as part:
            (part / "third.txt").touch()
        assert _hidden(tmp_path) == before
        living.communicate("\n", timeout=120)
    assert living.returncode == 0
    assert _hidden(tmp_path) == []
    names = {"other.txt", "third.txt", *(["out.txt"] if what == "file" else [])}
    assert {each.name for each in tmp_path.iterdir()} == names


def test_whoever_lost_its_file_before_it_was_locked_takes_another_name(tmp_path, monkeypatch):
    """Another process may look for what was left behind in the moment in between."""
    plain, made = output._is_mine, []

    def slow(part, number):
        made.append(part)
        if len(made) == 1:
            output.remove_left_behind(tmp_path)
            assert not part.exists()
        return plain(part, number)

    monkeypatch.setattr(output, "_is_mine", slow)
    output.write_text(tmp_path / "out.txt", "whole")
    with output.hidden_folder(tmp_path):
        assert len(made) == 3
    assert [each.name for each in tmp_path.iterdir()] == ["out.txt"]
    assert (tmp_path / "out.txt").read_text() == "whole"


# -- tables that do not fit into memory ----------------------------------------------------------


def large_files(folder):
    """A table of 20000 rows and three columns in every format, small on disk where it is packed."""
    n_rows = 20_000
    text = "a,b,y\n" + "0,0,1\n" * n_rows
    frame = pl.DataFrame({"a": [0] * n_rows, "b": [0.0] * n_rows, "y": ["u"] * n_rows})
    yield write(folder / "t.csv", text), n_rows * 3
    yield write(folder / "t.tsv.gz", text.replace(",", "\t")), n_rows * 3
    # In several parts: what the end of the file says is the size of the last one.
    parts = [gzip.compress(part.encode()) for part in (text, "0,0,1\n" * 5)]
    (folder / "parts.csv.gz").write_bytes(b"".join(parts))
    yield folder / "parts.csv.gz", n_rows * 3
    frame.write_parquet(folder / "t.parquet")
    yield folder / "t.parquet", n_rows * (8 + 8)
    frame.write_ipc(folder / "t.arrow")
    yield folder / "t.arrow", n_rows * (8 + 8)
    np.savez_compressed(folder / "t.npz", X=np.zeros((n_rows, 3)), y=np.arange(n_rows) % 2)
    yield folder / "t.npz", n_rows * (3 + 1) * 8
    head = "@relation t\n@attribute a numeric\n@attribute y {u,v}\n@data\n"
    yield write(folder / "t.arff.gz", head + "0,u\n1,v\n" * (n_rows // 2)), n_rows * 4
    yield write(folder / "t.svm", "1 1:1\n0 2:1\n" * (n_rows // 2)), n_rows * 6


def test_a_table_that_does_not_fit_is_refused_by_its_size(tmp_path, monkeypatch):
    monkeypatch.setattr(checks, "_LITTLE", 0)
    for path, least in large_files(tmp_path):
        monkeypatch.setattr(checks, "free_memory", lambda least=least: least)
        with pytest.raises(BadUseError) as caught:
            read_data(path)
        said = str(caught.value)
        found = re.fullmatch(
            r"the cells of (\S+) need (\S+) GB of memory, of which (\S+) GB are free; (.*)\.", said
        )
        assert found, said
        assert found[1] == path.name
        assert float(found[2]) > float(found[3]) == pytest.approx(least / 1e9, rel=0.01)
        assert all(word in found[4] for word in ("columns", "rows", "Parquet", "dask"))
        monkeypatch.setattr(checks, "free_memory", lambda least=least: 1000 * least)
        assert read_data(path).n_rows >= 20_000


def test_gzipped_files_whose_end_says_little_are_unpacked_to_be_measured(tmp_path, monkeypatch):
    monkeypatch.setattr(files_base, "_SMALL_GZIP", 0)
    head = b"@relation t\n@attribute a numeric\n@data\n"
    path = tmp_path / "t.arff.gz"
    path.write_bytes(gzip.compress(head + b"0\n" * 500_000) + gzip.compress(b"1\n"))
    monkeypatch.setattr(checks, "_LITTLE", 0)
    monkeypatch.setattr(checks, "free_memory", lambda: 1_000_000)
    with pytest.raises(BadUseError, match=r"t\.arff\.gz need .* 0\.001 GB are free"):
        read_data(path)


def test_an_array_whose_header_promises_too_much_is_not_asked_for(tmp_path, monkeypatch):
    monkeypatch.setattr(checks, "free_memory", lambda: 10**10)
    told = io.BytesIO()
    shape = {"descr": "<f8", "fortran_order": False, "shape": (10**9, 10)}
    np.lib.format.write_array_header_1_0(told, shape)
    with zipfile.ZipFile(tmp_path / "t.npz", "w") as archive:
        archive.writestr("X.npy", told.getvalue() + bytes(80))
    with pytest.raises(BadUseError, match=r"t\.npz need 240 GB of memory, of which 10 GB"):
        read_data(tmp_path / "t.npz")


def test_small_files_are_read_without_a_look_at_the_memory(tmp_path, monkeypatch):
    def asked():
        raise AssertionError("a small file needs no look at the memory")

    monkeypatch.setattr(checks, "free_memory", asked)
    for path, _ in large_files(tmp_path):
        assert read_data(path).n_rows >= 20_000


def test_gzipped_text_that_is_large_once_unpacked_is_packed(tmp_path, monkeypatch):
    rows = "".join(f"{i % 3},{i % 2},{'uv'[i % 2]}\n" for i in range(3000))
    path = write(tmp_path / "t.csv.gz", "a,b,y\n" + rows)
    monkeypatch.setattr(app_tables, "_LARGE", 2 * path.stat().st_size)
    problem, _ = app_tables.read_problem(path, "y", [], False)
    assert isinstance(problem.X, PackedTable)
    assert problem.y.tolist() == ["u", "v"] * 1500


def test_packed_rows_that_do_not_fit_are_foretold_from_the_first_lines(tmp_path, monkeypatch):
    path = write(tmp_path / "t.csv.gz", "a,b,y\n" + "0,0,1\n" * 30_000)
    monkeypatch.setattr(checks, "_LITTLE", 0)
    monkeypatch.setattr(checks, "free_memory", lambda: 100_000)
    monkeypatch.setattr(sources, "_LARGE", 0)
    seen = []
    kept = importlib.import_module("bayesieve.data.pack")._PackedColumns
    monkeypatch.setattr(kept, "learn", lambda self, *told: seen.append(told))
    with pytest.raises(MemoryError, match=r"3e\+04 rows of t\.csv\.gz, packed, need .*0\.0001 GB"):
        pack(path, target="y")
    assert not seen
