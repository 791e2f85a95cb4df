"""What a round costs on a Dask cluster, and what two workers do beside two threads.

`python benchmarks/dask_rounds.py [--rows N] [--columns P] [--steps S]` prints, all in one run:

- an empty round (ask everyone, add int64 answers) over our channel and by Dask's actors;
- forward steps by error and by probability: worker processes beside as many threads, and what share
  of the rounds is not the slowest worker;
- rounds and bytes a step, beside the bound that the documentation names.

With ``--labels L``: forward steps by the AUC of L labels over sparse rows, whose columns are dealt
out.
"""

import argparse
import json
import multiprocessing
import threading
import time

import dask.array as da
import numpy as np
import scipy.sparse
from dask import delayed
from distributed import Client, LocalCluster

from bayesieve import NaiveBayesSelector
from bayesieve.data.collection import read_collection
from bayesieve.data.columns import ColumnSpec
from bayesieve.engine.dask.engine import Cluster, Given
from bayesieve.engine.dask.transport import Channel, Message, dial
from bayesieve.engine.dask.worker import Holder, PartitionRequest, serve
from bayesieve.search.strategies.greedy import PhaseSearch


class Echo:
    """An actor that answers zeros."""

    def answer(self, n):
        """So many of them."""
        return np.zeros(n, np.int64)


def make_chunk(seed, n_rows, n_columns):
    """Binary columns of which the first ten tell something; the last column is the class."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, n_rows, dtype=np.uint8)
    X = rng.integers(0, 256, (n_rows, n_columns), dtype=np.uint8)
    low = np.full(n_columns, 128)
    low[:10] = np.linspace(100, 120, 10)
    X = (np.where(y[:, None] == 1, low, 256 - low) > X).astype(np.uint8)
    return np.column_stack([X, y])


def make_sparse(seed, n_rows, n_columns, n_labels, share=0.01):
    """Sparse rows, and labels of which every tenth column tells something."""
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, 2, (n_rows, n_labels))
    size = rng.poisson(share * n_rows * n_columns)
    rows, columns = rng.integers(0, n_rows, size), rng.integers(0, n_columns, size)
    told = (columns % 10 > 0) | (labels[rows, columns % n_labels] == 1) | (rng.random(size) < 0.5)
    at = rows[told], columns[told]
    return scipy.sparse.csr_array((np.ones(at[0].size), at), shape=(n_rows, n_columns)), labels


def auc_steps(asked):
    """Forward steps by the AUC of labels: workers that hold columns beside as many threads."""
    n_parts = 2 * asked.workers
    size = asked.rows // n_parts
    given = [make_sparse(seed, size, asked.columns, asked.labels) for seed in range(n_parts)]
    X, labels = scipy.sparse.vstack([rows for rows, _ in given]), np.vstack([y for _, y in given])
    cluster = LocalCluster(
        n_workers=asked.workers, threads_per_worker=1, dashboard_address=None, silence_logs=50
    )
    with cluster, Client(cluster):
        parts = [
            da.from_delayed(delayed(rows), rows.shape, rows.dtype, meta=rows[:0])
            for rows, _ in given
        ]
        start = time.perf_counter()
        times, there, spent = steps_of(da.concatenate(parts), labels, "auc", asked.steps)
        whole = time.perf_counter() - start
    start = time.perf_counter()
    near, here, _ = steps_of(X, labels, "auc", asked.steps, n_jobs=asked.workers)
    alone = time.perf_counter() - start
    assert repr(there.path_.steps) == repr(here.path_.steps)
    rounds, sent, received, seconds, beyond = spent
    return {
        "rows": asked.rows,
        "columns": asked.columns,
        "labels": asked.labels,
        "entries": int(X.nnz),
        "seconds a step, workers": round(float(np.median(times[1:])), 4),
        "seconds a step, threads": round(float(np.median(near[1:])), 4),
        "rounds a step": rounds,
        "bytes a step": int(sent + received),
        "share beyond the slowest worker": round(float(beyond / seconds), 4),
        "whole fit, workers": round(whole, 1),
        "whole fit, threads": round(alone, 1),
    }


def empty_round(client, n_candidates, repeats=300):
    """Milliseconds of an empty round: ours, and by actors."""
    specs = [ColumnSpec("x0", "bernoulli", levels=np.array([0.0, 1.0]))]
    X = da.zeros((64, 1), chunks=(64 // len(client.nthreads()), 1))
    collection = read_collection(X)
    cluster = Cluster(client)
    wanted = tuple(PartitionRequest(number) for number in range(len(collection.parts)))
    sizes = tuple(cluster.count_rows(collection))
    held = Given(cluster, collection, wanted, sizes).hold(specs)
    zeros = np.zeros(n_candidates, np.int64)
    ours = []
    for _ in range(repeats):
        start = time.perf_counter()
        held.ask(Message("nothing", {}, (zeros,)))
        ours.append(time.perf_counter() - start)
    cluster.close()
    workers = list(client.nthreads())
    actors = [client.submit(Echo, actor=True, workers=[each]).result() for each in workers]
    theirs = []
    for _ in range(max(repeats // 5, 20)):
        start = time.perf_counter()
        found = [actor.answer(n_candidates) for actor in actors]
        np.sum([each.result() for each in found], axis=0)
        theirs.append(time.perf_counter() - start)
    return 1e3 * float(np.median(ours)), 1e3 * float(np.median(theirs))


def _answer_many(address, token, numbers):
    """Several holders in one process, each with a line of its own."""
    threads = [
        threading.Thread(target=serve, args=(dial(address, token, number), Holder([])))
        for number in numbers
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def many_holders(n_holders, n_candidates, repeats=50, n_processes=4):
    """Milliseconds of a round with many connections to one machine: best, median."""
    channel = Channel("127.0.0.1", n_holders, lambda holder: None)
    shares = np.array_split(np.arange(n_holders), n_processes)
    context = multiprocessing.get_context("spawn")
    processes = [
        context.Process(target=_answer_many, args=(channel.address, channel.token, each.tolist()))
        for each in shares
    ]
    for process in processes:
        process.start()
    zeros, times = np.zeros((n_candidates, 2), np.int64), []
    channel.ask(lambda holder: Message("nothing"))
    for _ in range(repeats):
        start = time.perf_counter()
        found = channel.ask(lambda holder: Message("nothing", {}, (zeros,)))
        np.sum([each.arrays[0] for each in found], axis=0)
        times.append(time.perf_counter() - start)
    channel.close()
    for process in processes:
        process.join()
    return 1e3 * min(times), 1e3 * float(np.median(times))


CHANNELS = []


def noted(make):
    """Remember every channel that is opened."""

    def init(self, *args, **settings):
        make(self, *args, **settings)
        CHANNELS.append(self)

    return init


Channel.__init__ = noted(Channel.__init__)


def steps_of(X, y, criterion, n_steps, **settings):
    """Seconds of each forward step, the selector, and what went over the channel meanwhile."""
    moments, tallies = [], []
    CHANNELS.clear()

    class Watched(PhaseSearch):
        def steps(self, objective, limits):
            objective.start((), "forward")
            for _ in range(n_steps):
                moments.append(time.perf_counter())
                tallies.extend(each.tally for each in CHANNELS[-1:])
                unit, _ = objective.best_add(objective.addable())
                objective.add(unit)
                yield
            moments.append(time.perf_counter())
            tallies.extend(each.tally for each in CHANNELS[-1:])

    selector = NaiveBayesSelector(
        search=Watched("forward"),
        criterion=criterion,
        cv="train",
        validation=None,
        choice="best",
        reweigh=False,
        **settings,
    ).fit(X, y)
    # The first step tells the units and warms the kernels.
    spent = np.subtract(tallies[-1], tallies[1]) / (n_steps - 1) if tallies else None
    return np.diff(moments), selector, spent


def main():
    """Measure and print."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--columns", type=int, default=1000)
    parser.add_argument("--steps", type=int, default=6)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--many", type=int, default=0, help="simulate so many workers, no more")
    parser.add_argument("--labels", type=int, default=0, help="AUC of so many labels, no more")
    asked = parser.parse_args()
    if asked.labels:
        print(json.dumps(auc_steps(asked), indent=2))
        return
    if asked.many:
        best, median = many_holders(asked.many, asked.columns)
        print(json.dumps({"workers": asked.many, "best ms": best, "median ms": median}))
        return
    found = {"rows": asked.rows, "columns": asked.columns, "workers": asked.workers}
    cluster = LocalCluster(
        n_workers=asked.workers, threads_per_worker=1, dashboard_address=None, silence_logs=50
    )
    with cluster, Client(cluster) as client:
        for n in (1000, 10_000):
            ours, actors = empty_round(client, n)
            found[f"empty round, {n} candidates, ms"] = {
                "ours": round(ours, 3),
                "actors": round(actors, 3),
                "ratio": round(ours / actors, 3),
            }
        n_parts = 2 * asked.workers
        size = asked.rows // n_parts
        parts = [
            da.from_delayed(
                delayed(make_chunk)(seed, size, asked.columns), (size, asked.columns + 1), np.uint8
            )
            for seed in range(n_parts)
        ]
        table = client.persist(da.concatenate(parts))
        y = table[:, -1].compute()
        there = {}
        for criterion in ("error", "probability"):
            start = time.perf_counter()
            times, selector, spent = steps_of(table[:, :-1], y, criterion, asked.steps)
            whole = time.perf_counter() - start
            there[criterion] = (times, selector.selected_.tolist(), whole, spent)
    here = {}
    X = np.concatenate([make_chunk(seed, size, asked.columns) for seed in range(n_parts)])[:, :-1]
    for criterion in ("error", "probability"):
        start = time.perf_counter()
        times, selector, _ = steps_of(X, y, criterion, asked.steps, n_jobs=asked.workers)
        here[criterion] = (times, selector.selected_.tolist(), time.perf_counter() - start)
    for criterion, (times, selected, whole, spent) in there.items():
        assert selected == here[criterion][1]
        near = here[criterion]
        rounds, sent, received, seconds, beyond = spent
        bound = 1.2 * asked.workers * asked.columns * 8 * 2 + asked.workers * 2**16
        found[criterion] = {
            "seconds a step, workers": round(float(np.median(times[1:])), 4),
            "seconds a step, threads": round(float(np.median(near[0][1:])), 4),
            "speed beside threads": round(float(np.median(near[0][1:]) / np.median(times[1:])), 3),
            "rounds a step": rounds,
            "bytes a step": int(sent + received),
            "bytes a step, bound": int(bound),
            "share beyond the slowest worker": round(float(beyond / seconds), 4),
            "whole fit, workers": round(whole, 1),
            "whole fit, threads": round(near[2], 1),
        }
    print(json.dumps(found, indent=2))


if __name__ == "__main__":
    main()
