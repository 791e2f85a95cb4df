"""Several fits at once: the same results, and no more threads than cores."""

import threading
import time
from concurrent.futures import ThreadPoolExecutor

import joblib
import numpy as np
import pytest
import scipy.sparse
from sklearn.model_selection import GridSearchCV

from bayesieve import rank
from bayesieve.engine.threads import count_threads
from plain import plain_selector
from tables import binary_table

JOBS = [
    {"search": "forward", "n_jobs": None},
    {"search": "backward-forward", "n_jobs": 2, "criterion": "log-likelihood"},
    {"search": "diversified", "n_jobs": -1, "criterion": "error"},
    {"search": "sffs", "n_jobs": 1, "cv": 5, "max_features": 8},
]
# Enough work to be handed to threads.
WHOLE = {"validation": None, "max_features": 10}


def table(sparse):
    X, y = binary_table(3000, 90, n_classes=2)
    return (scipy.sparse.csr_matrix(X) if sparse else X), y


def fit(parameters, sparse):
    """What a fit finds, and how many threads it used (its own included)."""
    X, y = table(sparse)
    most, done = [0], threading.Event()

    def watch():
        while not done.is_set():
            mine = [t for t in threading.enumerate() if t.name.startswith("bayesieve")]
            most[0] = max(most[0], len(mine))
            time.sleep(1e-3)

    watcher = threading.Thread(target=watch)
    watcher.start()
    try:
        selector = plain_selector(random_state=0, **parameters).fit(X, y)
    finally:
        done.set()
        watcher.join()
    found = (selector.selected_.tolist(), repr(selector.path_.steps), selector.n_tried_)
    return found, 1 + most[0]


@pytest.mark.parametrize("sparse", [False, True])
def test_fits_in_threads_of_one_process(sparse):
    wanted = [fit(job, sparse)[0] for job in JOBS]
    with ThreadPoolExecutor(len(JOBS)) as pool:
        found = list(pool.map(lambda job: fit(job, sparse)[0], JOBS * 2))
    assert found == wanted * 2


def test_threads_are_as_many_as_asked_for():
    assert fit({"search": "forward", "n_jobs": None, **WHOLE}, False)[1] == 1
    assert fit({"search": "forward", "n_jobs": 3, **WHOLE}, False)[1] == 3


def test_processes_share_the_cores():
    jobs = [{**job, "n_jobs": -1, **WHOLE} for job in JOBS]
    wanted = [fit(job, False)[0] for job in jobs]
    found = joblib.Parallel(n_jobs=2, backend="loky")(
        joblib.delayed(fit)(job, False) for job in jobs
    )
    assert [each[0] for each in found] == wanted
    assert 2 * max(each[1] for each in found) <= max(joblib.cpu_count(), 2)


def test_a_grid_of_selectors_in_processes():
    X, y = table(False)
    grid = {"criterion": ["error", "probability"], "max_features": [3, 6]}
    selector = plain_selector(search="forward", random_state=0, n_jobs=-1)
    alone, together = (
        GridSearchCV(selector, grid, cv=2, n_jobs=n_jobs).fit(X[:600], y[:600]) for n_jobs in (1, 2)
    )
    assert alone.best_params_ == together.best_params_
    np.testing.assert_array_equal(
        alone.cv_results_["mean_test_score"], together.cv_results_["mean_test_score"]
    )


def test_the_limit_that_joblib_sets_is_kept():
    with joblib.parallel_config(backend="loky", inner_max_num_threads=3):
        found = joblib.Parallel(n_jobs=2)(joblib.delayed(count_threads)(n) for n in (-1, -1, None))
    assert found == [min(3, joblib.cpu_count())] * 2 + [1]


def test_workers_that_are_threads_get_one_each():
    found = joblib.Parallel(n_jobs=2, backend="threading")(
        joblib.delayed(count_threads)(n) for n in (-1, None, 2)
    )
    assert found == [1, 1, 2]
    assert count_threads(-1) == joblib.cpu_count()
    with joblib.parallel_config(n_jobs=3):
        assert count_threads(None) == 3


def test_rankings_in_threads():
    X, y = table(False)
    wanted = rank(X, y, "mrmr").order.tolist()
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda _: rank(X, y, "mrmr", n_jobs=2).order.tolist(), range(8)))
    assert found == [wanted] * 8
