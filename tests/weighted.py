"""Weighted models made by hand, and a slow twin of their leave-one-out scores."""

import json
from functools import lru_cache

import numpy as np

import densities
from bayesieve.data.columns import encode, learn
from bayesieve.engine.threads import Threads
from bayesieve.models.registry import MODELS
from bayesieve.search.checkpoint import Journal
from bayesieve.search.term_pool import CodedColumns, CodedRows, Weighing, WeightPlan


def coded_rows(X, y, models, weights=None, class_weight=None):
    """Columns of an array as codes."""
    specs, columns, kinds = [], [], []
    for j, model in enumerate(models):
        n_codes = MODELS[model].grid_codes
        spec = learn(f"x{j}", model, X[:, j], True, grid_codes=n_codes)
        column = encode(spec, X[:, j])
        specs.append(spec)
        columns.append(column)
        kinds.append(0 if spec.n_codes == 3 and not (column == 2).any() else 1)
    coded = CodedColumns(tuple(specs), np.array(kinds), tuple(columns), len(X))
    n_classes = int(y.max()) + 1
    weights = np.ones(len(y), np.int64) if weights is None else np.asarray(weights, np.int64)
    class_weight = np.ones(n_classes) if class_weight is None else np.asarray(class_weight, float)
    every = np.arange(len(y))
    return CodedRows(coded, every, y.astype(np.int64), weights, np.arange(n_classes), class_weight)


def weighing_of(X, y, models, paired=False, plan=None, threads=None, **kwargs):
    """The terms of all rows."""
    rows = coded_rows(X, y, models, **kwargs)
    plan = plan or WeightPlan(units=tuple((j,) for j in range(X.shape[1])))
    return Weighing([rows], plan, paired, threads or Threads(1))


def mixed(seed=0, n_rows=80, n_classes=3):
    """Binary and categorical columns with missing values, a pair that matters, and noise."""
    rng = np.random.default_rng(seed)
    y = np.append(np.arange(n_classes), rng.integers(0, n_classes, n_rows - n_classes))
    X = rng.integers(0, 2, (n_rows, 6)).astype(float)
    X[:, 1] = rng.integers(0, 3, n_rows) + (rng.random(n_rows) < 0.5) * y
    X[:, 2] = (rng.random(n_rows) < 0.2 + 0.5 * (y == 1)).astype(float)
    X[:, 4] = (X[:, 3] + (y == 0) + (rng.random(n_rows) < 0.1)) % 2
    X[rng.random(n_rows) < 0.1, 5] = np.nan
    X[0, 1] = 9.0  # a level of a single row
    return X, y


MODELS_OF_MIXED = ["bernoulli", "categorical", "bernoulli", "bernoulli", "categorical", "bernoulli"]


def left_out_scores(X, y, models, weighing, step):
    """Scores of every row, its own class's counts without it: from the definition, one by one."""
    scores = np.tile(step.constants[0] / 64, (len(y), 1))
    for term, weights in zip(step.terms, step.weights[0] / 16, strict=True):
        for i in range(len(y)):
            scores[i] += weights * left_out_ratio(X, y, models, weighing, term, i)
    return scores


def left_out_ratio(X, y, models, weighing, term, i):
    """What a term says of a row that is left out of its tables."""
    totals = np.bincount(y)
    shares = (totals + 1) / (totals.sum() + totals.size)
    if term >= X.shape[1]:
        return _pair(y, weighing, term, i, shares)
    return _single(X[:, term], y, models[term], i, shares)


def _single(column, y, model, i, shares):
    value = column[i]
    n_classes = shares.size
    if np.isnan(value):
        return np.zeros(n_classes)
    known = ~np.isnan(column)
    n_levels = 2 if model == "bernoulli" else np.unique(column[known]).size
    if model == "categorical" and (column == value).sum() == 1:
        return np.zeros(n_classes)

    def chance(k, rows):
        mine = rows & known & (y == k)
        return ((column[mine] == value).sum() + 1) / (mine.sum() + n_levels)

    every = np.ones(y.size, bool)
    others = np.arange(y.size) != i
    full = np.array([chance(k, every) for k in range(n_classes)])
    pooled = full @ shares
    return np.log([chance(k, others) if k == y[i] else full[k] for k in range(n_classes)]) - np.log(
        pooled
    )


def _pair(y, weighing, term, i, shares):
    cell, table, own = _cells(y.tobytes(), weighing, term)
    if cell[i] is None:
        return np.zeros(shares.size)
    said = table[cell[i]].copy()
    said[y[i]] += own[cell[i]][y[i]]
    return said


@lru_cache
def _cells(labels, weighing, term):
    """The cell of each row in a pair, if it has one, and what cells say: the same for all rows."""
    y = np.frombuffer(labels, np.int64)
    n_classes = int(y.max()) + 1
    pair = weighing.pairs[term - weighing.n_columns]
    rows = weighing.problems[0]
    a, b = (g[rows.codes(j)] for g, j in zip(pair.groups, pair.columns, strict=True))
    n_a, n_b = pair.groups[0][-1], pair.groups[1][-1]
    known = (a < n_a) & (b < n_b)
    counts = np.zeros((n_a, n_b, n_classes))
    np.add.at(counts, (a[known], b[known], y[known]), 1)
    numbers = [rows.columns.specs[j].on_grid for j in pair.columns]
    cell = [(p, q) if here else None for p, q, here in zip(a, b, known, strict=True)]
    return cell, *densities.cells(counts, np.ones(n_classes), numbers)


def cut_journals(whole, folder):
    """Journals of the first records of one, as after kills, and the kinds of those records."""
    header, *records = [json.loads(line[9:]) for line in whole.read_bytes().splitlines()[2:]]
    for n in range(len(records) + 1):
        file = folder / f"first {n}"
        cut = Journal(file, header["release"], header["parts"], "fit")
        for record in records[:n]:
            cut.append(record)
        cut.close()
        yield file, [kind for kind, _, _ in records[:n]]


def terms_of(model):
    """Columns of each term of a fitted model, in the order in which the terms came."""
    return [term["columns"] for term in model.terms_]
