"""How stable a selection is: the same search on many bootstrap samples of the rows."""

from collections.abc import Mapping

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import ArrayLike, NDArray
from sklearn.pipeline import Pipeline
from sklearn.utils import check_random_state

from ..checks import check_jobs, check_number
from ..data.sample import Sample
from ..data.tables import Table
from ..engine.threads import count_threads
from ..estimators.auto import settle, settle_weighted
from ..estimators.families import read_families
from ..estimators.parameters import judge_parameters
from ..estimators.selector import NaiveBayesSelector
from ..estimators.weighted import WeightedNaiveBayes
from ..estimators.weighting import judge_parameters as judge_weights
from ..models.shared import share
from ..rankings.families import Families
from .agreement import Stability
from .given import Seed
from .piped import Refits, copy_for, family_for, joined_names
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
    selector : NaiveBayesSelector or WeightedNaiveBayes, or a Pipeline that ends in one
        Its settings; it is neither changed nor fitted.  All steps of a pipeline learn from the rows
        of each sample alone.
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
    check_number("n_resamples", n_resamples, low=2, whole=True)
    check_jobs(n_jobs)
    hint = " For selections made elsewhere use Stability(selected) or nogueira(selected)."
    refits = Refits(selector, X, y, sample_weight, groups, hint)
    last = refits.last
    if isinstance(last, NaiveBayesSelector):
        judge_parameters(settle(last))
    else:
        judge_weights(settle_weighted(last))
    family, read = family_for(last), refits.read
    repeats = read.weights.astype(np.int64)
    draw = check_random_state(random_state)
    by_class = isinstance(last.class_weight, Mapping) or np.ndim(family.priors) == 1
    least = len(read.classes) if by_class and not read.targets.labelled else 2
    mates = None if refits.groups is None else refits.groups[read.rows]
    samples = draw_samples(repeats, read.labels, int(n_resamples), least, draw, mates)
    seeds = draw.randint(2**31 - 1, size=int(n_resamples))
    target = read.targets.classes if read.targets.labelled else read.classes[read.labels]
    n_threads = count_threads(n_jobs)

    def families_of(table: Table) -> Families:
        given = "auto" if last.families is None else last.families
        return read_families(given, table, [[j] for j in range(len(table.names))])[0]

    def coded(sample: Sample) -> Table:
        models = family.choose_models(sample.table)
        return share(sample.table, models, family.rounded, sample.repeats)

    # Found once, among all rows, so that a family is the same in every sample.
    whole = refits.on(np.repeat(read.rows, repeats))
    families = families_of(whole.table)
    table_of_all = coded(whole) if whole is read else None

    def search(at: int) -> tuple[list[str], NDArray[np.bool_]]:
        sample = refits.on(np.repeat(read.rows, samples[at]))
        mine = copy_for(last, read.rows, refits.n_rows, seeds[at], alone=n_threads == 1)
        if mine.families is not None:
            mine.set_params(families=families if sample is read else families_of(sample.table))
        table = coded(sample) if table_of_all is None else table_of_all
        mine.fit(table, target, sample_weight=samples[at], groups=mates)
        return sample.table.names, mine.support_

    # Threads: the kernels release the interpreter's lock, and the table is shared.
    found = Parallel(n_threads, prefer="threads")(delayed(search)(i) for i in range(n_resamples))
    names = joined_names(known for known, _ in found)
    at = {name: j for j, name in enumerate(names)}
    selected = np.zeros((int(n_resamples), len(names)), bool)
    for i, (known, support) in enumerate(found):
        selected[i, [at[known[j]] for j in np.flatnonzero(support)]] = True
    return Stability(selected, names, _among(families, at))


def _among(families: Families, at: dict[str, int]) -> Families:
    """Families of the columns that some sample had; others stand for themselves."""
    leads = dict(zip(families.names, (families.names[j] for j in families.leader), strict=True))
    # Where no sample had the leader, the first of the family that some had.
    first = dict(at)
    leader = [first.setdefault(leads.get(name, name), j) for name, j in at.items()]
    return Families(tuple(at), np.array(leader, np.int64))
