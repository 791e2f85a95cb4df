"""Workers die, schedulers die, partitions vanish: the same result, or a clear error."""

import contextlib
import gc
import os
import signal
import threading
import time

import numpy as np
import pytest
from clusters import cut, table, told

from bayesieve import NaiveBayesSelector
from bayesieve.engine.far import channel, health

distributed = pytest.importorskip("distributed")
psutil = pytest.importorskip("psutil")  # which distributed needs

SETTINGS = {"search": "backward-forward", "cv": 4, "choice": "best", "reweigh": False}


@pytest.fixture
def _impatient(monkeypatch):
    """A worker counts as frozen, and a cluster as gone, after seconds instead of half a minute."""
    # The limits of the product itself end a fit within the minute that is promised.
    assert health._SILENCE + health._LOOK + 2 * channel._SILENCE < 60
    assert health._PATIENCE + health._LOOK < 60
    monkeypatch.setattr(health, "_PATIENCE", 4.0)
    monkeypatch.setattr(health, "_SILENCE", 8.0)
    monkeypatch.setattr(health, "_LOOK", 1.0)


def own_cluster(**settings):
    """A cluster that a test may break."""
    given = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": None, **settings}
    return distributed.LocalCluster(silence_logs=50, **given)


def pid_of_some_worker(client):
    """One of two that answer; who was killed before is replaced by then."""
    pids = []
    while len(pids) < 2:
        pids = list(client.run(os.getpid, on_error="ignore").values())
    return pids[int(np.random.default_rng().integers(len(pids)))]


def kill_after(client, seconds):
    """Kill a worker in a while, without a word."""
    pid = pid_of_some_worker(client)
    timer = threading.Timer(seconds, os.kill, (pid, signal.SIGKILL))
    timer.start()
    return timer


def wide(n_columns=60):
    """A search that lasts."""
    frame, _, _ = table(2000)
    rng = np.random.default_rng(1)
    more = rng.integers(0, 2, (2000, n_columns)).astype(float)
    frame[[f"m{j}" for j in range(n_columns)]] = more
    return frame


def check_kills(client, moments, criterion="probability"):
    """Fits during which a worker is killed; another takes its place for the next."""
    frame, settings = wide(), {**SETTINGS, "criterion": criterion}
    if criterion == "auc":
        frame["target"] = frame["target"].replace("maybe", "no")
    X = frame.drop(columns="target")
    expected = told(NaiveBayesSelector(**settings).fit(X, frame["target"]), X)
    for _ in range(1 + (criterion == "auc")):  # at first, kernels are loaded
        start = time.monotonic()
        NaiveBayesSelector(**settings).fit(cut(frame, 4), "target")
        whole = time.monotonic() - start
    for moment in moments:
        timer = kill_after(client, moment * whole)
        found = NaiveBayesSelector(**settings).fit(cut(frame, 4), "target")
        timer.join()
        assert told(found, X) == expected


def test_a_worker_that_is_killed():
    with own_cluster() as cluster, distributed.Client(cluster) as client:
        check_kills(client, [0.3, 0.8])


class Killing:
    """A forward search that kills a worker between two steps."""

    pid = None

    def steps(self, objective, limits):
        objective.start((), "forward")
        yield
        for step in range(5):
            if step == 3 and self.pid is not None:
                os.kill(self.pid, signal.SIGKILL)
            unit, _ = objective.best_add(objective.addable())
            objective.add(unit)
            yield


def test_a_worker_that_holds_columns_is_killed():
    frame, _, _ = table()
    frame["target"] = frame["target"].replace("maybe", "no")
    X, search = frame.drop(columns="target"), Killing()
    selector = NaiveBayesSelector(
        search=search, criterion="auc", cv=3, choice="best", reweigh=False
    )
    expected = told(selector.fit(X, frame["target"]), X)
    with own_cluster() as cluster, distributed.Client(cluster) as client:
        search.pid = pid_of_some_worker(client)
        assert told(selector.fit(cut(frame, 4), "target"), X) == expected
        with pytest.raises(ProcessLookupError):
            os.kill(search.pid, 0)


@pytest.mark.slow
@pytest.mark.parametrize("criterion", ["probability", "auc"])
def test_workers_killed_at_any_moment(criterion):
    for moment in np.random.default_rng().uniform(0, 1, 20):
        with own_cluster() as cluster, distributed.Client(cluster) as client:
            check_kills(client, [moment], criterion)


def started(selector, ddf):
    """A fit in another thread, and what became of it."""
    found = {}

    def fit():
        try:
            found["selector"] = selector.fit(ddf, "target")
        except BaseException as error:
            found["error"] = error

    thread = threading.Thread(target=fit, daemon=True)
    thread.start()
    return thread, found


class Waiting:
    """A search that waits for a sign before its first step."""

    def __init__(self):
        self.begun, self.go = threading.Event(), threading.Event()

    def steps(self, objective, limits):
        objective.start((), "forward")
        yield
        self.begun.set()
        self.go.wait(60)
        for unit in range(3):
            objective.score_add([unit])
            objective.add(unit)
            yield


@pytest.mark.usefixtures("_impatient")
@pytest.mark.parametrize("who", ["scheduler", "workers"])
def test_a_cluster_that_never_comes_back(who):
    frame, _, _ = table()
    search = Waiting()
    selector = NaiveBayesSelector(search=search, cv=3, choice="best", reweigh=False)
    cluster = own_cluster()
    client = distributed.Client(cluster)
    before = threading.active_count()
    try:
        thread, found = started(selector, cut(frame, 2))
        assert search.begun.wait(60)
        if who == "scheduler":
            cluster.close()
        else:
            # Who has said goodbye still answers on our channel, until its process ends.
            workers = [psutil.Process(pid) for pid in client.run(os.getpid).values()]
            cluster.scale(0)
            assert not psutil.wait_procs(workers, timeout=60)[1]
        start = time.monotonic()
        search.go.set()
        thread.join(60)
        assert not thread.is_alive()
        assert time.monotonic() - start < 60
        assert isinstance(found["error"], RuntimeError)
        assert "Dask cluster" in str(found["error"])
    finally:
        client.close()
        cluster.close()
    assert threading.active_count() <= before


def test_a_partition_that_cannot_be_read_again(tmp_path):
    import dask.dataframe as dd

    frame, _, _ = table()
    for k in range(2):
        part = frame.iloc[90 * k : 90 * (k + 1)]
        part.to_parquet(tmp_path / f"part{k}.parquet", index=False)
    search = Waiting()
    selector = NaiveBayesSelector(search=search, cv=3, choice="best", reweigh=False)
    with own_cluster() as cluster, distributed.Client(cluster) as client:
        thread, found = started(selector, dd.read_parquet(tmp_path))
        assert search.begun.wait(60)
        for file in tmp_path.iterdir():
            file.unlink()
        for pid in client.run(os.getpid).values():
            os.kill(pid, signal.SIGKILL)
        start = time.monotonic()
        search.go.set()
        thread.join(60)
        assert not thread.is_alive()
        assert time.monotonic() - start < 60
        assert isinstance(found["error"], FileNotFoundError)


def test_nothing_is_left_behind(client):
    """Neither futures, nor tasks, nor lines, nor threads; not after an error either."""
    import psutil

    frame, _, _ = table()
    mine = psutil.Process()

    def lines():
        return {each.laddr for each in mine.net_connections() if each.status == "LISTEN"}

    NaiveBayesSelector(cv=3, choice="best").fit(cut(frame, 2), "target")
    threads, doors = threading.active_count(), lines()

    class Broken:
        def steps(self, objective, limits):
            yield objective.start((), "forward")
            raise ZeroDivisionError

    frame["target"] = frame["target"].replace("maybe", "no")
    # Rows are held in the first, columns as well in the others.
    for search, criterion in (("forward", "error"), ("forward", "auc"), (Broken(), "auc")):
        selector = NaiveBayesSelector(search=search, criterion=criterion, cv=3, choice="best")
        if search == "forward":
            selector.fit(cut(frame, 2), "target")
        else:
            with pytest.raises(ZeroDivisionError):
                selector.fit(cut(frame, 2), "target")
        assert lines() == doors
        deadline = time.monotonic() + 20
        while client.has_what() and any(client.has_what().values()):
            assert time.monotonic() < deadline, client.has_what()
            gc.collect()  # futures of tests before, held by tracebacks
            time.sleep(0.1)
        while any(client.processing().values()):
            assert time.monotonic() < deadline, client.processing()
            time.sleep(0.1)
        assert threading.active_count() <= threads


def test_ctrl_c_ends_a_search_with_what_it_has(client):
    frame = wide()

    class Impatient:
        def steps(self, objective, limits):
            yield objective.start((), "forward")
            for unit in range(6):
                if unit == 3:
                    # In the middle of a question.
                    threading.Timer(0.002, os.kill, (os.getpid(), signal.SIGINT)).start()
                    for _ in range(2000):
                        objective.score_add(objective.addable())
                objective.add(unit)
                yield

    selector = NaiveBayesSelector(search=Impatient(), cv=3, choice="best", reweigh=False)
    with pytest.warns(UserWarning, match="stopped by Ctrl-C"):
        selector.fit(cut(frame, 2), "target")
    assert len(selector.path_) == 4
    X = frame.drop(columns="target")
    again = NaiveBayesSelector(
        keep=selector.selected_.tolist(),
        cv=3,
        n_features=selector.selected_.size,
        search="forward",
        choice="best",
        reweigh=False,
    )
    assert (
        again.fit(X, frame["target"]).path_.steps[0].key
        == selector.path_.steps[selector.path_.chosen].key
    )


def test_a_cluster_with_tls(tmp_path):
    """The channel takes the cluster's certificates, and hangs up on whoever has none."""
    import shutil
    import socket
    import subprocess

    if shutil.which("openssl") is None:
        pytest.skip("openssl makes the certificates, and is not installed")
    key, cert = str(tmp_path / "key.pem"), str(tmp_path / "cert.pem")
    asked = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2"]
    named = ["-keyout", key, "-out", cert, "-subj", "/CN=dask"]
    subprocess.run([*asked, *named], check=True, capture_output=True)
    security = distributed.Security(
        tls_ca_file=cert,
        require_encryption=True,
        **{f"tls_{who}_cert": cert for who in ("client", "worker", "scheduler")},
        **{f"tls_{who}_key": key for who in ("client", "worker", "scheduler")},
    )
    frame, _, _ = table()
    X = frame.drop(columns="target")
    here = NaiveBayesSelector(**SETTINGS).fit(X, frame["target"])
    cluster = own_cluster(protocol="tls://", security=security)
    with cluster, distributed.Client(cluster, security=security):
        there = NaiveBayesSelector(**SETTINGS).fit(cut(frame, 3), "target")
    assert told(here, X) == told(there, X)
    context = security.get_listen_args("client")["ssl_context"]
    door = channel.Channel("127.0.0.1", 1, lambda holder: None, context)
    try:
        with socket.create_connection(door.address) as stranger:
            stranger.sendall(door.token)  # the key, but in the clear
            stranger.settimeout(5)
            with contextlib.suppress(ConnectionError):  # silence would be a TimeoutError
                while stranger.recv(64):
                    pass
    finally:
        door.close()


@pytest.mark.usefixtures("_impatient")
@pytest.mark.parametrize("when", ["reading", pytest.param("searching", marks=pytest.mark.slow)])
def test_a_worker_that_is_frozen(when):
    """It says nothing and does not die: another one takes its place, within a minute."""
    frame, _, _ = table()
    X, search = frame.drop(columns="target"), Waiting()
    selector = NaiveBayesSelector(search=search, cv=3, choice="best", reweigh=False)
    search.go.set()
    expected = told(selector.fit(X, frame["target"]), X)
    search.go.clear(), search.begun.clear()
    with own_cluster() as cluster, distributed.Client(cluster) as client:
        pid = pid_of_some_worker(client)
        if when == "reading":
            os.kill(pid, signal.SIGSTOP)
            search.go.set()
        start = time.monotonic()
        thread, found = started(selector, cut(frame, 4))
        try:
            if when == "searching":
                assert search.begun.wait(60)
                os.kill(pid, signal.SIGSTOP)
                start = time.monotonic()
                search.go.set()
            thread.join(90)
            assert "error" not in found, found
            assert told(found["selector"], X) == expected
            assert time.monotonic() - start < 60
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGCONT)
