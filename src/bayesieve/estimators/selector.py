"""`NaiveBayesSelector`: the scikit-learn face of a search."""

from collections.abc import Iterable, Sequence
from os import PathLike
from typing import ClassVar

import numpy as np
from sklearn.base import BaseEstimator, MetaEstimatorMixin, clone
from sklearn.utils import check_random_state

from ..checks import check_file
from ..criteria.base import Criterion
from ..data.sample import read_sample, split_rows
from ..data.tables import keep_names
from ..engine.contract import Units
from ..engine.threads import Threads, count_threads
from ..search.checkpoint.opening import open_journal
from ..search.hints import RowHints
from ..search.objective import Objective, Settler
from ..search.path import Path, Recorder
from ..search.progress import ProgressLine
from ..search.run import Clock, Driver, Ledgers, Task, dense_ledgers
from ..search.sparse import sparse_ledgers
from ..search.strategies.base import Search
from .callbacks import SUPPORTED, Callbacks, CallbackSupport, with_callbacks
from .chosen import ChosenColumns
from .defaults import DefaultEstimator
from .naive_bayes import AnyTable, NaiveBayes, restrict_names
from .parameters import chooser_of, judge_data, judge_parameters
from .weighting import check_tables, reweigh


class NaiveBayesSelector(
    DefaultEstimator,
    CallbackSupport,
    ChosenColumns,
    AnyTable,
    MetaEstimatorMixin,
    BaseEstimator,
):
    """Choose the features that make a naive Bayes model accurate and readable.

    A search adds and removes features; a criterion, computed exactly and without refitting, guides
    it; a validation part that never guides chooses among the subsets visited.

    Parameters
    ----------
    estimator : NaiveBayes or FeatureVotes, optional
        The model and its settings; ``NaiveBayes()`` by default.  Nested parameters, such as
        ``estimator__features``, work with the default too.
    search : str or search object, default="backward-forward"
        ``"forward"``, ``"backward"`` (greedy, to the end), ``"forward-backward"``,
        ``"backward-forward"`` (whole phases in turn, Rabenoro 2015), ``"sffs"``, ``"sbfs"``
        (Pudil's floating searches), ``"ranked"`` (walks a ranking), ``"dependency"`` (FBL, Cortizo
        and Giraldez), ``"exhaustive"`` (all subsets, up to 2^20), ``"diversified"`` (DGBFS) and
        ``"random"`` (Ruta 2014), or an object from
        `bayesieve.search` with its own parameters, such as ``RankedSearch("mrmr")``.
    criterion : str or Criterion, default="probability"
        ``"error"``, ``"probability"`` (mean of P(Y != y), as the model estimates it),
        ``"log-likelihood"``, ``"auc"`` (two classes or labels, averaged over labels) or
        ``"penalised-auc"`` (less a price for features beyond 30, Ruta 2014).
    cv : str, int, splitter or iterable, default="train"
        What the criterion is computed on, within the guiding rows: ``"train"`` (the rows the tables
        come from), ``"loo"`` (exact leave-one-out), a number of folds, a scikit-learn splitter, or
        an iterable of (train, test) row numbers (or masks), in which a row counts as often as it
        stands, in training and in test.
    validation : float or None, default=0.5
        Share of the rows of each class (of each combination of labels) kept to choose the subset:
        lowest error (with AUC criteria, best score), then fewest features, then first visited.
        None: all rows guide, and the best guiding score chooses.
    n_features : int, optional
        Choose exactly so many columns; steps that would put this number out of reach of the groups
        are not taken.
    max_features, min_features : int, optional
        Bounds on the number of columns chosen (default 1 to all).  Forward searches stop at the
        upper bound; backward searches run on.
    feature_groups : list of lists, optional
        Columns (names or positions) that enter and leave together.
    keep : list, default=()
        Columns (names or positions) that stay in.
    class_weight : None, "balanced" or mapping, default=None
        Weight of each class in the counts and the criteria; ``"balanced"`` turns the error into the
        balanced error.
    random_state : int, RandomState or None
        Draws the validation part, and seeds searches that draw.
    n_jobs : int, optional
        Threads for the kernels; -1 for all cores.  The result does not depend on it.
    progress : bool, default=False
        Show a line on standard error while the search runs: rewritten on a terminal, a log line
        every five seconds elsewhere; and first, where it takes long, what it will cost.
    choice : {"best", "one-se"}, default="best"
        Which subset on the path is chosen: the best by the score that chooses, or the smallest
        whose score is within one standard error of that (Breiman et al. 1984).  The standard error
        is that of the best subset's score on the rows that choose: binomial for the error, DeLong's
        for AUC, from the rows' values for the others.
    checkpoint : str or path, optional
        A file in which the search writes down how far it came, about once a second.  If the file is
        there, the search goes on from it, and ends as if it had never been stopped (exhaustive
        search goes on within 1024 subsets of where it was).  A file that is cut short or damaged,
        of another search, other data or another version of bayesieve is refused and left as it is.
    time_limit : float, optional
        Seconds from the beginning of `fit`, with all that it does before the search: reading,
        rankings, lists of dependent pairs.  The search stops after the step in which they have
        passed, with a `ConvergenceWarning`, and the best subset visited by then is chosen.  Ctrl-C
        does the same.  Where the pace of the first steps shows that the search cannot end by then,
        a `ConvergenceWarning` says so at once.
    forbid : list, default=()
        Columns (names or positions) that are never chosen.
    reweigh : bool, default=False
        Give the columns chosen a weight for every class, whole sixteenths from 0 to 1, as
        `WeightedNaiveBayes` does; fitted on all rows.  Columns and path stay what they are.

    Attributes
    ----------
    selected_ : ndarray of int
        Columns chosen, in the order the search ranks them: as they were added; for backward
        phases, the last to be dropped first.
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
    n_tried_ : int
        Number of subsets whose score the search asked for.
    n_features_in_, feature_names_in_ :
        Width and names of X.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from bayesieve import NaiveBayesSelector
    >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    >>> selector = NaiveBayesSelector(cv=5, random_state=0).fit(X, y)
    >>> selector.transform(X).shape[1] == len(selector.selected_) < 30
    True
    >>> round(selector.score(X, y), 1)
    1.0
    """

    # `sample_weight` and `groups` are passed by name through `fit`'s keyword parameters.
    __metadata_request__fit: ClassVar = {"sample_weight": None, "groups": None}

    def __init__(  # noqa: PLR0913
        self,
        estimator: NaiveBayes | None = None,
        search: object = "backward-forward",
        criterion: str | Criterion = "probability",
        cv: object = "train",
        validation: float | None = 0.5,
        n_features: int | None = None,
        max_features: int | None = None,
        min_features: int = 1,
        feature_groups: Sequence[Sequence[str | int]] | None = None,
        keep: Iterable[str | int] = (),
        class_weight: object = None,
        random_state: object = None,
        n_jobs: int | None = None,
        progress: bool = False,
        choice: str = "best",
        checkpoint: str | PathLike[str] | None = None,
        time_limit: float | None = None,
        forbid: Iterable[str | int] = (),
        reweigh: bool = False,
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

    # -- fitting -------------------------------------------------------------------------------

    @with_callbacks
    def fit(self, X: object, y: object, **params: object) -> "NaiveBayesSelector":
        """Search, choose, and fit the chosen model on all rows.

        Parameters
        ----------
        X : array-like, data frame, sparse matrix or packed table of shape (n_samples, n_features)
            Numbers, booleans, text or categories; missing values are allowed.  `bayesieve.pack`
            reads tables from files that are larger than memory.  Sparse matrices are
            not made dense (but by the search ``"dependency"``, and by rankings of weighted rows).
        y : array-like of shape (n_samples,), or 0/1 matrix of shape (n_samples, n_labels)
            Classes, or labels.
        **params :
            ``sample_weight``: how often each row is repeated, whole numbers; a row and its repeats
            stay in one part.  ``groups``: handed to the splitter given as `cv`.

        Returns
        -------
        self : NaiveBayesSelector
        """
        unknown = set(params) - {"sample_weight", "groups"}
        if unknown:
            raise TypeError(f"fit allows sample_weight and groups; got {sorted(unknown)}.")
        clock = Clock(self.time_limit)
        search, criterion = judge_parameters(self)
        model = clone(NaiveBayes() if self.estimator is None else self.estimator)
        sample = read_sample(model, X, y, params.get("sample_weight"), whole=True)
        task = judge_data(self, criterion, sample, X, params)
        sample = task.sample
        if self.reweigh:
            check_tables(task.models, sample.table.names)
        draw = check_random_state(self.random_state)
        guiding, validating = split_rows(sample.strata, self.validation, draw)
        make = sparse_ledgers if task.sparse else dense_ledgers
        with Threads(count_threads(self.n_jobs)) as threads:
            if search.takes_hints:
                search = search.given(
                    RowHints(
                        task.table,
                        task.models,
                        sample.labels,
                        task.row_weights(guiding),
                        guiding,
                        task.units,
                        int(draw.randint(2**31 - 1)),
                        task.limits.most,
                        threads,
                    )
                )
            ledgers = make(task, guiding, validating, threads)
            path = Path(
                tuple(map(tuple, task.units)),
                task.table.names,
                criterion.name,
                "validation_score" if criterion.chooses else "validation_error",
            )
            journal = None
            if self.checkpoint is not None:
                journal = open_journal(
                    check_file("checkpoint", self.checkpoint),
                    task,
                    model,
                    search,
                    criterion,
                    ledgers.scored,
                    (guiding, validating),
                )
            with Driver(journal, clock) as driver:
                n_tried = self._run(ledgers, criterion, search, task, path, driver)
            selected = np.array(path.subset(path.chosen), dtype=np.int64)
            columns = np.sort(selected)
            if self.reweigh:
                factors = task.float_factors(np.arange(sample.labels.size))
                smoothing = task.family.smoothing
                order = selected.tolist()
                model.hold(reweigh(sample, task.models, order, smoothing, factors, threads))
            else:
                model.hold(task.family.restrict(ledgers.fitted, columns.tolist(), sample))
        restrict_names(model, columns)

        # Nothing is set before everything has worked: an interrupted fit leaves the old state.
        for name in ("feature_names_in_", "calibration_"):
            self.__dict__.pop(name, None)
        keep_names(self, X, reset=True)
        self.classes_ = model.classes_
        self.selected_ = selected
        self.support_ = np.isin(np.arange(len(task.models)), selected)
        self.path_ = path
        self.estimator_ = model
        self.guiding_rows_ = sample.rows[guiding]
        self.validation_rows_ = sample.rows[validating]
        self.n_tried_ = n_tried
        return self

    def _run(
        self,
        ledgers: Ledgers,
        criterion: Criterion,
        search: Search,
        task: Task,
        path: Path,
        driver: Driver,
    ) -> int:
        """Drive the search and choose; returns how many subsets it tried."""
        units = Units(path.members)
        guide = Settler(ledgers.guide, criterion, units)
        judge = None
        if ledgers.judge is not None:
            judge = Settler(ledgers.judge, chooser_of(self, criterion), units)
        objective = Objective(driver.verdicts(guide), units, task.keep)
        told = None if judge is None else driver.verdicts(judge)
        objective.listeners.append(Recorder(path, told))
        callbacks = None
        if SUPPORTED and getattr(self, "_skl_callbacks", None):
            callbacks = Callbacks(self, self._init_callback_context(max_subtasks=None))
            objective.listeners.append(callbacks)
        line = ProgressLine(None, search, task.limits) if self.progress else None
        if line is not None:
            objective.listeners.append(line)
            driver.say = line.say

        def stop() -> bool:
            if line is not None:
                line.tick(objective)
            return callbacks is not None and callbacks.stop

        try:
            driver.drive(search, task.limits, objective, path, task.sizes, stop)
        finally:
            if callbacks is not None:
                callbacks.close()
            if line is not None:
                line.close()
        margin = (judge or guide).standard_error if self.choice == "one-se" else None
        path.choose(*task.sizes, margin)
        return objective.n_tried
