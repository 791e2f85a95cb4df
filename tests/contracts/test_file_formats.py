"""Every registered file format meets the same demands, and so does one from outside."""

import gzip
import json

import numpy as np
import polars as pl
import pytest
import scipy.sparse
from sklearn.datasets import dump_svmlight_file
from typer.testing import CliRunner

from bayesieve.app.cli import app
from bayesieve.checks import BadUseError
from bayesieve.data.files.base import Content, FileFormat
from bayesieve.data.files.formats import FORMATS, Column, format_of, read_batches, read_data

N_ROWS = 60
rng = np.random.default_rng(0)
Y = rng.integers(0, 2, N_ROWS)
X = (rng.random((N_ROWS, 4)) < 0.3 + 0.4 * Y[:, None] * [1, 0, 1, 0]).astype(float)
NAMES = ["x1", "x2", "x3", "x4"]
FRAME = pl.DataFrame(X, schema=NAMES).with_columns(pl.Series("class", Y))


def arff():
    head = ["@relation t", *(f"@attribute {n} numeric" for n in NAMES), "@attribute class {0,1}"]
    rows = [",".join(str(v) for v in row) for row in FRAME.rows()]
    return "\n".join([*head, "@data", *rows]) + "\n"


def write(path, ending):
    """The same table in a format: columns x1 to x4 and a class, or the class apart."""
    if ending in (".csv", ".tsv"):
        FRAME.write_csv(path, separator="," if ending == ".csv" else "\t")
    elif ending == ".parquet":
        FRAME.write_parquet(path)
    elif ending in (".arrow", ".feather", ".ipc"):
        FRAME.write_ipc(path)
    elif ending == ".arff":
        path.write_text(arff())
    elif ending == ".npz":
        np.savez(path, X=X, y=Y, feature_names=NAMES)
    else:
        dump_svmlight_file(X, Y, str(path), zero_based=False)


ENDINGS = [ending for found in FORMATS for ending in found.endings]


def values(content):
    """The four columns, however they are stored."""
    if content.sparse:
        return content.X.toarray()
    return content.X.select(NAMES).to_numpy()


@pytest.mark.parametrize("ending", ENDINGS)
def test_the_same_table_whole_and_in_blocks(ending, tmp_path):
    path = tmp_path / f"table{ending}"
    write(path, ending)
    content = read_data(path)
    np.testing.assert_array_equal(values(content), X)
    for most_rows in (7, 1000):
        parts = list(read_batches(path, [Column(name, False) for name in NAMES], most_rows))
        if scipy.sparse.issparse(parts[0]):
            joined = scipy.sparse.vstack(parts).toarray()
        else:
            joined = pl.concat(parts).to_numpy()
        np.testing.assert_array_equal(joined, X)


@pytest.mark.parametrize("ending", ENDINGS)
def test_gzipped_where_it_says_so(ending, tmp_path):
    plain, packed = tmp_path / f"table{ending}", tmp_path / f"table{ending}.gz"
    write(plain, ending)
    packed.write_bytes(gzip.compress(plain.read_bytes()))
    if format_of(plain).gzipped:
        np.testing.assert_array_equal(values(read_data(packed)), X)
    else:
        with pytest.raises(BadUseError, match="the ending of"):
            read_data(packed)


@pytest.mark.parametrize("ending", ENDINGS)
def test_broken_files_are_refused_in_a_sentence(ending, tmp_path):
    for text in (b"", b"\x00\x01\x02" * 50, b"no table at all"):
        path = tmp_path / f"broken{ending}"
        path.write_bytes(text)
        with pytest.raises(BadUseError) as refused:
            read_data(path)
        assert "\n" not in str(refused.value)


@pytest.mark.parametrize("ending", ENDINGS)
def test_from_the_command_line_to_a_model(ending, tmp_path):
    path = tmp_path / f"table{ending}"
    write(path, ending)
    target = [] if format_of(path).endings[0] in (".svm", ".npz") else ["--target", "class"]
    asked = ["rank", str(path), *target, "--json"]
    done = CliRunner().invoke(app, asked)
    assert done.exit_code == 0, done.output
    assert "x1" in json.dumps(json.loads(done.stdout))


class FixedWidth(FileFormat):
    """Six letters a cell: a format of one's own."""

    endings = (".fwf",)

    def read(self, path):
        lines = path.read_text().splitlines()
        cells = [[line[at : at + 6].strip() for at in range(0, len(line), 6)] for line in lines]
        frame = pl.DataFrame(cells[1:], schema=cells[0], orient="row")
        return Content(frame.cast(pl.Float64), cells[0])


def test_a_format_from_outside_is_one_class_and_one_line(tmp_path):
    path = tmp_path / "table.fwf"
    rows = [FRAME.columns, *FRAME.rows()]
    path.write_text("\n".join("".join(f"{cell!s:6}" for cell in row) for row in rows))
    with pytest.raises(BadUseError, match=r"the ending of 'table\.fwf' is unknown"):
        read_data(path)
    FORMATS.append(FixedWidth())
    try:
        np.testing.assert_array_equal(values(read_data(path)), X)
        done = CliRunner().invoke(
            app, ["select", str(path), "--target", "class", "--out", str(tmp_path / "result")]
        )
        assert done.exit_code == 0, done.output
        done = CliRunner().invoke(app, ["predict", str(tmp_path / "result/model.json"), str(path)])
        assert done.exit_code == 0, done.output
        assert len(done.stdout.splitlines()) == N_ROWS + 1
    finally:
        FORMATS.pop()
