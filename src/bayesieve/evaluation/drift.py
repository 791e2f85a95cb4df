"""Have the columns moved since training?"""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy.stats import mannwhitneyu

from ..checks import check_number
from ..data.html import frame_of, html_table
from ..estimators.held import bayes_of, rows_of
from ..models.base import Floats
from ..models.novelty import surprise
from .decide import novelty_of
from .given import Model
from .moves import column_move

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from narwhals.typing import IntoDataFrame

# P-values of novelty at which rows are counted.
_LEVELS = (0.01, 0.05, 0.1)


@dataclass(frozen=True)
class Drift:
    """Which columns of new rows are distributed otherwise than in training.

    Attributes
    ----------
    columns : list of str
        The model's columns, the clearest move first.
    distance : list of float
        Share of the rows that would have to change for the two distributions to be one, from 0 to 1
        (half the sum of the differences of shares); chance alone makes it more than 0, and with few
        rows of many levels much more.
    p_value, adjusted : list of float
        Of each column's tests, and corrected for the number of columns by Holm's method.
    change : list of str
        What changed most.
    rows : int
        New rows.
    alpha : float
        Columns with an adjusted p-value of at most this are called moved.
    novel : dict of float to float, or None
        Share of new rows whose novelty is at most each level; None without a rule (see `decide`).
    novelty_p : float or None
        P-value of the new rows being no more surprising than those held out (Mann and Whitney).

    Examples
    --------
    >>> import numpy as np
    >>> from bayesieve import NaiveBayes, drift
    >>> rng = np.random.default_rng(0)
    >>> X, y = rng.normal(size=(600, 3)), np.arange(600) % 2
    >>> found = drift(NaiveBayes().fit(X, y), rng.normal([0, 1, 0], 1, (200, 3)))
    >>> found.moved
    ['x1']
    >>> found
    <Drift of 200 rows: 1 of 3 columns moved: x1>
    """

    columns: list[str]
    distance: list[float]
    p_value: list[float]
    adjusted: list[float]
    change: list[str]
    rows: int
    alpha: float
    novel: dict[float, float] | None = None
    novelty_p: float | None = None

    @property
    def moved(self) -> list[str]:
        """Columns that moved, the clearest first."""
        pairs = zip(self.columns, self.adjusted, strict=True)
        return [name for name, p in pairs if p <= self.alpha]

    def __repr__(self) -> str:
        return f"<Drift of {self.rows} rows: {self.headline()}>"

    def headline(self, most: int = 5) -> str:
        """One sentence: the columns that moved, and how novelty moved.

        Parameters
        ----------
        most : int, default=5
            Names that are told.
        """
        names = self.moved
        told = ", ".join(names[:most]) + (" ..." if len(names) > most else "")
        found = f"{len(names)} of {len(self.columns)} columns moved" + (
            f": {told}" if names else ""
        )
        if self.novel is not None:
            found += (
                f"; {100 * self.novel[0.05]:.3g} % of the rows are unlike those held out, where "
                "5 % are expected"
            )
        return found

    def to_dict(self) -> dict[str, list[object]]:
        """One entry a column, as plain values."""
        return {
            "column": [*self.columns],
            "distance": [*self.distance],
            "p_value": [*self.p_value],
            "adjusted": [*self.adjusted],
            "change": [*self.change],
        }

    def to_frame(self, backend: str | None = None) -> "IntoDataFrame":
        """One row a column, the clearest move first.

        Parameters
        ----------
        backend : str, optional
            A data-frame library known to narwhals, such as "pandas" or "polars".
        """
        return frame_of(self.to_dict(), backend)

    def plot(self, ax: "Axes | None" = None) -> "Axes":
        """Draw how far the columns moved.

        Parameters
        ----------
        ax : matplotlib axes, optional
            Where to draw; a new figure by default.
        """
        from ..explain.drifting import plot_drift

        return plot_drift(self, ax)

    def _repr_html_(self) -> str:
        return html_table(self.to_dict(), self.headline())


def drift(model: Model, X: object, *, alpha: float = 0.05) -> Drift:
    """Which columns of new rows moved away from training, and how novelty moved.

    Columns with levels are compared by counts (missing values and levels never seen are levels,
    too), numbers on a grid by counts of groups, their order, values beyond all that were seen, and
    missing ones; numbers known by their moments by mean and variance instead of groups and order.
    The p-values are corrected for the number of columns: with none moved, some column is called
    moved in a share `alpha` of all cases at most.

    Parameters
    ----------
    model : NaiveBayes, NaiveBayesSelector or WeightedNaiveBayes
        Fitted; with a rule of `decide`, novelty is told as well.
    X : array-like, data frame or sparse matrix
        New rows; no classes are needed.
    alpha : float, default=0.05
        Risk of calling any column moved that did not.

    Returns
    -------
    drift : Drift

    Notes
    -----
    With very many rows, the smallest move is certain: look at ``distance`` as well.  A column moves
    with the shares of the classes, too.

    Where nothing moved, training and new rows are one sample that chance has split, and all splits
    are equally probable.  So the tests of counts are exact: Fisher's of two levels, and of more,
    Pearson's statistic against up to 9999 such splits (the same ones every time) or, where 20 rows
    are expected everywhere, the chi-squared distribution.  A level that training has not seen is no
    proof of a move: it is often a rare one, left out by chance.  Weights count as so many rows,
    rounded; rows that are not independent (of one series or patient) move a column too easily.

    Of moments, only what they and the ends of the training rows tell is known: with heavy tails, a
    move of mean or variance must be large to be called one.

    Examples
    --------
    >>> import numpy as np
    >>> from bayesieve import NaiveBayes, drift
    >>> X, y = np.array([[0, 0], [0, 1], [1, 0], [1, 1]] * 50), np.arange(200) % 2
    >>> drift(NaiveBayes().fit(X, y), X[::-1])
    <Drift of 200 rows: 0 of 2 columns moved>
    """
    alpha = float(check_number("alpha", alpha, low=0.0, high=1.0))
    fitted = bayes_of(model).fitted_
    rows = rows_of(model, X)
    summary = fitted.problems[0].summary
    n_trained = float(summary.class_count.sum())
    moves = [
        column_move(summary.specs[j], summary.statistics[j], n_trained, rows.column(j))
        for j in range(len(summary.specs))
    ]
    p_values = np.array([move.p_value for move in moves])
    adjusted = _holm(p_values)
    distance = np.array([move.distance for move in moves])
    order = np.lexsort((-distance, p_values)).tolist()
    novel, novelty_p = None, None
    if fitted.usual is not None:
        found = novelty_of(fitted, rows)
        novel = {level: float((found <= level).mean()) for level in _LEVELS}
        scores = surprise(fitted, rows)
        novelty_p = float(mannwhitneyu(scores, fitted.usual, alternative="greater").pvalue)
    return Drift(
        [summary.specs[j].name for j in order],
        distance[order].tolist(),
        p_values[order].tolist(),
        adjusted[order].tolist(),
        [moves[j].change for j in order],
        rows.n_rows,
        alpha,
        novel,
        novelty_p,
    )


def _holm(p_values: Floats) -> Floats:
    """P-values corrected for their number, step by step from the smallest (Holm 1979)."""
    order = np.argsort(p_values, kind="stable")
    factors = np.arange(p_values.size, 0, -1)
    found = np.empty(p_values.size)
    found[order] = np.minimum(np.maximum.accumulate(p_values[order] * factors), 1.0)
    return found
