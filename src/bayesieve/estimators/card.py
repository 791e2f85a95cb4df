"""`ScoreCard`: a page of conditions with whole points, for any number of classes."""

import warnings
from collections.abc import Iterable, Mapping, Sequence
from copy import copy
from dataclasses import replace
from hashlib import blake2b

import numpy as np
from scipy.special import softmax
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
    plain_value,
)
from ..criteria import CRITERIA
from ..criteria.base import Criterion
from ..data.columns import MOST_CODES, ColumnSpec
from ..data.sample import (
    Sample,
    class_factors,
    is_label_matrix,
    read_groups_of_rows,
    read_mates,
    read_sample,
    read_weights,
)
from ..data.tables import SparseTable, is_collection, keep_names, read_table
from ..models.columns import choose_models
from ..models.fitted import FittedBayes
from ..search.path import LOG_LOSS, Path, Step
from ..search.point_lines import CardColumn, CardRows, LearntCard, learn_card, roundest
from ..search.term_pool import CodedColumns, CodedRows, fold_weights, read_coded
from ._validation import read_class_weight, read_forbidden, read_monotone
from .base import ChosenColumns, GuidingFigures, Procedure
from .card_parts import (
    MOST_POINTS,
    Card,
    CardFigures,
    CardMade,
    CardPart,
    CardTotal,
    PairGrid,
    all_lines,
    at_work,
    changed_part,
    check_named,
    codes_of,
    fitted_card,
    numbers_of,
    part_of,
    read_grids,
    read_points,
    spec_of,
    without_codes,
)
from .naive_bayes import AnyTable, NaiveBayes, restrict_names

#: Columns of points that a page has room for, and lines that fit on it.
MOST_CLASSES, MOST_LINES = 10, 60

#: Folds within the training rows that decide how many lines there are, and what a point is worth.
CARD_FOLDS = 5

# Rows of the table from totals to probabilities.
_TOTALS = 12


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
        cls,
        model: ChosenColumns,
        X: object,
        y: object,
        sample_weight: object = None,
        groups: object = None,
        **parameters: Foreign,
    ) -> "ScoreCard":
        """A card on the columns of a fitted model.

        Points are no translation of a model's tables: cut-offs, points and what one is worth are
        found on the rows, which is why X and y are asked for.

        Parameters
        ----------
        model : WeightedNaiveBayes or NaiveBayesSelector
            Fitted.
        X, y, sample_weight, groups : what it was fitted on.
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
        return cls(forbid=barred, **parameters).fit(X, y, sample_weight, groups)

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
        grids = read_grids(self.pairs, names, order, parts, sample.weights, forbidden)
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

    def changed(
        self,
        X: object,
        y: object,
        points: Mapping[str, Sequence[int | Sequence[int]]] | None = None,
        cuts: Mapping[str, Sequence[float]] | None = None,
        sample_weight: object = None,
    ) -> "ScoreCard":
        """A copy with other points or cut-offs, as a person wants them.

        Parameters
        ----------
        X, y, sample_weight : what it was fitted on.
        points : mapping
            By column (of a pair, "age x dose"), the points of its conditions in the order of the
            card; of several classes, a list for each condition.
        cuts : mapping
            By column, the cut-offs of a number: as many as before, or with `points` for each of
            its intervals, and one more where missing values have points of their own.

        Returns
        -------
        card : ScoreCard
            Fitted.  The figures of its ``card_`` are of X and y, as it is now and as it was:
            compare them with each other, not with those of rows left out.

        Examples
        --------
        >>> from sklearn.datasets import load_breast_cancer
        >>> from bayesieve import ScoreCard
        >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
        >>> model = ScoreCard(lines=3).fit(X, y)
        >>> other = model.changed(X, y, points={model.card_.lines[0].column: [0, 2]})
        >>> [each.name for each in other.card_.figures]
        ['as it is now', 'as it was']
        """
        check_is_fitted(self, "estimator_")
        sample = read_sample(NaiveBayes({}), X, y, sample_weight, whole=True)
        problem, made = self.estimator_.fitted_.only, self._made
        if not np.array_equal(sample.classes, problem.classes):
            raise ValueError(f"y must hold the classes of the card, {problem.classes.tolist()}.")
        points, cuts = dict(points or {}), dict(cuts or {})
        check_named(points, cuts, made, problem.specs)
        draft, parts = made.draft, []
        for grid in made.grids:
            name = " x ".join(grid.names)
            if name in points:
                told = read_points(name, points[name], len(draft.values[grid.at]), draft)
                values = {**draft.values, grid.at: (told * draft.unit).astype(np.float64)}
                draft = replace(draft, values=values)
        places = {name: j for j, name in enumerate(sample.table.names)}
        for part, spec in zip(made.parts, problem.specs, strict=True):
            new = changed_part(part, spec.name, points, cuts, draft)
            parts.append(new._replace(codes=codes_of(new, spec, sample, places[spec.name])))
        specs = [
            spec_of(spec, part, sample, places[spec.name])
            for spec, part in zip(problem.specs, parts, strict=True)
        ]
        factors = problem.summary.class_weight
        fitted = fitted_card(sample, draft, parts, specs, factors, made.grids)
        twin, model = copy(self), copy(self.estimator_)
        model.hold(FittedBayes((fitted,)))
        table = read_table(self, X, reset=False).pick(np.flatnonzero(self.support_))
        figures = [
            CardFigures.of(name, each.proba(each.sums(table)), sample.labels, sample.weights)
            for name, each in (("as it is now", fitted), ("as it was", problem))
        ]
        lines = all_lines(parts, specs, draft, sample.weights, made.grids, made.order)
        card = replace(self._card, lines=lines, figures=tuple(figures), table=())
        twin.__dict__.update(
            estimator_=model,
            _card=card,
            _made=CardMade(draft, [without_codes(part) for part in parts], made.grids, made.order),
        )
        return twin

    @property
    def card_(self) -> Card:
        """The card, as its model decides now."""
        check_is_fitted(self, "estimator_")
        return at_work(self._card, self.estimator_.fitted_.only)

    def _hold(
        self,
        sample: Sample,
        coded: CodedColumns,
        order: list[int],
        rows: CardRows,
        learnt: LearntCard,
        holder: NaiveBayes,
        factors: Floats,
        grids: "list[PairGrid]",
    ) -> None:
        draft, n = learnt.draft, len(order)
        used = [grid for at, grid in enumerate(grids, n) if at in draft.groups]
        alone = {at for at in draft.groups if at < n}
        paired = {at for grid in used for at in grid.columns}
        parts = sorted(
            (part_of(rows, draft, at, used) for at in alone | paired), key=lambda p: order[p.at]
        )
        columns = np.array([order[part.at] for part in parts], np.int64)
        specs = [
            spec_of(coded.specs[j], part, sample, j)
            for j, part in zip(columns.tolist(), parts, strict=True)
        ]
        fitted = fitted_card(sample, draft, parts, specs, factors, used)
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
        self._made = CardMade(draft, [without_codes(part) for part in parts], used, learnt.order)
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


def _card_column(sample: Sample, coded: CodedColumns, j: int, sign: int) -> tuple[CardColumn, Ints]:
    """A column as cards read it; one of too many levels has no conditions."""
    spec = coded.specs[j]
    if spec.n_codes > MOST_CODES + 1:
        return CardColumn(spec.name, 1, None), np.zeros(sample.labels.size, np.int64)
    codes = coded.codes(j).astype(np.int64)
    if not spec.on_grid:
        return CardColumn(spec.name, spec.n_codes, None), codes
    values = numbers_of(sample, j)
    known = ~np.isnan(values)
    seen, mine = np.unique(codes[known], return_inverse=True)
    least = np.full(seen.size, np.inf)
    np.minimum.at(least, mine, values[known])
    starts = roundest(least[:-1], least[1:])
    codes = np.where(known, np.searchsorted(starts, values, "right"), seen.size)
    return CardColumn(spec.name, seen.size + 1, starts, sign), codes


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


def _card_of(
    parts: Sequence[CardPart],
    specs: Sequence[ColumnSpec],
    rows: CardRows,
    sample: Sample,
    learnt: LearntCard,
    grids: Sequence[PairGrid],
) -> Card:
    """Everything that the page says, but what the model's decisions and chances are."""
    draft, weights = learnt.draft, sample.weights
    lines = all_lines(parts, specs, draft, weights, grids, learnt.order)
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
        lines,
        tuple(plain_value(each) for each in sample.classes),
        tuple(start),
        unit,
        0.0,
        totals_of(rows, learnt, seen, weights),
        None,
        None,
        False,
        float(weights.sum()),
        tuple(figures),
    )


def _decided(scores: Floats) -> Ints:
    """The most probable class by logits."""
    return (scores[0] > 0).astype(np.int64) if len(scores) == 1 else scores.argmax(0)


def totals_of(
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
