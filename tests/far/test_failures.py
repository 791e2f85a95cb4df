"""Workers die, schedulers die, partitions vanish: the same result, or a clear error."""

import asyncio
import contextlib
import gc
import os
import pickle
import signal
import threading
import time
import warnings
from types import SimpleNamespace

import numpy as np
import pytest
from clusters import cut, table, told

from bayesieve import NaiveBayesSelector
from bayesieve.engine.dask import transport as channel
from bayesieve.engine.dask import transport as health
from bayesieve.engine.dask.engine import Cluster, DaskEngine

distributed = pytest.importorskip("distributed")
psutil = pytest.importorskip("psutil")  # which distributed needs

SETTINGS = {"search": "backward-forward", "cv": 4, "choice": "best", "reweigh": False}


@pytest.fixture
def _impatient(monkeypatch):
    """A cluster counts as gone after seconds instead of half a minute."""
    # The limits of the product itself end a fit within the minute that is promised.
    assert health._SILENCE + health._LOOK + 2 * channel._LINE_SILENCE < 60
    assert health._PATIENCE + health._LOOK < 60
    monkeypatch.setattr(health, "_PATIENCE", 4.0)
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


def wide(n_columns=30):
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
        check_kills(client, [0.5])


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


def started(selector, ddf, y="target"):
    """A fit in another thread, and what became of it."""
    found = {}

    def fit():
        try:
            found["selector"] = selector.fit(ddf, y)
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
        self.go.wait(600)
        for unit in range(3):
            objective.score_add([unit])
            objective.add(unit)
            yield


@pytest.mark.usefixtures("_impatient")
@pytest.mark.parametrize("who", [pytest.param("scheduler", marks=pytest.mark.slow), "workers"])
def test_a_cluster_that_never_comes_back(who):
    frame, _, _ = table()
    search = Waiting()
    selector = NaiveBayesSelector(search=search, cv=3, choice="best", reweigh=False)
    cluster = own_cluster()
    client = distributed.Client(cluster)
    before = threading.active_count()
    try:
        thread, found = started(selector, cut(frame, 2))
        assert search.begun.wait(600)
        if who == "scheduler":
            cluster.close()
        else:
            # Who has said goodbye still answers on our channel, until its process ends.
            workers = [psutil.Process(pid) for pid in client.run(os.getpid).values()]
            cluster.scale(0)
            assert not psutil.wait_procs(workers, timeout=600)[1]
        search.go.set()
        thread.join(600)
        assert not thread.is_alive()
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
        assert search.begun.wait(600)
        for file in tmp_path.iterdir():
            file.unlink()
        for pid in client.run(os.getpid).values():
            os.kill(pid, signal.SIGKILL)
        search.go.set()
        thread.join(600)
        assert not thread.is_alive()
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
        deadline = time.monotonic() + 600
        while client.has_what() and any(client.has_what().values()):
            assert time.monotonic() < deadline, client.has_what()
            gc.collect()  # futures of tests before, held by tracebacks
            time.sleep(0.1)
        while any(client.processing().values()):
            assert time.monotonic() < deadline, client.processing()
            time.sleep(0.1)
        assert threading.active_count() <= threads


@pytest.mark.usefixtures("usual_signals")
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


@pytest.mark.slow
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
            stranger.settimeout(60)
            with contextlib.suppress(ConnectionError):  # silence would be a TimeoutError
                while stranger.recv(64):
                    pass
    finally:
        door.close()


@pytest.mark.usefixtures("_impatient")
@pytest.mark.slow
@pytest.mark.parametrize("when", ["reading", "searching"])
def test_a_worker_that_is_frozen(when, monkeypatch):
    """It says nothing and does not die: where restarts are allowed, it is replaced in a minute."""
    frame, _, _ = table()
    X, search = frame.drop(columns="target"), Waiting()
    selector = NaiveBayesSelector(search=search, cv=3, choice="best", reweigh=False)
    search.go.set()
    expected = told(selector.fit(X, frame["target"]), X)
    search.go.clear(), search.begun.clear()
    start = time.monotonic()
    with own_cluster() as cluster, distributed.Client(cluster) as client:
        pid = pid_of_some_worker(client)
        # Where machines are slow, workers that are not frozen are silent for a while as well.
        monkeypatch.setattr(health, "_SILENCE", max(8.0, 3 * (time.monotonic() - start)))
        if when == "reading":
            os.kill(pid, signal.SIGSTOP)
            search.go.set()
        selector.set_params(engine=DaskEngine(restart=True))
        thread, found = started(selector, cut(frame, 4))
        try:
            if when == "searching":
                assert search.begun.wait(600)
                os.kill(pid, signal.SIGSTOP)
                search.go.set()
            thread.join(600)
            assert "error" not in found, found
            assert told(found["selector"], X) == expected
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGCONT)


class Reading:
    """Partitions that say where they are read; the second waits, and the first when read again."""

    def __init__(self, folder):
        self.folder = folder

    def __call__(self, number, part):
        again = [*self.folder.glob(f"{number}-*")]
        (self.folder / f"{number}-{os.getpid()}").touch()
        while (number or again) and not (self.folder / "go").exists():
            time.sleep(0.05)
        return part

    def cut(self, frame):
        """A collection of two such partitions."""
        import dask.dataframe as dd
        from dask import delayed

        read, half = delayed(self, pure=False), len(frame) // 2
        parts = [read(k, frame.iloc[half * k : half * (k + 1)]) for k in range(2)]
        return dd.from_delayed(parts, meta=frame.iloc[:0], verify_meta=False)

    def go(self):
        """Nobody waits any more."""
        (self.folder / "go").touch()


def until(true, thread):
    """Wait for something while a fit goes on."""
    deadline = time.monotonic() + 600
    while not true() and thread.is_alive():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def test_a_worker_that_is_killed_while_others_read(tmp_path, monkeypatch):
    """What it had read is lost until another one has read it again: no reason to give up."""
    looks, check = [], health.Health.check
    monkeypatch.setattr(health.Health, "check", lambda self: looks.append(0) or check(self))
    frame, _, _ = table()
    X, reading = frame.drop(columns="target"), Reading(tmp_path)
    expected = told(NaiveBayesSelector(**SETTINGS).fit(X, frame["target"]), X)
    cluster = own_cluster(threads_per_worker=2)
    with cluster, distributed.Client(cluster) as client:
        pids = client.run(os.getpid)
        thread, found = started(NaiveBayesSelector(**SETTINGS), reading.cut(X), frame["target"])

        def holders():
            held = client.has_what().items()
            return [who for who, keys in held if any("summary_of" in key for key in keys)]

        until(holders, thread)
        (holder,) = holders()
        os.kill(pids[holder], signal.SIGKILL)
        until(lambda: holder not in client.nthreads(), thread)
        seen = len(looks)
        until(lambda: len(looks) > seen + 2, thread)
        assert "error" not in found, found
        reading.go()
        thread.join(600)
    assert told(found["selector"], X) == expected


def test_values_that_only_a_dead_worker_had(tmp_path):
    """Rows that were scattered cannot be read again: that is said, not waited for."""
    import dask.dataframe as dd
    from dask import delayed

    frame, _, _ = table()
    X, reading = frame.drop(columns="target"), Reading(tmp_path)
    with own_cluster() as cluster, distributed.Client(cluster) as client:
        pids = client.run(os.getpid)
        holder = next(iter(pids))
        (some,) = client.scatter([X.iloc[:90]], workers=[holder])
        parts = [delayed(some), delayed(reading, pure=False)(1, X.iloc[90:])]
        ddf = dd.from_delayed(parts, meta=X.iloc[:0], verify_meta=False)
        thread, found = started(NaiveBayesSelector(**SETTINGS), ddf, frame["target"])
        until(lambda: [*tmp_path.glob("1-*")], thread)
        assert list(client.who_has([some])[some.key]) == [holder]
        os.kill(pids[holder], signal.SIGKILL)
        thread.join(600)
        reading.go()
    assert isinstance(found["error"], RuntimeError)
    assert "scattered" in str(found["error"])


@pytest.mark.usefixtures("_impatient")
def test_values_that_are_lost_on_their_way(monkeypatch):
    """All workers leave between the end of a task and the reading of its result."""
    frame, _, _ = table()
    waited = Cluster._wait
    with own_cluster(n_workers=1) as cluster, distributed.Client(cluster) as client:

        def wait(self, futures):
            waited(self, futures)
            cluster.scale(0)
            until(lambda: not client.nthreads(), thread)

        monkeypatch.setattr(Cluster, "_wait", wait)
        thread, found = started(NaiveBayesSelector(**SETTINGS), cut(frame, 2))
        thread.join(600)
    assert isinstance(found["error"], RuntimeError)
    assert "has no worker" in str(found["error"])


class Unwell:
    """A client whose scheduler answers, and has no worker."""

    status = "running"

    def sync(self, *args, **settings):
        return 0


def test_patience_begins_when_something_is_waited_for(monkeypatch):
    """However long nobody had to ask, workers that vanish have half a minute to come back."""
    now = [0.0]
    monkeypatch.setattr(health, "time", SimpleNamespace(monotonic=lambda: now[0]))
    watching = health.Health(Unwell())
    for start in (1000.0, 5000.0):
        for seconds in range(int(health._PATIENCE)):
            now[0] = start + seconds
            watching.check()
        now[0] = start + health._PATIENCE + 1
        with pytest.raises(RuntimeError, match="has no worker"):
            watching.check()


class Scheduler:
    """One worker that spoke just now, and one that is silent; nothing may be restarted."""

    def __init__(self):
        seen = {"tcp://quick": time.time(), "tcp://silent": time.time() - 60}
        self.workers = {at: SimpleNamespace(address=at, last_seen=t) for at, t in seen.items()}


class Watched(Unwell):
    """A client whose scheduler has workers."""

    def sync(self, *args, **settings):
        return 2

    def run_on_scheduler(self, function, *args):
        return asyncio.run(function(*args, dask_scheduler=Scheduler()))


def test_workers_are_not_restarted_unasked(monkeypatch):
    """Others may be waiting for them: a warning names who is silent, once."""
    monkeypatch.setattr(health, "_LOOK", -1.0)
    watching = health.Health(Watched())
    with pytest.warns(UserWarning, match="worker tcp://silent has said nothing.*restart=True"):
        watching.check()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        watching.check()
    assert repr(DaskEngine()) == "DaskEngine()"
    assert repr(DaskEngine("tcp://a:1", restart=True)) == "DaskEngine('tcp://a:1', restart=True)"
    assert pickle.loads(pickle.dumps(DaskEngine(restart=True))).restart
