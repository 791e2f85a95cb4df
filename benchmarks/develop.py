"""Where the defaults were decided: samples of larger sets, judged on thousands of rows beside them.

The sets below 1000 rows, on which `defaults.py` confirms, take no part.
`python develop.py --data FOLDER [--rows 250,600] [--draws 3] [--out FILE]`; goes on from FILE.
"""

import argparse
import json
import os
import time
import warnings
from itertools import product
from pathlib import Path

import numpy as np
from sklearn.metrics import log_loss
from sklearn.model_selection import train_test_split

from bayesieve import NaiveBayes, NaiveBayesSelector, WeightedNaiveBayes
from bayesieve.datasets import load
from defaults import old

SETS = (
    "adult", "cmc", "letter", "madelon", "mushroom", "nursery", "optdigits", "pendigits", "segment",
    "spambase", "splice", "texture", "waveform21", "waveform40", "yeast",
)  # fmt: skip
# A class with fewer rows is left out.
LEAST = 30
MOST_TEST = 2000


def methods():
    """All columns, what was the default, and every way to score, guide and choose."""
    found = {"all columns": NaiveBayes(), "old default": old(random_state=0)}
    plain = {"search": "forward-backward", "validation": None}
    for cv, criterion, choice in product(
        ("loo", 10), ("error", "probability", "log-likelihood"), ("best", "one-se")
    ):
        name = f"{cv}, {criterion}, {choice}"
        found[name] = old(**plain, cv=cv, criterion=criterion, choice=choice)
    found["10, probability, one-se, weights"] = old(**plain, cv=10, choice="one-se", reweigh=True)
    found["a quarter validates"] = old(search="forward-backward", validation=0.25, random_state=0)
    found["selector"] = NaiveBayesSelector()
    found["weighted, no pairs"] = WeightedNaiveBayes(pairs=False)
    found["weighted"] = WeightedNaiveBayes()
    return found


def judge(method, X, y, train, test):
    """Accuracy, log-loss, columns or terms, and processor seconds of a fit."""
    start = time.process_time()
    model = method.fit(X[train], y[train])
    seconds = time.process_time() - start
    proba = model.predict_proba(X[test])
    return {
        "accuracy": float(np.mean(model.predict(X[test]) == y[test])),
        "log_loss": float(log_loss(y[test], proba, labels=model.classes_)),
        "terms": len(getattr(model, "terms_", range(X.shape[1]))),
        "seconds": seconds,
    }


def cells(rows, draws, done):
    """Every sample by every method that is not done."""
    for draw, size, name in product(range(draws), rows, SETS):
        data = load(name)
        y = np.asarray(data.y)
        _, where, count = np.unique(y, return_inverse=True, return_counts=True)
        at = np.flatnonzero(count[where] >= LEAST)
        X, y = data.X[at], y[at]
        if len(y) < 1.5 * size:
            continue
        train, test = train_test_split(
            np.arange(len(y)), train_size=size, test_size=min(MOST_TEST, len(y) - size),
            stratify=y, random_state=1000 + draw,
        )  # fmt: skip
        for method, model in methods().items():
            key = [name, size, draw, method]
            if key not in done:
                yield key, judge(model, X, y, train, test)


def show(found):
    """Means by size and method, over the samples that all methods have done."""
    for size in sorted({key[1] for key, _ in found}):
        table = {}
        for (name, n, draw, method), scores in found:
            if n == size:
                table.setdefault((name, draw), {})[method] = scores
        whole = [row for row in table.values() if len(row) == len(methods())]
        print(f"\n{size} rows, {len(whole)} samples\n{'':32} accuracy log-loss terms seconds")
        for method in methods() if whole else ():
            mean = {s: np.mean([row[method][s] for row in whole]) for s in whole[0][method]}
            print(
                f"{method:32} {mean['accuracy']:.4f}   {mean['log_loss']:.3f} {mean['terms']:5.1f} "
                f"{mean['seconds']:6.2f}"
            )


def main():
    """Run, write down, print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", default=os.environ.get("BAYESIEVE_DATA"))
    parser.add_argument("--rows", default="250,600")
    parser.add_argument("--draws", type=int, default=3)
    parser.add_argument("--out", type=Path)
    args = parser.parse_args()
    if args.data is None:
        parser.error("--data (or BAYESIEVE_DATA) must name the folder of sets")
    os.environ["BAYESIEVE_DATA"] = args.data
    warnings.simplefilter("ignore")
    found = []
    if args.out is not None and args.out.exists():
        found = [json.loads(line) for line in args.out.read_text().splitlines()]
    done = [key for key, _ in found]
    for key, scores in cells([int(n) for n in args.rows.split(",")], args.draws, done):
        found.append((key, scores))
        if args.out is not None:
            with args.out.open("a") as file:
                file.write(json.dumps([key, scores]) + "\n")
    show(found)


if __name__ == "__main__":
    main()
