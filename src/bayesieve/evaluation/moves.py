"""Has a column moved?  Its training counts, or moments, against those of new rows."""

from typing import NamedTuple

import numpy as np
from scipy.special import ndtr
from scipy.stats import chi2_contingency, ttest_ind_from_stats
from scipy.stats import t as student

from ..checks import Array, plain_value
from ..data.columns import ColumnSpec
from ..models.base import Floats, Ints, Statistics
from ..models.moments import Mixtures, Moments, plain_squares
from ..models.novelty import group_of, grouped

# Groups of a grid that are compared.
_GROUPS = 16


# Rows that a cell should expect at least; smaller ones are put together.
_LEAST = 5.0


class Move(NamedTuple):
    """How far a column moved, with which p-value, and what changed most."""

    distance: float
    p_value: float
    change: str


def column_move(spec: ColumnSpec, statistics: Statistics, n_trained: float, values: Array) -> Move:
    """One column.

    Parameters
    ----------
    spec, statistics : as the training rows showed it.
    n_trained : how many these were.
    values : of the new rows.
    """
    if spec.levels is not None:
        return _of_counts(spec, statistics[0].sum(1), values)
    if isinstance(statistics, Moments | Mixtures):
        return _of_moments(statistics, n_trained, np.asarray(values, np.float64))
    return Move(0.0, 1.0, "not tested: its feature model keeps no counts")


def _of_counts(spec: ColumnSpec, counts: Floats, values: Array) -> Move:
    """A chi-squared test on groups; values never seen, and missing ones, are groups too."""
    groups, known = grouped(spec, counts[:, None], _GROUPS)
    new = group_of(spec, groups, values)
    before = np.append(known[:, 0], [0.0, counts[-1]])
    n_groups = before.size
    after = np.bincount(np.where(new < 0, n_groups - 1, new), minlength=n_groups).astype(float)
    names = [*_group_names(spec, groups), "never seen", "missing"]
    return _compare(before, after, names)


def _compare(before: Floats, after: Floats, names: list[str]) -> Move:
    table = np.stack([before, after])
    totals = table.sum(1, keepdims=True)
    if not totals.all():
        return Move(0.0, 1.0, "")
    shares = table / totals
    apart = np.abs(shares[1] - shares[0])
    at = int(apart.argmax())
    change = f"{names[at]}: {shares[0, at]:.3g} -> {shares[1, at]:.3g}"
    merged = _merged(table)
    p_value = 1.0
    if merged.shape[1] > 1:
        p_value = float(chi2_contingency(merged, correction=False).pvalue)
    return Move(float(apart.sum() / 2), p_value, change)


def _merged(table: Floats) -> Floats:
    """Groups that expect few rows put together, the rarest first."""
    table = table[:, table.sum(0) > 0]
    table = table[:, np.argsort(table.sum(0), kind="stable")]
    least = _LEAST * table.sum() / table.sum(1).min()  # rows in both, for enough in the smaller
    small = int(np.searchsorted(np.cumsum(table.sum(0)), least)) + 1
    if small < 2 or small >= table.shape[1]:
        small = min(small, max(table.shape[1] - 1, 1))
    return np.column_stack([table[:, :small].sum(1), table[:, small:]])


def _group_names(spec: ColumnSpec, groups: Ints) -> list[str]:
    """The level, or the span of the cuts."""
    assert spec.levels is not None
    if spec.cuts is None:
        levels = [plain_value(level) for level in spec.levels]
        return [f"{each:g}" if isinstance(each, float) else str(each) for each in levels]
    ends = np.concatenate([[-np.inf], spec.cuts, [np.inf]])
    found = []
    for g in range(int(groups.max(initial=-1)) + 1):
        mine = np.flatnonzero(groups == g)
        low, high = ends[mine[0]], ends[mine[-1] + 1]
        if np.isinf(low) and np.isinf(high):
            found.append("any value")
        elif np.isinf(low):
            found.append(f"up to {high:.4g}")
        elif np.isinf(high):
            found.append(f"above {low:.4g}")
        else:
            found.append(f"{low:.4g} to {high:.4g}")
    return found


def _of_moments(moments: Moments | Mixtures, n_trained: float, numbers: Floats) -> Move:
    """Tests of mean, variance and the share of missing values, corrected for being three."""
    weight, mean, squares = moments.weight[0], moments.mean[0], plain_squares(moments)[0]
    n = float(weight.sum())
    known = numbers[~np.isnan(numbers)]
    before = np.array([max(n_trained - n, 0.0), n])
    after = np.array([float(numbers.size - known.size), float(known.size)])
    missing = _compare(before, after, ["missing", "known"])
    if n < 2 or known.size < 2:
        return missing
    middle = float(weight @ mean / n)
    variance = float(np.nansum(squares + weight * np.square(mean - middle)) / (n - 1))
    m, v = float(known.mean()), float(known.var(ddof=1))
    if variance == 0 or v == 0:
        same = m == middle and variance == v
        return Move(float(not same), float(same), f"mean: {middle:.4g} -> {m:.4g}")
    by_mean = ttest_ind_from_stats(
        middle, np.sqrt(variance), n, m, np.sqrt(v), known.size, equal_var=False
    ).pvalue
    # The spread of a variance, by the fourth moment of the new rows: no distribution is assumed.
    fourth = max(float(np.mean((known - m) ** 4)) / v**2 - 1, 2.0)
    apart = np.log(v / variance) / np.sqrt(fourth * (1 / n + 1 / known.size))
    # Heavy tails leave few rows to judge it by: they count as so many fewer.
    by_variance = 2 * student.sf(abs(apart), max(2 * (known.size - 1) / fourth**2, 1.0))
    p_value = min(1.0, 3 * min(float(by_mean), float(by_variance), missing.p_value))
    # Two normal distributions with this difference of means: rows that would have to change.
    distance = float(2 * ndtr(abs(m - middle) / np.sqrt(variance) / 2) - 1)
    change = f"mean: {middle:.4g} -> {m:.4g}, sd: {variance**0.5:.4g} -> {v**0.5:.4g}"
    if missing.distance > distance:
        return Move(missing.distance, p_value, missing.change)
    return Move(distance, p_value, change)
