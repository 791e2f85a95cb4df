"""Fits with engine='gpu': the same subset and model; what cannot go there is refused."""

import multiprocessing
import os
import sys
import types
import warnings

import numpy as np
import pytest
from hosts import HostDevice, put_in_place
from scipy import sparse
from sklearn.base import clone

from bayesieve import FeatureVotes, NaiveBayes, NaiveBayesSelector, WeightedNaiveBayes
from bayesieve.engine import GpuEngine
from bayesieve.engine.gpu import engine as gpu_engine
from weighted import terms_of

NAMED = {"validation": None, "reweigh": True, "choice": "best", "random_state": 0}


def problem(n_rows=180, seed=0):
    """Binary columns, categories and numbers."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 3, n_rows)
    X = rng.integers(0, 2, (n_rows, 7)).astype(float)
    X[:, 0] = rng.random(n_rows) < 0.2 + 0.3 * (y == 1)
    X[:, 1] = np.round(rng.normal(size=n_rows) + y, 1)
    X[:, 2] = rng.integers(0, 4, n_rows) + (y == 2)
    X[rng.random(n_rows) < 0.1, 3] = np.nan
    return X, y


SELECTORS = {
    "default": {},
    "loo": {**NAMED, "cv": "loo", "criterion": "error", "search": "forward-backward"},
    "folds": {**NAMED, "cv": 4, "criterion": "log-likelihood", "search": "sffs", "keep": [4]},
    "validation": {"validation": 0.4, "random_state": 1, "class_weight": "balanced", "cv": "train"},
    "groups": {**NAMED, "cv": 3, "feature_groups": [[0, 3], [1, 2]], "search": "backward"},
}


@pytest.mark.parametrize("name", SELECTORS)
@pytest.mark.parametrize("engine", ["gpu", GpuEngine([0, 0])])
def test_a_selector_finds_the_same(hosted, name, engine):
    X, y = problem()
    weights = np.arange(len(y)) % 3 + 1 if name == "folds" else None
    here = NaiveBayesSelector(**SELECTORS[name]).fit(X, y, sample_weight=weights)
    there = clone(NaiveBayesSelector(**SELECTORS[name], engine=engine))
    there.fit(X, y, sample_weight=weights)
    assert there.selected_.tolist() == here.selected_.tolist()
    assert repr(there.path_) == repr(here.path_)
    assert [step.key for step in there.path_.steps] == [step.key for step in here.path_.steps]
    np.testing.assert_array_equal(there.predict_proba(X), here.predict_proba(X))


@pytest.mark.parametrize("given", [{}, {"class_weight": "balanced"}, {"pairs": True, "price": 1.0}])
def test_a_weighted_model_is_the_same(hosted, given):
    X, y = problem(120)
    here = WeightedNaiveBayes(max_terms=4, **given).fit(X, y)
    there = WeightedNaiveBayes(max_terms=4, engine="gpu", **given).fit(X, y)
    assert terms_of(there) == terms_of(here)
    np.testing.assert_array_equal(there.weights_, here.weights_)
    assert there.path_.to_dict() == here.path_.to_dict()


def test_a_checkpoint_goes_on_elsewhere(hosted, tmp_path):
    X, y = problem()
    named = {**NAMED, "search": "forward", "cv": 3, "criterion": "error"}
    whole = NaiveBayesSelector(**named).fit(X, y)
    file = tmp_path / "steps"
    with pytest.warns(match="stopped by time_limit"):
        NaiveBayesSelector(**named, checkpoint=file, time_limit=0, engine="gpu").fit(X, y)
    again = NaiveBayesSelector(**named, checkpoint=file).fit(X, y)
    assert repr(again.path_) == repr(whole.path_)


def test_a_small_table_is_told_of(device, monkeypatch):
    if not isinstance(device, HostDevice):
        pytest.skip("asked without a GPU")
    put_in_place(monkeypatch, device)
    X, y = problem()
    with pytest.warns(UserWarning, match=r"180 rows x 7 columns are too few for a GPU.*n_jobs=-1"):
        NaiveBayesSelector(engine="gpu", choice="best").fit(X, y)


@pytest.mark.parametrize("estimator", [NaiveBayesSelector, WeightedNaiveBayes])
def test_tables_that_cannot_go_there(hosted, estimator):
    X, y = problem()
    for odd, error, words in (
        ((sparse.csr_array(np.nan_to_num(X)), y), TypeError, "holds dense tables; got a sparse"),
        ((X, np.column_stack([y > 0, y > 1]).astype(int)), ValueError, "y is a matrix of labels"),
    ):
        with pytest.raises(error, match=words):
            estimator(engine="gpu").fit(*odd)
    rng = np.random.default_rng(0)
    wide = rng.integers(0, 400, (1500, 1)).astype(str).astype(object)
    with pytest.raises(ValueError, match=r"at most 255 values; (column 'x0'|term 0) has more"):
        estimator(engine="gpu").fit(wide, rng.integers(0, 2, 1500))


def test_what_cannot_go_there_by_name(hosted):
    X, y = problem()
    for asked, words in (
        ({"criterion": "auc"}, "criterion 'auc' compares rows"),
        ({"estimator": FeatureVotes()}, "FeatureVotes cannot be searched on a GPU"),
        ({"estimator": NaiveBayes("gaussian"), "cv": 3}, "modelled as 'gaussian'.*'density'"),
    ):
        with pytest.raises(ValueError, match=words):
            NaiveBayesSelector(engine="gpu", **asked).fit(X, y)


def test_too_little_memory_names_both_numbers(programs, monkeypatch):
    put_in_place(monkeypatch, HostDevice(programs, free=1000))
    X, y = problem()
    with (
        warnings.catch_warnings(action="ignore"),
        pytest.raises(MemoryError, match=r"need .* GB on the GPU, of which 1e-06 GB are free"),
    ):
        NaiveBayesSelector(engine="gpu").fit(X, y)


class CudaError(Exception):
    """What CuPy raises."""

    def __init__(self, status):
        super().__init__(f"status {status}")
        self.status = status


def cupy_that(status, driver=12080):
    """CuPy on a machine where counting the GPUs fails, or finds one."""

    def count():
        if status:
            raise CudaError(status)
        return 1

    runtime = types.SimpleNamespace(
        CUDARuntimeError=CudaError,
        getDeviceCount=count,
        driverGetVersion=lambda: driver,
        runtimeGetVersion=lambda: 13000,
    )
    return types.SimpleNamespace(cuda=types.SimpleNamespace(runtime=runtime))


def test_machines_that_cannot(monkeypatch):
    X, y = problem()
    monkeypatch.setitem(sys.modules, "cupy", None)
    with pytest.raises(ImportError, match=r'pip install "bayesieve\[cuda12\]" or'):
        NaiveBayesSelector(engine="gpu").fit(X, y)
    for found, words in (
        (cupy_that(100), "no GPU was found"),
        (cupy_that(35, 0), "no GPU was found"),
        (cupy_that(35), r"driver supports CUDA 12.8, but CuPy was built for 13.0; update"),
        (cupy_that(999), "the GPU does not answer"),
    ):
        monkeypatch.setitem(sys.modules, "cupy", found)
        for estimator in (NaiveBayesSelector(engine="gpu"), WeightedNaiveBayes(engine="gpu")):
            with pytest.raises(RuntimeError, match=words):
                estimator.fit(X, y)
    monkeypatch.setitem(sys.modules, "cupy", cupy_that(0))
    with pytest.raises(RuntimeError, match="there is no GPU 3; there are 1"):
        NaiveBayesSelector(engine=GpuEngine([0, 3])).fit(X, y)
    for odd in ("0", [], None, True, [0, -1]):
        with pytest.raises(TypeError, match="device must be the number of a GPU"):
            NaiveBayesSelector(engine=GpuEngine(odd)).fit(X, y)


def test_a_fork_after_use_is_told_of(monkeypatch):
    monkeypatch.setattr(gpu_engine, "_used_by", os.getpid())
    with multiprocessing.get_context("fork").Pool(1) as pool, pytest.raises(RuntimeError) as told:
        pool.apply(GpuEngine().judged)
    assert "was forked from one that had used the GPU" in str(told.value)


def test_nobody_picks_a_gpu_unasked(monkeypatch):
    def never(self):
        raise AssertionError("a GPU was asked for")

    monkeypatch.setattr(GpuEngine, "judged", never)
    X, y = problem()
    assert NaiveBayesSelector(choice="best", engine="threads").fit(X, y).selected_.size
    assert NaiveBayesSelector(choice="best").fit(X, y).selected_.size
    assert len(WeightedNaiveBayes(max_terms=2).fit(X, y).terms_) <= 2


def test_nothing_is_left_on_the_device(device):
    """Measured over many fits, where there is a GPU."""
    if isinstance(device, HostDevice):
        pytest.skip("the host has no memory of a GPU")
    X, y = problem()
    free = []
    with warnings.catch_warnings(action="ignore"):
        for _ in range(12):
            NaiveBayesSelector(engine="gpu", choice="best").fit(X, y)
            free.append(device.free_bytes())
    assert len(set(free[2:])) == 1
