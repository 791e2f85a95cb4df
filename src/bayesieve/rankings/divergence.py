"""How well each feature separates each class from the others (Sotoca et al., section 2.2)."""

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import BaseEstimator

from ..checks import Floats, check_flag, check_jobs, choose
from ..data.result import html_table
from ..data.sample import read_sample
from ..engine.threads import Threads, count_threads
from ..models.base import ModelSettings, one_set
from ..models.columns import build_columns, choose_models
from ..models.registry import MODELS
from .base import MIXED, Ranking, RankingInput, RankingMethod
from .information import mixed_columns

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass(frozen=True)
class RelevanceMatrix:
    """Divergence of every class from all others, feature by feature.

    Attributes
    ----------
    values : ndarray of shape (n_classes, n_features)
        Symmetric Kullback-Leibler divergence, in nat.
    class_names, feature_names : list of str
    """

    values: Floats
    class_names: list[str]
    feature_names: list[str]

    def normalised(self) -> Floats:
        """Each class's row divided by its sum."""
        return _normalise(self.values)

    def to_dict(self) -> dict[str, list[str] | list[float]]:
        """One row a class: its name, then its divergence in each feature."""
        if "class" in self.feature_names:
            raise ValueError(
                "a feature is called 'class'; read `values` and `class_names` instead."
            )
        columns: dict[str, list[str] | list[float]] = {"class": list(self.class_names)}
        for name, column in zip(self.feature_names, self.values.T, strict=True):
            columns[name] = column.tolist()
        return columns

    def _repr_html_(self) -> str:
        columns: dict[str, list[str] | list[float]] = {"feature": list(self.feature_names)}
        for name, row in zip(self.class_names, self.values, strict=True):
            columns[name] = row.tolist()
        caption = "divergence of each class from the others, in nat (1 nat: 2.7 times as likely)"
        return html_table(columns, caption)

    def plot(self, ax: "Axes | None" = None) -> "Axes":
        """Draw which features separate which class, each class scaled to its own sum.

        Parameters
        ----------
        ax : matplotlib axes, optional
            Where to draw; a new figure by default.

        Returns
        -------
        ax : matplotlib axes
        """
        from ..explain.plots import plot_relevance

        return plot_relevance(self, ax)


def relevance_matrix(
    X: Any, y: Any, model: str = "mixture", *, as_printed: bool = False, n_jobs: int | None = None
) -> RelevanceMatrix:
    """The divergence of each class from the rest, for each feature.

    For a class and the union of all others, a model of the feature is fitted to each; their
    divergence is the mean over the class's rows of log f_class / f_rest, plus the mean over the
    other rows of log f_rest / f_class.

    Parameters
    ----------
    X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
    y : array-like of shape (n_samples,)
    model : str, default="mixture"
        Feature model of continuous columns; discrete ones go by their counts.
    as_printed : bool, default=False
        Eq. 7 of the paper to the letter: f log f / f' summed over all rows, with densities, which
        is neither free of scale nor near the divergence; EM then stops by the paper's rule.
    n_jobs : int, optional
        Threads for the kernels; -1 for all cores.

    Returns
    -------
    matrix : RelevanceMatrix

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from bayesieve.rankings import relevance_matrix
    >>> matrix = relevance_matrix(*load_iris(return_X_y=True))
    >>> matrix.values.argmax(axis=1)  # the petals' width tells all three apart
    array([3, 3, 3])
    """
    check_continuous("model", model)
    check_flag("as_printed", as_printed)
    check_jobs(n_jobs)
    read = read_sample(BaseEstimator(), X, y, None)
    rows = np.arange(read.table.n_rows)
    # Distributions are compared, which levels shrunk to all classes are not.
    models = ["categorical" if m == "levels" else m for m in choose_models("auto", read.table)]
    columns = mixed_columns(read.table, models, rows, read.weights)
    n_classes = int(read.labels.max()) + 1
    with Threads(count_threads(n_jobs)) as engine:
        given = RankingInput(columns, read.labels, n_classes, engine)
        values = divergences(given, model, as_printed)
    names = [str(name) for name in read.classes]
    if read.targets.labelled:
        names = [f"combination {k}" for k in range(n_classes)]
    return RelevanceMatrix(values, names, list(read.table.names))


def check_continuous(name: str, model: str) -> None:
    """A feature model of numbers."""
    choose(name, model, [each for each in MODELS if not MODELS[each].discrete])


def divergences(given: RankingInput, model: str, as_printed: bool) -> Floats:
    """Eq. 8 for every class and column."""
    columns, n_classes = given.columns, given.n_classes
    out = np.empty((n_classes, columns.n_columns))

    def task(lo: int, hi: int) -> None:
        for a in range(lo, hi):
            out[:, a] = _column(given, a, model, as_printed)

    given.engine.run(task, columns.n_columns, 100 * n_classes * columns.values.size)
    return out


def _column(given: RankingInput, a: int, model: str, as_printed: bool) -> Floats:
    """Divergence of each class in one column."""
    columns, n_classes = given.columns, given.n_classes
    spec = columns.specs[a]
    if not columns.nominal[a]:
        printed = f"{model}-printed"
        spec = replace(spec, model=printed if as_printed and printed in MODELS else model)
    values = columns.values[a]
    known = ~np.isnan(values)
    values, weights, labels = values[known], columns.weights[known], given.labels[known]
    found = np.zeros(n_classes)
    distinct, at = np.unique(values, return_inverse=True)
    if distinct.size < 2:
        return found
    points = distinct.astype(np.int64) if columns.nominal[a] else distinct
    # Terms of intervals become densities when divided by their width.
    speaks_density = columns.nominal[a] or spec.model == "gaussian-pooled"
    width = 1.0 if speaks_density else spec.resolution
    for j in range(n_classes):
        mine = (labels == j).astype(np.int64)
        counts = np.zeros((2, distinct.size))
        np.add.at(counts, (mine, at), weights)
        if not counts.sum(1).all():
            continue
        sets = one_set(mine, weights, np.ones(2))
        column = points[at] if columns.nominal[a] else values
        statistics = MODELS[spec.model].statistics(column, spec.n_codes, sets)
        speaker = build_columns([spec], [statistics], ModelSettings(1.0, None, np.ones(2)))[0]
        if columns.nominal[a]:
            terms = speaker.of(np.arange(spec.n_codes)).finite[0][points]
        else:
            terms = speaker.of(points).finite[0]
        # Both directions of the Kullback-Leibler divergence between the two columns of terms.
        apart = terms[:, 1] - terms[:, 0]
        if as_printed:
            density = np.exp(terms) / width
            found[j] = counts.sum(0) @ ((density[:, 1] - density[:, 0]) * apart)
        else:
            share = counts / counts.sum(1, keepdims=True)
            found[j] = (share[1] - share[0]) @ apart
    return found


@dataclass(frozen=True)
class Divergence(RankingMethod):
    """Rank by the divergence of classes (Sotoca et al.).

    Parameters
    ----------
    form : {"mean", "normalised", "sbfs"}, default="mean"
        The mean over classes (eq. 9); the mean of each class's weights after they have been divided
        by their sum (eq. 10), so that a feature may matter to one class only; or the backward
        floating scheme over the sorted matrix of weights (eq. 11).
    model : str, default="mixture"
        Feature model of continuous columns.
    as_printed : bool, default=False
        Eq. 7 to the letter, see `bayesieve.rankings.relevance_matrix`.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from bayesieve import rank
    >>> from bayesieve.rankings import Divergence
    >>> rank(*load_iris(return_X_y=True), Divergence("normalised", "gaussian")).order
    array([2, 3, 0, 1])
    """

    form: str = "mean"
    model: str = "mixture"
    as_printed: bool = False
    reads = MIXED

    def check(self) -> None:
        """Validate the parameters."""
        choose("form", self.form, ["mean", "normalised", "sbfs"])
        check_continuous("model", self.model)
        check_flag("as_printed", self.as_printed)

    @property
    def sorts_by_score(self) -> bool:  # type: ignore[override]
        """The floating scheme has an order of its own."""
        return self.form != "sbfs"

    def order(self, given: RankingInput, n_features: int) -> Ranking:
        """All columns, in the form asked for."""
        matrix = divergences(given, self.model, self.as_printed)
        if self.form == "mean":
            return Ranking.by_score(matrix.mean(0))
        weights = _normalise(matrix)
        if self.form == "normalised":
            return Ranking.by_score(weights.mean(0))
        weight = given.columns.weights
        shares = np.bincount(given.labels, weight, given.n_classes) / weight.sum()
        return floating_scheme(weights, shares)


def floating_scheme(weights: Floats, shares: Floats) -> Ranking:
    """The SBFS scheme over the matrix of weights, classes x features.

    Every class's features are sorted by weight; with `col` columns in use, a class counts only its
    first `col` features.  Each round drops the feature that F (eq. 11) misses least (of equals, the
    one with the lowest weight over all columns) and takes back the one that F gains most by, unless
    that is the one dropped in the round before or gains nothing (the listing does not say what
    then); then one column fewer is used.  Those left at the first column come first, by eq. 11,
    then the others, the last to be dropped first.
    """
    n_classes, d = weights.shape
    position = np.argsort(np.argsort(-weights, axis=1, kind="stable"), axis=1)
    inside = np.ones(d, bool)
    dropped_at = np.full(d, -1)

    def worth(col: int) -> Floats:
        counted = np.where(position < col, weights, 0.0)
        return (shares[:, None] * counted).sum(0) / n_classes

    full, before = worth(d), None
    for col in range(d, 1, -1):
        found = np.flatnonzero(inside)
        if not found.size:
            break
        now = worth(col)
        back = int(found[np.lexsort((full[found], now[found]))[0]])
        inside[back], dropped_at[back] = False, d - col
        outside = np.flatnonzero(~inside)
        forth = int(outside[np.argmax(now[outside])])
        if before not in (None, forth) and now[forth] > 0:
            inside[forth] = True
        before = back
    survivors = np.flatnonzero(inside)
    survivors = survivors[np.argsort(-full[survivors], kind="stable")]
    others = np.flatnonzero(~inside)
    others = others[np.argsort(-dropped_at[others], kind="stable")]
    return Ranking(np.concatenate([survivors, others]).astype(np.int64), full)


def _normalise(matrix: Floats) -> Floats:
    total = matrix.sum(1, keepdims=True)
    return np.divide(matrix, total, out=np.zeros_like(matrix), where=total > 0)
