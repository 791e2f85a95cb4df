"""Pictures of how far a model can be trusted, and of what an indicator saw in a signal."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..estimators.pipelines import follow
from ..evaluation.given import Model
from ..evaluation.performance import performance
from ..indicators.transformer import Indicators
from .pictures import new_axes, plain, plain_names
from .shares import interval

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from ..evaluation.agreement import Stability


def plot_stability(found: "Stability", ax: "Axes | None" = None, most: int = 30) -> "Axes":
    """How often resamples selected each feature, with 95 % intervals; see `Stability.plot`."""
    order = [j for j in np.argsort(-found.frequency, kind="stable") if found.frequency[j] > 0]
    shown = order[:most]
    if ax is None:
        ax = new_axes(7, 0.28 * len(shown) + 1.4)
    share = found.frequency[shown]
    around = _around(share, np.full(share.size, found.n_resamples))
    places = np.arange(len(shown))
    ax.barh(places, share, color="#4c78a8", height=0.7)
    ax.errorbar(share, places, xerr=around, fmt="none", ecolor="#555", lw=1)
    ax.set_yticks(places, plain_names([found.feature_names[j] for j in shown]), fontsize=8)
    ax.invert_yaxis()
    ax.set_xlim(0, 1)
    ax.set_xlabel(f"share of {found.n_resamples} resamples that select it")
    left = len(order) - len(shown)
    ax.set_title(
        f"two resamples share {found.jaccard:.0%} of their columns"
        + (f"; {left} more were selected at times" if left else ""),
        loc="left",
        fontsize=9,
    )
    return ax


def _around(shares: NDArray[np.float64], rows: NDArray[np.float64]) -> NDArray[np.float64]:
    """How far the exact intervals of 95 % reach below and above shares of so many rows."""
    ends = [interval(share * n, n) for share, n in zip(shares, rows, strict=True)]
    low, high = np.array(ends).reshape(-1, 2).T
    return np.maximum([shares - low, high - shares], 0.0)


def plot_calibration(
    model: Model,
    X: object,
    y: ArrayLike,
    *,
    ax: "Axes | None" = None,
    names: Sequence[object] = (),
    groups: ArrayLike | None = None,
) -> "Axes":
    """Can probabilities be taken at their word?  What was said, and what came true, in ten bins.

    Parameters
    ----------
    model : NaiveBayes, NaiveBayesSelector, WeightedNaiveBayes, or a Pipeline that ends in one
        Fitted.
    X, y :
        Of a model, rows that are new to it; of a selector, those that it was fitted on: its
        validation part, or folds of the whole fit, are judged.
    ax : matplotlib axes, optional
    names : sequence, optional
        Classes (or labels) to draw; all by default, of two classes the second.
    groups : array-like of shape (n_samples,), optional
        What rows of one series, patient or machine share: whole groups are left out, and bars are
        as wide as so few independent rows make them.

    Returns
    -------
    ax : matplotlib axes
        Bars are 95 % intervals of the share that came true, by the rows of the bin.

    Examples
    --------
    >>> import matplotlib; matplotlib.use("Agg")
    >>> from sklearn.datasets import load_iris
    >>> from bayesieve import NaiveBayes, plot_calibration
    >>> X, y = load_iris(return_X_y=True)
    >>> ax = plot_calibration(NaiveBayes().fit(X[::2], y[::2]), X[1::2], y[1::2])
    >>> ax.get_xlabel(), len(ax.containers)
    ('probability told', 3)
    """
    model, X = follow(model, X)
    found = performance(model, X, y, groups=groups)
    verdicts, counted = found.verdicts, found.effective_rows / found.n_rows
    if not names:
        names = [v.name for v in (verdicts[1:] if len(verdicts) == 2 else verdicts)]
    if ax is None:
        ax = new_axes(5, 4.6)
    ax.plot([0, 1], [0, 1], color="#999", lw=1, ls="--")
    for verdict in verdicts:
        if verdict.name in names and verdict.calibration:
            said, came, rows = np.array(verdict.calibration).T
            ax.errorbar(
                said,
                came,
                yerr=_around(came, rows * counted),
                marker="o",
                ms=4,
                lw=1,
                label=plain(verdict.name),
            )
    ax.set_xlabel("probability told")
    ax.set_ylabel("share that came true")
    ax.set_xlim(-0.02, 1.02)
    ax.set_ylim(-0.02, 1.02)
    ax.legend(fontsize=8)
    return ax


def plot_signal(
    indicators: Indicators, series: ArrayLike, name: str, *, ax: "Axes | None" = None
) -> "Axes":
    """One series, shaded where an indicator fired.

    Parameters
    ----------
    indicators : Indicators
        Fitted, of one channel.
    series : array-like of numbers
    name : str
        The indicator, as `Indicators.get_feature_names_out` names it.
    ax : matplotlib axes, optional

    Returns
    -------
    ax : matplotlib axes

    Examples
    --------
    >>> import matplotlib; matplotlib.use("Agg")
    >>> from bayesieve import plot_signal
    >>> from bayesieve.datasets import make_signals
    >>> from bayesieve.indicators import Indicators
    >>> known = make_signals(20, 20, random_state=0)
    >>> indicators = Indicators().fit(known.series)
    >>> ax = plot_signal(indicators, known.series[0], indicators.get_feature_names_out()[0])
    >>> ax.get_xlabel()
    'point'
    """
    values = np.asarray(series, float)
    if values.ndim != 1:
        raise ValueError(
            f"series must be one row of numbers; got an array of shape {values.shape}. Give one "
            "channel of one series."
        )
    spans = indicators.fired(values, [name]).get(name, [])
    if ax is None:
        ax = new_axes(8, 2.6)
    ax.plot(values, color="#333", lw=0.8)
    for first, last in spans:
        ax.axvspan(first - 0.5, last + 0.5, color="#f58518", alpha=0.25, lw=0)
    ax.set_xlabel("point")
    ax.set_title(plain(name) + ("" if spans else ": not fired"), loc="left", fontsize=9)
    return ax
