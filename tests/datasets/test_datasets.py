"""Named data sets: where they come from, and what is said when they do not."""

import gzip
from urllib.error import URLError

import numpy as np
import pytest
import scipy.sparse
import sklearn.datasets
from sklearn.utils import Bunch

from bayesieve import NaiveBayes
from bayesieve.datasets import REGISTRY, load, loading, make_dependent
from bayesieve.datasets.loading import DatasetEntry


@pytest.fixture(autouse=True)
def no_folder(monkeypatch):
    monkeypatch.delenv(loading.FOLDER_VARIABLE, raising=False)


@pytest.fixture
def network_is_down(monkeypatch):
    def fail(**options):
        raise URLError("no route to host")

    monkeypatch.setattr(sklearn.datasets, "fetch_openml", fail)


def register(monkeypatch, name, shape, sizes, **more):
    print_ = loading.fingerprint(shape, sizes)
    monkeypatch.setitem(REGISTRY, name, DatasetEntry(*shape, len(sizes), print_, **more))


def write_csv(path, text):
    with gzip.open(path, "wt", encoding="utf-8") as file:
        file.write(text)


TOY = "size,code,colour,class\n1.5,1,red,no\n2,2,,yes\n,1,blue,yes\n"


def test_bundled_sets_need_nothing(network_is_down):
    for name, shape in (("iris", (150, 4)), ("wine", (178, 13)), ("wdbc", (569, 30))):
        data = load(name)
        assert data.X.shape == shape
        assert data.source == "scikit-learn"
        assert sorted(data.label_names) == np.unique(data.y).tolist()
        assert NaiveBayes().fit(data.X, data.y).score(data.X, data.y) > 0.9


@pytest.mark.parametrize("by", ["argument", "environment"])
def test_a_folder_of_files(tmp_path, monkeypatch, by):
    write_csv(tmp_path / "toy.csv.gz", TOY)
    register(monkeypatch, "toy", (3, 3), [1, 2], nominal=(1,))
    if by == "environment":
        monkeypatch.setenv(loading.FOLDER_VARIABLE, str(tmp_path))
    folder = tmp_path if by == "argument" else None
    data = load("toy", folder=folder)
    assert data.feature_names == ["size", "code", "colour"]
    assert data.y.tolist() == ["no", "yes", "yes"]
    assert data.X[:, 1:].tolist() == [["1", "red"], ["2", None], ["1", "blue"]]
    assert np.isnan(data.X[2, 0])
    numbers, models = data.coded()
    np.testing.assert_equal(numbers, [[1.5, 0, 1], [2, 1, np.nan], [np.nan, 0, 0]])
    assert models == {0: "gaussian", 1: "categorical", 2: "categorical"}
    assert load("toy", folder=folder, codes="numeric").X[:, 1].tolist() == [1.0, 2.0, 1.0]
    assert NaiveBayes().fit(data.X, data.y).feature_models_ == [
        "curve", "levels", "levels",
    ]  # fmt: skip


def test_arrays_and_sparse_matrices_with_labels(tmp_path, monkeypatch):
    X = scipy.sparse.csr_array(np.eye(4, 3, dtype=np.uint8))
    Y = np.array([[1, 0], [1, 1], [0, 0], [1, 0]], np.uint8)
    scipy.sparse.save_npz(tmp_path / "many_X.npz", X)
    np.savez(tmp_path / "many_labels.npz", Y=Y, label_names=["a", "b"], split=["train"] * 4)
    register(monkeypatch, "many", (4, 3), [3, 1], sparse=True, labels=True)
    data = load("many", folder=tmp_path)
    assert scipy.sparse.issparse(data.X)
    assert (data.y == Y).all()
    assert data.label_names == ["a", "b"]
    assert data.feature_names == ["x0", "x1", "x2"]
    assert data.split.tolist() == ["train"] * 4
    np.savez(tmp_path / "dense.npz", X=np.eye(2, 3, dtype=np.uint16), y=[1, -1])
    register(monkeypatch, "dense", (2, 3), [1, 1])
    dense = load("dense", folder=tmp_path)
    assert dense.X.dtype == np.float64
    assert dense.y.tolist() == ["1", "-1"]


def test_openml_is_pinned_and_read_the_same_way(monkeypatch):
    asked = {}

    def fetch(**options):
        asked.update(options)
        return Bunch(
            data=np.array([[1.5, 0.0, 1.0, 7.0], [2.0, 1.0, np.nan, 8.0], [np.nan, 0, 0, 9]]),
            target=np.array(["no", "yes", "yes"], object),
            feature_names=["size", "code", "colour", "id"],
            categories={"code": ["1", "2"], "colour": ["blue", "red"]},
        )

    monkeypatch.setattr(sklearn.datasets, "fetch_openml", fetch)
    register(monkeypatch, "toy", (3, 3), [1, 2], nominal=(1,), openml=4711, drop=("id",))
    data = load("toy")
    assert asked["data_id"] == 4711
    assert data.X[:, 1:].tolist() == [["1", "red"], ["2", None], ["1", "blue"]]
    assert data.feature_names == ["size", "code", "colour"]
    assert load("toy", codes="numeric").X[:, 1].tolist() == [1.0, 2.0, 1.0]


def test_every_way_is_named_when_there_is_no_network(network_is_down):
    with pytest.raises(ConnectionError) as error:
        load("abalone")
    message = str(error.value)
    for way in ("go online", "folder=", "BAYESIEVE_DATA", "abalone.csv.gz", "no route to host"):
        assert way in message
    assert "\n" not in message
    with pytest.raises(FileNotFoundError, match=r"enron_X\.npz and enron_labels\.npz"):
        load("enron")


def test_bad_use(tmp_path, monkeypatch):
    with pytest.raises(ValueError, match=r"name must be one of .* Did you mean 'abalone'"):
        load("abalon")
    with pytest.raises(ValueError, match="codes must be one of 'nominal', 'numeric'"):
        load("iris", codes="text")
    with pytest.raises(FileNotFoundError, match=r"folder: .* is not a folder"):
        load("abalone", folder=tmp_path / "none")
    with pytest.raises(FileNotFoundError, match=r"abalone\.csv\.gz or abalone\.npz"):
        load("abalone", folder=tmp_path)
    write_csv(tmp_path / "abalone.csv.gz", TOY)
    with pytest.raises(ValueError, match=r"expected 4177 rows x 8 columns.*got 3 x 3"):
        load("abalone", folder=tmp_path)
    write_csv(tmp_path / "abalone.csv.gz", "a,b,class\n1,2\n")
    with pytest.raises(
        ValueError, match=r"abalone.csv.gz cannot be read: .* rows of as many fields"
    ):
        load("abalone", folder=tmp_path)
    write_csv(tmp_path / "abalone.csv.gz", "")
    with pytest.raises(ValueError, match="must hold a header"):
        load("abalone", folder=tmp_path)


def test_broken_files_are_named(tmp_path, monkeypatch):
    register(monkeypatch, "toy", (3, 3), [1, 2])
    path = tmp_path / "toy.csv.gz"
    for content in (b"not gzip", gzip.compress(TOY.encode())[:-9], gzip.compress(b"\xff\xfe\xfa")):
        path.write_bytes(content)
        with pytest.raises(ValueError, match=r"toy\.csv\.gz cannot be read"):
            load("toy", folder=tmp_path)
    write_csv(path, TOY.replace("class", "species"))
    with pytest.raises(ValueError, match="last column must be 'class'; got 'species'"):
        load("toy", folder=tmp_path)
    write_csv(path, "\ufeff" + TOY + "\n")
    assert load("toy", folder=tmp_path).feature_names[0] == "size"
    path.unlink()
    for arrays in ({"X": np.eye(3)}, {"y": [1, 2, 2]}, {"X": np.ones(3), "y": [1, 2, 2]}):
        np.savez(tmp_path / "toy.npz", **arrays)
        with pytest.raises(ValueError, match=r"toy\.npz cannot be read"):
            load("toy", folder=tmp_path)
    (tmp_path / "toy.npz").write_bytes(b"PK garbage")
    with pytest.raises(ValueError, match=r"toy\.npz cannot be read"):
        load("toy", folder=tmp_path)
    monkeypatch.setenv(loading.FOLDER_VARIABLE, str(tmp_path / "none"))
    with pytest.raises(FileNotFoundError, match=r"BAYESIEVE_DATA: .* is not a folder"):
        load("toy")
    with pytest.raises(TypeError, match="folder must be a path; got 5"):
        load("toy", folder=5)


def test_dependent_attributes():
    X = load("wine").X
    wide = make_dependent(X, 15, noise=0.1, random_state=0)
    assert (wide[:, :13] == X).all()
    strongest = (np.corrcoef(wide.T)[:13, 13:] ** 2).max(0)
    np.testing.assert_allclose(strongest, 1 / 1.01, atol=0.005)
    parents = (np.corrcoef(wide.T)[:13, 13:] ** 2).argmax(0)
    assert sorted(parents[:13]) == list(range(13))
    exact = make_dependent(X, 2, noise=0.0, random_state=1)
    assert (np.corrcoef(exact.T)[:13, 13:] ** 2).max(0) == pytest.approx(1.0)
    assert (make_dependent(X, 3, random_state=5) == make_dependent(X, 3, random_state=5)).all()
    assert (make_dependent(X, 0) == X).all()
    X[0, :] = np.nan
    assert np.isnan(make_dependent(X, 2, random_state=0)[0]).all()
    with pytest.raises(ValueError, match=r"noise must be a number from 0 to 1e\+06; got -1"):
        make_dependent(X, noise=-1)
    with pytest.raises(ValueError, match="X contains infinity"):
        make_dependent([[np.inf, 1.0]])
    with pytest.raises(ValueError, match="X must be a table"):
        make_dependent([1.0, 2.0])
