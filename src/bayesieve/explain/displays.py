"""Draw a model, a decision, a path or a ranking; a display keeps what is drawn, and where."""

from typing import TYPE_CHECKING, Protocol, Self, TypedDict, Unpack

from numpy.typing import ArrayLike

from ..data.tables import is_collection
from ..estimators.base import ChosenColumns
from ..evaluation._typing import Model, Value
from ..evaluation.performance import weighted_bands
from ..rankings.divergence import RelevanceMatrix, relevance_matrix
from ..search.path import Path
from . import plots as plotting
from .evidence import Explanation, explain
from .model import FeatureEvidence, ModelExplanation, explain_model, speaks

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure, SubFigure


class TableLike(Protocol):
    """A table that gives some of its rows: an array or a data frame."""

    def __getitem__(self, rows: list[int], /) -> object:
        """The rows of these numbers."""


class RelevanceOptions(TypedDict, total=False):
    """Options of `relevance_matrix` besides the table and its classes."""

    model: str
    as_printed: bool
    n_jobs: int | None


class _Display:
    """A picture that keeps its axes and figure."""

    ax_: "Axes"
    figure_: "Figure | SubFigure"

    def _keep(self, ax: "Axes") -> Self:
        self.ax_, self.figure_ = ax, ax.figure
        return self


class EvidenceDisplay(_Display):
    """The evidence behind one decision, as bars.

    Parameters
    ----------
    explanation : Explanation
        One element of what `explain` returns.

    Attributes
    ----------
    ax_, figure_ : matplotlib axes and figure, after `plot`.

    Examples
    --------
    >>> import matplotlib; matplotlib.use("Agg")
    >>> from sklearn.datasets import load_iris
    >>> from bayesieve import NaiveBayes, explain
    >>> from bayesieve.plot import EvidenceDisplay
    >>> X, y = load_iris(return_X_y=True)
    >>> display = EvidenceDisplay(explain(NaiveBayes().fit(X, y), X[7:8])[0]).plot()
    >>> print(display.ax_.get_title(loc="left"))
    0 rather than 1
    probability ≥ 99.9 %, over 10 000 times as likely
    """

    def __init__(self, explanation: Explanation):
        self.explanation = explanation

    def plot(self, ax: "Axes | None" = None, most: int = 20) -> "EvidenceDisplay":
        """Draw the prior and the strongest features; the others add up in one bar."""
        return self._keep(plotting.plot_evidence(self.explanation, ax, most))


class NomogramDisplay(_Display):
    """Nomogram of a model: a scale of points for every feature.

    Parameters
    ----------
    explanation : ModelExplanation
        What `explain_model` returns.
    target, against : classes, optional
        The second and the first class by default.

    Attributes
    ----------
    ax_, figure_ : matplotlib axes and figure, after `plot`.
    pair_axes_ : axes of the heat maps of pairs, where `plot` drew some.

    Examples
    --------
    >>> import matplotlib; matplotlib.use("Agg")
    >>> from sklearn.datasets import load_iris
    >>> from bayesieve import NaiveBayes, explain_model
    >>> from bayesieve.plot import NomogramDisplay
    >>> model = NaiveBayes().fit(*load_iris(return_X_y=True))
    >>> display = NomogramDisplay(explain_model(model), target=2, against=1).plot()
    >>> len(display.ax_.get_yticks())
    4
    """

    pair_axes_: "list[Axes]"

    def __init__(
        self,
        explanation: ModelExplanation,
        target: Value | None = None,
        against: Value | None = None,
    ):
        self.explanation = explanation
        self.target = explanation.classes[1] if target is None else target
        others = (c for c in explanation.classes if c != self.target)
        self.against = next(others) if against is None else against

    def plot(self, ax: "Axes | None" = None, most: int = 20) -> "NomogramDisplay":
        """Draw the longest scales; without `ax`, and pairs of features below as small heat maps."""
        scales = self.explanation.nomogram(self.target, self.against)
        pairs = [each for each in self.explanation.features if each.model == "pair"]
        if ax is None and pairs:
            silent = {f.feature for f in self.explanation.features if not speaks(f.source)}
            apart = silent | {pair.feature for pair in pairs}
            scales = [scale for scale in scales if scale[0] not in apart]
            pairs.sort(key=lambda each: -sum(each.importance))
            shapes = [(len(each.source["first"]), len(each.source["second"])) for each in pairs]
            ax, self.pair_axes_ = plotting.nomogram_axes(min(len(scales), most), shapes)
            said = [self._said(pair) for pair in pairs]
            deepest = max(abs(ratio) for ratios, _, _ in said for ratio in ratios)
            for pair, each, place in zip(pairs, said, self.pair_axes_, strict=True):
                plotting.plot_pair(pair.feature, pair.source, each, place, deepest)
        return self._keep(plotting.plot_nomogram(scales, self.target, self.against, ax, most))

    def _said(self, pair: FeatureEvidence) -> tuple[list[float], Value, Value]:
        """Log-ratios of a pair's cells, and the two classes."""
        at = [self.explanation.classes.index(each) for each in (self.target, self.against)]
        ratios = [ratio / self.explanation.temperature for ratio in pair.ratios(*at)]
        return ratios, self.target, self.against

    def plot_pair(self, pair: str, ax: "Axes | None" = None) -> "NomogramDisplay":
        """Draw an interaction of two features as a heat map of log-ratios.

        Parameters
        ----------
        pair : str
            Its name, such as ``"left x right"``.
        ax : matplotlib axes, optional
        """
        pairs = {each.feature: each for each in self.explanation.features if each.model == "pair"}
        if pair not in pairs:
            raise ValueError(f"pair must be one of the model's pairs {list(pairs)}; got {pair!r}.")
        found = pairs[pair]
        return self._keep(plotting.plot_pair(pair, found.source, self._said(found), ax))


class PathDisplay(_Display):
    """Score and validation error of every subset a search visited, or log-loss of weighted terms.

    Bands are two standard errors on either side, as in a report.

    Parameters
    ----------
    path : Path
        The `path_` of a selector, or of a `WeightedNaiveBayes`.
    bands : list of float, optional
        Standard errors of the states of weighted terms; a path of subsets knows its own.

    Examples
    --------
    >>> import matplotlib; matplotlib.use("Agg")
    >>> from sklearn.datasets import load_iris
    >>> from bayesieve import NaiveBayesSelector
    >>> from bayesieve.plot import PathDisplay
    >>> selector = NaiveBayesSelector(random_state=0).fit(*load_iris(return_X_y=True))
    >>> PathDisplay(selector.path_).plot().ax_.get_xlabel()
    'number of features'
    """

    def __init__(self, path: Path, bands: list[float] | None = None):
        self.path, self.bands = path, bands

    def plot(self, ax: "Axes | None" = None) -> "PathDisplay":
        """Draw."""
        return self._keep(plotting.plot_path(self.path, ax, self.bands))


class RelevanceDisplay(_Display):
    """Which features separate which class, as a heat map.

    Parameters
    ----------
    matrix : RelevanceMatrix

    Examples
    --------
    >>> import matplotlib; matplotlib.use("Agg")
    >>> from sklearn.datasets import load_iris
    >>> from bayesieve.plot import RelevanceDisplay
    >>> from bayesieve.rankings import relevance_matrix
    >>> display = RelevanceDisplay(relevance_matrix(*load_iris(return_X_y=True))).plot()
    >>> display.figure_ is display.ax_.figure
    True
    """

    def __init__(self, matrix: RelevanceMatrix):
        self.matrix = matrix

    def plot(self, ax: "Axes | None" = None) -> "RelevanceDisplay":
        """Draw."""
        return self._keep(plotting.plot_relevance(self.matrix, ax))


def plot_evidence(
    model: Model,
    X: TableLike,
    row: int = 0,
    *,
    target: Value | None = None,
    against: Value | None = None,
    ax: "Axes | None" = None,
) -> EvidenceDisplay:
    """Draw the evidence behind the decision on one row.

    Parameters
    ----------
    model : NaiveBayes or NaiveBayesSelector
        Fitted.
    X : array-like or data frame
    row : int, default=0
        Which row; with labels, the first label unless `target` names another.
    target, against : classes, optional
        As in `explain`.
    ax : matplotlib axes, optional

    Returns
    -------
    display : EvidenceDisplay

    Examples
    --------
    >>> import matplotlib; matplotlib.use("Agg")
    >>> from sklearn.datasets import load_iris
    >>> from bayesieve import NaiveBayes
    >>> from bayesieve.plot import plot_evidence
    >>> X, y = load_iris(return_X_y=True)
    >>> plot_evidence(NaiveBayes().fit(X, y), X, row=7).explanation.target
    0
    """
    one = [row]
    if is_collection(X):
        explain(model, X)  # which refuses it in words
    rows = X.iloc[one] if hasattr(X, "iloc") else X[one]
    return EvidenceDisplay(explain(model, rows, target=target, against=against)[0]).plot(ax)


def plot_nomogram(
    model: Model,
    *,
    target: Value | None = None,
    against: Value | None = None,
    label: str | None = None,
    ax: "Axes | None" = None,
) -> NomogramDisplay:
    """Draw a model as a nomogram.

    Parameters
    ----------
    model : NaiveBayes, NaiveBayesSelector or WeightedNaiveBayes
        Fitted.
    target, against : classes, optional
        The second and the first class by default.
    label : str, optional
        With labels: which one to draw; the first by default.
    ax : matplotlib axes, optional

    Returns
    -------
    display : NomogramDisplay

    Examples
    --------
    >>> import matplotlib; matplotlib.use("Agg")
    >>> from sklearn.datasets import load_iris
    >>> from bayesieve import NaiveBayes
    >>> from bayesieve.plot import plot_nomogram
    >>> display = plot_nomogram(NaiveBayes().fit(*load_iris(return_X_y=True)), target=2)
    >>> display.target, display.against
    (2, 0)
    """
    return NomogramDisplay(explain_model(model, label=label), target, against).plot(ax)


def plot_path(
    model: ChosenColumns,
    X: object = None,
    y: ArrayLike | None = None,
    *,
    ax: "Axes | None" = None,
) -> PathDisplay:
    """Draw the path of a fitted model.

    Parameters
    ----------
    model : NaiveBayesSelector or WeightedNaiveBayes
    X, y : optional
        What it was fitted on: a `WeightedNaiveBayes` needs them for its bands.
    ax : matplotlib axes, optional

    Returns
    -------
    display : PathDisplay

    Examples
    --------
    >>> import matplotlib; matplotlib.use("Agg")
    >>> from sklearn.datasets import load_iris
    >>> from bayesieve import NaiveBayesSelector
    >>> from bayesieve.plot import plot_path
    >>> selector = NaiveBayesSelector(random_state=0).fit(*load_iris(return_X_y=True))
    >>> plot_path(selector).path is selector.path_
    True
    """
    bands = None
    if model.path_.of == "terms" and X is not None and y is not None:
        bands = weighted_bands(model, X, y)
    return PathDisplay(model.path_, bands).plot(ax)


def plot_relevance(
    X: object, y: ArrayLike, *, ax: "Axes | None" = None, **options: Unpack[RelevanceOptions]
) -> RelevanceDisplay:
    """Draw which features separate which class; options as in `relevance_matrix`.

    Examples
    --------
    >>> import matplotlib; matplotlib.use("Agg")
    >>> from sklearn.datasets import load_iris
    >>> from bayesieve.plot import plot_relevance
    >>> plot_relevance(*load_iris(return_X_y=True)).matrix.values.shape
    (3, 4)
    """
    return RelevanceDisplay(relevance_matrix(X, y, **options)).plot(ax)
