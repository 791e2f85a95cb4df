"""`ScoreCard`: a page of conditions with whole points, for any number of classes."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import blake2b
from os import PathLike
from typing import Any, ClassVar

import numpy as np
from scipy.special import logsumexp, ndtri
from sklearn.base import BaseEstimator
from sklearn.utils import Tags, check_random_state
from sklearn.utils.validation import _num_samples

from ..checks import Array, Floats, Ints, check_jobs, check_number, column_indices, plain_value
from ..criteria import CRITERIA
from ..criteria.base import Criterion
from ..data.columns import ColumnSpec
from ..data.result import Result
from ..data.sample import (
    Sample,
    class_factors,
    is_label_matrix,
    read_groups_of_rows,
    read_mates,
    read_sample,
    read_weights,
)
from ..data.tables import SparseTable, is_collection, keep_names
from ..models.base import Terms, Weighting, one_set
from ..models.columns import Summary, choose_models
from ..models.fitted import FittedBayes, FittedProblem
from ..models.log_ratios import column_ratios, weigh
from ..models.registry import MODELS
from ..search.card import CardColumn, CardRows
from ..search.card_points import UNIT, LearntCard, PointCard, PointColumn, learn_card
from ..search.path import LOG_LOSS, Path, Step
from ..search.term_pool import CodedColumns, CodedRows, fold_weights, read_coded
from ._validation import monotone_columns, read_class_weight, read_forbidden
from .base import ChosenColumns, GuidingFigures, Procedure
from .naive_bayes import AnyTable, NaiveBayes, restrict_names

#: Columns of points that a page has room for; lines that fit on it; points that people add up.
MOST_CLASSES, MOST_LINES, MOST_POINTS = 10, 60, 100

#: Folds within the training rows that decide how many lines there are, and what a point is worth.
CARD_FOLDS = 5

# Rows of the table from totals to probabilities.
_TOTALS = 12

# A number's intervals are levels of this feature model.
_INTERVALS = "intervals-32"


# -- A card as a value -----------------------------------------------------------------------------


@dataclass(frozen=True)
class CardLine:
    """A condition, and its points.

    Attributes
    ----------
    column : str
    condition : str
        In words, such as "35 to below 50".
    points : tuple of int
        Of two classes, those for the second one; else one a class.
    rows : float
        Training rows that it holds for.
    """

    column: str
    condition: str
    points: tuple[int, ...]
    rows: float


@dataclass(frozen=True)
class CardTotal:
    """What some totals mean; of several classes, how far the best one is ahead of the next.

    Attributes
    ----------
    low, high : int
        Totals (or leads) from and to; the first and the last row have no end.
    chance : tuple of float
        Probability of the class that the points speak for (of several classes: at least, of the one
        ahead) at either end.
    rows, hits : float
        Rows left out with such a total, and those of the class.
    interval : tuple of float
        Where their share lies, at 95 %.
    """

    low: int
    high: int
    chance: tuple[float, float]
    rows: float
    hits: float
    interval: tuple[float, float]


@dataclass(frozen=True, repr=False)
class Card(Result):
    """A card: lines, and what their total means.

    Attributes
    ----------
    lines : tuple of CardLine
        All conditions of all columns; one of each column has no points.
    classes : tuple
        The classes, in their order.
    start : tuple of int
        Points that each class begins with; of two classes, 0.
    unit : float
        What a point is worth, in nat.
    constant : float
        Log-odds of the second of two classes at a total of 0.
    table : tuple of CardTotal
    act_from : int or None
        Of two classes, the least total for which the second is the more probable one.
    n_rows : float
        Training rows.
    auc, log_loss : (float, float, float) or None
        Of rows left out, and an interval of 95 %; no AUC of several classes.
    accuracy : float
        Of rows left out.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from bayesieve import ScoreCard
    >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    >>> card = ScoreCard(lines=3).fit(X, y).card_
    >>> card.n_lines, len(card.classes), card.act_from is None
    (3, 2, False)
    """

    lines: tuple[CardLine, ...]
    classes: tuple[Any, ...]
    start: tuple[int, ...]
    unit: float
    constant: float
    table: tuple[CardTotal, ...]
    act_from: int | None
    n_rows: float
    auc: tuple[float, float, float] | None
    log_loss: tuple[float, float, float] | None
    accuracy: float | None

    _html_rows: ClassVar[int] = 200

    @property
    def n_lines(self) -> int:
        """Conditions with points other than 0: what a reader counts."""
        return sum(any(line.points) for line in self.lines)

    def to_columns(self) -> dict[str, list[Any]]:
        """A row a condition."""
        found: dict[str, list[Any]] = {
            "column": [line.column for line in self.lines],
            "condition": [line.condition for line in self.lines],
        }
        names = ["points"] if len(self.classes) == 2 else [f"points {k}" for k in self.classes]
        for at, name in enumerate(names):
            found[name] = [line.points[at] for line in self.lines]
        return {**found, "rows": [line.rows for line in self.lines]}

    def caption(self) -> str:
        """How many lines, and for what."""
        what = f"points for {self.classes[1]}" if len(self.classes) == 2 else "points by class"
        return f"{self.n_lines} line{'s' * (self.n_lines != 1)}, {what}"

    def to_text(self) -> str:
        """The card for a terminal."""
        from ..explain.card import card_text

        return card_text(self)

    def to_html(self, title: str = "Score card") -> str:
        """The card as one page, which prints on one sheet and needs no network."""
        from ..explain.card import card_html

        return card_html(self, title)

    def save(self, path: str | PathLike[str], title: str = "Score card") -> None:
        """Write the card: .html, .txt, .json, .pdf (needs matplotlib) or .xlsx (openpyxl).

        Parameters
        ----------
        path : path
            Its ending says how.
        title : str
            The headline.
        """
        from ..explain.card import save_card

        save_card(self, path, title)


# -- ScoreCard -------------------------------------------------------------------------------------


class ScoreCard(ChosenColumns, AnyTable, BaseEstimator):
    """A card of whole points: conditions on few columns, for any number of classes.

    score_k = b_k + u x (sum of the points for class k of the conditions that hold).  Conditions are
    found one by one, over all thresholds and levels of all columns at once; cut-offs are as round
    as the rows allow (half a nat for a significant digit); points are whole numbers, moved with
    the penalty in sight; how many lines pay, how far values are held back, and what a point is
    worth are decided by rows left out.  Predictions, SQL, Python, files and the printed card add up
    the same whole numbers.

    Parameters
    ----------
    lines : int, default=25
        Conditions with points other than 0, at most: what a reader counts.
    points : int, default=10
        A line has from minus so many to so many points.
    monotone : mapping, optional
        Of two classes, columns whose points for the second may only rise (1) or fall (-1) with
        their value: ``{"age": 1}``.
    keep, forbid : list, default=()
        Columns (names or positions) that are offered a line first; that never have one.
    class_weight : None, "balanced" or mapping, default=None
        Weight of each class.
    n_jobs : int, optional
        For the interface of scikit-learn; the card does not depend on it.
    random_state : int, RandomState or None, default=0
        Draws the folds within the training rows.

    Attributes
    ----------
    card_ : Card
        The card: lines, the table from total to probability, and how good it is; ``to_text()``,
        ``to_html()`` and ``save(path)`` print it.
    selected_ : ndarray of int
        Columns of the card, in the order in which they came.
    path_ : Path
        The columns as they came, with the log-loss of rows left out.
    classes_ : ndarray
        The classes.
    settings_ : dict
        What was decided: ``lines``, ``ridge`` and ``unit``.
    estimator_ : NaiveBayes
        The model on the columns used, whose corrections are points.
    support_ : ndarray of bool
        Mask of the columns used.
    n_features_in_, feature_names_in_ :
        Width and names of X.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from bayesieve import ScoreCard
    >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    >>> model = ScoreCard(lines=5).fit(X, y)
    >>> model.card_.n_lines <= 5, model.score(X, y) > 0.9
    (True, True)
    """

    card_: Card
    selected_: Ints
    path_: Any
    classes_: Any
    settings_: dict[str, Any]
    families_ = None
    families = None

    def __init__(
        self,
        lines: int = 25,
        points: int = 10,
        monotone: Mapping[str, int] | Mapping[int, int] | None = None,
        keep: Iterable[str | int] = (),
        forbid: Iterable[str | int] = (),
        class_weight: object = None,
        n_jobs: int | None = None,
        random_state: object = 0,
    ):
        self.lines = lines
        self.points = points
        self.monotone = monotone
        self.keep = keep
        self.forbid = forbid
        self.class_weight = class_weight
        self.n_jobs = n_jobs
        self.random_state = random_state

    def __procedure__(self) -> Procedure:
        """Describe this way to choose columns; asked by `procedure_of`."""
        return CardProcedure(self)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = False
        tags.classifier_tags.multi_label = False
        return tags

    @classmethod
    def from_model(
        cls, model: ChosenColumns, X: object, y: object, **parameters: Any
    ) -> "ScoreCard":
        """A card on the columns of a fitted model.

        Points are no translation of a model's tables: cut-offs, points and what one is worth are
        found on the rows, which is why X and y are asked for.

        Parameters
        ----------
        model : WeightedNaiveBayes or NaiveBayesSelector
            Fitted.
        X, y : what it was fitted on.
        **parameters : of `ScoreCard`.

        Returns
        -------
        card : ScoreCard
            Fitted.

        Examples
        --------
        >>> from sklearn.datasets import load_breast_cancer
        >>> from bayesieve import ScoreCard, WeightedNaiveBayes
        >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
        >>> model = WeightedNaiveBayes(max_terms=3, pairs=False).fit(X, y)
        >>> card = ScoreCard.from_model(model, X, y, lines=6)
        >>> set(card.selected_) <= set(model.selected_)
        True
        """
        if not isinstance(model, ChosenColumns):
            raise TypeError(
                "model must be a fitted WeightedNaiveBayes or NaiveBayesSelector; got "
                f"{type(model).__name__}. Fit a ScoreCard itself to choose among all columns."
            )
        barred = [*np.flatnonzero(~model.get_support()).tolist(), *parameters.pop("forbid", ())]
        if not model.get_support().any():
            raise ValueError("model must have chosen a column at least; this one has none.")
        return cls(forbid=barred, **parameters).fit(X, y)

    def fit(
        self, X: object, y: object, sample_weight: object = None, groups: object = None
    ) -> "ScoreCard":
        """Find the lines and their points.

        Parameters
        ----------
        X : array-like, data frame or packed table of shape (n_samples, n_features)
            Numbers, booleans, text or categories; missing values are allowed.
        y : array-like of shape (n_samples,)
            Classes: two, or several.
        sample_weight : array-like of shape (n_samples,), optional
            How often each row is repeated, whole numbers.
        groups : array-like of shape (n_samples,), optional
            What rows of one series, patient or machine share: no group is on both sides of a fold.

        Returns
        -------
        self : ScoreCard
        """
        judge_card(self)
        _check_kind(X, y)
        holder = NaiveBayes({})
        sample = read_sample(holder, X, y, sample_weight, whole=True)
        if isinstance(sample.table, SparseTable):
            raise TypeError(_DENSE.format("a sparse matrix"))
        names, classes = list(sample.table.names), sample.classes
        if len(classes) > MOST_CLASSES:
            raise ValueError(
                f"y must hold at most {MOST_CLASSES} classes, for whose points a page has room; "
                f"got {len(classes)}. Join rare classes, or use a WeightedNaiveBayes."
            )
        keep = list(dict.fromkeys(column_indices("keep", self.keep, names)))
        if len(keep) > self.lines:
            raise ValueError(
                f"keep names {len(keep)} columns, each of which needs a line, and lines is "
                f"{self.lines}; allow more lines, or keep fewer columns."
            )
        forbidden = read_forbidden(self.forbid, names, set(keep))
        models = choose_models("auto", sample.table)
        signs = monotone_columns(self.monotone, names, models, len(classes))
        weight = class_factors(
            read_class_weight(self, sample), sample.labels, sample.weights, len(classes)
        )
        factors = np.array([float(factor) for factor in weight])
        coded = read_coded(sample, models)
        mates = None
        if groups is not None:
            mates = read_mates(read_groups_of_rows(groups, _num_samples(X)), sample.rows)
        problem = CodedRows(
            coded,
            np.arange(sample.labels.size),
            sample.labels,
            read_weights(sample.weights, sample.table, whole=True).astype(np.int64),
            classes,
            factors,
            mates,
        )
        order = _by_content(problem, names)
        rows = _card_rows(sample, coded, order, signs, factors)
        draw = check_random_state(self.random_state)
        folds = _folds(problem, draw)
        place = {j: at for at, j in enumerate(order)}
        learnt = learn_card(
            rows,
            folds,
            int(self.lines),
            int(self.points),
            [place[j] for j in keep],
            [place[j] for j in sorted(forbidden)],
        )
        for name in ("feature_names_in_", "calibration_", "decision_"):
            self.__dict__.pop(name, None)
        keep_names(self, X, reset=True)
        self._hold(sample, coded, order, rows, learnt, holder, factors)
        return self

    def _hold(
        self,
        sample: Sample,
        coded: CodedColumns,
        order: list[int],
        rows: CardRows,
        learnt: LearntCard,
        holder: NaiveBayes,
        factors: Floats,
    ) -> None:
        card = learnt.card
        parts = sorted(card.columns, key=lambda each: order[each.column])
        columns = np.array([order[each.column] for each in parts], np.int64)
        specs = [
            _spec_of(coded.specs[j], each, rows) for j, each in zip(columns, parts, strict=True)
        ]
        codes = [each.codes(rows) for each in parts]
        fitted = _fitted(sample, card, parts, specs, codes, factors)
        model = NaiveBayes({})
        if hasattr(holder, "feature_names_in_"):
            model.feature_names_in_ = holder.feature_names_in_
        model.hold(FittedBayes((fitted,)))
        restrict_names(model, columns)
        came = [order[j] for j in learnt.order if order[j] in set(columns.tolist())]
        self.estimator_, self.classes_ = model, model.classes_
        self.support_ = np.isin(np.arange(self.n_features_in_), columns)
        self.selected_ = np.array(came, np.int64)
        names = list(sample.table.names)
        self.path_ = _path(names, came, learnt, float(sample.weights.sum()))
        self.settings_ = {"lines": card.n_lines, "ridge": learnt.ridge, "unit": card.unit}
        self.card_ = _card_of(card, parts, specs, codes, rows, sample, learnt)


_DENSE = (
    "X must be an array, a data frame or a packed table here: a card has conditions on few columns "
    "of a table in memory; got {}. Choose columns by a WeightedNaiveBayes first, and make a card "
    "of these."
)


def judge_card(model: ScoreCard) -> None:
    """Validate all that does not depend on the data."""
    check_number("lines", model.lines, low=2, high=MOST_LINES, whole=True)
    check_number("points", model.points, low=1, high=MOST_POINTS, whole=True)
    check_jobs(model.n_jobs)


def _check_kind(X: object, y: object) -> None:
    """Refuse what no page can hold."""
    if is_collection(X):
        raise TypeError(_DENSE.format(f"a Dask collection ({type(X).__name__})"))
    if is_label_matrix(y):
        raise ValueError(
            "y must hold one class a row: a card is for classes; got a matrix of labels. Make a "
            "card for each label."
        )


def _folds(problem: CodedRows, draw: np.random.RandomState) -> list[Floats]:
    """Shares of the rows held out; no fold where a class has a single row."""
    labels = problem.labels
    count = np.bincount(labels, problem.weights)
    groups = None
    if problem.groups is not None:
        groups = np.unique(problem.groups, return_inverse=True)[1].ravel()
        if groups.max() < 1:
            return []
    if count.min() < 2:
        return []
    found = fold_weights(problem, labels, draw, groups, CARD_FOLDS)
    # Every fold must learn all classes.
    return [
        held / problem.weights
        for held in found
        if (np.bincount(labels, problem.weights - held, count.size) > 0).all()
    ]


def _by_content(problem: CodedRows, names: Sequence[str]) -> list[int]:
    """Columns in an order that does not hang on where they stand: by counts, then names."""
    marks = [
        blake2b(np.ascontiguousarray(each[0] + 0.0).tobytes(), digest_size=8).hexdigest()
        for each in problem.summary.statistics
    ]
    return sorted(range(len(names)), key=lambda j: (marks[j], names[j]))


def _card_rows(
    sample: Sample, coded: CodedColumns, order: list[int], signs: Mapping[int, int], factors: Floats
) -> CardRows:
    """The rows as cards read them; names of many values are no conditions, and say nothing."""
    columns, numbers = [], {}
    codes = np.zeros((len(order), sample.labels.size), np.uint8)
    for at, j in enumerate(order):
        spec = coded.specs[j]
        wide = spec.n_codes > 256
        size = 1 if wide else spec.n_codes
        columns.append(CardColumn(spec.name, size, spec.on_grid, signs.get(j, 0)))
        if not wide:
            codes[at] = coded.codes(j)
        if spec.on_grid:
            values, where = sample.table.coded(j)
            values = np.asarray(values, np.float64)
            numbers[at] = values if where is None else values[where]
    weights = sample.weights * factors[sample.labels]
    n_classes = len(sample.classes)
    return CardRows(tuple(columns), codes, sample.labels, weights, n_classes, numbers)


def _spec_of(spec: ColumnSpec, part: PointColumn, rows: CardRows) -> ColumnSpec:
    """What the card's model must know of a column: of a number, its few cut-offs."""
    if part.starts is None:
        return spec
    values = rows.numbers[part.column]
    known = values[~np.isnan(values)]
    where = np.searchsorted(part.starts, known, "right")
    medians = [
        np.sort(known[where == i])[((where == i).sum() - 1) // 2]
        for i in range(part.starts.size + 1)
    ]
    # A value belongs to the interval that begins with it.
    cuts = np.nextafter(part.starts, -np.inf)
    ends = np.array([known.min(), known.max()])
    count = max(spec.n_distinct, len(medians))
    return ColumnSpec(
        spec.name, _INTERVALS, np.array(medians), distinct=ends, n_distinct=count, cuts=cuts
    )


def _by_class(points: Ints) -> Ints:
    """Points of every class: of two, the first has none."""
    return (
        np.column_stack([np.zeros(len(points), np.int64), points])
        if points.shape[1] == 1
        else points
    )


def _fitted(
    sample: Sample,
    card: PointCard,
    parts: Sequence[PointColumn],
    specs: Sequence[ColumnSpec],
    codes: Sequence[Ints],
    factors: Floats,
) -> FittedProblem:
    """The weighted model whose weights are 0 and whose corrections are points."""
    n_classes = len(sample.classes)
    sets = one_set(sample.labels, sample.weights, factors)
    statistics = tuple(
        MODELS[spec.model].statistics(column.astype(np.int64), spec.n_codes, sets)
        for spec, column in zip(specs, codes, strict=True)
    )
    count = np.bincount(sample.labels, sample.weights, n_classes).astype(np.float64)
    summary = Summary(sample.classes, count, factors, tuple(specs), statistics)
    unit, corrections = round(card.unit / UNIT), []
    for each in parts:
        table = _by_class(each.by_code()) * unit
        corrections.append(table if table[-1].any() else table[:-1])
    speaks = any(len(part) == spec.n_codes for part, spec in zip(corrections, specs, strict=True))
    nothing = np.zeros((len(parts), n_classes), np.int64)
    weighting = Weighting(nothing, speaks=speaks, corrections=tuple(corrections))
    ratios = column_ratios(summary, 1.0, None, speaks)
    problem = weigh(summary, ratios, np.zeros(n_classes, np.int64), weighting, 1.0)
    logits = np.append(0.0, card.constants) if n_classes == 2 else card.constants
    # Differences between classes stay what they are, to the last bit.
    first = np.rint(np.ldexp(-logsumexp(logits), 30))
    prior = np.ldexp(first + np.rint(np.ldexp(logits, 30)), -30)
    return replace(problem, prior=Terms(prior[None]))


def _path(names: list[str], came: Sequence[int], learnt: LearntCard, n_rows: float) -> Path:
    """The columns as they came; how good the card was with the lines so far, by rows left out."""
    path = Path(tuple((j,) for j in range(len(names))), names, LOG_LOSS)
    for i in range(len(came) + 1):
        most = len(learnt.losses) - 1
        lines = most if i == len(came) else min(i, most)
        loss = learnt.losses[min(lines, learnt.card.n_lines)] / max(n_rows, 1.0)
        action, units = ("add", (came[i - 1],)) if i else ("start", ())
        path.steps.append(Step(action, units, 0, "forward", i, loss, loss))
    path.chosen = path.best = len(path.steps) - 1
    path.n_rows = int(n_rows), 0
    return path


# -- The card in words -----------------------------------------------------------------------------


def _number(value: float) -> str:
    return f"{value:.15g}"


def conditions(spec: ColumnSpec, part: PointColumn, whole: bool) -> list[str]:
    """Each condition of a column in words.

    Parameters
    ----------
    spec, part : of the column.
    whole : are all its values whole numbers?
    """
    silent, found = part.groups.size - 1, []
    for group in range(len(part.points)):
        codes = np.flatnonzero(part.groups == group).tolist()
        words = []
        if part.starts is None:
            words = [str(plain_value(_plain(spec.levels[i]))) for i in codes if i != silent]  # type: ignore[index]
        else:
            shown = [i for i in codes if i != silent]
            if shown:
                words.append(_interval(part.starts, shown[0], shown[-1], whole))
        if silent in codes:
            words.append("missing")
        found.append(" or ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words))
    return found


def _plain(level: object) -> object:
    value = plain_value(level)
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _interval(starts: Floats, first: int, last: int, whole: bool) -> str:
    """From one interval to another, in words."""
    if not starts.size:
        return "any value"
    low = None if first == 0 else float(starts[first - 1])
    high = None if last == starts.size else float(starts[last])
    if low is None:
        return f"below {_number(high or 0.0)}"
    if high is None:
        return f"{_number(low)} and above"
    if whole and low.is_integer() and high.is_integer():
        return _number(low) if high - low == 1 else f"{_number(low)} to {_number(high - 1)}"
    return f"{_number(low)} to below {_number(high)}"


def _card_of(
    card: PointCard,
    parts: Sequence[PointColumn],
    specs: Sequence[ColumnSpec],
    codes: Sequence[Ints],
    rows: CardRows,
    sample: Sample,
    learnt: LearntCard,
) -> Card:
    """Everything that the page says."""
    lines = []
    at = {each.column: i for i, each in enumerate(parts)}
    for j in [j for j in learnt.order if j in at]:
        part, spec, column = parts[at[j]], specs[at[j]], codes[at[j]]
        values = rows.numbers.get(j)
        whole = values is not None and bool((values[~np.isnan(values)] % 1 == 0).all())
        seen = np.bincount(
            np.where(part.groups[column] < 0, 0, part.groups[column]),
            sample.weights,
            len(part.points),
        )
        for words, points, n in zip(conditions(spec, part, whole), part.points, seen, strict=True):
            lines.append(CardLine(spec.name, words, tuple(points.tolist()), float(n)))
    several = rows.n_classes > 2
    start = np.rint(card.constants / card.unit).astype(int).tolist() if several else [0]
    constant = 0.0 if several else float(card.constants[0])
    act = None if several or not lines else int(np.floor(-constant / card.unit)) + 1
    known = ~np.isnan(learnt.left_out[0])
    auc, loss, accuracy = _judged(rows, learnt.left_out, known, sample.weights)
    return Card(
        tuple(lines),
        tuple(plain_value(each) for each in sample.classes),
        tuple(start),
        card.unit,
        constant,
        _table(card, rows, learnt.left_out, known, sample.weights),
        act,
        float(sample.weights.sum()),
        auc,
        loss,
        accuracy,
    )


Figures = tuple[float, float, float]


def _judged(
    rows: CardRows, scores: Floats, known: Array, weights: Floats
) -> tuple[Figures | None, Figures | None, float | None]:
    """AUC, log-loss and accuracy of rows left out, with intervals."""
    if not known.any():
        return None, None, None
    s, labels, n = scores[:, known], rows.labels[known], weights[known]
    if rows.n_classes == 2:
        losses = np.logaddexp(0.0, np.where(labels == 1, -s[0], s[0]))
        decided = (s[0] > 0).astype(int)
    else:
        losses = logsumexp(s, axis=0) - np.take_along_axis(s, labels[None], 0)[0]
        decided = s.argmax(0)
    mean = float(np.average(losses, weights=n))
    off = 1.96 * float(np.sqrt(np.average((losses - mean) ** 2, weights=n) / n.sum()))
    accuracy = float(np.average(decided == labels, weights=n))
    auc = None
    if rows.n_classes == 2:
        from sklearn.metrics import roc_auc_score

        value = float(roc_auc_score(labels, s[0], sample_weight=n))
        # Hanley and McNeil (1982).
        ones, zeros = n[labels == 1].sum(), n[labels == 0].sum()
        first, second = value / (2 - value), 2 * value**2 / (1 + value)
        spread = value * (1 - value) + (ones - 1) * (first - value**2)
        spread = (spread + (zeros - 1) * (second - value**2)) / (ones * zeros)
        wide = float(ndtri(0.975) * np.sqrt(max(spread, 0.0)))
        auc = value, max(value - wide, 0.0), min(value + wide, 1.0)
    return auc, (mean, max(mean - off, 0.0), mean + off), accuracy


def _table(
    card: PointCard, rows: CardRows, scores: Floats, known: Array, weights: Floats
) -> tuple[CardTotal, ...]:
    """From totals (of several classes: leads) to probabilities, with rows left out behind each."""
    from scipy.stats import beta

    if not card.columns:
        return ()
    totals = card.totals(rows)
    if rows.n_classes == 2:
        told = totals[0]
        left = (scores[0] - card.constants[0]) / card.unit
        hit = rows.labels == 1

        def chance(total: int) -> float:
            return float(1 / (1 + np.exp(-(card.constants[0] + card.unit * total))))
    else:
        start = np.rint(card.constants / card.unit).astype(int)
        ranked = np.sort(totals + start[:, None], axis=0)
        told = ranked[-1] - ranked[-2]
        ordered = np.sort(scores, axis=0)
        left = (ordered[-1] - ordered[-2]) / card.unit
        hit = scores.argmax(0) == rows.labels

        def chance(total: int) -> float:
            return float(1 / (1 + (rows.n_classes - 1) * np.exp(-card.unit * total)))

    least, most = int(told.min()), int(told.max())
    count = np.bincount(told - least, weights, most - least + 1)
    begins, here = [least], 0.0
    for at, n in enumerate(count.tolist()[:-1]):
        here += n
        if here >= weights.sum() / _TOTALS:
            begins.append(least + at + 1)
            here = 0.0
    ends = [*(each - 1 for each in begins[1:]), most]
    which = np.searchsorted(np.array(begins[1:]) - 0.5, np.nan_to_num(left), "right")
    found = []
    for i, (low, high) in enumerate(zip(begins, ends, strict=True)):
        mine = known & (which == i)
        n, k = float(weights[mine].sum()), float(weights[mine & hit].sum())
        under = float(beta.ppf(0.025, k, n - k + 1)) if k > 0 else 0.0
        over = float(beta.ppf(0.975, k + 1, n - k)) if k < n else 1.0
        found.append(CardTotal(low, high, (chance(low), chance(high)), n, k, (under, over)))
    return tuple(found)


class CardProcedure(Procedure):
    """Lines of a card, guided by the log-loss of rows left out."""

    def validate(self) -> Criterion:
        """Validate all parameters that need no data; the criterion that stands for the log-loss."""
        judge_card(self.model)
        return CRITERIA["log-likelihood"]

    def base_model(self) -> NaiveBayes:
        """An unfitted model of all columns."""
        return NaiveBayes()

    def repeatable(self) -> Any:
        """An unfitted copy."""
        from sklearn.base import clone

        return clone(self.model)

    def chooser(self, criterion: Criterion) -> Criterion:
        """The criterion itself."""
        return criterion

    @property
    def row_parts(self) -> None:
        """None: lines and points are fitted on all rows."""
        return

    @property
    def paths(self) -> tuple[Path, ...]:
        """One path."""
        return (self.model.path_,)

    @property
    def names(self) -> list[str]:
        """Names of all columns of X."""
        return list(self.model.path_.names)

    @property
    def term_names(self) -> list[str]:
        """Names of the columns, in the order in which they came."""
        return [self.names[j] for j in self.model.selected_.tolist()]

    def rename_path(self, names: Sequence[str]) -> None:
        """Give the columns of the path these names."""
        from copy import copy

        path = copy(self.model.path_)
        path.names = list(names)
        self.model.path_ = path

    def figures(self) -> GuidingFigures:
        """The log-likelihood of rows left out."""
        path = self.model.path_
        return GuidingFigures(-path.steps[path.chosen].score, float("nan"), "validation_error")

    def summary(self) -> dict[str, object]:
        """Figures of the choice as plain data."""
        card = self.model.card_
        return {
            "n_columns": int(self.model.support_.sum()),
            "n_lines": card.n_lines,
            "log_loss": None if card.log_loss is None else card.log_loss[0],
        }

    def settings(self) -> list[tuple[str, object]]:
        """Decisions of the fit, each by the name under which people read it."""
        decided = self.model.settings_
        return [
            ("estimator", "ScoreCard: conditions with whole points"),
            ("guided by", "log-loss"),
            ("lines", decided["lines"]),
            ("ridge", f"{decided['ridge']:g}"),
            ("a point is worth", f"{decided['unit']:.4g} nat"),
        ]
