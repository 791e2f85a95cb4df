"""`WeightedNaiveBayes`: few terms, each with a weight for every class."""

import warnings
from collections.abc import Iterable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, replace
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple, cast

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils.validation import _num_samples, check_is_fitted

from ..checks import Array, check_file, check_flag, check_jobs, check_number, choose
from ..criteria import CRITERIA
from ..criteria.base import Criterion
from ..data.sample import Sample, check_class_weight, class_factors, read_sample, read_weights
from ..data.split import find_parts, read_groups_of_rows, read_mates
from ..data.tables import is_collection, keep_names
from ..engine.threads import Threads, count_threads
from ..models.base import Floats, Ints
from ..models.columns import choose_models
from ..models.counts import check_priors
from ..models.fitted import FittedBayes
from ..models.log_ratios import TERM_BITS, WEIGHT_STEPS
from ..models.registry import MODELS
from ..rankings.families import Families
from ..search.checkpoint import WeightJournal, fingerprint
from ..search.inner_cv import Option, choose_option, options_of
from ..search.progress import WeightsLine
from ..search.run import Clock, Family
from ..search.term_pool import (
    MOST_CELLS,
    MOST_CLASSES,
    N_FOLDS,
    CodedRows,
    Weighing,
    WeightPlan,
    fold_weights,
    read_coded,
)
from ..search.weight_path import TermBook, WeightPath, WeightStep
from ._validation import (
    check_gpu_table,
    check_validation,
    gpu_of,
    read_plan,
    settle_weighted,
    with_start_pairs,
)
from .base import ChosenColumns, GuidingFigures, Procedure
from .collections import gathered_weights
from .naive_bayes import AnyTable, NaiveBayes, restrict_names

# Fewer rows than this are too few to be folded.
_LEAST_ROWS = 12


@dataclass(frozen=True)
class Judged:
    """The judged input of one fit.

    Parameters
    ----------
    problems : rows as codes, with the classes of each problem.
    plan : what to do with them.
    options : ways to fit, the simplest first.
    sample : the rows.
    priors : probabilities of the classes, where they are given.
    shared : one set of terms for all problems?
    progress : is anybody told how far it is?
    checkpoint : the file in which paths are written down, or None.
    prints : fingerprints of all that decides the result.
    families : which column stands for which, where that is known.
    parts : the rows that train and those that decide between options, in place of folds.
    """

    problems: tuple[CodedRows, ...]
    plan: WeightPlan
    options: tuple[Option, ...]
    sample: Sample
    priors: tuple[float, ...] | None
    shared: bool
    progress: bool
    checkpoint: Path | None
    prints: dict[str, str]
    families: Families | None = None
    parts: tuple[Ints, Ints] | None = None


@dataclass(frozen=True)
class WeightedFit:
    """One path: its states, what their terms say, and which problems share it."""

    option: Option
    price: float
    steps: tuple[WeightStep, ...]
    units: tuple[tuple[int, ...], ...]
    book: TermBook
    problems: tuple[int, ...]
    stopped: str | None = None


def judge_parameters(model: "WeightedNaiveBayes") -> None:
    """Judge all that does not depend on the data."""
    check_number("max_terms", model.max_terms, low=1, whole=True)
    if not isinstance(model.pairs, str):
        check_flag("pairs", model.pairs)
    else:
        choose("pairs", model.pairs, ["auto"], beside="True or False")
    if isinstance(model.price, str):
        choose("price", model.price, ["auto"], beside="a number from 0")
    else:
        check_number("price", model.price, low=0.0)
    check_number("pair_price", model.pair_price, low=0.0)
    check_number("ridge", model.ridge, low=0.0, high=1e12)
    smoothing = model.smoothing
    if isinstance(smoothing, str):
        raise ValueError(
            f"smoothing must be a number above 0 here, since rows are left out of counts; got "
            f"{smoothing!r}."
        )
    if check_number("smoothing", smoothing, low=0.0, high=1e12) == 0:
        raise ValueError(
            "smoothing must be above 0 here: no weight tempers an impossible value; got 0."
        )
    check_validation(model.validation)
    choose("missing", model.missing, ["silent", "evidence"])
    check_flag("shared_terms", model.shared_terms)
    check_flag("progress", model.progress)
    check_jobs(model.n_jobs)
    if model.checkpoint is not None:
        check_file("checkpoint", model.checkpoint)
        if model.random_state is None:
            raise ValueError("checkpoint needs random_state, a whole number; got None.")
    if model.time_limit is not None:
        check_number("time_limit", model.time_limit, low=0.0)


def judge_weighted(
    model: "WeightedNaiveBayes",
    sample: Sample,
    groups: Array | None,
    n_rows: int,
    draw: np.random.RandomState,
) -> Judged:
    """Judge everything that depends on the data, and read it.

    Parameters
    ----------
    model : its settings.
    sample : the rows with weight.
    groups : one a row of the user's table, or None.
    n_rows : of the user's table.
    draw : draws the rows that decide, where a share of them does.
    """
    weights = read_weights(sample.weights, sample.table, whole=True).astype(np.int64)
    models = choose_models(model.features, sample.table)
    check_tables(models, sample.table.names)
    labelled = sample.targets.labelled
    if labelled and model.class_weight is not None:
        raise ValueError(
            "class_weight is for classes; y is a matrix of labels. Use class_weight=None."
        )
    n_classes = len(sample.classes)
    given = check_class_weight(model.class_weight, sample.classes)
    class_weight = np.ones(n_classes)
    if given is not None:
        factors = class_factors(given, sample.labels, sample.weights, n_classes)
        class_weight = np.array([float(factor) for factor in factors])
    columns = read_coded(sample, models)
    rows, mates = np.arange(sample.labels.size), read_mates(groups, sample.rows)
    problems = tuple(
        CodedRows(columns, rows, labels, weights, sample.classes, class_weight, mates)
        for labels in np.ascontiguousarray(sample.targets.classes.T)
    )
    numbers = any(spec.on_grid for spec in columns.specs)
    options = options_of(model.pairs, model.price, numbers, mates is not None)
    plan, families = read_plan(model, sample, models, n_classes)
    parts = None
    if model.validation is not None:
        parts = find_parts(model.validation, sample, groups, n_rows, draw)
    return Judged(
        problems,
        plan,
        with_start_pairs(plan, options, columns, n_classes),
        sample,
        read_log_priors(model.priors, n_classes),
        model.shared_terms,
        model.progress,
        None if model.checkpoint is None else check_file("checkpoint", model.checkpoint),
        {} if model.checkpoint is None else _fingerprints(model, problems, groups),
        families,
        parts,
    )


def read_log_priors(given: object, n_classes: int) -> tuple[float, ...] | None:
    """One probability above 0 a class; None: those of the rows."""
    priors = check_priors(given, n_classes)
    if priors is None:
        return None
    shares = np.full(n_classes, 1 / n_classes) if isinstance(priors, str) else priors
    if not (shares > 0).all():
        raise ValueError(f"priors must be above 0 here; got {shares.tolist()}.")
    return tuple(shares.tolist())


def _fingerprints(
    model: "WeightedNaiveBayes", problems: Sequence[CodedRows], groups: Array | None
) -> dict[str, str]:
    """Of all that decides the result, by the name of what it is."""
    free = ("n_jobs", "progress", "checkpoint", "time_limit", "random_state", "engine")
    named = {key: value for key, value in model.get_params().items() if key not in free}
    rows, columns = problems[0], problems[0].columns
    return {
        "X": fingerprint([fingerprint(each) for each in columns.contents()], columns.specs),
        "y": fingerprint([each.labels for each in problems], rows.classes),
        "sample_weight": fingerprint(rows.weights),
        "groups": fingerprint(groups),
        **{key: fingerprint(value) for key, value in named.items()},
    }


def check_tables(models: Sequence[str], names: Sequence[str]) -> None:
    """Weighted terms need tables of counts."""
    for name, model in zip(names, models, strict=True):
        if not MODELS[model].discrete:
            # Models with a number behind them are kinds of the one without.
            known = [k for k, found in MODELS.items() if found.discrete and not k[-1].isdigit()]
            raise ValueError(
                f"column {name!r} is modelled as {model!r}, which has no table of counts; weighted "
                f"terms need one of {', '.join(map(repr, known))}."
            )


def run_weighted(
    judged: Judged, draw: np.random.RandomState, threads: Threads, clock: Clock
) -> list[WeightedFit]:
    """One path for all problems, or one for each."""
    parts = [tuple(range(len(judged.problems)))]
    if not judged.shared:
        parts = [(g,) for g in parts[0]]
    seeds = draw.randint(2**31 - 1, size=len(parts))
    journal = None
    if judged.checkpoint is not None:
        journal = WeightJournal(judged.checkpoint, {**judged.prints, "random_state": str(seeds)})
    line = WeightsLine(len(parts)) if judged.progress else None
    if line is not None:
        judged = replace(judged, plan=replace(judged.plan, told=line.hear))
    try:
        found = [
            _run(judged, part, np.random.RandomState(seed), threads, Watch(clock, journal, line))
            for part, seed in zip(parts, seeds, strict=True)
        ]
    finally:
        if line is not None:
            line.close()
    # Whoever insists on pairs is told where none can be made.
    if all(option.bins for option in judged.options) and not found[0].weighing.pairs:
        words = f"pairs=True: there are none to offer, {_why_no_pairs(judged.problems[0])}."
        warnings.warn(words, UserWarning, stacklevel=3)
    # One model reads the columns of all problems.
    columns = sorted(set().union(*(each.weighing.columns_of(each.steps) for each in found)))
    return [
        WeightedFit(
            each.option,
            each.price,
            tuple(each.steps),
            each.weighing.units,
            each.weighing.book(each.steps, columns),
            part,
            each.stopped,
        )
        for each, part in zip(found, parts, strict=True)
    ]


def _why_no_pairs(rows: CodedRows) -> str:
    if rows.n_classes > MOST_CLASSES:
        return (
            f"since tables of two columns have too many cells for {rows.n_classes} classes (at "
            f"most {MOST_CLASSES})"
        )
    return f"since no two columns that may enter have 4 to {MOST_CELLS} cells together"


class _Walked(NamedTuple):
    """A path, and the rows that it was walked on."""

    option: Option
    price: float
    weighing: Weighing
    steps: list[WeightStep]
    stopped: str | None


class Watch(NamedTuple):
    """What goes along with a fit: the time, the file, and the line that tells how far it is."""

    clock: Clock
    journal: WeightJournal | None
    line: WeightsLine | None


def _run(
    judged: Judged,
    part: tuple[int, ...],
    draw: np.random.RandomState,
    threads: Threads,
    watch: Watch,
) -> _Walked:
    clock, journal, line = watch
    problems, name = [judged.problems[g] for g in part], str(part[0])
    option = None if journal is None else journal.option(name)
    if option is None:
        option = _choose(judged, problems, draw, threads, watch)
        if journal is not None and clock.left > 0:
            journal.decided(name, option)
    weighing = Weighing(problems, judged.plan, option.bins, threads)
    price = option.amount(weighing.n_candidates, problems[0].groups is not None)
    greedy = weighing.greedy(price)
    steps = [] if journal is None else journal.resume(name, greedy)
    if line is not None:
        line.begin_path(min(judged.plan.most, weighing.n_candidates + len(judged.plan.kept)))
    stopped = None
    try:
        for step in greedy.steps():
            steps.append(step)
            if journal is not None and journal.option(name) is not None:
                journal.took(name, steps, greedy)
            if clock.left <= 0:
                stopped = f"time_limit={clock.limit}"
                break
    except KeyboardInterrupt:
        # Nothing to choose from: an interrupt like any other.
        if not steps:
            raise
        stopped = "Ctrl-C"
    finally:
        if journal is not None:
            journal.close()
    if line is not None:
        line.made()
    return _Walked(option, price, weighing, steps, stopped)


def _choose(
    judged: Judged,
    problems: Sequence[CodedRows],
    draw: np.random.RandomState,
    threads: Threads,
    watch: Watch,
) -> Option:
    """What folds within the rows decide; the cautious way where there are too few rows."""
    strata, options = judged.sample.strata, judged.options
    rows = problems[0]
    if judged.parts is not None:
        return _choose_on(judged.parts, problems, judged, threads, watch)
    few = rows.weights.sum() < _LEAST_ROWS
    if few or (rows.groups is not None and rows.groups.max() + 1 < 2 * N_FOLDS):
        cautious = [each for each in options if each.price is None] or list(options)
        return cautious[0]
    folds = fold_weights(rows, strata, draw, rows.groups)
    return _choose_by(folds, problems, judged, threads, watch)


def _choose_on(
    parts: tuple[Ints, Ints],
    problems: Sequence[CodedRows],
    judged: Judged,
    threads: Threads,
    watch: Watch,
) -> Option:
    """What some rows decide, others having trained; rows of neither part are left out."""
    weights = problems[0].weights
    used, held_out = np.zeros_like(weights), np.zeros_like(weights)
    held_out[parts[1]] = weights[parts[1]]
    used[np.concatenate(parts)] = weights[np.concatenate(parts)]
    some = [rows.weighted(used) for rows in problems]
    return _choose_by([held_out[used > 0]], some, judged, threads, watch)


def _choose_by(
    folds: Sequence[Ints],
    problems: Sequence[CodedRows],
    judged: Judged,
    threads: Threads,
    watch: Watch,
) -> Option:
    """What folds decide; somebody may be told of each."""
    options = judged.options
    if watch.line is not None and len(options) > 1:
        watch.line.begin_folds(len(folds) * len({option.bins for option in options}))

    def pause() -> bool:
        if watch.line is not None:
            watch.line.walked()
        return watch.clock.left <= 0

    def late() -> bool:
        return watch.clock.left <= 0

    return choose_option(problems, judged.plan, options, folds, threads, pause, late)


# -- Weights for columns that a search has chosen --------------------------------------------------


def reweigh(
    sample: Sample,
    models: Sequence[str],
    columns: Sequence[int],
    family: Family,
    class_weight: Floats,
    threads: Threads,
    mates: Ints | None = None,
) -> FittedBayes:
    """Weights for columns that somebody chose: all of them stay, and nothing else enters.

    Parameters
    ----------
    sample : the rows that are learnt from.
    models : the feature model of each column.
    columns : positions, in the order in which they come.
    family : of the models: smoothing and priors.
    class_weight : factor on the counts of each class.
    threads : who runs the kernels.
    mates : the number of each row's group; None where rows are independent.
    """
    order = list(columns)
    weighing = weighing_of(sample, models, order, family, class_weight, threads, mates)
    kept = list(range(len(order)))
    *_, last = weighing.greedy(0.0).steps()
    place = np.argsort(order).tolist()
    book = weighing.book([last], kept)
    priors = read_log_priors(family.priors, len(sample.classes))
    found = tuple(book.fitted(last, g, kept, priors) for g in range(len(weighing.problems)))
    labels = tuple(sample.targets.names) if sample.targets.labelled else ()
    return FittedBayes(found, labels).restrict(place)


def weighing_of(
    sample: Sample,
    models: Sequence[str],
    columns: Sequence[int],
    family: Family,
    class_weight: Floats,
    threads: Threads,
    mates: Ints | None,
) -> Weighing:
    """The terms of some columns, all of which are in from the start; as in `reweigh`."""
    coded, every = read_coded(sample, models, list(columns)), np.arange(sample.labels.size)
    weights = sample.weights.astype(np.int64)
    problems = [
        CodedRows(coded, every, labels, weights, sample.classes, class_weight, mates)
        for labels in np.ascontiguousarray(sample.targets.classes.T)
    ]
    kept, pseudo = tuple(range(len(columns))), float(cast(float, family.smoothing))
    units = tuple((j,) for j in kept)
    plan = WeightPlan(pseudo, most=len(kept), units=units, kept=kept)
    return Weighing(problems, plan, 0, threads)


# -- WeightedNaiveBayes ----------------------------------------------------------------------------


class WeightedNaiveBayes(ChosenColumns, AnyTable, BaseEstimator):
    """The most accurate readable model: few terms, each with a weight for every class.

    score_k = b_k + sum over terms of w_tk log [P(x_t | k) / P(x_t)].  A term is a column, or a pair
    of columns that tell more together than each alone; its table is made of counts.  A weight is a
    whole number of sixteenths from 0 to 1: evidence that other terms already gave counts less, and
    a term speaks for the classes about which it knows something.  Terms are found one by one, by
    the conditional log-likelihood of rows that are left out of their own tables.

    Parameters
    ----------
    max_terms : int or "auto", default="auto"
        At most so many terms: 60, unless the preset says fewer.
    pairs : bool or "auto", default="auto"
        Pairs of columns among the terms: by folds within the training rows, always, or never.
    price : float or "auto", default="auto"
        Nat that a term must gain: 1, or 1 + log of the number of candidates, or no term at all, by
        folds within the training rows; or a number.  With groups: what the luckiest of all
        candidates would gain by chance once in 25 fits.
    pair_price : float, default=2.0
        What a pair pays beyond that.
    ridge : float, default=4.0
        Penalty on squared weights: half of this times their sum, in nat.
    features : str or mapping, default="auto"
        The feature model of each column, as in `NaiveBayes`; numbers are read on a grid.
    smoothing : float > 0, default=1.0
        Pseudo-count of every level.
    priors : None, "uniform" or array-like of shape (n_classes,), default=None
        Class probabilities; the constants b move by their log-ratio to those of the rows.
    class_weight : None, "balanced" or mapping, default=None
        Weight of each class in the counts and the likelihood.
    keep, forbid : list, default=()
        Columns (names or positions) that are in from the start and stay; that never enter.
    feature_groups : list of lists, optional
        Columns that enter together, and so in no pair, unless `keep` holds them in.
    monotone : mapping, optional
        Columns on the grid whose evidence for the second of two classes may only rise (1) or fall
        (-1) with their value: ``{"age": 1}``.
    missing : {"silent", "evidence"}, default="silent"
        Does it say anything that a value is missing?  A value that fit has not seen never does.
    shared_terms : bool, default=True
        With labels: one set of terms for all, each with weights of its own; or a set for each.
    n_jobs : int, optional
        Threads for the kernels; -1 for all cores.  The result does not depend on it.
    random_state : int, RandomState or None, default=0
        Draws the folds within the training rows.
    progress : bool, default=False
        Tell on standard error how far the path has come.
    checkpoint : str or path, optional
        A file in which the path is written down; if it is there, the fit goes on from it.
    time_limit : float, optional
        Seconds; the path then ends with a `ConvergenceWarning`.  Ctrl-C does the same.
    families : None, "auto", Families or list of lists, default=None
        Columns that say nearly the same, of which the first alone may be a term or stand in a
        pair, as in `NaiveBayesSelector`.
    validation : None, float, splitter, or mask or list of rows, default=None
        What decides on pairs and price: folds within the training rows, or a part of them as in
        `NaiveBayesSelector`, such as the latest.  Terms and weights are fitted on all rows.
    preset : {"few", "balanced", "accurate"}, optional
        Fills what is "auto": at most 10 terms, of families one column at most; at most 20 terms; at
        most 60, as without a preset.
    engine : {"threads", "dask", "gpu"}, DaskEngine or GpuEngine, optional
        Who keeps the rows: this process, workers of a Dask cluster (for a Dask collection, by
        default those of the current client), or a GPU; the model is the same.
    start : list, optional
        Terms with which the path begins, in this order and without a price: columns, or pairs of
        columns, such as ``["age", ("height", "weight")]``, or another model's `selected_`.  What
        gets no weight leaves again, unlike columns in `keep`.  A pair asks for ``pairs=True``.

    Attributes
    ----------
    selected_ : list of tuple of int
        The terms in the order in which they came: one column, or two.
    terms_ : list of dict
        ``name``, ``columns``, ``weights`` (by class) and ``table`` (log-ratios before weights; with
        ``missing="evidence"``, the last line of a column's is what a missing value says).
    weights_ : ndarray of shape (n_terms, n_classes)
        Weights, multiples of 1/16; with labels, a list of such arrays.
    path_ : WeightPath
        Every step: what came, what it promised, and the log-loss of rows (or groups) left out.
    classes_ : ndarray
        The classes; with labels, a list of such arrays.
    families_ : Families or None
        Which column stands for which.
    choice_ : dict
        What the folds decided: ``bins`` of numbers in pairs (0: no pairs) and ``price``.
    estimator_ : NaiveBayes
        The model on the columns used.
    support_ : ndarray of bool
        Mask of the columns used.
    n_features_in_, feature_names_in_ :
        Width and names of X.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from bayesieve import WeightedNaiveBayes
    >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    >>> model = WeightedNaiveBayes().fit(X, y)
    >>> len(model.selected_) < 10, model.score(X, y) > 0.96
    (True, True)
    >>> len(model.at(2).selected_)
    2
    """

    selected_: list[tuple[int, ...]]
    terms_: list[dict[str, Any]]
    weights_: Any
    path_: Any
    classes_: Any
    choice_: dict[str, float]
    families_: Families | None

    def __init__(  # noqa: PLR0913
        self,
        max_terms: int | str = "auto",
        pairs: bool | str = "auto",
        price: float | str = "auto",
        pair_price: float = 2.0,
        ridge: float = 4.0,
        features: str | Mapping[str, str] | Mapping[int, str] = "auto",
        smoothing: float = 1.0,
        priors: str | ArrayLike | None = None,
        class_weight: object = None,
        keep: Iterable[str | int] = (),
        forbid: Iterable[str | int] = (),
        feature_groups: Sequence[Sequence[str | int]] | None = None,
        monotone: Mapping[str, int] | Mapping[int, int] | None = None,
        missing: str = "silent",
        shared_terms: bool = True,
        n_jobs: int | None = None,
        random_state: object = 0,
        progress: bool = False,
        checkpoint: str | PathLike[str] | None = None,
        time_limit: float | None = None,
        families: object = None,
        validation: object = None,
        preset: str | None = None,
        engine: object = None,
        start: Iterable[object] | None = None,
    ):
        self.max_terms = max_terms
        self.pairs = pairs
        self.price = price
        self.pair_price = pair_price
        self.ridge = ridge
        self.features = features
        self.smoothing = smoothing
        self.priors = priors
        self.class_weight = class_weight
        self.keep = keep
        self.forbid = forbid
        self.feature_groups = feature_groups
        self.monotone = monotone
        self.missing = missing
        self.shared_terms = shared_terms
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.progress = progress
        self.checkpoint = checkpoint
        self.time_limit = time_limit
        self.families = families
        self.validation = validation
        self.preset = preset
        self.engine = engine
        self.start = start

    def __procedure__(self) -> Procedure:
        """Describe this way to choose columns; asked by `procedure_of`."""
        return WeightedTerms(self)

    def fit(
        self, X: object, y: object, sample_weight: object = None, groups: object = None
    ) -> "WeightedNaiveBayes":
        """Find the terms and their weights.

        Parameters
        ----------
        X : array-like, data frame, sparse matrix or packed table of shape (n_samples, n_features)
            Numbers, booleans, text or categories; missing values are allowed.  Of a Dask
            collection rows stay with its workers; y may then name a column.
        y : array-like of shape (n_samples,), or 0/1 matrix of shape (n_samples, n_labels)
            Classes, or labels.
        sample_weight : array-like of shape (n_samples,), optional
            How often each row is repeated, whole numbers.
        groups : array-like of shape (n_samples,), optional
            What rows of one series, patient or machine share.  Whole groups are left out, in 20
            folds at most, where else every row is left out of its own tables; a gain counts as far
            as groups vouch for it; and no group is on both sides of a fold that decides on pairs,
            nor of `validation`.

        Returns
        -------
        self : WeightedNaiveBayes
        """
        clock = Clock(self.time_limit)
        asked = settle_weighted(self)
        judge_parameters(asked)
        gpu = gpu_of(self.engine)
        if gpu is not None:
            gpu.judged()
        holder = NaiveBayes(self.features, self.smoothing)
        if is_collection(X) or not (self.engine in (None, "threads") or gpu):
            params = {"sample_weight": sample_weight, "groups": groups}
            with gathered_weights(asked, holder, X, y, params) as (sample, far, given):
                return self._fit(clock, asked, holder, sample, far, given["groups"])
        sample = read_sample(holder, X, y, sample_weight)
        return self._fit(clock, asked, holder, sample, X, groups)

    def _fit(
        self,
        clock: Clock,
        asked: "WeightedNaiveBayes",
        holder: NaiveBayes,
        sample: Sample,
        X: object,
        groups: object,
    ) -> "WeightedNaiveBayes":
        n_rows = _num_samples(X)
        draw = check_random_state(self.random_state)
        judged = judge_weighted(asked, sample, read_groups_of_rows(groups, n_rows), n_rows, draw)
        gpu = gpu_of(self.engine)
        if gpu is not None:
            check_gpu_table(sample, [])
        held_to = None if clock.limit is None else clock.check
        with Threads(count_threads(self.n_jobs), gpu, held_to) as threads:
            fits = run_weighted(judged, draw, threads, clock)
        stopped = next((each.stopped for each in fits if each.stopped), None)
        if stopped is not None:
            warnings.warn(
                f"the path was stopped by {stopped} at {len(fits[-1].steps[-1].terms)} terms; they "
                "are taken. Give it more time for the rest.",
                ConvergenceWarning,
                stacklevel=3,
            )
        for name in ("feature_names_in_", "calibration_", "decision_"):
            self.__dict__.pop(name, None)
        keep_names(self, X, reset=True)
        self._fits = tuple(fits)
        self.families_ = judged.families
        self._priors = judged.priors
        self._labels = tuple(sample.targets.names) if sample.targets.labelled else ()
        self.column_names = list(sample.table.names)
        self._names = getattr(holder, "feature_names_in_", None)
        self.__dict__.update(self._learnt([len(each.steps) - 1 for each in fits]))
        return self

    def at(self, size: int) -> "WeightedNaiveBayes":
        """The model of at most `size` terms that the path passed.

        Parameters
        ----------
        size : int
            Number of terms; with labels that have terms of their own, of each.

        Returns
        -------
        model : WeightedNaiveBayes
            A copy with the terms, weights and constants of that state.
        """
        check_is_fitted(self, "path_")
        check_number("size", size, low=0, whole=True)
        found = copy(self)
        for name in ("calibration_", "decision_"):
            found.__dict__.pop(name, None)
        places = [
            max(at for at, step in enumerate(each.steps) if len(step.terms) <= size)
            for each in self._fits
        ]
        learnt = self._learnt(places)
        used = [problem.place for problem in self.estimator_.fitted_.problems]
        learnt["estimator_"].hold(learnt["estimator_"].fitted_.deployed(used))
        found.__dict__.update(learnt)
        return found

    def name_columns(self, names: Sequence[str]) -> None:
        """Give columns that had no names some, as those of a sparse matrix from a file.

        Parameters
        ----------
        names : sequence of str
            One a column of X.
        """
        check_is_fitted(self, "path_")
        self.column_names = list(names)
        paths = self.path_ if isinstance(self.path_, list) else [self.path_]
        self.__dict__.update(self._learnt([path.chosen for path in paths]))

    def _learnt(self, places: Sequence[int]) -> dict[str, Any]:
        """All that is known after the fit, for the model of these states, one a path."""
        fits = self._fits
        steps = [each.steps[place] for each, place in zip(fits, places, strict=True)]
        columns = sorted(
            {j for each, step in zip(fits, steps, strict=True) for j in each.book.columns_in(step)}
        )
        problems = {}
        for each, step in zip(fits, steps, strict=True):
            for g, problem in enumerate(each.problems):
                problems[problem] = each.book.fitted(step, g, columns, self._priors)
        fitted = FittedBayes(tuple(problems[g] for g in sorted(problems)), self._labels)
        model = NaiveBayes(self.features, self.smoothing)
        if self._names is not None:
            model.feature_names_in_ = self._names
        model.hold(fitted)
        restrict_names(model, np.array(columns, np.int64))
        return {
            "estimator_": model,
            "classes_": model.classes_,
            "support_": np.isin(np.arange(self.n_features_in_), columns),
            "choice_": {"bins": fits[0].option.bins, "price": fits[0].price},
            **self._told_of(fits, steps, places),
        }

    def _told_of(
        self, fits: Sequence[WeightedFit], steps: Sequence[WeightStep], places: Sequence[int]
    ) -> dict[str, object]:
        """What people read: terms, weights and paths."""
        selected, terms, weights, paths = [], [], [], []
        for each, step, place in zip(fits, steps, places, strict=True):
            names = {
                term: " x ".join(self.column_names[j] for j in each.book.columns_of(term))
                for one in each.steps
                for term in one.terms
            }
            for at, term in enumerate(step.terms):
                selected.append(each.book.columns_of(term))
                lines = [np.ldexp(part[at].astype(float), -4) for part in step.weights]
                tables = [
                    np.ldexp(each.book.table(term, g).astype(float), -TERM_BITS)
                    for g in range(len(each.problems))
                ]
                terms.append(
                    {
                        "name": names[term],
                        "columns": each.book.columns_of(term),
                        "weights": lines if self._labels else lines[0],
                        "table": tables if self._labels else tables[0],
                    }
                )
            weights += [part / WEIGHT_STEPS for part in step.weights]
            paths.append(WeightPath(each.steps, names, each.units, place))
        return {
            "selected_": selected,
            "terms_": terms,
            "weights_": weights if self._labels else weights[0],
            "path_": paths[0] if len(paths) == 1 else paths,
        }


class WeightedTerms(Procedure):
    """Terms with weights, guided by the log-loss of rows left out."""

    def validate(self) -> Criterion:
        """Validate all parameters that need no data; the criterion that stands for the log-loss."""
        judge_parameters(settle_weighted(self.model))
        return CRITERIA["log-likelihood"]

    def base_model(self) -> NaiveBayes:
        """An unfitted model of all columns."""
        return NaiveBayes(self.model.features, self.model.smoothing, self.model.priors)

    def repeatable(self) -> Any:
        """An unfitted copy, with pairs and price as its folds decided them."""
        decided = self.model.choice_
        found = clone(self.model)
        return found.set_params(pairs=bool(decided["bins"]), price=float(decided["price"]))

    def chooser(self, criterion: Criterion) -> Criterion:
        """The criterion itself: the last state of the path is taken."""
        return criterion

    @property
    def row_parts(self) -> None:
        """None: terms and weights are fitted on all rows."""
        return

    @property
    def paths(self) -> tuple[WeightPath, ...]:
        """One path, or one a label."""
        path = self.model.path_
        return tuple(path) if isinstance(path, list) else (path,)

    @property
    def names(self) -> list[str]:
        """Names of all columns of X."""
        return self.model.column_names

    @property
    def term_names(self) -> list[str]:
        """Names of the terms, in the order in which they came."""
        return [term["name"] for term in self.model.terms_]

    def rename_path(self, names: Sequence[str]) -> None:
        """Give the columns of path and terms these names."""
        model, held = self.model, self.model.estimator_
        model.name_columns(names)
        model.estimator_ = held  # with its temperature, rule and place of use

    def figures(self) -> GuidingFigures:
        """Figures of the last state: a log-likelihood of rows left out, the mean of all labels."""
        paths = self.paths
        loss = float(np.mean([path.steps[path.chosen].loss for path in paths]))
        labels = self.model.estimator_.fitted_.labels
        if labels and len(paths) == 1:
            loss /= len(labels)  # a shared path adds up the losses of all labels
        return GuidingFigures(-loss, float("nan"), "validation_error")

    def summary(self) -> dict[str, object]:
        """Figures of the choice as plain data."""
        model = self.model
        return {
            "n_columns": int(model.support_.sum()),
            "leave_one_out_log_loss": model.path_.steps[model.path_.chosen].loss,
        }

    def settings(self) -> list[tuple[str, object]]:
        """Decisions of the fit, each by the name under which people read it."""
        decided = self.model.choice_
        return [
            ("estimator", "WeightedNaiveBayes: terms with weights for each class"),
            ("guided by", "log-loss"),
            ("price of a term", decided["price"]),
            ("pairs of columns", "yes" if decided["bins"] else "no"),
            ("ridge", f"{self.model.ridge:g}"),
        ]
