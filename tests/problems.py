"""Small random problems, and the library's and the twin's view of them."""

from fractions import Fraction

import numpy as np
from sklearn.model_selection import StratifiedKFold

import reference

MODELS = ("bernoulli", "categorical", "gaussian", "gaussian-pooled", "mixed")


def random_column(rng, kind, labels):
    """A column that tells something about the classes, with ties and a few missing values."""
    n = labels.size
    if kind == "bernoulli":
        column = (rng.random(n) < 0.2 + 0.5 * (labels == rng.integers(3))).astype(float)
    elif kind == "categorical":
        column = rng.integers(0, 3, n) + (labels == 1) * rng.integers(0, 2, n)
        column = column.astype(float)
    else:
        column = rng.normal(size=n) + labels * rng.normal()
        if rng.random() < 0.3:
            column = np.round(column)
    if rng.random() < 0.3:
        column[rng.random(n) < 0.15] = np.nan
    return column


def random_problem(seed, model, *, smoothing=1.0, priors=None, weighted=False, balanced=False,
                   var_smoothing=None):  # fmt: skip
    """A problem as plain lists for the twin, and X, y for the library."""
    rng = np.random.default_rng(seed)
    n_classes = int(rng.integers(2, 4))
    n_rows = int(rng.integers(4 * n_classes, 22))
    labels = np.concatenate([np.arange(n_classes).repeat(3), rng.integers(0, n_classes, n_rows)])
    rng.shuffle(labels)
    n_columns = int(rng.integers(2, 6))
    kinds = [
        ("bernoulli", "categorical", "gaussian")[rng.integers(3)] if model == "mixed" else model
        for _ in range(n_columns)
    ]
    columns = [random_column(rng, kind, labels) for kind in kinds]
    if rng.random() < 0.3:
        columns[-1], kinds[-1] = columns[0].copy(), kinds[0]
    weights = rng.integers(1, 4, labels.size) if weighted else np.ones(labels.size, int)
    counts = np.bincount(labels, weights, n_classes)
    factors = [Fraction(1)] * n_classes
    if balanced:
        factors = [Fraction(int(counts.sum())) / (n_classes * Fraction(int(c))) for c in counts]
    X = np.column_stack(columns)
    extra = None
    if var_smoothing is not None:
        spread = [weighted_variance(c, weights) for c, kind in zip(columns, kinds, strict=True)
                  if kind.startswith("gaussian")]  # fmt: skip
        extra = var_smoothing * max(spread, default=0.0)
    problem = {
        "X": [column.tolist() for column in columns],
        "labels": labels.tolist(),
        "weights": [int(w) for w in weights],
        "n_classes": n_classes,
        "models": kinds,
        "levels": [
            [0.0, 1.0] if kind == "bernoulli" else sorted(set(column[~np.isnan(column)].tolist()))
            for column, kind in zip(columns, kinds, strict=True)
        ],
        "smoothing": smoothing,
        "priors": priors,
        "factors": factors,
        "extra_variance": extra,
    }
    return problem, X, labels


def weighted_variance(column, weights):
    known = ~np.isnan(column)
    if not known.any():
        return 0.0
    mean = np.average(column[known], weights=weights[known])
    return float(np.average((column[known] - mean) ** 2, weights=weights[known]))


def twin_lines(problem, cv):
    """(row, training weights) of every line, as `cv` says."""
    n, weights = len(problem["labels"]), problem["weights"]
    if cv == "train":
        return [(i, weights) for i in range(n)]
    if cv == "loo":
        return [(i, [w - (j == i) for j, w in enumerate(weights)]) for i in range(n)]
    lines = []
    y = np.array(problem["labels"])
    for train, test in StratifiedKFold(cv).split(y, y):
        inside = set(train.tolist())
        lines += [(int(i), [w if j in inside else 0 for j, w in enumerate(weights)]) for i in test]
    return lines


def walk(problem, criterion, cv, search, units=None, keep=(), least=1, most=None):
    """What the twin visits."""
    n_columns = len(problem["models"])
    units = units or [[j] for j in range(n_columns)]
    twin = reference.Twin(problem, criterion, twin_lines(problem, cv))
    return reference.run_search(
        search, reference.Walk(twin, units, set(keep), least, n_columns if most is None else most)
    )
