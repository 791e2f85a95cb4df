"""`stability`: how much the choice of columns agrees over resamples of the rows."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import ArrayLike
from scipy.stats import norm
from sklearn.pipeline import Pipeline
from sklearn.utils import check_random_state

from ..checks import Bools, Floats, check_flag, check_jobs, check_number
from ..data.result import Columns, Fields, Result, text_table, undefined_as_none
from ..data.tables import Table
from ..engine.threads import count_threads
from ..estimators._validation import read_families
from ..estimators.selector import NaiveBayesSelector
from ..estimators.weighted import WeightedNaiveBayes
from ..rankings.families import Families
from ._typing import Seed
from .crossfit import Refits, draw_samples, hearing, joined_names

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass(frozen=True, repr=False)
class Stability(Result):
    """Which features were selected in each resample, and how far the selections agree.

    Parameters
    ----------
    selected : ndarray of bool, shape (n_resamples, n_features)
        One row a resample; any 0/1 matrix of at least two rows will do.
    feature_names : sequence of str
        One name a column.
    families : Families, optional
        Which column stands for which.

    Attributes
    ----------
    frequency : ndarray of shape (n_features,)
        Share of the resamples that selected each feature.
    measure : float
        Stability of Nogueira, Sechidis and Brown (2018): 1 when all resamples select the same
        features, about 0 when they select as many features at random.  NaN where it is undefined.
    note : str
        Why `measure` is undefined; empty where it is not.
    jaccard : float
        Mean over pairs of resamples of the share that two selections have in common: columns in
        both by columns in either; 1 where both are empty.
    family_jaccard : float or None
        The same over families: a column counts as its family's leader, so that taking one twin for
        another is no difference.  None where no families are known.

    Examples
    --------
    >>> from bayesieve.evaluation.stability import Stability
    >>> found = Stability([[1, 1, 0, 0], [1, 0, 1, 0], [1, 1, 0, 0]], ["a", "b", "c", "d"])
    >>> found.frequency
    array([1.        , 0.66666667, 0.33333333, 0.        ])
    >>> round(found.measure, 3)
    0.333
    >>> [round(bound, 3) for bound in found.interval()]
    [-0.022, 0.689]
    >>> round(found.jaccard, 3)
    0.556
    """

    selected: Bools
    feature_names: tuple[str, ...]
    families: Families | None
    _html_rows = 20

    def __init__(
        self,
        selected: ArrayLike,
        feature_names: Sequence[str] | None = None,
        families: Families | None = None,
    ):
        chosen = _read_selected(selected)
        if feature_names is None:
            feature_names = [f"x{j}" for j in range(chosen.shape[1])]
        if len(feature_names) != chosen.shape[1]:
            raise ValueError(
                f"feature_names must hold one name for each of the {chosen.shape[1]} columns of "
                f"selected; got {len(feature_names)}."
            )
        if families is not None and families.leader.size != chosen.shape[1]:
            raise ValueError(
                f"families must be of the {chosen.shape[1]} columns of selected; got those of "
                f"{families.leader.size}."
            )
        object.__setattr__(self, "families", families)
        object.__setattr__(self, "selected", chosen)
        object.__setattr__(self, "feature_names", tuple(str(name) for name in feature_names))

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, Stability)
            and self.feature_names == other.feature_names
            and np.array_equal(self.selected, other.selected)
        )

    __hash__ = None  # type: ignore[assignment]

    @property
    def n_resamples(self) -> int:
        """Number of resamples."""
        return int(self.selected.shape[0])

    @property
    def frequency(self) -> Floats:
        """Share of the resamples that selected each feature."""
        return self.selected.mean(0)

    @cached_property
    def measure(self) -> float:
        """Nogueira's stability; NaN where it is undefined."""
        return nogueira(self.selected)

    @property
    def note(self) -> str:
        """Why the measure is undefined; empty where it is not."""
        if not np.isnan(self.measure):
            return ""
        what = "every feature" if self.selected.all() else "no feature"
        return (
            f"all resamples selected {what}: selections that cannot differ from chance have no "
            "stability (the measure is 0/0)."
        )

    @property
    def jaccard(self) -> float:
        """Mean share of columns that two resamples have in common."""
        return _mean_jaccard(self.selected)

    @property
    def family_jaccard(self) -> float | None:
        """Mean share of families, each told by its leader, that two resamples have in common."""
        if self.families is None:
            return None
        found = np.zeros_like(self.selected)
        for column, leader in enumerate(self.families.leader.tolist()):
            found[:, leader] |= self.selected[:, column]
        return _mean_jaccard(found)

    def interval(self, confidence: float = 0.95) -> tuple[float, float]:
        """Confidence interval of the measure, from its asymptotic variance.

        Parameters
        ----------
        confidence : float, default=0.95
            Strictly between 0 and 1.

        Returns
        -------
        low, high : float
            Normal approximation; the bounds are not cut at 1.  NaN where the measure is undefined.

        Notes
        -----
        It speaks of resamples drawn independently from one distribution.  Halves of one table are
        independent given that table only: the interval covers the stability of selection on halves
        of *this* table.
        """
        check_number("confidence", confidence, low=0.0, high=1.0)
        if confidence in (0, 1):
            raise ValueError(f"confidence must be strictly between 0 and 1; got {confidence!r}.")
        half = float(norm.ppf(0.5 + confidence / 2)) * float(np.sqrt(_variance(self.selected)))
        return self.measure - half, self.measure + half

    def to_columns(self) -> Columns:
        """Features and how often each was selected, the most frequent first."""
        order = np.argsort(-self.frequency, kind="stable").tolist()
        return {
            "feature": [self.feature_names[j] for j in order],
            "selected": self.selected.sum(0)[order].tolist(),
            "share": self.frequency[order].tolist(),
        }

    def caption(self) -> str:
        """What two resamples have in common, and the measure."""
        what = (
            f"{self.n_resamples} resamples; two of them share {self.jaccard:.0%} of their columns"
        )
        if self.family_jaccard is not None:
            what += f" ({self.family_jaccard:.0%} of their families)"
        if self.note:
            return f"{what}; {self.note}"
        low, high = self.interval()
        return f"{what}; stability {self.measure:.2f} (95 %: {low:.2f} to {high:.2f})"

    def _shown(self) -> Columns:
        chosen = int((self.frequency > 0).sum())
        return {name: values[:chosen] for name, values in self.to_columns().items()}

    def plot(self, ax: "Axes | None" = None, most: int = 30) -> "Axes":
        """Draw how often each feature was selected, with 95 % intervals."""
        from ..explain.plots import plot_stability

        return plot_stability(self, ax, most)

    def to_text(self, most: int = 20) -> str:
        """The caption, and the features selected most often.

        Parameters
        ----------
        most : int, default=20
            Features shown; those that were never selected are not.
        """
        shown = {name: values[:most] for name, values in self._shown().items()}
        chosen = int((self.frequency > 0).sum())
        more = [f"... and {chosen - most} more"] if chosen > most else []
        return "\n".join([self.caption(), text_table(shown), *more])

    def to_dict(self) -> Fields:
        """Everything as plain data; undefined numbers as None."""
        return {
            "n_resamples": self.n_resamples,
            "measure": undefined_as_none(self.measure),
            "interval": None if self.note else [*self.interval()],
            "confidence": 0.95,
            "note": self.note,
            "features": [
                {"name": name, "frequency": share}
                for name, share in zip(self.feature_names, self.frequency.tolist(), strict=True)
            ],
            "selected": [np.flatnonzero(row).tolist() for row in self.selected],
            "jaccard": self.jaccard,
            "family_jaccard": self.family_jaccard,
        }


def nogueira(selected: ArrayLike) -> float:
    """Stability of selections (Nogueira, Sechidis and Brown 2018).

    1 less the mean sample variance of the columns, divided by what it would be if each row selected
    as many features at random.

    Parameters
    ----------
    selected : array-like of shape (n_selections, n_features)
        0 and 1, or booleans: one row a selection, one column a feature; at least two rows.

    Returns
    -------
    measure : float
        At most 1, and at least -1 / (n_selections - 1); NaN where no feature or every feature is
        selected in all rows.  Computed in whole numbers and rounded once.

    Examples
    --------
    >>> from bayesieve.evaluation.stability import nogueira
    >>> nogueira([[1, 0, 1], [1, 0, 1]])
    1.0
    >>> nogueira([[1, 0], [0, 1]])
    -1.0
    """
    chosen = _read_selected(selected)
    counts = [int(count) for count in chosen.sum(0)]
    n_rows, n_columns, total = chosen.shape[0], chosen.shape[1], sum(counts)
    cells = n_rows * n_columns
    if total in (0, cells):
        return float("nan")
    apart = sum(count * (n_rows - count) for count in counts)
    return float(1 - Fraction(apart * cells, (n_rows - 1) * total * (cells - total)))


def _mean_jaccard(selected: Bools) -> float:
    """Columns in both by columns in either, over all pairs of rows."""
    chosen = selected.astype(np.int64)
    both, sizes = chosen @ chosen.T, chosen.sum(1)
    either = sizes[:, None] + sizes - both
    shares = np.where(either == 0, 1.0, both / np.maximum(either, 1))
    return float(shares[np.triu_indices(len(shares), 1)].mean())


def _variance(selected: Bools) -> float:
    """Asymptotic variance of the measure: 4 / M^2 times the spread of the rows' shares in it."""
    n_rows, n_columns = selected.shape
    measure = nogueira(selected)
    if np.isnan(measure):
        return float("nan")
    frequency = selected.mean(0)
    size = selected.sum(1) / n_columns
    mean = float(size.mean())
    shares = (
        (selected * frequency).mean(1)
        - size * mean
        + measure / 2 * (2 * mean * size - size - mean + 1)
    ) / (mean * (1 - mean))
    return float(4 / n_rows**2 * np.square(shares - shares.mean()).sum())


def _read_selected(selected: ArrayLike) -> Bools:
    """A 0/1 matrix of at least two rows and one column, as booleans of its own."""
    given = np.asarray(selected)
    if given.ndim != 2 or given.shape[0] < 2 or given.shape[1] < 1:
        raise ValueError(
            "selected must be a matrix with at least two rows (selections) and one column a "
            f"feature; got shape {given.shape}."
        )
    if given.dtype.kind not in "biuf" or not np.isin(given, (0, 1)).all():
        raise ValueError(
            "selected must hold 0 and 1 (or booleans) only: one row a selection, 1 where the "
            f"feature is in it; got values of type {given.dtype}."
        )
    return given.astype(bool)


# -- How stable a selection is ---------------------------------------------------------------------


def stability(  # noqa: PLR0913
    selector: NaiveBayesSelector | WeightedNaiveBayes | Pipeline,
    X: object,
    y: ArrayLike,
    *,
    n_resamples: int = 50,
    sample_weight: ArrayLike | None = None,
    groups: ArrayLike | None = None,
    random_state: Seed = None,
    n_jobs: int | None = None,
    progress: bool = False,
) -> Stability:
    """Stability of a selection over halves of the rows, drawn again and again.

    Rows are drawn without replacement: copies of a row would vouch for each other.  The columns are
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
        Number of halves, at least 2.
    sample_weight : array-like of shape (n_samples,), optional
        How often each row is repeated, whole numbers.  A sample has half as many rows as the table
        with its repeats.
    groups : array-like of shape (n_samples,), optional
        What rows of one series, patient or machine share: half of the groups are drawn, whole, and
        no group is on both sides of the selector's split.
    random_state : int, RandomState or None
        Draws the samples; and the seed of each search, where the selector's `random_state` is None.
    n_jobs : int, optional
        Samples searched at the same time, in threads; -1 for all cores.  The result does not depend
        on it.  With more than one, each search runs in a single thread.
    progress : bool, default=False
        Tell on standard error how many fits are done, and the time left.

    Returns
    -------
    stability : Stability

    Notes
    -----
    A row that was not drawn takes no part.  Feature models, levels and resolutions are those of all
    rows; but for them a sample is the selector's ``fit`` with these weights.  A sample with a
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
    check_flag("progress", progress)
    hint = " For selections made elsewhere use Stability(selected) or nogueira(selected)."
    refits = Refits(selector, X, y, sample_weight, groups, encode=True, hint=hint)
    refits.procedure.validate()
    last, read = refits.last, refits.read
    repeats = read.weights.astype(np.int64)
    draw = check_random_state(random_state)
    by_class = isinstance(last.class_weight, Mapping) or np.ndim(refits.family.priors) == 1
    least = len(read.classes) if by_class and not read.targets.labelled else 2
    samples = draw_samples(repeats, read.labels, int(n_resamples), least, draw, refits.mates)
    seeds = draw.randint(2**31 - 1, size=int(n_resamples))
    n_threads = count_threads(n_jobs)

    def families_of(table: Table) -> Families:
        given = "auto" if last.families is None else last.families
        return read_families(given, table, [[j] for j in range(len(table.names))])[0]

    # Found once, among all rows, so that a family is the same in every sample.
    whole = refits.table_after(np.repeat(read.rows, repeats))
    families = families_of(whole)

    def known_families(table: Table) -> dict[str, object]:
        return {"families": families if table is whole else families_of(table)}

    adapt = None if last.families is None else known_families

    def search(at: int) -> tuple[list[str], Bools]:
        alone = n_threads == 1
        refit = refits.on(repeats=samples[at], seed=seeds[at], alone=alone, adapt=adapt)
        fitted_one()
        return refit.table.names, refit.model.support_

    # Threads: the kernels release the interpreter's lock, and the table is shared.
    with hearing("resamples", int(n_resamples), progress) as fitted_one:
        found = Parallel(n_threads, prefer="threads")(
            delayed(search)(i) for i in range(n_resamples)
        )
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
