"""How stable a selection is: the same search on many bootstrap samples of the rows."""

from collections.abc import Mapping

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, clone
from sklearn.pipeline import Pipeline
from sklearn.utils import check_random_state
from sklearn.utils.validation import _num_samples

from ..checks import check_jobs, check_number
from ..data.parts import read_groups_of_rows, validation_among
from ..data.sample import read_sample
from ..engine.threads import count_threads
from ..estimators.auto import settle, settle_weighted
from ..estimators.families import read_families
from ..estimators.naive_bayes import NaiveBayes
from ..estimators.parameters import family_of, judge_parameters
from ..estimators.selector import NaiveBayesSelector
from ..estimators.weighted import WeightedNaiveBayes
from ..estimators.weighting import judge_parameters as judge_weights
from ..models.shared import share
from .agreement import Stability
from .given import Seed
from .piped import Prepared, resampled
from .resampling import draw_samples


def stability(
    selector: NaiveBayesSelector | WeightedNaiveBayes | Pipeline,
    X: object,
    y: ArrayLike,
    *,
    n_resamples: int = 50,
    sample_weight: ArrayLike | None = None,
    groups: ArrayLike | None = None,
    random_state: Seed = None,
    n_jobs: int | None = None,
) -> Stability:
    """Repeat a selection on bootstrap samples of the rows, and say how far the results agree.

    A bootstrap sample is a row of whole weights: how often each row was drawn.  The columns are
    read, judged and encoded once; every sample counts the same codes with other weights.  Families
    of near-twins are found once among all rows, so that agreement is told over them too.

    Parameters
    ----------
    selector : NaiveBayesSelector or WeightedNaiveBayes
        Its settings; it is neither changed nor fitted.
    X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
    y : array-like of shape (n_samples,), or 0/1 matrix of shape (n_samples, n_labels)
        As for `NaiveBayesSelector.fit`.
    n_resamples : int, default=50
        Number of bootstrap samples, at least 2.
    sample_weight : array-like of shape (n_samples,), optional
        How often each row is repeated, whole numbers.  A sample has as many rows as the table with
        its repeats.
    groups : array-like of shape (n_samples,), optional
        What rows of one series, patient or machine share: whole groups are drawn, as many as there
        are, and no group is on both sides of the selector's split.
    random_state : int, RandomState or None
        Draws the samples; and the seed of each search, where the selector's `random_state` is None.
    n_jobs : int, optional
        Samples searched at the same time, in threads; -1 for all cores.  The result does not depend
        on it.  With more than one, each search runs in a single thread.

    Returns
    -------
    stability : Stability

    Notes
    -----
    A row that was not drawn takes no part, and a row drawn several times stays, with its repeats,
    in one part of the selector's split.  Feature models, levels and resolutions are those of all
    rows; but for them a sample is the selector's ``fit`` with these weights.  With ``cv="loo"`` the
    repeats of a row vouch for it, as in every leave-one-out of a bootstrap sample.  A sample with a
    single class is drawn again; so is one without some class, where `priors` or `class_weight` give
    a number for each.

    References
    ----------
    Nogueira, Sechidis and Brown (2018), On the stability of feature selection algorithms.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from bayesieve import NaiveBayesSelector, stability
    >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    >>> selector = NaiveBayesSelector(search="forward", max_features=5)
    >>> found = stability(selector, X, y, n_resamples=10, random_state=0)
    >>> found.selected.shape, found.feature_names[0]
    ((10, 30), 'mean radius')
    >>> 0 < found.measure < 1
    True
    """
    if isinstance(selector, Pipeline):
        piped = Prepared(selector, X, y, sample_weight, groups)
        return Stability(*resampled(piped, n_resamples, random_state))
    if not isinstance(selector, NaiveBayesSelector | WeightedNaiveBayes):
        raise TypeError(
            "selector must be a NaiveBayesSelector or a WeightedNaiveBayes; got "
            f"{type(selector).__name__}. For selections made elsewhere use Stability(selected) or "
            "nogueira(selected)."
        )
    check_number("n_resamples", n_resamples, low=2, whole=True)
    check_jobs(n_jobs)
    if isinstance(selector, NaiveBayesSelector):
        judge_parameters(settle(selector))
        family = family_of(selector)
    else:
        judge_weights(settle_weighted(selector))
        family = NaiveBayes(selector.features, selector.smoothing, selector.priors).family()
    read = read_sample(BaseEstimator(), X, y, sample_weight, whole=True)
    repeats = read.weights.astype(np.int64)
    table = share(read.table, family.choose_models(read.table), family.rounded, read.repeats)
    target = read.targets.classes if read.targets.labelled else read.classes[read.labels]
    # Found once, among all rows, so that a family is the same in every sample.
    given = "auto" if selector.families is None else selector.families
    alone = [[j] for j in range(len(table.names))]
    families, _ = read_families(given, read.table, alone)
    draw = check_random_state(random_state)
    by_class = isinstance(selector.class_weight, Mapping) or np.ndim(family.priors) == 1
    least = len(read.classes) if by_class and not read.targets.labelled else 2
    n_rows = _num_samples(X)
    given_groups = read_groups_of_rows(groups, n_rows)
    mates = None if given_groups is None else given_groups[read.rows]
    samples = draw_samples(repeats, read.labels, int(n_resamples), least, draw, mates)
    part = validation_among(selector.validation, read.rows, n_rows)
    seeds = draw.randint(2**31 - 1, size=int(n_resamples))
    n_threads = count_threads(n_jobs)

    def search(at: int) -> NDArray[np.bool_]:
        mine = clone(selector).set_params(progress=False, checkpoint=None, validation=part)
        if mine.families is not None:
            mine.set_params(families=families)
        if mine.random_state is None:
            mine.set_params(random_state=int(seeds[at]))
        if n_threads > 1:
            mine.set_params(n_jobs=1)
        return mine.fit(table, target, sample_weight=samples[at], groups=mates).support_

    # Threads: the kernels release the interpreter's lock, and the table is shared.
    rows = Parallel(n_threads, prefer="threads")(delayed(search)(i) for i in range(n_resamples))
    return Stability(np.array(rows), read.table.names, families)
