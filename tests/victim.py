"""A process whose children search and are killed: run by test_kills.py.

`python victim.py KIND SEED KILLS FOLDER` prints JSON: the cases with the kills of each; the kind of
the cases is "searches" or "weights".  A process of its own, because it forks: a child then starts
with everything imported and compiled, and kills hit the search instead of the start of Python.
"""

import json
import os
import pickle
import random
import signal
import sys
import time
from pathlib import Path

import numpy as np
import scipy.sparse
from sklearn.base import clone

from bayesieve import FeatureVotes, WeightedNaiveBayes
from bayesieve.search import RandomSearch, RankedSearch
from bayesieve.search import checkpoint as journal
from bayesieve.search import checkpoint as weights
from plain import plain_selector
from tables import binary_table


def searches():
    """Searches of every kind, dense, sparse and labelled: name -> (selector, X, y)."""
    X, y = binary_table(300, 30)
    numbers = np.random.default_rng(1).normal(size=(300, 12)) + 0.5 * y[:, None]
    S = scipy.sparse.csr_matrix(binary_table(400, 40, seed=2, n_classes=2)[0])
    L = np.column_stack(
        [S[:, [0]].toarray() ^ (np.arange(400)[:, None] % 3 == 0), S[:, 2].toarray()]
    )
    found = {
        name: ({"search": name}, X, y)
        for name in ("forward", "backward-forward", "sffs", "sbfs", "dependency", "diversified")
    }
    found["exhaustive"] = ({"search": "exhaustive", "criterion": "error"}, X[:, :12], y)
    found["random"] = ({"search": RandomSearch(sizes=(5, 10), draws=30)}, X, y)
    found["ranked"] = ({"search": RankedSearch("score"), "cv": "loo"}, X, y)
    found["numbers"] = ({"search": "forward-backward", "cv": 5}, numbers, y)
    found["labels"] = ({"search": "backward", "criterion": "penalised-auc", "cv": 3}, S, L)
    found["votes"] = (
        {"search": "diversified", "criterion": "auc", "estimator": FeatureVotes()}, S, L,
    )  # fmt: skip
    return {name: (plain_selector(**options), X, y) for name, (options, X, y) in found.items()}


def weighted():
    """Weights of classes and labels, with pairs and without, dense and sparse."""
    X, y = binary_table(400, 30)
    numbers = np.random.default_rng(1).normal(size=(400, 8)) + 0.5 * y[:, None]
    S = scipy.sparse.csr_matrix(binary_table(400, 40, seed=2, n_classes=2)[0])
    L = np.column_stack([X[:, 0].astype(int) ^ (np.arange(400) % 5 == 0), X[:, 3].astype(int)])
    return {
        "binary": (WeightedNaiveBayes(price=0.01, pairs=False), X, y),
        "numbers": (WeightedNaiveBayes(pair_price=0.5), numbers, y),
        "kept": (WeightedNaiveBayes(price=0.5, pairs=True, keep=[7, 9]), X, y),
        "one term": (WeightedNaiveBayes(price=0.0, max_terms=1), X, y),
        "sparse": (WeightedNaiveBayes(price=0.1, pairs=True), S, y),
        "labels": (WeightedNaiveBayes(price=0.1), X, L),
        "labels apart": (WeightedNaiveBayes(price=0.1, shared_terms=False), X, L),
    }


def outcome(model, X):
    """All that must not depend on kills."""
    if isinstance(model, WeightedNaiveBayes):
        paths = model.path_ if isinstance(model.path_, list) else [model.path_]
        whole = np.array(model.weights_, dtype=object)
        return (
            model.selected_.tolist(), [np.asarray(each).tolist() for each in whole],
            model.settings_, [str(path.to_dict()) for path in paths],
            model.predict_proba(X).tolist(),
        )  # fmt: skip
    selector = model
    return (
        selector.selected_.tolist(), selector.path_.steps, selector.path_.chosen, selector.n_tried_,
        selector.estimator_.predict_proba(X[:, np.sort(selector.selected_)]).tolist(),
    )  # fmt: skip


_WRITE = journal.Journal._write


def write_in_pieces(file, at, content):
    """Records reach the file in small pieces, slowly: kills cut many of them."""
    file.seek(at)
    for start in range(0, len(content), 64):  # a mark is smaller
        os.write(file.fileno(), content[start : start + 64])
        time.sleep(1e-4)


def live(model, X, y, checkpoint, result, delay):
    """One life of a search of at most so many seconds; its outcome, or None if it was killed."""
    child = os.fork()
    if not child:
        try:
            settings = {"checkpoint": checkpoint, "random_state": 0}
            found = outcome(clone(model).set_params(**settings).fit(X, y), X)
            result.write_bytes(pickle.dumps(found))
            os._exit(0)
        except BaseException as error:
            sys.stderr.write(f"{type(error).__name__}: {error}\n")
            os._exit(1)
    end = time.monotonic() + delay
    while time.monotonic() < end:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            break
        time.sleep(1e-4)
    else:
        os.kill(child, signal.SIGKILL)
        _, status = os.waitpid(child, 0)
    if os.WIFSIGNALED(status):
        return None
    assert os.WEXITSTATUS(status) == 0
    return pickle.loads(result.read_bytes())


def kill_until_done(case, draw, folder):
    """Kill a search and let it go on, until it comes to its end; how often it was killed."""
    model, X, y = case
    wanted = outcome(clone(model).set_params(random_state=0).fit(X, y), X)
    result = folder / "result"
    start = time.monotonic()
    assert live(model, X, y, folder / "undisturbed", result, 600.0) == wanted
    duration = time.monotonic() - start
    kills, found = 0, None
    while found is None:
        found = live(model, X, y, folder / "checkpoint", result, draw.uniform(0, duration))
        kills += found is None
    assert found == wanted
    # A complete journal gives the same again, and is left as it is.
    before = (folder / "checkpoint").read_bytes()
    assert live(model, X, y, folder / "checkpoint", result, 600.0) == wanted
    assert (folder / "checkpoint").read_bytes() == before
    for file in folder.iterdir():
        file.unlink()
    return kills


def main():
    """Go through the cases until there were enough kills."""
    cases = {"searches": searches, "weights": weighted}[sys.argv[1]]
    draw = random.Random(int(sys.argv[2]))
    wanted, folder = int(sys.argv[3]), Path(sys.argv[4])
    journal._PAUSE = weights._PAUSE = 0.0  # write after every step
    kills: dict[str, int] = {}
    todo = list(cases().items())
    draw.shuffle(todo)
    while sum(kills.values()) < wanted:
        name, case = todo[len(kills) % len(todo)]
        slow = draw.random() < 0.5
        journal.Journal._write = staticmethod(write_in_pieces if slow else _WRITE)
        kills[f"{name} {len(kills)}"] = kill_until_done(case, draw, folder)
    sys.stdout.write(json.dumps(kills))


if __name__ == "__main__":
    main()
