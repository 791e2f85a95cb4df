"""`ScoreCard`: a page of conditions with whole points, for any number of classes."""

import json
import warnings
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from hashlib import blake2b
from os import PathLike, fspath
from typing import ClassVar, NamedTuple

import numpy as np
from scipy.special import logsumexp
from sklearn.base import BaseEstimator
from sklearn.metrics import roc_auc_score
from sklearn.utils import Tags, check_random_state
from sklearn.utils.validation import _num_samples

from ..checks import (
    Array,
    Bools,
    Floats,
    Foreign,
    Ints,
    check_jobs,
    check_number,
    choose,
    plain_value,
)
from ..criteria import CRITERIA
from ..criteria.base import Criterion
from ..data.columns import MOST_CODES, ColumnSpec
from ..data.files.output import write_text
from ..data.result import Result, jsonable
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
from ..search.path import LOG_LOSS, Path, Step
from ..search.point_lines import UNIT, CardColumn, CardRows, Draft, LearntCard, learn_card, roundest
from ..search.term_pool import CodedColumns, CodedRows, fold_weights, read_coded
from ._validation import read_class_weight, read_forbidden
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
    """

    low: int
    high: int
    chance: tuple[float, float]
    rows: float
    hits: float


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
    auc, log_loss, accuracy : float or None
        Of rows left out; no AUC of several classes.

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
    classes: tuple[Foreign, ...]
    start: tuple[int, ...]
    unit: float
    constant: float
    table: tuple[CardTotal, ...]
    act_from: int | None
    n_rows: float
    auc: float | None
    log_loss: float | None
    accuracy: float | None

    _html_rows: ClassVar[int] = 200

    @property
    def n_lines(self) -> int:
        """Conditions with points other than 0: what a reader counts."""
        return sum(any(line.points) for line in self.lines)

    def to_columns(self) -> dict[str, list[object]]:
        """A row a condition."""
        found: dict[str, list[object]] = {
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
        """Write the card as .html, .txt or .json.

        Parameters
        ----------
        path : path
            Its ending says how.
        title : str
            The headline.
        """
        ending = "." + fspath(path).lower().rpartition(".")[2]
        choose("the ending of path", ending, (".html", ".txt", ".json"))
        if ending == ".html":
            write_text(path, self.to_html(title))
        elif ending == ".txt":
            write_text(path, f"{title}\n{self.to_text()}\n")
        else:
            write_text(path, json.dumps(jsonable(self.to_dict()), indent=1) + "\n")


# -- ScoreCard -------------------------------------------------------------------------------------


class ScoreCard(ChosenColumns, AnyTable, BaseEstimator):
    """A card of whole points: conditions on few columns, for any number of classes.

    score_k = b_k + u x (sum of the points for class k of the conditions that hold).  Conditions are
    found one by one, over all thresholds and levels of all columns at once; cut-offs are as round
    as the rows allow (half a nat for a significant digit); points are whole numbers, moved by ones
    with the penalty in sight; how many lines pay, how far values are held back, and what a point is
    worth are decided by rows left out.  Predictions, SQL, Python, files and the printed card add up
    the same whole numbers.

    Parameters
    ----------
    lines : int, default=25
        Conditions with points other than 0, at most: what a reader counts.
    points : int, default=10
        A line has from minus so many to so many points.
    forbid : list, default=()
        Columns (names or positions) that have no line.
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
    path_: Path
    classes_: Array
    settings_: dict[str, float]
    families_ = None
    families = None

    def __init__(
        self,
        lines: int = 25,
        points: int = 10,
        forbid: Iterable[str | int] = (),
        class_weight: object = None,
        n_jobs: int | None = None,
        random_state: object = 0,
    ):
        self.lines = lines
        self.points = points
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
        cls, model: ChosenColumns, X: object, y: object, **parameters: Foreign
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
        forbidden = read_forbidden(self.forbid, names, set())
        models = choose_models("auto", sample.table)
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
        parts = [_card_column(sample, coded, j) for j in order]
        _warn_of_wide([spec for spec in coded.specs if spec.n_codes > MOST_CODES + 1])
        rows = CardRows(
            tuple(column for column, _ in parts),
            np.array([codes for _, codes in parts]),
            sample.labels,
            sample.weights * (np.maximum(np.rint(factors * 1024), 1) / 1024)[sample.labels],
            len(classes),
        )
        folds = _folds(problem, check_random_state(self.random_state))
        barred = [at for at, j in enumerate(order) if j in forbidden]
        learnt = learn_card(rows, folds, int(self.lines), int(self.points), barred)
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
        draft = learnt.draft
        parts = sorted((_part(rows, draft, at) for at in draft.groups), key=lambda p: order[p.at])
        columns = np.array([order[part.at] for part in parts], np.int64)
        specs = [
            _spec_of(coded.specs[j], part, sample, j)
            for j, part in zip(columns.tolist(), parts, strict=True)
        ]
        fitted = _fitted(sample, draft, parts, specs, factors)
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
        self.card_ = _card_of(parts, specs, rows, sample, learnt)
        decided = {"lines": self.card_.n_lines, "ridge": learnt.ridge, "unit": draft.unit}
        self.settings_ = decided


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


def _numbers(sample: Sample, j: int) -> Floats:
    """The numbers of a column, row by row."""
    values, where = sample.table.coded(j)
    values = np.asarray(values, np.float64)
    return values if where is None else values[where]


def _card_column(sample: Sample, coded: CodedColumns, j: int) -> tuple[CardColumn, Ints]:
    """A column as cards read it; one of too many levels has no conditions."""
    spec = coded.specs[j]
    if spec.n_codes > MOST_CODES + 1:
        return CardColumn(spec.name, 1, None), np.zeros(sample.labels.size, np.int64)
    codes = coded.codes(j).astype(np.int64)
    if not spec.on_grid:
        return CardColumn(spec.name, spec.n_codes, None), codes
    values = _numbers(sample, j)
    known = ~np.isnan(values)
    seen, mine = np.unique(codes[known], return_inverse=True)
    least = np.full(seen.size, np.inf)
    np.minimum.at(least, mine, values[known])
    starts = roundest(least[:-1], least[1:])
    codes = np.where(known, np.searchsorted(starts, values, "right"), seen.size)
    return CardColumn(spec.name, seen.size + 1, starts), codes


def _warn_of_wide(specs: Sequence[ColumnSpec]) -> None:
    """Name the columns that a card passes over."""
    if specs:
        told = ", ".join(f"{each.name!r} ({each.n_codes - 1} levels)" for each in specs[:5])
        more = f" and {len(specs) - 5} more" if len(specs) > 5 else ""
        warnings.warn(
            f"X: columns of more than {MOST_CODES} levels have no line on a card: {told}{more}. "
            "Join rare levels, or turn texts that are numbers into numbers.",
            stacklevel=3,
        )


class _CardFold(NamedTuple):
    """A column of a finished card."""

    at: int  #: its position among the rows' columns
    starts: Floats | None  #: of a number, where its intervals after the first begin
    groups: Ints  #: condition of each interval or level; the last is that of missing values
    points: Ints  #: conditions x logits
    codes: Ints  #: interval or level of each row


def _part(rows: CardRows, draft: Draft, at: int) -> _CardFold:
    """A column of a finished card, its number cut at the card's own few cut-offs."""
    starts, groups, codes = rows.columns[at].starts, draft.groups[at], rows.codes[at]
    if starts is not None:
        n = int(groups[-2]) + 1
        codes = np.where(codes == groups.size - 1, n, groups[codes])
        starts = starts[groups[1:-1] != groups[:-2]]
        groups = np.append(np.arange(n), groups[-1])
    return _CardFold(at, starts, groups, draft.points(at), codes)


def _spec_of(spec: ColumnSpec, part: _CardFold, sample: Sample, j: int) -> ColumnSpec:
    """What the card's model must know of a column: of a number, its few cut-offs."""
    if part.starts is None:
        return spec
    values = _numbers(sample, j)
    medians = []
    for i in range(part.starts.size + 1):
        mine = np.sort(values[part.codes == i])
        medians.append(mine[(mine.size - 1) // 2])
    # A value belongs to the interval that begins with it.
    cuts = np.nextafter(part.starts, -np.inf)
    ends = np.array([np.nanmin(values), np.nanmax(values)])
    count = max(spec.n_distinct, len(medians))
    return ColumnSpec(
        spec.name, _INTERVALS, np.array(medians), distinct=ends, n_distinct=count, cuts=cuts
    )


def _fitted(
    sample: Sample,
    draft: Draft,
    parts: Sequence[_CardFold],
    specs: Sequence[ColumnSpec],
    factors: Floats,
) -> FittedProblem:
    """The weighted model whose weights are 0 and whose corrections are points."""
    n_classes = len(sample.classes)
    sets = one_set(sample.labels, sample.weights, factors)
    statistics = tuple(
        MODELS[spec.model].statistics(part.codes, spec.n_codes, sets)
        for spec, part in zip(specs, parts, strict=True)
    )
    count = np.bincount(sample.labels, sample.weights, n_classes).astype(np.float64)
    summary = Summary(sample.classes, count, factors, tuple(specs), statistics)
    unit, corrections = round(draft.unit / UNIT), []
    for part in parts:
        table = np.vstack([part.points, np.zeros_like(part.points[:1])])[part.groups] * unit
        if n_classes == 2:  # the first one has no points
            table = np.pad(table, ((0, 0), (1, 0)))
        corrections.append(table if table[-1].any() else table[:-1])
    speaks = any(len(part) == spec.n_codes for part, spec in zip(corrections, specs, strict=True))
    nothing = np.zeros((len(parts), n_classes), np.int64)
    weighting = Weighting(nothing, speaks=speaks, corrections=tuple(corrections))
    ratios = column_ratios(summary, 1.0, None, speaks)
    problem = weigh(summary, ratios, np.zeros(n_classes, np.int64), weighting, 1.0)
    logits = np.append(0.0, draft.constants) if n_classes == 2 else draft.constants
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
        loss = float(learnt.losses[min(lines, learnt.draft.size)]) / max(n_rows, 1.0)
        action, units = ("add", (came[i - 1],)) if i else ("start", ())
        path.steps.append(Step(action, units, 0, "forward", i, loss, loss))
    path.chosen = path.best = len(path.steps) - 1
    path.n_rows = int(n_rows), 0
    return path


# -- The card in words -----------------------------------------------------------------------------


def conditions(spec: ColumnSpec, part: _CardFold, whole: bool) -> list[str]:
    """Each condition of a column in words.

    Parameters
    ----------
    spec, part : of the column.
    whole : are all its values whole numbers?
    """
    silent, found = part.groups.size - 1, []
    for group in range(len(part.points)):
        codes = np.flatnonzero(part.groups == group).tolist()
        shown = [code for code in codes if code != silent]
        if part.starts is None:
            assert spec.levels is not None
            words = [str(_plain(spec.levels[code])) for code in shown]
        else:
            words = [_interval(part.starts, code, whole) for code in shown]
        words += ["missing"] * (silent in codes)
        found.append(" or ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words))
    return found


def _plain(level: object) -> object:
    value = plain_value(level)
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _interval(starts: Floats, code: int, whole: bool) -> str:
    """An interval in words."""
    if not starts.size:
        return "any value"
    low, high = (None, *starts.tolist())[code], (*starts.tolist(), None)[code]
    if low is None:
        return f"below {high:.15g}"
    if high is None:
        return f"{low:.15g} and above"
    if whole and low.is_integer() and high.is_integer():
        return f"{low:.15g}" if high - low == 1 else f"{low:.15g} to {high - 1:.15g}"
    return f"{low:.15g} to below {high:.15g}"


def _card_of(
    parts: Sequence[_CardFold],
    specs: Sequence[ColumnSpec],
    rows: CardRows,
    sample: Sample,
    learnt: LearntCard,
) -> Card:
    """Everything that the page says."""
    lines, draft, weights = [], learnt.draft, sample.weights
    for part, spec in sorted(
        zip(parts, specs, strict=True), key=lambda each: learnt.order.index(each[0].at)
    ):
        whole = part.starts is not None and bool(
            (np.concatenate([part.starts, spec.distinct]) % 1 == 0).all()
        )
        seen = np.bincount(part.groups[part.codes], weights, len(part.points)).tolist()
        told = zip(conditions(spec, part, whole), part.points.tolist(), seen, strict=True)
        lines += [CardLine(spec.name, words, tuple(points), n) for words, points, n in told]
    several, unit = rows.n_classes > 2, draft.unit
    start = np.rint(draft.constants / unit).astype(int).tolist() if several else [0]
    constant = 0.0 if several else float(draft.constants[0])
    auc = loss = accuracy = None
    known = ~np.isnan(learnt.left_out[0])
    if known.any():
        scores, labels, n = learnt.left_out[:, known], rows.labels[known], weights[known]
        left = replace(rows, labels=labels, weights=n)
        loss = left.likelihood(scores)[0] / float(n.sum())
        accuracy = float(np.average(_decided(scores) == labels, weights=n))
        auc = None if several else float(roc_auc_score(labels, scores[0], sample_weight=n))
    return Card(
        tuple(lines),
        tuple(plain_value(each) for each in sample.classes),
        tuple(start),
        unit,
        constant,
        _table(rows, learnt, known, weights),
        None if several or not lines else int(np.floor(-constant / unit)) + 1,
        float(weights.sum()),
        auc,
        loss,
        accuracy,
    )


def _decided(scores: Floats) -> Ints:
    """The most probable class by logits."""
    return (scores[0] > 0).astype(np.int64) if len(scores) == 1 else scores.argmax(0)


def _table(
    rows: CardRows, learnt: LearntCard, known: Bools, weights: Floats
) -> tuple[CardTotal, ...]:
    """From totals (of several classes: leads) to probabilities, with rows left out behind each."""
    draft, scores = learnt.draft, learnt.left_out
    if not draft.groups:
        return ()
    constant, others = 0.0, rows.n_classes - 1
    if rows.n_classes == 2:
        constant = float(draft.constants[0])
        told, left = draft.scores(rows)[0] - constant, scores[0] - constant
        hit = rows.labels == 1
    else:
        ordered, apart = np.sort(draft.scores(rows), axis=0), np.sort(scores, axis=0)
        told, left = ordered[-1] - ordered[-2], apart[-1] - apart[-2]
        hit = _decided(scores) == rows.labels
    totals = np.rint(told / draft.unit).astype(np.int64)
    least, most = int(totals.min()), int(totals.max())
    begins, here = [least], 0.0
    for total in range(least, most):
        here += float(weights[totals == total].sum())
        if here >= weights.sum() / _TOTALS:
            begins.append(total + 1)
            here = 0.0
    which = np.searchsorted(np.array(begins[1:]) - 0.5, np.nan_to_num(left / draft.unit), "right")
    found = []
    for i, (low, end) in enumerate(zip(begins, [*begins[1:], most + 1], strict=True)):
        mine = known & (which == i)
        odds = [np.exp(-constant - draft.unit * total) for total in (low, end - 1)]
        chance = 1 / (1 + others * odds[0]), 1 / (1 + others * odds[1])
        n, hits = float(weights[mine].sum()), float(weights[mine & hit].sum())
        found.append(CardTotal(low, end - 1, (float(chance[0]), float(chance[1])), n, hits))
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
            "log_loss": card.log_loss,
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
