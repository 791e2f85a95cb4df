"""`NaiveBayesSelector`: the scikit-learn estimator around a search."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from functools import partial
from os import PathLike
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, MetaEstimatorMixin, clone
from sklearn.utils import check_random_state
from sklearn.utils.validation import _num_samples, check_is_fitted

from ..checks import check_file
from ..criteria.base import Criterion
from ..data.sample import Sample, find_parts, is_share, read_groups_of_rows, read_sample, split_rows
from ..data.tables import is_collection, keep_names
from ..engine.contract import Units
from ..engine.registry import RemoteTable
from ..engine.threads import Threads, count_threads
from ..models.fitted import FittedProblem
from ..models.log_ratios import TERM_BITS, WEIGHT_STEPS, column_ratios, term_rows
from ..models.registry import MODELS
from ..search.hints import RowHints
from ..search.objective import Objective, SubsetScorer
from ..search.path import Path, Recorder
from ..search.progress import ProgressLine
from ..search.remote import dealt_ledgers, remote_ledgers
from ..search.run import (
    CachedRows,
    Clock,
    Found,
    Ledgers,
    ProofEndedError,
    Run,
    Task,
    dense_ledgers,
    never,
    open_journal,
    search_fingerprints,
    sparse_ledgers,
)
from ..search.strategies.base import FORWARD, Limits, Search
from ..search.strategies.greedy import StartedSearch
from ..search.strategies.ranked import AmongUnits
from ..search.term_pool import check_tables, reweigh, weighing_of
from ._validation import (
    SETTINGS,
    asks_for_auto,
    chooser_of,
    family_of,
    folds_of_fewer,
    gpu_of,
    judge_data,
    judge_parameters,
    settle,
    suit_folds,
)
from .base import ChosenColumns, GuidingFigures, Procedure
from .collections import gathered
from .naive_bayes import AnyTable, NaiveBayes, restrict_names
from .significance import (
    Gains,
    Paired,
    among_groups,
    prove,
    silent_columns,
    vouched_units,
    with_luck,
)

if TYPE_CHECKING:
    from ..explain.terms import ModelTerms, Parts

try:
    from sklearn.callback import CallbackSupportMixin as CallbackSupport
    from sklearn.callback import with_callbacks

    SUPPORTED = True
except ImportError:  # scikit-learn < 1.9
    SUPPORTED = False

    class CallbackSupport:  # type: ignore[no-redef]
        """Nothing to support."""

    def with_callbacks(method: Any) -> Any:
        """Leave the method as it is."""
        return method


#: Hears of an objective's changes; gives who may stop the search.
Watch = Callable[[Objective], Callable[[], bool]]


class Callbacks:
    """Turns the steps of a search into tasks of the estimator's `fit`.

    Parameters
    ----------
    estimator : the selector whose callbacks are told.
    context : scikit-learn's.
    """

    def __init__(self, estimator: Any, context: Any):
        self.stop = False  #: a callback asked to end the search
        self._estimator = estimator
        self._context = context
        context.call_on_fit_task_begin(estimator=estimator)

    def __call__(self, action: str, units: tuple[int, ...], objective: Objective) -> None:
        """One step of the search is one task."""
        task = self._context.subcontext(task_name=f"{objective.direction} {action}")
        task.call_on_fit_task_begin(estimator=self._estimator)
        self.stop |= bool(task.call_on_fit_task_end(estimator=self._estimator))

    def close(self) -> None:
        """The search has ended."""
        self._context.call_on_fit_task_end(estimator=self._estimator)


class Watched(CallbackSupport):
    """An estimator whose search others hear of, and may end."""

    @contextmanager
    def watching(
        self, held: CachedRows | None, search: Search, limits: Limits
    ) -> Iterator[Watch | None]:
        """Let scikit-learn's callbacks and a session hear of a search; None where nobody listens.

        Parameters
        ----------
        held : rows that stay in memory between searches, and who hears of them.
        search, limits : with all hints that it asked for.
        """
        callbacks = None
        if SUPPORTED and getattr(self, "_skl_callbacks", None):
            callbacks = Callbacks(self, self._init_callback_context(max_subtasks=None))
        if callbacks is None and held is None:
            yield None
            return

        def watch(objective: Objective) -> Callable[[], bool]:
            if callbacks is not None:
                objective.listeners.append(callbacks)
            ended = None if held is None else held.watched(objective, search, limits)

            def stop() -> bool:
                if ended is not None and ended():
                    return True
                return callbacks is not None and callbacks.stop

            return stop

        try:
            yield watch
        finally:
            if callbacks is not None:
                callbacks.close()


# -- An estimator of estimators whose estimator=None means a NaiveBayes ----------------------------


class DefaultEstimator:
    """Lets nested parameters, such as ``estimator__features``, reach the default estimator.

    Mixed in before scikit-learn's `BaseEstimator`.  `get_params` lists the parameters of the
    default beside ``estimator=None``; setting one of them puts a `NaiveBayes` in its place.

    Examples
    --------
    >>> from bayesieve import NaiveBayesSelector
    >>> selector = NaiveBayesSelector()
    >>> selector.get_params()["estimator__smoothing"]
    1.0
    >>> selector.set_params(estimator__smoothing=0.5).estimator
    NaiveBayes(smoothing=0.5)
    """

    estimator: Any

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Parameters by name; of the estimator too, if `deep`."""
        params: dict[str, Any] = super().get_params(deep)  # type: ignore[misc]
        if deep and self.estimator is None:
            params |= {f"estimator__{k}": value for k, value in NaiveBayes().get_params().items()}
        return params

    def set_params(self, **params: Any) -> Any:
        """Set parameters by name; ``estimator__name`` sets one of the estimator."""
        nested = any(name.startswith("estimator__") for name in params)
        if nested and params.get("estimator", self.estimator) is None:
            params["estimator"] = NaiveBayes()
        return super().set_params(**params)  # type: ignore[misc]


# -- NaiveBayesSelector ----------------------------------------------------------------------------


Rows = NDArray[np.int64]


class NaiveBayesSelector(
    DefaultEstimator,
    Watched,
    ChosenColumns,
    AnyTable,
    MetaEstimatorMixin,
    BaseEstimator,
):
    """Wrapper feature selection for naive Bayes: few columns, an accurate and readable model.

    A search adds and removes features; a criterion, computed exactly and without refitting, guides
    it.  By default all rows guide, each scored by tables that have not seen it; the smallest subset
    as good as the best is chosen, and its columns get weights.  The page on defaults has figures.

    Parameters
    ----------
    estimator : NaiveBayes or FeatureVotes, optional
        The model and its settings; ``NaiveBayes()`` by default.  Nested parameters, such as
        ``estimator__features``, work with the default too.
    search : str or search object, default="auto"
        ``"auto"``: forward and backward phases in turn, each until 20 steps bring next to nothing;
        tables of more than 5000 columns are cut to the best 1000 by mutual information first.
        ``"forward"``, ``"backward"`` (greedy, to the end), ``"forward-backward"``,
        ``"backward-forward"`` (whole phases in turn, Rabenoro 2015), ``"sffs"``, ``"sbfs"``
        (Pudil's floating searches), ``"ranked"`` (walks a ranking), ``"dependency"`` (FBL, Cortizo
        and Giraldez), ``"exhaustive"`` (all subsets of the sizes asked for, up to 2^20),
        ``"diversified"`` (DGBFS), ``"random"`` (Ruta 2014), or an object from `bayesieve.search`:
        ``RankedSearch("mrmr")``.
    criterion : str or Criterion, default="auto"
        ``"auto"``: ``"probability"``; of a `FeatureVotes` ``"auc"``.  ``"error"``,
        ``"probability"`` (mean of P(Y != y), as the model estimates it), ``"log-likelihood"``,
        ``"auc"`` (two classes or labels, averaged over labels) or ``"penalised-auc"`` (less a price
        for features beyond 30, Ruta 2014).
    cv : str, int, splitter or iterable, default="auto"
        What the criterion is computed on, within the guiding rows: ``"auto"`` (10 folds, shuffled
        with a fixed seed; leave-one-out where a class has fewer than 15 rows), ``"train"`` (the
        rows the tables come from), ``"loo"`` (exact leave-one-out), a number of folds, a splitter,
        or an iterable of (train, test) row numbers (or masks), in which a row counts as often as it
        stands, in training and in test.
    validation : float, None, splitter, or mask or list of rows, default="auto"
        ``"auto"``: None.  Share of the rows of each class (of each combination of labels) kept to
        choose the subset: lowest error (with AUC criteria, best score), then fewest features, then
        first visited.  None: all rows guide, and the best guiding score chooses.  A splitter: the
        last of its splits, whose training rows guide.  Rows of X by mask or number: the others
        guide.
    n_features : int, optional
        Choose exactly so many columns; steps that would put this number out of reach of the groups
        are not taken.
    max_features, min_features : int, optional
        Bounds on the number of columns chosen (default 1 to all; where there are more columns than
        rows, at most one for ten rows, but 10).  Forward searches stop at the upper bound; backward
        searches run on.
    feature_groups : list of lists, optional
        Columns (names or positions) that enter and leave together.
    keep : list, default=()
        Columns (names or positions) that stay in.
    class_weight : None, "balanced" or mapping, default=None
        Weight of each class in the counts and the criteria; ``"balanced"`` turns the error into the
        balanced error.
    random_state : int, RandomState or None, default=0
        Draws the validation part, and seeds searches that draw.  None draws anew in every fit, and
        takes the seeds of `nested`, `stability` and `compare`.
    n_jobs : int, optional
        Threads for the kernels; -1 for all cores.  The result does not depend on it.
    progress : bool, default=False
        Show a line on standard error while the search runs, and what a long one will cost.
    choice : {"auto", "best", "one-se", "proven"}, default="auto"
        ``"auto"``: ``"proven"``, where no part of the rows validates and `n_features` is not given;
        else ``"best"``.  Which subset on the path is chosen: the best by the score that chooses, or
        the smallest whose score is within one standard error of that (Breiman et al. 1984).  The
        standard error is that of the best subset's score on the rows that choose: binomial for the
        error, DeLong's for AUC, from the rows' values for the others. ``"proven"``: the smallest
        subset that is not told apart from the best, by one standard error of the difference between
        the two on the same rows, or by what luck brings where columns that say nothing alone were
        chosen among many; and the smallest allowed, unless the search finds more than
        chance: its first step is better than the luckiest of as many columns of noise would be, or
        whole searches of two thirds of the rows are better than no column at all on the other
        third, by two standard errors.
    checkpoint : str or path, optional
        A file in which the search writes down how far it came, about once a second.  If it is
        there, the search goes on from it, and ends as if it had never been stopped (exhaustive
        search goes on within 1024 subsets of where it was).  A file that is damaged, of another
        search, other data or another version of bayesieve is refused and left as it is.
    time_limit : float, optional
        Seconds from the beginning of `fit`, reading and rankings included.  The search stops after
        the step in which they have passed, with a `ConvergenceWarning`, and the best subset visited
        by then is chosen.  Ctrl-C does the same.  Where the pace of the first steps shows that the
        search cannot end by then, a `ConvergenceWarning` says so at once.
    forbid : list, default=()
        Columns (names or positions) that are never chosen.
    reweigh : bool or "auto", default="auto"
        ``"auto"``: where every column is a table of counts (numbers on a grid are) and y holds
        classes.  Give the columns chosen a weight for every class, whole sixteenths from 0 to 1, as
        `WeightedNaiveBayes` does; fitted on all rows.  Columns and path stay what they are.
    families : None, "auto", Families or list of lists, default=None
        Columns that say nearly the same, of which the first alone may be chosen: found by
        `find_families` among all rows given to `fit`, without a look at the classes; or given.
        Columns in `keep` lead, those in `forbid` never do; those of `feature_groups` stand for
        themselves.
    preset : {"few", "balanced", "accurate"}, optional
        Fills what is "auto": at most 10 columns, of families one at most; the same as without a
        preset; the best subset, however large.
    engine : {"threads", "dask", "gpu"}, DaskEngine or GpuEngine, optional
        Who keeps the rows: this process, workers of a Dask cluster (for a Dask collection, by
        default those of the current client), or a GPU; the subset is the same.
    start : list, optional
        Columns from which the search goes on, in place of none (forward) or all (backward); greedy,
        floating and phase searches can.  "auto" then chooses by ``"one-se"``.

    Attributes
    ----------
    selected_ : ndarray of int
        Columns chosen, in the order the search ranks them: as they were added; for backward
        phases, the last to be dropped first.
    terms_ : ModelTerms
        The columns chosen as terms, in the same order, as `WeightedNaiveBayes` has them: ``name``,
        ``columns`` (one), ``weights`` (by class; 1 without `reweigh`), ``table`` (log-ratios before
        weights; None of a density), ``rows`` (training rows of each class behind each line of it)
        and more; with labels, lists of these.
    support_ : ndarray of bool
        Mask of the columns chosen.
    path_ : Path
        Every subset visited.
    estimator_ : NaiveBayes or FeatureVotes
        The model on the columns chosen (in the table's order), fitted on all rows.
    classes_ : ndarray
        The classes; with labels, a list of such arrays.
    guiding_rows_, validation_rows_ : ndarray of int
        The two parts of the rows.
    settings_ : dict
        What was done, by the names of parameters that may be "auto".
    proof_ : Proof or None
        What shows that the search found more than chance, where ``choice="proven"``.
    n_tried_ : int
        Number of subsets whose score the search asked for.
    families_ : Families or None
        Which column stands for which.
    n_features_in_, feature_names_in_ :
        Width and names of X.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from bayesieve import NaiveBayesSelector
    >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    >>> selector = NaiveBayesSelector().fit(X, y)
    >>> selector.transform(X).shape[1] == len(selector.selected_) < 10
    True
    >>> selector.settings_["cv"], selector.settings_["choice"], selector.proof_.holds
    (StratifiedKFold(n_splits=10, random_state=0, shuffle=True), 'proven', True)
    >>> round(selector.score(X, y), 1)
    1.0
    """

    # `sample_weight` and `groups` are passed by name through `fit`'s keyword parameters.
    __metadata_request__fit: ClassVar = {"sample_weight": None, "groups": None}

    def __init__(  # noqa: PLR0913
        self,
        estimator: NaiveBayes | None = None,
        search: object = "auto",
        criterion: str | Criterion = "auto",
        cv: object = "auto",
        validation: object = "auto",
        n_features: int | None = None,
        max_features: int | None = None,
        min_features: int = 1,
        feature_groups: Sequence[Sequence[str | int]] | None = None,
        keep: Iterable[str | int] = (),
        class_weight: object = None,
        random_state: object = 0,
        n_jobs: int | None = None,
        progress: bool = False,
        choice: str = "auto",
        checkpoint: str | PathLike[str] | None = None,
        time_limit: float | None = None,
        forbid: Iterable[str | int] = (),
        reweigh: bool | str = "auto",
        families: object = None,
        preset: str | None = None,
        engine: object = None,
        start: Iterable[str | int] | None = None,
    ):
        self.estimator = estimator
        self.search = search
        self.criterion = criterion
        self.cv = cv
        self.validation = validation
        self.n_features = n_features
        self.max_features = max_features
        self.min_features = min_features
        self.feature_groups = feature_groups
        self.keep = keep
        self.class_weight = class_weight
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.progress = progress
        self.choice = choice
        self.checkpoint = checkpoint
        self.time_limit = time_limit
        self.forbid = forbid
        self.reweigh = reweigh
        self.families = families
        self.preset = preset
        self.engine = engine
        self.start = start

    def __procedure__(self) -> Procedure:
        """Describe this way to choose columns; asked by `procedure_of`."""
        return SubsetSearch(self)

    @property
    def terms_(self) -> "ModelTerms":
        """Columns chosen as terms, in the order in which the search ranks them."""
        from ..explain.terms import ModelTerms, Spoken, Term

        check_is_fitted(self, "path_")
        model = self.estimator_
        fitted = model.fitted_ if isinstance(model, NaiveBayes) else None
        problems = () if fitted is None else fitted.problems
        weights = [_column_weights(problem) for problem in problems]
        spoken, place = (
            Spoken(fitted, isinstance(self.classes_, list)),
            np.cumsum(self.support_) - 1,
        )
        found = []
        for j in self.selected_.tolist():
            at = int(place[j])
            parts: dict[str, Parts] = {
                "weights": [each[at] for each in weights],
                "table": partial(_column_tables, problems, at, getattr(model, "smoothing", 0.0)),
                "rows": partial(_column_rows, problems, at),
                "correction": [None] * len(problems),
            }
            name, every = self.path_.name_of(j), tuple(range(len(problems)))
            found.append(Term(name, (j,), parts, spoken, every, (at,)))
        return ModelTerms(found, type(self).__name__)

    # -- fitting -------------------------------------------------------------------------------

    @with_callbacks
    def fit(self, X: object, y: object, **params: object) -> "NaiveBayesSelector":
        """Search subsets, choose one, and fit its model on all rows.

        Parameters
        ----------
        X : array-like, data frame, sparse matrix or packed table of shape (n_samples, n_features)
            Numbers, booleans, text or categories; missing values are allowed.
            `bayesieve.engine.pack` reads tables from files that are larger than memory.  Sparse
            matrices are not made dense (but by the search ``"dependency"``, and by rankings of
            weighted rows).
        y : array-like of shape (n_samples,), or 0/1 matrix of shape (n_samples, n_labels)
            Classes, or labels.
        **params :
            ``sample_weight``: how often each row is repeated, whole numbers; a row and its repeats
            stay in one part.  ``groups``: rows of one series, patient or machine, one value a row:
            no group is both among the rows that guide and among those that choose, nor on both
            sides of a fold of `cv`; handed to splitters.  Standard errors, the proof and the
            weights of columns are by groups.

        Returns
        -------
        self : NaiveBayesSelector
        """
        unknown = set(params) - {"sample_weight", "groups"}
        if unknown:
            raise TypeError(f"fit allows sample_weight and groups; got {sorted(unknown)}.")
        clock = Clock(self.time_limit)
        judge_parameters(settle(self) if asks_for_auto(self) else self)
        model = clone(NaiveBayes() if self.estimator is None else self.estimator)
        if isinstance(X, CachedRows):
            keep_names(model, X.X, reset=True)
            return self._fit(clock, model, X.sample, X.X, X.params, X)
        if is_collection(X) or not (self.engine in (None, "threads") or gpu_of(self.engine)):
            with gathered(self, model, X, y, params) as given:
                return self._fit(clock, model, *given)
        sample = read_sample(model, X, y, params.get("sample_weight"), whole=True)
        return self._fit(clock, model, sample, X, params)

    def _fit(
        self,
        clock: Clock,
        model: NaiveBayes,
        sample: Sample,
        X: object,
        params: dict[str, object],
        held: CachedRows | None = None,
    ) -> "NaiveBayesSelector":
        groups = read_groups_of_rows(params.get("groups"), _num_samples(X))
        asked = self
        if asks_for_auto(self):
            asked = settle(self, sample, None if groups is None else groups[sample.rows])
        search, criterion = judge_parameters(asked)
        walks_all = not isinstance(self.search, str) or self.search != "auto"
        task = judge_data(asked, criterion, sample, X, groups, walks_all)
        sample = task.sample
        if asked.reweigh:
            check_tables(task.models, sample.table.names)
        draw = check_random_state(self.random_state)
        if task.groups is None and is_share(asked.validation):
            guiding, validating = split_rows(sample.strata, asked.validation, draw)
        else:
            named = asked.validation, sample, task.groups, task.n_rows
            guiding, validating = find_parts(*named, draw)
        task = task if asked is self else suit_folds(self, asked, task, guiding)
        held_to = None if clock.limit is None else clock.check
        with Threads(count_threads(self.n_jobs), gpu_of(self.engine), held_to) as threads:
            searching = Searching(asked, task, search, criterion, threads, clock, held)
            search = searching.informed(guiding, draw)
            ledgers = searching.ledgers(guiding, validating, search)
            threads.late = None  # what is found from now on is better late than lost
            journal = None
            if self.checkpoint is not None:
                decides = task, model, search, criterion, ledgers.scored, (guiding, validating)
                file = check_file("checkpoint", self.checkpoint)
                journal = open_journal(file, search_fingerprints(*decides))
            line = ProgressLine(None, search, task.limits) if self.progress else None
            with (
                Run(clock, journal, line) as run,
                self.watching(held, search, task.limits) as watch,
            ):
                found = searching.run(ledgers, guiding, search, run, watch)
            path = found.path
            proof = None
            if asked.choice == "proven":
                with suppress(ProofEndedError):
                    rest = task, guiding, searching.explore, searching.gains(guiding)
                    proof = prove(path, found.guide, *rest)
                if proof is not None and not proof.holds:
                    path.choose_smallest(*task.sizes)
            selected = np.array(path.subset(path.chosen), dtype=np.int64)
            columns = np.sort(selected)
            if asked.reweigh and selected.size:
                factors = task.float_factors(np.arange(sample.labels.size))
                order = selected.tolist()
                given = sample, task.models, order, task.family, factors, threads
                model.hold(reweigh(*given, task.mates))
            else:
                model.hold(task.family.restrict(ledgers.fitted, columns.tolist(), sample))
        restrict_names(model, columns)

        # Nothing is set before everything has worked: an interrupted fit leaves the old state.
        for name in ("feature_names_in_", "calibration_", "decision_"):
            self.__dict__.pop(name, None)
        keep_names(self, X, reset=True)
        self.classes_ = model.classes_
        self.selected_ = selected
        self.support_ = np.isin(np.arange(len(task.models)), selected)
        self.families_ = task.families
        path.n_rows = (task.n_groups(guiding), task.n_groups(validating))
        self.path_ = path
        self.estimator_ = model
        self.guiding_rows_ = sample.rows[guiding]
        self.validation_rows_ = sample.rows[validating]
        self.n_tried_ = found.n_tried
        self.settings_ = {name: getattr(asked, name) for name in SETTINGS}
        self.proof_ = proof
        return self


def _column_weights(problem: FittedProblem) -> NDArray[np.float64]:
    """Weights of all columns of a model, columns x classes: 1 where none were fitted."""
    if problem.weighting is None:
        return np.ones((len(problem.columns), len(problem.classes)))
    return problem.weighting.weights / WEIGHT_STEPS


def _column_tables(
    problems: Sequence[FittedProblem], j: int, smoothing: float | str
) -> list[NDArray[np.float64] | None]:
    """Log-ratios of a column, values x classes, of each problem; None where there is no table."""
    found: list[NDArray[np.float64] | None] = []
    for problem in problems:
        if MODELS[problem.specs[j].model].discrete:
            (ratios,) = column_ratios(problem.summary.restrict([j]), smoothing)
            found.append(np.ldexp(ratios.table[:-1].astype(float), -TERM_BITS))
        else:
            found.append(None)
    return found


def _column_rows(problems: Sequence[FittedProblem], j: int) -> list[NDArray[np.float64] | None]:
    """Training rows behind every line of a column's table, of each problem."""
    return [term_rows(problem, [j]) for problem in problems]


class SubsetSearch(Procedure):
    """A search of subsets, guided by a criterion."""

    def validate(self) -> Criterion:
        """Validate all parameters that need no data; the criterion that guides."""
        return judge_parameters(settle(self.model))[1]

    def base_model(self) -> Any:
        """An unfitted model of all columns."""
        family_of(self.model)  # refuses what is no model
        found = self.model.estimator
        return NaiveBayes() if found is None else clone(found)

    def chooser(self, criterion: Criterion) -> Criterion:
        """The criterion that chooses on the path."""
        return chooser_of(self.model, criterion)

    @property
    def row_parts(self) -> tuple[Rows, Rows]:
        """Rows that guided, and rows that chose (none where all guided)."""
        return self.model.guiding_rows_, self.model.validation_rows_

    def figures(self) -> GuidingFigures:
        """Figures of the subset chosen."""
        path = self.model.path_
        step = path.steps[path.chosen]
        return GuidingFigures(step.score, step.validation_error, path.validation_name)

    def summary(self) -> dict[str, object]:
        """Figures of the choice as plain data."""
        model, found = self.model, self.figures()
        return {
            "criterion": model.path_.criterion,
            "score": found.score,
            found.validation_name: found.validation_error,
            "subsets_tried": model.n_tried_,
            "proof": None if model.proof_ is None else str(model.proof_),
        }

    def settings(self) -> list[tuple[str, object]]:
        """Decisions of the fit, each by the name under which people read it."""
        model, asked = self.model, self.model.settings_
        found: list[tuple[str, object]] = [
            ("search", asked["search"]),
            ("guided by", model.path_.criterion),
            ("scored on", asked["cv"]),
            ("choice", asked["choice"]),
            ("search rows", model.guiding_rows_.size),
            ("choice rows", model.validation_rows_.size),
            ("subsets tried", model.n_tried_),
        ]
        if model.proof_ is not None:
            found.append(("more than chance?", str(model.proof_)))
        return found


@dataclass(frozen=True)
class Searching:
    """All that a search needs but the rows.

    Parameters
    ----------
    asked : the selector, nothing in which is "auto".
    task, search, criterion : its judged input.
    threads, clock : who works, and how long.
    held : rows that stay in memory between searches, or None.
    """

    asked: "NaiveBayesSelector"
    task: Task
    search: Search
    criterion: Criterion
    threads: Threads
    clock: Clock
    held: CachedRows | None = None

    def informed(self, guiding: Rows, draw: np.random.RandomState) -> Search:
        """The search with what it asks of the guiding rows."""
        task = self.task
        search = self.search if task.start is None else StartedSearch(self.search, task.start)
        if search.takes_hints:
            search = search.given(self._hints(guiding, draw))
        return self._vouched(search, guiding)

    def _hints(self, guiding: Rows, draw: np.random.RandomState) -> RowHints:
        """What a search may ask of the guiding rows."""
        task = self.task
        return RowHints(
            task.table,
            task.models,
            task.sample.labels,
            task.row_weights(guiding),
            guiding,
            task.units,
            int(draw.randint(2**31 - 1)),
            task.limits.most,
            self.threads,
            task.families,
        )

    def _vouched(self, search: Search, guiding: Rows) -> Search:
        """Of rows in groups, the search among the columns that groups left out vouch for.

        What whole groups share by chance looks like a discovery to every score of rows, so that a
        path of such columns has no honest subset to choose.  Where no column is vouched for, all
        are searched, and the proof has the last word.
        """
        gains = self.gains(guiding) if self.asked.choice == "proven" else None
        inner = search.search if isinstance(search, AmongUnits) else search
        if gains is None or getattr(inner, "first", None) != FORWARD:
            return search
        units = range(len(self.task.units)) if search.among is None else search.among
        found = frozenset(vouched_units(self.task, sorted(units), gains))
        n_columns = sum(len(self.task.units[unit]) for unit in found.union(self.task.keep))
        if not found or n_columns < self.task.sizes[0]:
            return search
        return AmongUnits(inner, found)

    def ledgers(self, guiding: Rows, validating: Rows, search: Search) -> Ledgers:
        """Ledgers of the rows, and the model of all of them."""
        make = sparse_ledgers if self.task.sparse else dense_ledgers
        if isinstance(self.task.table, RemoteTable):
            make = dealt_ledgers if self.task.sparse else remote_ledgers
        if self.held is not None:
            return self.held.ledgers(make, self.task, guiding, validating, self.threads)
        return make(self.task.seen_by(search), guiding, validating, self.threads)

    def run(
        self,
        ledgers: Ledgers,
        guiding: Rows,
        search: Search,
        run: Run,
        watch: Watch | None = None,
    ) -> Found:
        """Drive the search to its end, and choose."""
        task, criterion = self.task, self.criterion
        path = Path(
            tuple(map(tuple, task.units)),
            task.table.names,
            criterion.name,
            "validation_score" if criterion.chooses else "validation_error",
        )
        units = Units(path.members)
        guide = SubsetScorer(ledgers.guide, criterion, units, task.mates)
        judge = None
        if self.asked.validation is not None and ledgers.judge is not None:
            chooser = chooser_of(self.asked, criterion)
            judge = SubsetScorer(ledgers.judge, chooser, units, task.mates)
        objective = Objective(run.verdicts(guide), units, task.keep)
        told = None if judge is None else run.verdicts(judge)
        objective.listeners.append(Recorder(path, told))
        stop = never if watch is None else watch(objective)
        run.search(search, task.limits, objective, path, task.sizes, stop)
        who, choice = judge or guide, self.asked.choice
        margin = who.standard_error if choice == "one-se" else None
        paired: Paired | None = who.paired_error if choice == "proven" else None
        if paired is not None and task.mates is not None:
            paired = among_groups(paired, task.n_groups(guiding))
        if paired is not None and judge is None:
            paired = with_luck(paired, silent_columns(task, guiding, self.threads))
        path.choose(*task.sizes, margin, paired)
        return Found(path, guide, objective.n_tried)

    def gains(self, guiding: Rows) -> Gains | None:
        """What columns gain alone on groups left out, where all have tables of counts."""
        task, pseudo = self.task, self.task.family.smoothing
        discrete = all(MODELS[model].discrete for model in task.models)
        if task.mates is None or not discrete or isinstance(pseudo, str) or not pseudo:
            return None

        def found(columns: list[int]) -> NDArray[np.float64]:
            factors = task.float_factors(np.arange(task.sample.labels.size))
            given = task.sample, task.models, columns, task.family, factors, self.threads
            weighing = weighing_of(*given, task.mates, guiding)
            return weighing.greedy(0.0).gains(np.arange(len(columns)))

        return found

    def explore(self, train: Rows, test: Rows) -> tuple[Path, SubsetScorer]:
        """The whole search on some rows; verdicts of its criterion on others."""
        mine = replace(self, task=replace(self.task, cv=folds_of_fewer(self.task, train)))
        search = mine.informed(train, np.random.RandomState(0))
        ledgers = mine.ledgers(train, test, search)
        watch = None if self.held is None else self.held.halted
        hidden = ledgers._replace(judge=None)  # who judges a search must not choose on its path
        found = mine.run(hidden, train, search, Run(self.clock), watch)
        assert ledgers.judge is not None
        units = Units(found.path.members)
        return found.path, SubsetScorer(ledgers.judge, self.criterion, units, self.task.mates)
