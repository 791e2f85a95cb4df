"""Exhaustive search over all subsets, beside mlxtend's, on a table of pendigits' shape.

    python benchmarks/exhaustive.py [FILE.csv.gz]

16 columns x 10992 rows x 10 classes, exact ten-fold error of all 65536 subsets.  Simulated by
default; FILE holds a header and the last column `class`.  mlxtend is timed on a sample of subsets
where it is installed.
"""

import sys
import time

import numpy as np
import pandas as pd
from sklearn.model_selection import StratifiedKFold, cross_val_score
from sklearn.naive_bayes import GaussianNB

from bayesieve import NaiveBayes, NaiveBayesSelector


def read(arguments):
    """The table and its classes."""
    if arguments:
        table = pd.read_csv(arguments[0])
        return table.drop(columns="class").to_numpy(float), table["class"].to_numpy()
    rng = np.random.default_rng(0)
    y = rng.integers(0, 10, 10992)
    return np.round(50 + 20 * (rng.normal(size=(10, 16))[y] + rng.normal(size=(10992, 16)))), y


def main():
    """Time both."""
    X, y = read(sys.argv[1:])
    selector = NaiveBayesSelector(
        NaiveBayes("gaussian"), "exhaustive", "error", 10, validation=None, n_jobs=2
    )
    NaiveBayesSelector(
        NaiveBayes("gaussian"), "exhaustive", "error", 10, validation=None, n_jobs=2
    ).fit(X[:500, :3], y[:500])
    start = time.perf_counter()
    selector.fit(X, y)
    seconds = time.perf_counter() - start
    n_subsets = selector.n_tried_
    best = selector.path_.steps[selector.path_.chosen]
    print(f"{n_subsets} subsets in {seconds:.1f} s, {seconds / n_subsets * 1e3:.3f} ms a subset")
    print(f"best: {best.n_features} columns, ten-fold accuracy {1 - best.score:.4f}")
    rng = np.random.default_rng(0)
    sample = [rng.permutation(X.shape[1])[: rng.integers(1, X.shape[1] + 1)] for _ in range(12)]
    folds = StratifiedKFold(10)
    start = time.perf_counter()
    for columns in sample:
        cross_val_score(GaussianNB(), X[:, columns], y, cv=folds)
    peer = (time.perf_counter() - start) / len(sample)
    print(f"scikit-learn's cross_val_score, GaussianNB: {peer * 1e3:.1f} ms a subset, "
          f"{peer / seconds * n_subsets:.0f} times as long")  # fmt: skip
    try:
        from mlxtend.feature_selection import ExhaustiveFeatureSelector
    except ImportError:
        print("mlxtend is not installed: not timed")
        return
    start = time.perf_counter()
    ExhaustiveFeatureSelector(
        GaussianNB(),
        min_features=15,
        max_features=16,
        cv=10,
        print_progress=False,
        clone_estimator=True,
    ).fit(X, y)
    peer = (time.perf_counter() - start) / 17
    print(f"mlxtend's ExhaustiveFeatureSelector: {peer * 1e3:.1f} ms a subset (sizes 15 and 16), "
          f"{peer / seconds * n_subsets:.0f} times as long")  # fmt: skip


if __name__ == "__main__":
    main()
