"""`WeightedNaiveBayes`: few terms, each with a weight for every class."""

import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from copy import copy
from functools import partial
from os import PathLike
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils.validation import _num_samples, check_is_fitted

from ..checks import Array, check_file, check_flag, check_jobs, check_number, choose
from ..criteria import CRITERIA
from ..criteria.base import Criterion
from ..data.sample import (
    Sample,
    class_factors,
    find_parts,
    read_groups_of_rows,
    read_mates,
    read_sample,
    read_weights,
)
from ..data.tables import is_collection, keep_names
from ..engine.threads import Threads, count_threads
from ..models.base import CORRECTION_BITS, Floats, Ints
from ..models.columns import choose_models
from ..models.fitted import FittedBayes, FittedProblem
from ..models.log_ratios import TERM_BITS, WEIGHT_STEPS, term_rows
from ..rankings.families import Families
from ..search.checkpoint import fingerprint
from ..search.path import Path, TermBook
from ..search.progress import ProgressLine
from ..search.run import Clock, Run, open_journal
from ..search.term_pool import CodedRows, check_tables, read_coded, read_log_priors
from ..search.term_search import TermTask, options_of, run_weighted
from ._validation import (
    check_gpu_table,
    check_validation,
    gpu_of,
    read_class_weight,
    read_plan,
    settle_weighted,
    with_start_pairs,
)
from .base import ChosenColumns, GuidingFigures, Procedure
from .collections import gathered_weights
from .naive_bayes import AnyTable, NaiveBayes, restrict_names

if TYPE_CHECKING:
    from ..explain.terms import ModelTerms, Parts

# Tables that may change by less do not change.
_LEAST_FREEDOM = 1e-6


def judge_parameters(model: "WeightedNaiveBayes") -> None:
    """Validate all that does not depend on the data."""
    check_number("max_terms", model.max_terms, low=1, whole=True)
    if not isinstance(model.pairs, str):
        check_flag("pairs", model.pairs)
    else:
        choose("pairs", model.pairs, ["auto"], beside="True or False")
    given = model.corrections
    if not isinstance(given, bool | np.bool_):
        if np.shape(given) != (2,):
            raise ValueError(
                "corrections must be True, False, or two numbers: squared nat by which a table may "
                f"change, and by which a line along ranks may rise; got {given!r}."
            )
        table, line = (check_number("corrections", each, low=0.0, high=1e6) for each in given)
        if any(0 < each < _LEAST_FREEDOM for each in (table, line)) or (line and not table):
            raise ValueError(
                f"corrections: each number must be 0 or at least {_LEAST_FREEDOM:g}, and lines "
                f"need tables that may change; got {given!r}."
            )
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
) -> TermTask:
    """Validate everything that depends on the data, and read it.

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
    class_weight, n_classes = read_class_weight(model, sample), len(sample.classes)
    exact = class_factors(class_weight, sample.labels, sample.weights, n_classes)
    factors = np.array([float(factor) for factor in exact])
    columns = read_coded(sample, models)
    every = np.arange(sample.labels.size)
    mates = None if groups is None else read_mates(groups, sample.rows)
    problems = [
        CodedRows(columns, every, labels, weights, sample.classes, factors, mates)
        for labels in np.ascontiguousarray(sample.targets.classes.T)
    ]
    once = problems[0].without_copies(sample.labels) if mates is None else None
    if once is not None:
        warnings.warn(
            f"most of {int(weights.sum())} rows are copies of others, in X or by sample_weight: "
            "who is left out while a copy stays would vouch for itself.  Each of the "
            f"{int(once.sum())} distinct rows counts once, and classes keep their shares.",
            UserWarning,
            stacklevel=4,
        )
        problems = [each.once(once) for each in problems]
    plan, limits = read_plan(model, sample, models, n_classes)
    free = plan.corrections and plan.freedom is None
    n_rows_told = float(problems[0].weights.sum()) if free else np.inf
    options = options_of(model.pairs, model.price, mates is not None, n_rows_told)
    parts = None
    if model.validation is not None:
        parts = find_parts(model.validation, sample, groups, n_rows, draw)
    return TermTask(
        sample=sample,
        models=models,
        units=limits.units,
        keep=limits.keep,
        class_weight=class_weight,
        groups=groups,
        n_rows=n_rows,
        families=limits.families,
        rows=tuple(problems),
        plan=plan,
        options=with_start_pairs(plan, options, columns, n_classes),
        priors=read_log_priors(model.priors, n_classes),
        shared=model.shared_terms,
        parts=parts,
    )


def _fingerprints(
    model: "WeightedNaiveBayes", task: TermTask, seeds: Sequence[int]
) -> dict[str, str]:
    """Fingerprints of all that decides the result, by the name under which people know it."""
    free = ("n_jobs", "progress", "checkpoint", "time_limit", "random_state", "engine")
    named = {key: value for key, value in model.get_params().items() if key not in free}
    rows, columns = task.rows[0], task.rows[0].columns
    return {
        "X": fingerprint([fingerprint(each) for each in columns.contents()], columns.specs),
        "y": fingerprint([each.labels for each in task.rows], rows.classes),
        "sample_weight": fingerprint(rows.weights),
        "groups": fingerprint(task.groups),
        "random_state": fingerprint(list(seeds)),
        **{key: fingerprint(value) for key, value in named.items()},
    }


# -- WeightedNaiveBayes ----------------------------------------------------------------------------


class WeightedNaiveBayes(ChosenColumns, AnyTable, BaseEstimator):
    """Weighted naive Bayes: few terms (columns and interactions) with per-class weights.

    score_k = b_k + sum over terms of w_tk log [P(x_t | k) / P(x_t)] + D_tk(x_t).  A term is a
    column, or a pair of columns that tell more together than each alone; its table is made of
    counts.  A weight is a whole number of sixteenths from 0 to 1: evidence that other terms already
    gave counts less, and a term speaks for the classes about which it knows something.  Terms are
    found one by one, by the conditional log-likelihood of rows that are left out of their own
    tables.  D is a small correction: what the rows show against what all terms together expect, no
    further than its own rows allow.

    Parameters
    ----------
    max_terms : int or "auto", default="auto"
        At most so many terms: 18, unless the preset says otherwise.
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
        Class probabilities; the constants b, multiples of 1/64, move by their log-ratio to those of
        the rows.
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
        Fills what is "auto": at most 8 terms, of families one column at most; at most 18 terms, as
        without a preset; at most 60.
    engine : {"threads", "dask", "gpu"}, DaskEngine or GpuEngine, optional
        Who keeps the rows: this process, workers of a Dask cluster (for a Dask collection, by
        default those of the current client), or a GPU; the model is the same.
    corrections : bool or (float, float), default=True
        Are tables corrected for what the other terms leave unexplained?  As freely as folds within
        the training rows find it to pay, or not at all; or squared nat by which a table may change,
        and by which a line along a number's ranks may rise in a standard deviation.  With groups:
        only where two numbers say so.
    start : list, optional
        Terms with which the path begins, in this order and without a price: columns, or pairs of
        columns, such as ``["age", ("height", "weight")]``, or the columns of another model's
        `terms_`.  What gets no weight leaves again, unlike columns in `keep`.  A pair asks for
        ``pairs=True``.

    Attributes
    ----------
    selected_ : ndarray of int
        Columns that the terms read, in the order in which they came.
    terms_ : ModelTerms
        The terms in the order in which they came, a list that shows a line each.  Of a term:
        ``name``, ``kind``, ``columns`` (one, or two), ``weights`` (by class), ``table`` (log-ratios
        before weights; with ``missing="evidence"``, the last line of a column's is what a missing
        value says) and ``rows`` (training rows of each class behind each entry of it; of densities,
        as many as tell a share as well), ``correction`` (what is added to the weighted table; None:
        nothing), ``share`` (of the decision) and ``interval`` (as `cells()` has it, of each value
        that `explain_model` tells apart); with labels, lists of them, and where labels have terms
        of their own, ``label`` says whose a term is.
    weights_ : ndarray of shape (n_terms, n_classes)
        Weights, multiples of 1/16; with labels, a list of such arrays.
    path_ : Path
        Every state: what came, what it promised, and the log-loss of rows (or groups) left out; a
        list of such paths where labels have terms of their own.
    classes_ : ndarray
        The classes; with labels, a list of such arrays.
    families_ : Families or None
        Which column stands for which.
    settings_ : dict
        What was decided, by the names of parameters that may be "auto".
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
    >>> len(model.terms_) < 10, model.score(X, y) > 0.96
    (True, True)
    >>> len(model.at(2).terms_)
    2
    """

    selected_: Ints
    weights_: Any
    path_: Any
    classes_: Any
    settings_: dict[str, Any]
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
        corrections: bool | tuple[float, float] = True,
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
        self.corrections = corrections

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
        mates = None if groups is None else read_groups_of_rows(groups, n_rows)
        task = judge_weighted(asked, sample, mates, n_rows, draw)
        gpu = gpu_of(self.engine)
        if gpu is not None:
            check_gpu_table(sample, [])
        seeds = draw.randint(2**31 - 1, size=len(task.paths)).tolist()
        journal = None
        if self.checkpoint is not None:
            file = check_file("checkpoint", self.checkpoint)
            journal = open_journal(file, _fingerprints(asked, task, seeds), "fit")
        line = ProgressLine(n_models=len(seeds)) if self.progress else None
        held_to = None if clock.limit is None else clock.check
        with (
            Threads(count_threads(self.n_jobs), gpu, held_to) as threads,
            Run(clock, journal, line) as run,
        ):
            fits = run_weighted(task, seeds, threads, run)
        stopped = next((each.stopped for each in fits if each.stopped), None)
        if stopped is not None:
            warnings.warn(
                f"the path was stopped by {stopped} at {fits[-1].path.steps[-1].n_terms} terms; "
                "they are taken. Give it more time for the rest.",
                ConvergenceWarning,
                stacklevel=3,
            )
        for name in ("feature_names_in_", "calibration_", "decision_"):
            self.__dict__.pop(name, None)
        keep_names(self, X, reset=True)
        self._fits = tuple(fits)
        self.families_ = task.families
        self._priors = task.priors
        self._labels = tuple(sample.targets.names) if sample.targets.labelled else ()
        self._names = getattr(holder, "feature_names_in_", None)
        self.settings_ = {
            "max_terms": asked.max_terms,
            "pairs": fits[0].option.pairs,
            "price": fits[0].price,
            "corrections": (fits[0].option.freedom, fits[0].option.slope),
            "families": asked.families,
            "validation": asked.validation,
        }
        self.__dict__.update(self._learnt([each.path for each in fits]))
        return self

    def at(self, size: int) -> "WeightedNaiveBayes":
        """Model at an earlier step of the path: at most `size` terms.

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
        paths = [copy(path) for path in self._paths]
        for path in paths:
            path.chosen = max(at for at, step in enumerate(path.steps) if step.n_terms <= size)
        learnt = self._learnt(paths)
        used = [problem.place for problem in self.estimator_.fitted_.problems]
        learnt["estimator_"].hold(learnt["estimator_"].fitted_.deployed(used))
        found.__dict__.update(learnt)
        return found

    @property
    def _paths(self) -> list[Path]:
        return self.path_ if isinstance(self.path_, list) else [self.path_]

    @property
    def terms_(self) -> "ModelTerms":
        """Terms in the order in which they entered."""
        from ..explain.terms import ModelTerms, Spoken, Term

        check_is_fitted(self, "path_")
        fitted, read = self.estimator_.fitted_, np.flatnonzero(self.support_).tolist()
        apart = len(self._labels) > 0 and not self.shared_terms
        spoken, found = Spoken(fitted, len(self._labels) > 0), []
        for each, path in zip(self._fits, self._paths, strict=True):
            state = path.states[path.chosen]
            models = [fitted.problems[problem] for problem in each.problems]
            for at, term in enumerate(state.terms):
                columns = tuple(path.columns_of([term]))
                places = tuple(read.index(j) for j in columns)
                tables = partial(_tables, each.book, term, len(models))
                added = [part.get(term) for part in state.corrections] or [None] * len(models)
                parts: dict[str, Parts] = {
                    "weights": [np.ldexp(part[at].astype(float), -4) for part in state.weights],
                    "table": tables,
                    "rows": partial(_rows, models, places),
                    "correction": partial(_corrections, tables, added),
                }
                label = self._labels[each.problems[0]] if apart else None
                name, problems = path.name_of(term), tuple(each.problems)
                found.append(Term(name, columns, parts, spoken, problems, places, label))
        return ModelTerms(found, type(self).__name__)

    def _learnt(self, paths: Sequence[Path]) -> dict[str, Any]:
        """Set all that is known after the fit, for the states chosen on paths."""
        fits, states = self._fits, [path.states[path.chosen] for path in paths]
        order = [
            j
            for path, state in zip(paths, states, strict=True)
            for j in path.columns_of(state.terms)
        ]
        selected = np.array(list(dict.fromkeys(order)), np.int64)
        columns = np.sort(selected)
        problems = {}
        for each, state in zip(fits, states, strict=True):
            for g, problem in enumerate(each.problems):
                problems[problem] = each.book.fitted(state, g, columns.tolist(), self._priors)
        fitted = FittedBayes(tuple(problems[g] for g in sorted(problems)), self._labels)
        model = NaiveBayes(self.features, self.smoothing)
        if self._names is not None:
            model.feature_names_in_ = self._names
        model.hold(fitted)
        restrict_names(model, columns)
        weights = [part / WEIGHT_STEPS for state in states for part in state.weights]
        return {
            "estimator_": model,
            "classes_": model.classes_,
            "support_": np.isin(np.arange(self.n_features_in_), columns),
            "selected_": selected,
            "weights_": weights if self._labels else weights[0],
            "path_": paths[0] if len(paths) == 1 else list(paths),
        }


def _tables(book: TermBook, term: int, n_problems: int) -> list[Floats]:
    """Log-ratios of a term before weights, of each problem."""
    return [np.ldexp(book.table(term, g).astype(float), -TERM_BITS) for g in range(n_problems)]


def _rows(models: Sequence[FittedProblem], places: Sequence[int]) -> list[Floats | None]:
    """Training rows behind every entry of a term, of each problem."""
    return [term_rows(model, places) for model in models]


def _corrections(
    tables: Callable[[], list[Floats]], added: Sequence[Ints | None]
) -> list[Floats | None]:
    """What is added to the tables of a term, of each problem."""
    return [
        None if part is None else _like(table, np.ldexp(part, -CORRECTION_BITS))
        for part, table in zip(added, tables(), strict=True)
    ]


def _like(table: Floats, part: Floats) -> Floats:
    """A correction in the shape of a table, whose last lines it may not have."""
    found = np.zeros((table.size // table.shape[-1], table.shape[-1]))
    found[: len(part)] = part
    return found.reshape(table.shape)


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
        decided = self.model.settings_
        named = {key: decided[key] for key in ("pairs", "corrections")}
        return clone(self.model).set_params(**named, price=float(decided["price"]))

    @property
    def term_names(self) -> list[str]:
        """Names of the terms, in the order in which they came."""
        chosen = [(path, path.states[path.chosen]) for path in self.paths]
        return [path.name_of(term) for path, state in chosen for term in state.terms]

    def figures(self) -> GuidingFigures:
        """Figures of the last state: a log-likelihood of rows left out, the mean of all labels."""
        paths = self.paths
        loss = float(np.mean([path.steps[path.chosen].score for path in paths]))
        labels = self.model.estimator_.fitted_.labels
        if labels and len(paths) == 1:
            loss /= len(labels)  # a shared path adds up the losses of all labels
        return GuidingFigures(-loss, float("nan"), "validation_error")

    def summary(self) -> dict[str, object]:
        """Figures of the choice as plain data."""
        model = self.model
        return {
            "n_columns": int(model.support_.sum()),
            "leave_one_out_log_loss": model.path_.steps[model.path_.chosen].score,
        }

    def settings(self) -> list[tuple[str, object]]:
        """Decisions of the fit, each by the name under which people read it."""
        decided = self.model.settings_
        return [
            ("estimator", "WeightedNaiveBayes: terms with weights for each class"),
            ("guided by", "log-loss"),
            ("minimum gain of a term", decided["price"]),
            ("pairs of columns", "yes" if decided["pairs"] else "no"),
            ("ridge", f"{self.model.ridge:g}"),
        ]
