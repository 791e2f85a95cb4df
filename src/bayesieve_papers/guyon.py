"""Guyon 2005: naive Bayes in CLOP, its two linear classifiers and the ranking by weight.

The text has formulas and no tables.  Here its classifiers run on the sets of the NIPS 2003
challenge that it was written for (or on a bundled set): the binary one on Dexter, the Gaussian one
with pooled variance on Arcene and Madelon; with all features, and with the first k by |w|; and with
class priors that trade precision for recall.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from sklearn.metrics import balanced_accuracy_score, roc_auc_score

from bayesieve.checks import Bools
from bayesieve.datasets.loading import Dataset, load
from bayesieve.estimators.naive_bayes import NaiveBayes
from bayesieve.rankings.rank import rank

from .base import Conclusion, PaperRun, Record, Reproduction, bare

if TYPE_CHECKING:
    from matplotlib.figure import Figure

#: Set, feature model, and the first rows that train where the set has no split of its own.
SETS: dict[str, tuple[str, int]] = {
    "dexter": ("bernoulli", 300),
    "arcene": ("gaussian-pooled", 100),
    "madelon": ("gaussian-pooled", 2000),
}

BUNDLED_SET = ("wdbc", "gaussian-pooled")

PRIORS = (0.001, 0.01, 0.05, 0.1, 0.2, 0.35, 0.5, 0.65, 0.8, 0.9, 0.95, 0.99, 0.999)


class WeightCurve(NamedTuple):
    """Test figures of one set: by number of features, and by the prior of the second class."""

    sizes: list[int]
    errors: list[float]  #: balanced error with the first so many features
    areas: list[float]
    precision: list[float]
    recall: list[float]
    linear: bool  #: does the linear form give the model's decisions?


def reproduce(run: PaperRun) -> Reproduction:
    """Both classifiers, the ranking by weight, and the effect of priors.

    A quick run takes a set bundled with scikit-learn only; its seed splits sets that have no split
    of their own.
    """
    curves: dict[str, WeightCurve] = {}
    for name, (model, first) in {} if run.quick else SETS.items():
        data = run.load(name)
        if data is None:
            continue
        split = data.split
        train = np.arange(len(data.y)) < first if split is None else split == "train"
        curve = curves[name] = _one(data, model, train, run.n_jobs)
        best = int(np.argmin(curve.errors))
        run.report(
            f"{name}: balanced error {curve.errors[-1]:.4f} with all features, "
            f"{curve.errors[best]:.4f} with {curve.sizes[best]}"
        )
    if not curves:
        name, model = BUNDLED_SET
        data = load(name)
        train = np.random.default_rng(run.seed).random(len(data.y)) < 0.5
        curves[name] = _one(data, model, train, run.n_jobs)
    return Reproduction(
        "Guyon 2005: naive Bayes in CLOP",
        _records(curves),
        _conclusions(curves),
        [
            "The text has no tables: these are our figures on the validation rows of each set.",
            "Dexter: words by presence, frequencies smoothed towards their mean over all words. "
            "Arcene, Madelon: one variance for both classes.",
            *run.missing,
        ],
        lambda figure: _draw(figure, curves),
    )


def _one(data: Dataset, model: str, train: Bools, n_jobs: int | None) -> WeightCurve:
    """One set: rank by weight on the training rows, judge on the others."""
    X = data.X.tocsr() if hasattr(data.X, "tocsr") else data.X
    y, test = data.y, ~train
    order = rank(X[train], y[train], "weights", n_jobs=n_jobs).order
    sizes = sorted({*(2**k for k in range(int(np.log2(order.size)) + 1)), order.size})
    errors, areas = [], []
    for size in sizes:
        chosen = np.sort(order[:size])
        fitted = NaiveBayes(model, smoothing="mean").fit(X[train][:, chosen], y[train])
        # A word that a class never shows rules it out while it is the only word.
        odds = np.clip(fitted.decision_function(X[test][:, chosen]), -1e300, 1e300)
        predicted = fitted.classes_[(odds > 0).astype(int)]
        errors.append(1 - balanced_accuracy_score(y[test], predicted))
        areas.append(float(roc_auc_score(y[test] == fitted.classes_[1], odds)))
    judged = X[test]
    values = judged.toarray() if hasattr(judged, "toarray") else judged
    values = values != 0 if model == "bernoulli" else values
    form = values @ fitted.coef_[0] + fitted.intercept_[0]
    linear = bool(np.allclose(form, odds, rtol=1e-6, atol=1e-6 * np.abs(odds).max()))
    # As the prior of the second class moves only the bias changes.
    truth = y[test] == fitted.classes_[1]
    own = np.log(fitted.class_count_[1] / fitted.class_count_[0])
    precision, recall = [], []
    for prior in PRIORS:
        positive = odds - own + np.log(prior / (1 - prior)) > 0
        hits = int((positive & truth).sum())
        precision.append(float(hits / positive.sum()) if positive.any() else 1.0)
        recall.append(float(hits / truth.sum()))
    return WeightCurve(sizes, [float(e) for e in errors], areas, precision, recall, linear)


def _records(curves: dict[str, WeightCurve]) -> list[Record]:
    records = []
    for name, curve in curves.items():
        title = f"{name}: the first features by |w|"
        for size, error, area in zip(curve.sizes, curve.errors, curve.areas, strict=True):
            row = f"{size} features" if size < curve.sizes[-1] else f"all {size} features"
            records.append(Record(title, row, "balanced error", None, error))
            records.append(Record(title, row, "AUC", None, area))
        title = f"{name}: prior of the second class"
        for prior, p, r in zip(PRIORS, curve.precision, curve.recall, strict=True):
            records.append(Record(title, f"{prior:g}", "precision", None, p))
            records.append(Record(title, f"{prior:g}", "recall", None, r))
    return records


def _conclusions(curves: dict[str, WeightCurve]) -> list[Conclusion]:
    def count(claim: str, holds: Callable[[WeightCurve], bool]) -> Conclusion:
        return Conclusion.count(claim, map(holds, curves.values()))

    return [
        count("the linear form gives the classifier's scores", lambda c: c.linear),
        count(
            "some of the first features by |w| do at least as well as all",
            lambda c: min(c.errors[:-1]) <= c.errors[-1],
        ),
        count(
            "raising the prior never lowers the recall",
            lambda c: bool((np.diff(c.recall) >= 0).all()),
        ),
    ]


def _draw(figure: "Figure", curves: dict[str, WeightCurve]) -> None:
    """Error by number of features, and precision against recall as the prior moves."""
    axes = figure.subplots(1, 2)
    for (name, curve), colour in zip(
        curves.items(), ("#1b6ca8", "#c4461b", "#2b8a57"), strict=False
    ):
        axes[0].plot(curve.sizes, curve.errors, "o-", color=colour, markersize=3, label=name)
        axes[1].plot(curve.recall, curve.precision, "o-", color=colour, markersize=3, label=name)
    axes[0].set_xscale("log")
    axes[0].set_xlabel("features, first by |w|")
    axes[0].set_ylabel("balanced error")
    axes[1].set_xlabel("recall, as the prior moves")
    axes[1].set_ylabel("precision")
    for ax in axes:
        bare(ax)
        ax.legend(frameon=False)
