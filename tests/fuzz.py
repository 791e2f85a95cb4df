"""Small random tables with random parameters: a result, or a sentence that says what is wrong.

`python tests/fuzz.py --tables 100000 --seed 0` goes through as many tables and prints the seeds of
those that broke a rule; `python tests/fuzz.py --show 17` runs one of them and lets its error out.
Allowed outcomes are probabilities that are probabilities and predictions among the classes, or a
ValueError or TypeError raised on purpose, by this library or by scikit-learn's validation.
"""

import argparse
import ast
import functools
import math
import signal
import sys
import time
import traceback
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import scipy.sparse
from sklearn.model_selection import KFold, StratifiedKFold

from bayesieve import FeatureVotes, NaiveBayes
from bayesieve.criteria import AUC
from bayesieve.search import SEARCHES, DiversifiedSearch, GreedySearch, RandomSearch, RankedSearch
from plain import plain_selector

#: Seeds whose tables once broke a rule.
KNOWN = (3196, 3933, 4987, 9688, 9695, 10536, 15811, 53879, 82225)

_SECONDS = 30  # a small table that takes longer hangs
_TOLERANCE = 1e-9
_HUGE = (1e308, -1e308, 1.7976931348623157e308, 5e-324, -5e-324, 1e-308, 1e16, -0.0, 2.0**53)


@dataclass
class Case:
    """A model and what it is given."""

    model: Any
    X: Any
    y: Any
    fit_params: dict[str, Any]
    X_new: Any


class HangError(BaseException):
    """Too long for a small table."""


class BrokenRuleError(Exception):
    """An outcome that is not allowed."""


# -- making ------------------------------------------------------------------------------------


class Draw:
    """Draws of one case; `spice` is how often something odd is taken."""

    def __init__(self, seed):
        self.rng = np.random.default_rng(seed)
        self.spice = float(self.pick(0.0, 0.0, 0.0, 0.05, 0.05, 0.2, 0.5))

    def pick(self, *options):
        """One of several options."""
        return options[self.rng.integers(len(options))]

    def seldom(self, share=0.1):
        """True, seldom."""
        return bool(self.rng.random() < share)

    def odd(self, plain, *odd):
        """One of the plain options, or seldom one of the odd ones."""
        return self.pick(*odd) if self.seldom(self.spice) else self.pick(*plain)


def make_column(draw, n):
    """Values of one kind, as a list."""
    rng = draw.rng
    plain = ("binary", "binary", "bool", "int", "float", "rounded", "text", "constant", "huge")
    kind = draw.odd(plain, "missing", "objects", "wide", "extreme", "odd")
    if kind == "binary":
        values = rng.integers(0, 2, n).tolist()
    elif kind == "bool":
        values = (rng.random(n) < 0.5).tolist()
    elif kind == "int":
        values = rng.integers(-3, 4, n).tolist()
    elif kind == "float":
        values = rng.normal(scale=10.0 ** rng.integers(-5, 6), size=n).tolist()
    elif kind == "rounded":
        values = np.round(rng.normal(size=n), 1).tolist()
    elif kind == "text":
        values = [draw.pick("a", "b", "", "é", "1", " ", "nan") for _ in range(n)]
    elif kind == "huge":
        some = [draw.pick(*_HUGE, 0.0, 1.0) for _ in range(3)]
        values = [draw.pick(*some) for _ in range(n)]
    elif kind == "constant":
        values = [draw.pick(0, 1, 7.5, "x", True, 1e308, -5e-324)] * n
    elif kind == "missing":
        values = [draw.pick(None, math.nan)] * n
    elif kind == "objects":
        values = [draw.pick("a", 1, None, 2.5, True) for _ in range(n)]
    elif kind == "wide":
        values = (rng.normal(size=n) * 10.0 ** rng.integers(-300, 300, n)).tolist()
    elif kind == "extreme":
        values = [int(draw.pick(2**63 - 1, -(2**63), 0, 1)) for _ in range(n)]
    else:
        values = [
            draw.pick(1j, b"a", (1, 2), object, pd.Timestamp(0), np.datetime64(0, "s"), 2**70)
        ] * n
    share = draw.pick(0.0, 0.0, 0.0, 0.2, 0.8)
    hole = draw.odd((None, math.nan), pd.NA)
    values = [hole if share and rng.random() < share else value for value in values]
    if n and draw.odd((False,), True, False):
        values[rng.integers(n)] = draw.pick(math.inf, -math.inf)
    return values


def make_columns(draw, n):
    """Several columns; very many now and then."""
    if draw.seldom(0.001):
        return [draw.rng.integers(0, 2, n).tolist() for _ in range(10_000)]
    n_columns = int(draw.odd((1, 2, 3, 4, 5, 6), 0, 1, 7, 8))
    if draw.seldom(0.4):
        # One kind for all, so that models of one kind get past the judges.
        make = draw.pick(
            lambda: draw.rng.integers(0, 2, n),
            lambda: draw.rng.integers(0, 2, n),
            lambda: np.round(draw.rng.normal(size=n), int(draw.rng.integers(0, 5))),
            lambda: draw.rng.integers(0, 4, n) * draw.pick(1.0, 0.1, 1e300, 1e-300),
        )
        return [make().tolist() for _ in range(n_columns)]
    return [make_column(draw, n) for _ in range(n_columns)]


def make_table(draw, columns, n, names):
    """The columns as numpy, pandas, polars, sparse or nested lists."""
    kind = draw.pick("numpy", "numpy", "object", "pandas", "polars", "sparse", "list")
    if kind == "pandas":
        frame = pd.DataFrame({j: pd.Series(values) for j, values in enumerate(columns)})
        for j in frame.columns:
            if draw.seldom(0.15):
                frame[j] = frame[j].astype("category")
        frame.columns = names
        return frame
    raw = np.empty((n, len(columns)), object)
    for j, values in enumerate(columns):
        for i, value in enumerate(values):
            raw[i, j] = value
    if kind == "polars":
        try:
            return pl.DataFrame(
                [
                    pl.Series(f"c{j}", values, strict=False, nan_to_null=draw.seldom(0.5))
                    for j, values in enumerate(columns)
                ]
            )
        except (TypeError, OverflowError, pl.exceptions.PolarsError):
            return raw  # polars has no such column
    if kind == "list":
        return [list(row) for row in zip(*columns, strict=True)]
    if kind == "object":
        return raw
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            numbers = raw.astype(draw.pick(np.float64, np.float64, np.float32, np.int64, bool))
    except (TypeError, ValueError, OverflowError):
        return raw
    if kind == "sparse":
        make = draw.pick(scipy.sparse.csr_matrix, scipy.sparse.csc_array, scipy.sparse.coo_array)
        return make(np.nan_to_num(numbers) if draw.odd((True,), False) else numbers)
    return numbers


def make_target(draw, n):
    """Classes or labels, some of them odd."""
    if draw.seldom(0.15):
        share = draw.pick(0.2, 0.5)
        labels = draw.rng.random((n, int(draw.rng.integers(2, 4)))) < share
        labels = labels.astype(draw.pick(int, float, bool)) * draw.odd((1,), 2)
        frame = pd.DataFrame(labels, columns=[f"l{j}" for j in range(labels.shape[1])])
        return draw.pick(labels, labels.tolist(), frame, scipy.sparse.csr_matrix(labels))
    n_classes = int(draw.odd((2, 2, 2, 3), 1, 4))
    values = draw.odd(
        (
            [0, 1, 2, 3], [1, 2, 3, 4], ["no", "yes", "maybe", ""], [-1.0, 1.0, 0.0, 2.0],
            [False, True, False, True], ["1", "10", "é", "0"],
        ),
        [2**62, -(2**62), 0, 1], [0.5, 1.5, 2.5, 1.0], [0, "a", 1, "b"], [None, 1, 0, 2],
        [math.nan, 1.0, 0.0, 2.0], [1e308, -1e308, 0.0, 1.0], ["a", "a\0", " ", "\0"],
    )  # fmt: skip
    y = [values[k] for k in draw.rng.integers(0, n_classes, n)]
    if n >= n_classes:
        y[:n_classes] = values[:n_classes]
    if draw.odd((False,), True, False, False):
        y = y[:-1]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return draw.pick(y, pd.Series(y), *([np.array(y)] * 4), np.array(y, dtype=object))


def make_weights(draw, n):
    """How often each row counts."""
    rng = draw.rng
    return draw.odd(
        (np.ones(n), rng.integers(0, 4, n), rng.integers(1, 3, n)),
        rng.random(n), rng.integers(0, 2, n) * 1e9, np.zeros(n), rng.normal(size=n),
        np.full(n, np.nan), np.full(n, 1e308), np.full(n, 5e-324), ["1"] * n, np.ones(n + 1),
    )  # fmt: skip


def make_bayes(draw, wide):
    """A naive Bayes with random settings."""
    features = draw.odd(
        ("auto", "auto", "auto", "categorical", {0: "categorical"}),
        "bernoulli", "gaussian", "gaussian-pooled", "mixture-2", "mixture", {0: "gaussian"},
    )  # fmt: skip
    return NaiveBayes(
        features="auto" if wide else features,
        smoothing=draw.odd((1.0, 1.0, 0.0, 0.5, "mean"), 1e-300, 1e12, 5e-324),
        priors=draw.odd((None, None, "uniform"), [0.5, 0.5], [0.0, 1.0], [1.0, 1.0]),
        var_smoothing=draw.odd((None, None, 1e-9), 0.0, 1.0, 1e300),
        rounded=draw.seldom(),
    )


def make_selector(draw, wide, n, n_columns):
    """A selector with random settings."""
    few = min(2, n_columns)
    search = draw.pick(
        *(name for name in SEARCHES if name != "random"), GreedySearch("forward", "no-improvement"),
        RankedSearch("score"), RankedSearch("chi2"), RankedSearch("mrmr"), RankedSearch("relieff"),
        DiversifiedSearch("best"), DiversifiedSearch(2), RandomSearch((1, 2), 3),
    )  # fmt: skip
    limits = draw.pick(
        {}, {}, {"max_features": few}, {"n_features": few}, {"min_features": 0},
        {"min_features": few}, {"keep": [0]}, {"feature_groups": [[0, n_columns - 1]]},
    )  # fmt: skip
    limits = draw.odd((limits,), {"n_features": 3, "feature_groups": [[0, 1]]}, {"keep": [9]})
    if wide:
        search, limits = draw.pick("forward", "ranked", "diversified"), {"max_features": 2}
    model = make_bayes(draw, wide)
    criterion = draw.pick("error", "probability", "log-likelihood", "probability")
    if draw.seldom(0.25):
        criterion = draw.pick("auc", "penalised-auc", AUC(undefined="skip"))
        model = draw.pick(model, FeatureVotes(draw.pick("label", "rare")))
    return plain_selector(
        model,
        search=search,
        criterion=criterion,
        cv=draw.odd(
            ("train", "train", "loo", 2, KFold(2)),
            3, StratifiedKFold(2), KFold(n + 1), [(np.arange(n // 2), np.arange(n // 2, n))],
        ),
        validation=draw.odd((0.5, 0.5, None), 0.01, 0.99),
        class_weight=draw.odd((None, None, "balanced"), {0: 2.0}, {1: 1e-9}),
        random_state=int(draw.rng.integers(100)),
        n_jobs=draw.odd((None,), 2),
        **limits,
    )  # fmt: skip


def make_case(seed):
    """Everything drawn from one seed."""
    draw = Draw(seed)
    n = int(draw.odd((8, 12, 12, 20, 20, 30), 1, 2, 3, 5))
    columns = make_columns(draw, n)
    wide = len(columns) > 100
    if wide:
        n, columns = 3, [(values * 3)[:3] for values in columns]
    names: list[Any] = [f"c{j}" for j in range(len(columns))]
    if draw.odd((False,), True, False):
        names = [draw.pick("c0", "c1", 0, 1.5, "") for _ in columns]
    X = make_table(draw, columns, n, names)
    kind = draw.rng.random()
    if kind < 0.3:
        model: Any = make_bayes(draw, wide)
    elif kind < 0.35:
        model = FeatureVotes(draw.pick("label", "rare"))
    else:
        model = make_selector(draw, wide, n, len(columns))
    params = {"sample_weight": make_weights(draw, n)} if draw.seldom(0.2) else {}
    y = make_target(draw, n)
    X_new = X
    if draw.seldom(0.3):
        # Values that were not there.
        others = [make_column(draw, n) if draw.seldom(0.5) else values for values in columns]
        X_new = make_table(draw, others, n, names)
    return Case(model, X, y, params, X_new)


# -- judging -----------------------------------------------------------------------------------


@functools.cache
def raises(path):
    """Line numbers of the raise statements of a file."""
    lines: set[int] = set()
    for node in ast.walk(ast.parse(Path(path).read_text())):
        if isinstance(node, ast.Raise):
            lines.update(range(node.lineno, (node.end_lineno or node.lineno) + 1))
    return frozenset(lines)


def on_purpose(error):
    """Was this raised by a statement of this library or of scikit-learn, with a message?"""
    if type(error) not in (ValueError, TypeError) or len(str(error).split()) < 4:
        return False
    frame = traceback.extract_tb(error.__traceback__)[-1]
    if not any(part in frame.filename for part in ("/bayesieve/", "/sklearn/")):
        return False
    return frame.lineno in raises(frame.filename)


def check(condition, message):
    """A rule that must hold."""
    if not condition:
        raise BrokenRuleError(message)


def check_outcome(model, X):
    """Probabilities that are probabilities, predictions among the classes."""
    labelled = isinstance(model.classes_, list)
    found, proba = model.predict(X), model.predict_proba(X)
    n = X.shape[0] if hasattr(X, "shape") else len(X)
    check(proba.shape[0] == n == len(found), f"{n} rows, {proba.shape} and {found.shape} given")
    check(np.isfinite(proba).all(), f"probabilities that are not finite: {proba}")
    check(((proba >= 0) & (proba <= 1)).all(), f"probabilities beyond 0 and 1: {proba}")
    if labelled:
        check(np.isin(found, [0, 1]).all(), f"labels that are not 0 or 1: {found}")
    else:
        check(proba.shape[1] == len(model.classes_), "one probability for each class")
        check(np.abs(proba.sum(1) - 1).max() <= _TOLERANCE, f"sums are not 1: {proba.sum(1)}")
        check(np.isin(found, model.classes_).all(), f"no classes: {found}")
    if hasattr(model, "predict_log_proba"):
        check(not np.isnan(model.predict_log_proba(X)).any(), "logarithms that are NaN")
    check(not np.isnan(model.decision_function(X)).any(), "decisions that are NaN")
    if hasattr(model, "selected_"):
        chosen = model.selected_
        check(len(set(chosen.tolist())) == len(chosen), f"columns twice: {chosen}")
        check(model.transform(X).shape[1] == len(chosen), "transform gives other columns")
        check(np.isfinite([step.score for step in model.path_.steps]).all(), "scores not finite")


def run_case(case):
    """Fit and predict: "fitted" or "refused"; anything else comes out as an error."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        warnings.simplefilter("error", RuntimeWarning)
        try:
            case.model.fit(case.X, case.y, **case.fit_params)
        except (ValueError, TypeError) as error:
            if not on_purpose(error):
                raise
            return "refused"
        if not (hasattr(case.model, "selected_") and case.model.selected_.size == 0):
            check_outcome(case.model, case.X)
        try:
            check_outcome(case.model, case.X_new)
        except (ValueError, TypeError) as error:
            if not on_purpose(error):
                raise
    return "fitted"


def _ring(number, frame):
    raise HangError(f"more than {_SECONDS} seconds")


def run_seed(seed):
    """One table; "fitted", "refused", or an error."""
    case = make_case(seed)
    # Thousands of columns take their time.
    small = getattr(case.X, "shape", (0, 0))[-1] < 100
    signal.signal(signal.SIGALRM, _ring)
    signal.alarm(_SECONDS if small else 10 * _SECONDS)
    try:
        return run_case(case)
    finally:
        signal.alarm(0)


def main():
    """Many tables."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--tables", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--show", type=int)
    given = parser.parse_args()
    if given.show is not None:
        sys.stdout.write(f"{make_case(given.show)}\n{run_seed(given.show)}\n")
        return
    counts = {"fitted": 0, "refused": 0, "broken": 0}
    start = time.monotonic()
    for i in range(given.tables):
        seed = given.seed + i
        try:
            counts[run_seed(seed)] += 1
        except (Exception, HangError) as error:
            counts["broken"] += 1
            where = traceback.extract_tb(error.__traceback__)[-1]
            text = " ".join(str(error).split())[:200]
            sys.stdout.write(
                f"seed {seed}: {type(error).__name__}: {text} ({where.filename}:{where.lineno})\n"
            )
            sys.stdout.flush()
        if (i + 1) % 1000 == 0:
            sys.stdout.write(f"{i + 1} tables, {time.monotonic() - start:.0f} s: {counts}\n")
            sys.stdout.flush()
    sys.stdout.write(f"{given.tables} tables from seed {given.seed}: {counts}\n")


if __name__ == "__main__":
    main()
