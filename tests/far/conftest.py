"""One cluster of processes for all tests here, and processes that start quickly."""

import multiprocessing

import pytest


@pytest.fixture(scope="session", autouse=True)
def _forked():
    """Workers are forked off one process that has imported everything: a dozen clusters start."""
    distributed = pytest.importorskip("distributed")
    if "forkserver" not in multiprocessing.get_all_start_methods():
        yield
        return
    import dask

    with dask.config.set({"distributed.worker.multiprocessing-method": "forkserver"}):
        context = distributed.utils.get_mp_context()  # with modules of its own to import, at first
        context.set_forkserver_preload(
            ["distributed", "dask.dataframe", "pandas", "numba", "bayesieve.engine.dask.worker"]
        )
        yield


@pytest.fixture(scope="session")
def client(_forked):
    distributed = pytest.importorskip("distributed")
    cluster = distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, dashboard_address=None, silence_logs=50
    )
    with cluster, distributed.Client(cluster) as client:
        yield client
