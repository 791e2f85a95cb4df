"""`WeightedNaiveBayes`: few terms, each with a weight for every class."""

import warnings
from collections.abc import Iterable, Mapping, Sequence
from copy import copy
from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils.validation import _num_samples, check_is_fitted

from ..checks import check_number
from ..data.parts import read_groups_of_rows
from ..data.sample import Sample, read_sample
from ..data.tables import is_collection, keep_names
from ..engine.threads import Threads, count_threads
from ..models.fitted import FittedBayes
from ..models.weighted import TERM_BITS, WEIGHT_STEPS
from ..rankings.families import Families
from ..search.run import Clock
from ..search.weight_path import WeightPath
from ..search.weights import WeightStep
from .auto import settle_weighted
from .chosen import ChosenColumns
from .far import gathered_weights
from .gpu import check_gpu_table
from .naive_bayes import AnyTable, NaiveBayes, restrict_names
from .parameters import gpu_of
from .weighting import WeightedFit, judge_parameters, judge_weighted, run_weighted


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
        self._column_names = list(sample.table.names)
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
        self._column_names = list(names)
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
                term: " x ".join(self._column_names[j] for j in each.book.columns_of(term))
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
