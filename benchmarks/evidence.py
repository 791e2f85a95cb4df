"""What a single value may do to a decision, and how many rows stand behind it.

`python evidence.py --data FOLDER [--peers PYTHON] [--rows 100] [--only METHOD ...]`; the folder may
be named by BAYESIEVE_DATA. On ten sets a model learns four fifths of the rows. Then every numeric
column of some of the other rows is set to the 0, 0.1, 99.9 and 100 % points of the training rows,
and beyond them by their range. Printed for each method: the share of those rows whose decision
flips, the mean and the largest jump of the log-odds between the two classes that were most
probable; of our models the largest factor of a column behind which fewer than 5 training rows
stand, and the share of flips by values that have such a factor. Rows behind a factor are counted
here, without the package: rows of the stretch of the column, around the value, that says as much.
Of two classes what the one has over the other counts; of more what is said of either of the two
against all classes together, as far as few rows say it.
"""

import argparse
import os
import warnings

import numpy as np
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from bayesieve import NaiveBayes, NaiveBayesSelector, WeightedNaiveBayes
from bayesieve.datasets import load
from peer_model import Peer

SETS = (
    "pima_diabetes", "wdbc", "vehicle", "glass", "segment", "spambase", "ionosphere", "waveform40",
    "yeast", "wine",
)  # fmt: skip
MOST = 3000
FEW = 5


def methods(peers):
    """Default models, the same as they were before, and peers."""
    found = {
        "weighted": WeightedNaiveBayes(),
        "selector": NaiveBayesSelector(),
        "weighted, density": WeightedNaiveBayes(features="density"),
        "selector, density": NaiveBayesSelector(NaiveBayes("density")),
        "logistic": make_pipeline(StandardScaler(), LogisticRegression(max_iter=2000)),
        "boosted trees": HistGradientBoostingClassifier(random_state=0),
    }
    if peers is not None:
        found |= {name: Peer(peers, name.lower()) for name in ("EBM", "Khiops")}
    return found


def table(name):
    """Numbers, classes, and one split."""
    data = load(name)
    X, y = np.asarray(data.X, np.float64), np.asarray(data.y)
    _, where, count = np.unique(y, return_inverse=True, return_counts=True)
    rows = np.flatnonzero(count[where] >= 10)
    rows = np.sort(np.random.RandomState(0).permutation(rows)[:MOST])
    X, y = X[rows], y[rows]
    train, test = next(StratifiedKFold(5, shuffle=True, random_state=0).split(X, y))
    return X[train], y[train], X[test]


def values_of(column):
    """Where a column is set to, least first."""
    known = column[~np.isnan(column)]
    low, bottom, top, high = np.quantile(known, [0, 0.001, 0.999, 1])
    span = high - low
    return [low - span, low, bottom, top, high, high + span]


def jumps(model, X, asked, unsupported):
    """Of each row, column and value: does the decision flip, and how far do log-odds jump?

    Returns
    -------
    Share of flips, share of flips by a value behind whose factors few rows stand, mean and largest
    jump.
    """
    before = model.predict_proba(asked)
    order = np.argsort(-before, axis=1, kind="stable")
    at, flips, sizes, by_few = np.arange(len(asked)), [], [], []

    def odds(proba):
        proba = np.maximum(proba, 1e-12)
        return np.log(proba[at, order[:, 0]] / proba[at, order[:, 1]])

    for j in range(X.shape[1]):
        for v, value in enumerate(values_of(X[:, j])):
            moved = asked.copy()
            moved[:, j] = value
            after = model.predict_proba(moved)
            flips.append(after.argmax(1) != order[:, 0])
            by_few.append(flips[-1] & ((j, v) in unsupported))
            sizes.append(np.abs(odds(after) - odds(before)))
    return np.mean(flips), np.mean(by_few), np.mean(sizes), np.max(sizes)


def factors(model, X):
    """Of columns and values: the logarithm of the factor behind which fewer than 5 rows stand."""
    fitted = getattr(model, "estimator_", None)
    if not isinstance(fitted, NaiveBayes):
        return {}
    names = np.flatnonzero(model.get_support())
    found = {}
    for place, j in enumerate(names):
        column = np.sort(X[~np.isnan(X[:, j]), j])
        seen = np.full((column.size, names.size), np.nan)
        seen[:, place] = column
        said = fitted.terms(seen)[:, place]  # rows x classes, ascending
        for v, value in enumerate(values_of(X[:, j])):
            row = np.full((1, names.size), np.nan)
            row[0, place] = value
            line = fitted.terms(row)[0, place]
            if line.size == 2:
                mine, parts = said[:, 1:] - said[:, :1], line[1:] - line[:1]
            else:
                mine, parts = said, line
            few = [
                abs(part) if behind(mine[:, k], part, column, value) < FEW else 0.0
                for k, part in enumerate(parts)
            ]
            if max(few) > 0.1:
                found[int(j), v] = sum(sorted(few)[-2:])
    return found


def behind(said, part, column, value):
    """Rows of the stretch around a value that says as much, within a tenth of a nat."""
    weaker = np.flatnonzero(said * np.sign(part) < abs(part) - 0.1)
    at = min(int(np.searchsorted(column, value)), column.size - 1)
    if abs(said[at] - part) > 1e-6:
        at -= 1  # between two values, and of a kind with the one below
    return weaker[weaker > at].min(initial=column.size) - weaker[weaker < at].max(initial=-1) - 1


def main():
    """Read the command line, run, print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", default=os.environ.get("BAYESIEVE_DATA"))
    parser.add_argument("--peers", help="python of the environment of the peers")
    parser.add_argument("--rows", type=int, default=100, help="test rows that are changed")
    parser.add_argument("--only", nargs="*", help="names of methods")
    parser.add_argument("--sets", nargs="*", default=SETS, choices=SETS)
    given = parser.parse_args()
    os.environ["BAYESIEVE_DATA"] = given.data
    warnings.simplefilter("ignore")
    totals = {}
    for name in given.sets:
        X, y, asked = table(name)
        asked = asked[: given.rows]
        for method, model in methods(given.peers).items():
            if given.only and method not in given.only:
                continue
            model.fit(X, y)
            few = factors(model, X)
            most = np.exp(max(few.values(), default=0.0))
            found = (*jumps(model, X, asked, few), most)
            totals.setdefault(method, []).append(found)
            show(name, method, found)
    for method, found in totals.items():
        flips, by_few, mean, largest, most = np.array(found).T
        show(
            f"{len(given.sets)} sets",
            method,
            (*np.mean([flips, by_few, mean], 1), largest.max(), most.max()),
        )


def show(name, method, found):
    """One line."""
    flips, by_few, mean, largest, most = found
    print(
        f"{name:14s} {method:20s} flips {flips:6.2%}, by few rows {by_few:6.2%}  jump {mean:5.2f}, "
        f"largest {largest:5.2f} nat  few rows say at most x {most:.2f}",
        flush=True,
    )


if __name__ == "__main__":
    main()
