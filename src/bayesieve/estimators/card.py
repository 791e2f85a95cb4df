"""`ScoreCard`: a page of conditions with whole points, for any number of classes."""

import json
import math
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import blake2b
from os import PathLike, fspath
from typing import ClassVar, NamedTuple, TypeAlias

import numpy as np
from scipy.special import logsumexp, softmax
from sklearn.base import BaseEstimator
from sklearn.utils import Tags, check_random_state
from sklearn.utils.validation import _num_samples, check_is_fitted

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
from ..criteria.auc import auc_parts
from ..criteria.base import Criterion
from ..data.columns import MOST_CODES, ColumnSpec
from ..data.files.output import whole_file, write_text
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
from ..models.base import CORRECTION_BITS, SCORE_BITS, PairTerms, Terms, Weighting, one_set
from ..models.columns import Summary, choose_models
from ..models.fitted import FittedBayes, FittedProblem
from ..models.log_ratios import column_ratios, weigh
from ..models.registry import MODELS
from ..search.path import LOG_LOSS, Path, Step
from ..search.point_lines import UNIT, CardColumn, CardRows, Draft, LearntCard, learn_card, roundest
from ..search.term_pool import CodedColumns, CodedRows, fold_weights, read_coded
from ._validation import read_class_weight, read_forbidden, read_monotone, read_terms
from .base import ChosenColumns, GuidingFigures, Procedure
from .naive_bayes import AnyTable, NaiveBayes, restrict_names

#: Columns of points that a page has room for; lines that fit on it; points that people add up.
MOST_CLASSES, MOST_LINES, MOST_POINTS = 10, 60, 100

#: Folds within the training rows that decide how many lines there are, and what a point is worth.
CARD_FOLDS = 5

# Rows of the table from totals to probabilities.
_TOTALS = 12

# Conditions of a column in a pair; and how far from a third of the rows a cut-off of one may be.
_MOST_LEVELS, _NEAR = 4, 0.08

# A number's intervals are levels of this feature model.
_INTERVALS = "intervals-32"


# -- A card as a value -----------------------------------------------------------------------------


class Span(NamedTuple):
    """What a condition asks of a column: an interval, some levels, or that the value is missing."""

    column: str
    low: float | None = None  #: the interval begins with it; None: below all
    high: float | None = None  #: and ends before it; None: above all
    levels: tuple[Foreign, ...] | None = None  #: None: a number
    missing: bool = False  #: holds where the value is missing, too
    known: bool = True  #: does any value do?

    def holds(self, value: Foreign) -> bool:
        """Is it true of a value?"""
        if value is None or value != value or (self.levels is not None and value == ""):
            return self.missing
        if not self.known:
            return False
        if self.levels is not None:
            return value in self.levels
        return (self.low is None or value >= self.low) and (self.high is None or value < self.high)


@dataclass(frozen=True)
class CardLine:
    """A condition, and its points.

    Attributes
    ----------
    column : str
        Of a pair, both, as "age x dose".
    condition : str
        In words, such as "35 to below 50".
    points : tuple of int
        Of two classes, those for the second one; else one a class.
    rows : float
        Training rows that it holds for.
    where : tuple of tuples of Span
        The same for machines: it holds where all of one of them hold.
    """

    column: str
    condition: str
    points: tuple[int, ...]
    rows: float
    where: tuple[tuple[Span, ...], ...]

    def holds(self, row: Mapping[str, Foreign]) -> bool:
        """Is it true of a row?"""
        return any(all(span.holds(row[span.column]) for span in box) for box in self.where)


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


#: A figure, and where it lies with a confidence of 95 %.
Figure: TypeAlias = tuple[float, float, float]


class CardFigures(NamedTuple):
    """How good a model is on rows that it had not seen."""

    name: str
    log_loss: Figure
    accuracy: Figure
    auc: Figure | None  #: of two classes

    @classmethod
    def of(cls, name: str, proba: Floats, labels: Ints, weights: Floats) -> "CardFigures":
        """Figures of probabilities, rows x classes, of classes by number."""
        own = np.clip(np.take_along_axis(proba, labels[:, None], 1)[:, 0], 1e-300, 1.0)
        loss = _mean(-np.log(own), weights)
        right = _mean((proba.argmax(1) == labels).astype(np.float64), weights)
        if proba.shape[1] > 2 or np.unique(labels).size < 2:
            return cls(name, loss, right, None)
        told, whole = np.unique(proba[:, 1], return_inverse=True)[1], weights.astype(np.int64)
        area, shares = auc_parts(told.astype(np.int64), labels == 1, whole)
        apart = 1.96 * math.sqrt(float((whole * shares**2).sum()))
        return cls(name, loss, right, (area, max(area - apart, 0.0), min(area + apart, 1.0)))


def _mean(values: Floats, weights: Floats) -> Figure:
    n = float(weights.sum())
    mean = float(values @ weights) / n
    apart = 1.96 * math.sqrt(float(weights @ (values - mean) ** 2) / max(n - 1, 1.0) / n)
    return mean, mean - apart, mean + apart


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
        Of two classes, the least total for which the second is decided: as the more probable one,
        or by the rule of `decide`.
    ask_from : int or None
        The least total for which a person is asked, where the rule may ask one.
    ruled : bool
        Does a rule of `decide` say so?
    n_rows : float
        Training rows.
    figures : tuple of CardFigures
        How good it is on rows left out, and others to compare it with.

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
    ask_from: int | None
    ruled: bool
    n_rows: float
    figures: tuple[CardFigures, ...]

    _html_rows: ClassVar[int] = 200

    @property
    def n_lines(self) -> int:
        """Conditions with points other than 0: what a reader counts."""
        return sum(any(line.points) for line in self.lines)

    def add_up(self, row: Mapping[str, Foreign]) -> tuple[int, ...]:
        """What a person adds up for a row: the total; of several classes, that of each.

        Parameters
        ----------
        row : mapping
            The value of each column of the card; None where it is missing.
        """
        held = [line.points for line in self.lines if line.holds(row)]
        return tuple(sum(each) for each in zip(self.start, *held, strict=True))

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
        """Write the card as .html, .txt, .json, .pdf or .xlsx.

        Parameters
        ----------
        path : path
            Its ending says how.  PDF asks for ``bayesieve[plot]``; a sheet, which computes what one
            types, for ``bayesieve[sheet]``.
        title : str
            The headline.
        """
        ending = "." + fspath(path).lower().rpartition(".")[2]
        choose("the ending of path", ending, (".html", ".txt", ".json", ".pdf", ".xlsx"))
        if ending in (".pdf", ".xlsx"):
            from ..explain.card import card_pdf, card_sheet

            made = (card_pdf if ending == ".pdf" else card_sheet)(self, title)
            with whole_file(path) as file:
                file.write(made)
        elif ending == ".html":
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
    pairs : list of pairs, default=()
        Columns (names or positions) that may speak together: a small grid, whose cells are
        conditions of their own.
    monotone : mapping, optional
        Numbers whose points for the second of two classes may only rise (1) or fall (-1):
        ``{"age": 1}``.  Others do where that costs next to nothing.
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
        The card, as `decide`, `calibrate` and `deploy` leave it: lines, the table from total to
        probability, and how good it is; ``to_text()``, ``to_html()`` and ``save(path)`` print it.
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
        pairs: Sequence[tuple[str | int, str | int]] = (),
        monotone: Mapping[str, int] | Mapping[int, int] | None = None,
        forbid: Iterable[str | int] = (),
        class_weight: object = None,
        n_jobs: int | None = None,
        random_state: object = 0,
    ):
        self.lines = lines
        self.points = points
        self.pairs = pairs
        self.monotone = monotone
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
        signs = read_monotone(self.monotone, names, models, len(classes))
        parts = [_card_column(sample, coded, j, signs.get(j, 0)) for j in order]
        _warn_of_wide([spec for spec in coded.specs if spec.n_codes > MOST_CODES + 1])
        grids = _grids(self.pairs, names, order, parts, sample.weights, forbidden)
        parts += [grid.column(parts) for grid in grids]
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
        self._hold(sample, coded, order, rows, learnt, holder, factors, grids)
        return self

    @property
    def card_(self) -> Card:
        """The card, as its model decides now."""
        check_is_fitted(self, "estimator_")
        return _at_work(self._card, self.estimator_.fitted_.only)

    def _hold(
        self,
        sample: Sample,
        coded: CodedColumns,
        order: list[int],
        rows: CardRows,
        learnt: LearntCard,
        holder: NaiveBayes,
        factors: Floats,
        grids: "list[_Grid]",
    ) -> None:
        draft, n = learnt.draft, len(order)
        used = [grid for at, grid in enumerate(grids, n) if at in draft.groups]
        alone = {at for at in draft.groups if at < n}
        paired = {at for grid in used for at in grid.columns}
        parts = sorted(
            (_part(rows, draft, at, used) for at in alone | paired), key=lambda p: order[p.at]
        )
        columns = np.array([order[part.at] for part in parts], np.int64)
        specs = [
            _spec_of(coded.specs[j], part, sample, j)
            for j, part in zip(columns.tolist(), parts, strict=True)
        ]
        fitted = _fitted(sample, draft, parts, specs, factors, used)
        model = NaiveBayes({})
        if hasattr(holder, "feature_names_in_"):
            model.feature_names_in_ = holder.feature_names_in_
        model.hold(FittedBayes((fitted,)))
        restrict_names(model, columns)
        sources = [grids[at - n].columns if at >= n else (at,) for at in learnt.order]
        told = [[order[at] for at in each] for each in sources]
        came = [each for each in told if set(each) <= set(columns.tolist())]
        self.estimator_, self.classes_ = model, model.classes_
        self.support_ = np.isin(np.arange(self.n_features_in_), columns)
        self.selected_ = np.array(list(dict.fromkeys(j for each in came for j in each)), np.int64)
        names = list(sample.table.names)
        self.path_ = _path(names, came, learnt, float(sample.weights.sum()))
        self._card = _card_of(parts, specs, rows, sample, learnt, used)
        decided = {"lines": self._card.n_lines, "ridge": learnt.ridge, "unit": draft.unit}
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


def _card_column(sample: Sample, coded: CodedColumns, j: int, sign: int) -> tuple[CardColumn, Ints]:
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
    return CardColumn(spec.name, seen.size + 1, starts, sign), codes


@dataclass(frozen=True)
class _Grid:
    """Two columns that may speak together, in few conditions each."""

    at: int  #: its position among the rows' columns
    columns: tuple[int, int]
    names: tuple[str, str]
    starts: tuple[Floats | None, Floats | None]  #: where conditions of a number begin; None: levels
    sizes: tuple[int, int]  #: conditions of each

    def places(self, side: int, codes: Ints, column: CardColumn) -> Ints:
        """The condition of each code of one of the columns; the last one: the value is missing."""
        starts, mine = self.starts[side], column.starts
        if starts is None or mine is None:
            return codes
        begins = np.append(-np.inf, mine)
        told = np.searchsorted(starts, begins, "right")
        return np.append(told, self.sizes[side])[codes]

    def column(self, parts: Sequence[tuple[CardColumn, Ints]]) -> tuple[CardColumn, Ints]:
        """The grid as a column of cells."""
        one, two = (
            self.places(side, parts[at][1], parts[at][0]) for side, at in enumerate(self.columns)
        )
        n, m = self.sizes
        codes = np.where((one == n) | (two == m), n * m, one * m + two)
        return CardColumn(" x ".join(self.names), n * m + 1, None, silent=True), codes


def _grids(
    pairs: object,
    names: list[str],
    order: list[int],
    parts: Sequence[tuple[CardColumn, Ints]],
    weights: Floats,
    forbidden: set[int],
) -> list[_Grid]:
    """The pairs that somebody allows, each column cut into three at most."""
    place = {j: at for at, j in enumerate(order)}
    asked = []
    for i, term in enumerate(read_terms(pairs or None, names, "pairs")):
        if len(term) != 2:
            raise ValueError(f"pairs[{i}] must be two columns; got {names[term[0]]!r} alone.")
        if forbidden & set(term):
            raise ValueError(f"pairs[{i}] holds a column of forbid; take it out of one of them.")
        asked.append(tuple(place[j] for j in sorted(term, key=names.__getitem__)))
    found = []
    for at, (first, second) in enumerate(sorted(asked), len(order)):
        sides = [_conditions(*parts[each], weights) for each in (first, second)]
        (one, n), (two, m) = sides
        told = parts[first][0].name, parts[second][0].name
        found.append(_Grid(at, (first, second), told, (one, two), (n, m)))
    return found


def _conditions(column: CardColumn, codes: Ints, weights: Floats) -> tuple[Floats | None, int]:
    """Where the conditions of a column of a pair begin, and how many they are."""
    if column.starts is not None:
        starts = _thirds(column, codes, weights)
        return starts, starts.size + 1
    n = column.n_codes - 1
    if n > _MOST_LEVELS:
        raise ValueError(
            f"pairs: column {column.name!r} has {n} levels, and a grid has room for "
            f"{_MOST_LEVELS}; join the rare ones."
        )
    return None, n


def _thirds(column: CardColumn, codes: Ints, weights: Floats) -> Floats:
    """The roundest cut-offs of a number near its thirds."""
    assert column.starts is not None
    seen = np.bincount(codes, weights, column.n_codes)[:-1]
    below = np.cumsum(seen)[:-1] / max(seen.sum(), 1.0)
    found = []
    for share in (1 / 3, 2 / 3):
        near = np.flatnonzero(np.abs(below - share) <= _NEAR)
        if near.size:
            price = column.prices[near] + np.abs(below[near] - share)
            found.append(float(column.starts[near[price.argmin()]]))
    return (
        np.unique(found) if found else column.starts[[np.abs(below - 0.5).argmin()]][: len(below)]
    )


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


class _CardPart(NamedTuple):
    """A column of a finished card."""

    at: int  #: its position among the rows' columns
    starts: Floats | None  #: of a number, where its intervals after the first begin
    groups: Ints  #: condition of each interval or level; the last is that of missing values
    points: Ints  #: conditions x logits
    codes: Ints  #: interval or level of each row


def _part(rows: CardRows, draft: Draft, at: int, grids: Sequence[_Grid]) -> _CardPart:
    """A column of a finished card, its number cut at the cut-offs of the card alone."""
    column, codes = rows.columns[at], rows.codes[at]
    groups, points = np.zeros(column.n_codes, np.int64), np.zeros((1, rows.n_logits), np.int64)
    if at in draft.groups:
        groups, points = draft.groups[at], draft.points(at)
    if column.starts is None:
        return _CardPart(at, None, groups, points, codes)
    shared = [
        starts
        for grid in grids
        for one, starts in zip(grid.columns, grid.starts, strict=True)
        if one == at and starts is not None
    ]
    starts = np.unique(np.concatenate([column.starts[groups[1:-1] != groups[:-2]], *shared]))
    first = np.searchsorted(column.starts, starts, "right")
    silent = codes == column.n_codes - 1
    codes = np.where(silent, starts.size + 1, np.searchsorted(first, codes, "right"))
    return _CardPart(at, starts, groups[[0, *first.tolist(), -1]], points, codes)


def _spec_of(spec: ColumnSpec, part: _CardPart, sample: Sample, j: int) -> ColumnSpec:
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
    parts: Sequence[_CardPart],
    specs: Sequence[ColumnSpec],
    factors: Floats,
    grids: Sequence[_Grid],
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
    unit = round(draft.unit / UNIT)

    def told(points: Ints) -> Ints:
        """Points as corrections; of two classes, the first one has none."""
        return (np.pad(points, ((0, 0), (1, 0))) if n_classes == 2 else points) * unit

    corrections: list[Ints | None] = []
    for part in parts:
        table = told(np.vstack([part.points, np.zeros_like(part.points[:1])])[part.groups])
        silent = table if table[-1].any() else table[:-1]
        corrections.append(silent if part.at in draft.groups else None)
    speaks = any(
        part is not None and len(part) == spec.n_codes
        for part, spec in zip(corrections, specs, strict=True)
    )
    nothing = np.zeros((len(parts), n_classes), np.int64)
    place = {part.at: i for i, part in enumerate(parts)}
    pairs = [_pair(sample, draft, grid, place, parts, told) for grid in grids]
    weighting = Weighting(nothing, tuple(pairs), speaks, corrections=tuple(corrections))
    ratios = column_ratios(summary, 1.0, None, speaks)
    problem = weigh(summary, ratios, np.zeros(n_classes, np.int64), weighting, 1.0)
    logits = np.append(0.0, draft.constants) if n_classes == 2 else draft.constants
    # Differences between classes stay what they are, to the last bit.
    first = np.rint(np.ldexp(-logsumexp(logits), 30))
    prior = np.ldexp(first + np.rint(np.ldexp(logits, 30)), -30)
    return replace(problem, prior=Terms(prior[None]))


def _pair(
    sample: Sample,
    draft: Draft,
    grid: _Grid,
    place: Mapping[int, int],
    parts: Sequence[_CardPart],
    told: Callable[[Ints], Ints],
) -> PairTerms:
    """The pair of a grid, whose cells have points."""
    (n, m), n_classes = grid.sizes, len(sample.classes)
    first, second = (place[at] for at in grid.columns)
    groups, codes = [], []
    for side, i in enumerate((first, second)):
        part = parts[i]
        n_codes = part.groups.size
        column = CardColumn("", n_codes, part.starts)
        groups.append(grid.places(side, np.arange(n_codes), column))
        codes.append(groups[-1][part.codes])
    table = np.vstack([draft.points(grid.at), np.zeros_like(draft.points(grid.at)[:1])])
    counts = np.zeros((n + 1, m + 1, n_classes))
    np.add.at(counts, (codes[0], codes[1], sample.labels), sample.weights)
    points = told(table[draft.groups[grid.at][:-1]]).reshape(n, m, n_classes)
    weights = np.zeros(n_classes, np.int64)
    both = groups[0], groups[1]
    return PairTerms(
        (first, second),
        both,
        counts[:n, :m],
        np.zeros((n, m, n_classes), np.int64),
        weights,
        points,
    )


def _path(
    names: list[str], came: Sequence[Sequence[int]], learnt: LearntCard, n_rows: float
) -> Path:
    """The columns as they came; how good the card was with the lines so far, by rows left out."""
    path = Path(tuple((j,) for j in range(len(names))), names, LOG_LOSS)
    for i in range(len(came) + 1):
        most = len(learnt.losses) - 1
        lines = most if i == len(came) else min(i, most)
        loss = float(learnt.losses[min(lines, learnt.draft.size)]) / max(n_rows, 1.0)
        action, units = ("add", tuple(came[i - 1])) if i else ("start", ())
        path.steps.append(Step(action, units, 0, "forward", i, loss, loss))
    path.chosen = path.best = len(path.steps) - 1
    path.n_rows = int(n_rows), 0
    return path


# -- The card in words -----------------------------------------------------------------------------


def _spans(spec: ColumnSpec, part: _CardPart, group: int) -> tuple[list[str], list[Span]]:
    """A condition of a column in words, and as the spans any of which may hold."""
    silent = part.groups.size - 1
    codes = np.flatnonzero(part.groups == group).tolist()
    shown, missing = [code for code in codes if code != silent], silent in codes
    if part.starts is None:
        assert spec.levels is not None
        words = [str(_plain(spec.levels[code])) for code in shown]
        levels = tuple(plain_value(spec.levels[code]) for code in shown)
        spans = [Span(spec.name, levels=levels, missing=missing, known=bool(levels))]
        return words + ["missing"] * missing, spans
    if not shown:
        return ["missing"], [Span(spec.name, missing=True, known=False)]
    edges = [None, *part.starts.tolist(), None]
    low, high = edges[shown[0]], edges[shown[-1] + 1]
    span = Span(spec.name, low, high, missing=missing)
    return [_interval(low, high, _is_whole(spec, part)), *["missing"] * missing], [span]


def _is_whole(spec: ColumnSpec, part: _CardPart) -> bool:
    """Are the values of a column whole numbers, as far as a card can tell?"""
    told = part.starts is not None and spec.distinct is not None
    return told and bool((np.concatenate([part.starts, spec.distinct]) % 1 == 0).all())


def _either(words: Sequence[str]) -> str:
    return " or ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words)


def _plain(level: object) -> object:
    value = plain_value(level)
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _interval(low: float | None, high: float | None, whole: bool) -> str:
    """An interval in words."""
    if low is None:
        return "any value" if high is None else f"below {high:.15g}"
    if high is None:
        return f"{low:.15g} and above"
    if whole and low.is_integer() and high.is_integer():
        return f"{low:.15g}" if high - low == 1 else f"{low:.15g} to {high - 1:.15g}"
    return f"{low:.15g} to below {high:.15g}"


def _lines_of(part: _CardPart, spec: ColumnSpec, weights: Floats) -> list[CardLine]:
    """The conditions of a column."""
    seen = np.bincount(part.groups[part.codes], weights, len(part.points)).tolist()
    found = []
    for group, (points, n) in enumerate(zip(part.points.tolist(), seen, strict=True)):
        words, spans = _spans(spec, part, group)
        where = tuple((span,) for span in spans)
        found.append(CardLine(spec.name, _either(words), tuple(points), n, where))
    return found


def _lines_of_pair(
    grid: _Grid, rows: CardRows, draft: Draft, sides: Sequence[tuple[ColumnSpec, _CardPart]]
) -> list[CardLine]:
    """The conditions of two columns, cell by cell of their grid."""
    parts = []
    for side, (spec, part) in enumerate(sides):
        column = CardColumn(spec.name, part.groups.size, part.starts)
        parts.append(part._replace(groups=grid.places(side, np.arange(part.groups.size), column)))
    specs = [spec for spec, _ in sides]

    def spans(side: int, code: int) -> list[Span]:
        return _spans(specs[side], parts[side], code)[1]

    groups, (n, m) = draft.groups[grid.at], grid.sizes
    seen = np.bincount(groups[rows.codes[grid.at]], rows.weights, groups.max() + 1).tolist()
    found = []
    for group, points in enumerate(draft.points(grid.at).tolist()):
        held = (groups[:-1] == group).reshape(n, m)
        words = []
        # Conditions of the first column that go with the same ones of the second are told at once.
        for line in dict.fromkeys(map(tuple, held[held.any(1)].tolist())):
            mine = np.flatnonzero((held == line).all(1)).tolist()
            told = _either_of(specs[0], parts[0], mine, n)
            told += _either_of(specs[1], parts[1], np.flatnonzero(line).tolist(), m)
            words.append(" and ".join(told) or "any values")
        where = [
            (one, two)
            for i, k in np.argwhere(held).tolist()
            for one in spans(0, i)
            for two in spans(1, k)
        ]
        boxes: list[tuple[Span, ...]] = [*where]
        if groups[-1] == group:
            words.append("one of them missing")
            boxes += [(Span(spec.name, missing=True, known=False),) for spec in specs]
        name = " x ".join(grid.names)
        found.append(CardLine(name, "; or ".join(words), tuple(points), seen[group], tuple(boxes)))
    return found


def _either_of(spec: ColumnSpec, part: _CardPart, codes: list[int], size: int) -> list[str]:
    """Some conditions of a column of a pair in words; nothing where any value will do."""
    if len(codes) == size:
        return []
    runs: list[list[int]] = []
    for code in codes:
        if runs and (part.starts is None or runs[-1][-1] == code - 1):
            runs[-1].append(code)
        else:
            runs.append([code])
    words = []
    for run in runs:
        groups = np.isin(part.groups, run).astype(np.int64)
        words += _spans(spec, part._replace(groups=groups), 1)[0]
    return [f"{spec.name} {_either(words)}"]


def _card_of(
    parts: Sequence[_CardPart],
    specs: Sequence[ColumnSpec],
    rows: CardRows,
    sample: Sample,
    learnt: LearntCard,
    grids: Sequence[_Grid],
) -> Card:
    """Everything that the page says, but what the model's decisions and chances are."""
    lines, draft, weights = [], learnt.draft, sample.weights
    known = {part.at: (spec, part) for part, spec in zip(parts, specs, strict=True)}
    paired = {grid.at: grid for grid in grids}
    for at in learnt.order:
        if at in paired:
            grid = paired[at]
            lines += _lines_of_pair(grid, rows, draft, [known[each] for each in grid.columns])
        elif at in draft.groups:
            spec, part = known[at]
            lines += _lines_of(part, spec, weights)
    several, unit = rows.n_classes > 2, draft.unit
    start = np.rint(draft.constants / unit).astype(int).tolist() if several else [0]
    seen = ~np.isnan(learnt.left_out[0])
    figures = []
    if seen.any():
        scores = learnt.left_out[:, seen]
        logits = scores if several else np.vstack([np.zeros_like(scores), scores])
        proba = softmax(logits.T, axis=1)
        figures = [CardFigures.of("this card", proba, rows.labels[seen], weights[seen])]
    return Card(
        tuple(lines),
        tuple(plain_value(each) for each in sample.classes),
        tuple(start),
        unit,
        0.0,
        _table(rows, learnt, seen, weights),
        None,
        None,
        False,
        float(weights.sum()),
        tuple(figures),
    )


def _at_work(card: Card, problem: FittedProblem) -> Card:
    """The card with what its model says of totals now: after a rule, a temperature, new priors."""
    temperature, unit = problem.temperature, card.unit
    if len(card.classes) > 2:
        others = len(card.classes) - 1

        def chance(lead: int) -> float:
            return 1 / (1 + others * math.exp(-unit * lead / temperature))

        table = [replace(each, chance=(chance(each.low), chance(each.high))) for each in card.table]
        return replace(card, unit=unit / temperature, table=tuple(table))
    step = round(unit / UNIT) << (SCORE_BITS - CORRECTION_BITS)

    def sums(totals: Ints) -> Ints:
        found = np.repeat(problem.fixed_prior[None], totals.size, 0)
        found[:, 1] += totals * step
        return found

    ends = np.array([[each.low, each.high] for each in card.table], np.int64).reshape(-1, 2)
    chances = problem.proba(sums(ends.ravel()))[:, 1].reshape(-1, 2).tolist()
    table = [
        replace(each, chance=(low, high))
        for each, (low, high) in zip(card.table, chances, strict=True)
    ]
    act = ask = None
    if card.lines:
        most = sum(max(abs(p) for p in line.points) for line in card.lines) + 1
        zero = float(problem.nat(problem.fixed_prior[1] - problem.fixed_prior[0])) / unit
        around = most + abs(math.ceil(zero)) + 1
        totals = np.arange(-around, around + 1)
        decided = dict(zip(totals.tolist(), problem.decided(sums(totals)).tolist(), strict=True))
        act = next((t for t, k in decided.items() if k == problem.classes[1]), None)
        ask = next((t for t, k in decided.items() if k is None), None)
    constant = float(problem.decide(problem.fixed_prior[None])[0]) / temperature
    return replace(
        card,
        unit=unit / temperature,
        constant=constant,
        table=tuple(table),
        act_from=act,
        ask_from=ask,
        ruled=problem.rule is not None,
    )


def _decided(scores: Floats) -> Ints:
    """The most probable class by logits."""
    return (scores[0] > 0).astype(np.int64) if len(scores) == 1 else scores.argmax(0)


def _table(
    rows: CardRows, learnt: LearntCard, known: Bools, weights: Floats
) -> tuple[CardTotal, ...]:
    """Totals (of several classes: leads), with rows left out behind each; their chances follow."""
    draft, scores = learnt.draft, learnt.left_out
    if not draft.groups:
        return ()
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
        n, hits = float(weights[mine].sum()), float(weights[mine & hit].sum())
        found.append(CardTotal(low, end - 1, (0.0, 1.0), n, hits))
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
            "log_loss": card.figures[0].log_loss[0] if card.figures else None,
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
