"""`drift`: have new rows moved away from those of training?  Exact tests, column by column."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Literal, NamedTuple

import numpy as np
from scipy.special import chdtrc, gammaln, ndtr
from scipy.stats import mannwhitneyu, pearson3
from scipy.stats import t as student

from ..checks import Array, check_number, plain_value
from ..data.columns import ColumnSpec, encode, span_in_words
from ..data.result import Fields, Result
from ..estimators.naive_bayes import bayes_of, rows_of
from ..models.base import Floats, Ints
from ..models.gaussian import Mixtures, Moments, plain_squares
from ..models.novelty import group_of, grouped, surprise
from ._typing import Model
from .compare.statistics import holm
from .decide import novelty_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Groups of a grid that are compared at most, and rows that a group or level should expect.
_GROUPS, _EXPECTED = 16, 5.0

# Where every cell expects so many rows, the chi-squared distribution is near enough.
_LEAST = 20.0

# Splits that are drawn: at first, at most, and the cells of them; so many as odd as the one seen
# are enough.
_FIRST, _SPLITS, _CELLS, _ENOUGH = 199, 9999, 1 << 23, 20

# Rows are dealt one by one, rather than a number for every cell, where these have few.
_ROWS_A_CELL, _MOST_SHUFFLED = 30, 10**7

# Hypergeometric numbers are drawn among fewer rows than these, and chances of so many added up.
_MOST_ROWS, _MOST_CHANCES = 10**9, 10**5

# Shares of the risk that the tests of one column have.
_SHAPE, _ORDER, _BEYOND, _MEAN, _SPREAD, _MISSING = 0.45, 0.5, 0.05, 0.5, 0.3, 0.1


class Move(NamedTuple):
    """How far a column moved, with which p-value, and what changed most."""

    distance: float
    p_value: float
    change: str


def _of_counts(spec: ColumnSpec, counts: Floats, values: Array) -> Move:
    """Tests of levels, or of groups of a grid; missing values are one more."""
    groups, known = grouped(spec, counts[:, None], _GROUPS)
    new, n_groups = group_of(spec, groups, values), len(known)
    before = np.append(known[:, 0], [0.0, counts[-1]])
    after = np.bincount(np.where(new < 0, n_groups + 1, new), minlength=n_groups + 2)
    names = [*_group_names(spec, groups), "never seen", "missing"]
    distance, change = _apart(before, after.astype(float), names)
    strange, table = new == n_groups, np.array([before, after])[:, [*range(n_groups), -1]]
    if spec.on_grid and n_groups:
        assert spec.distinct is not None
        low = int((strange & (values.astype(np.float64) < spec.distinct[0])).sum())
        high = int(strange.sum()) - low
        table[1, 0] += low
        table[1, -2] += high
        return Move(distance, _of_grid(table[:, :-1], table[:, -1], low, high), change)
    # Levels that chance has left out of training are levels of their own.
    others = np.unique(values[strange].astype(str), return_counts=True)[1]
    table = np.column_stack([table, [np.zeros(others.size), others]])
    table = table[:, table.any(0)]
    parts = [(_of_splits(table), _SHAPE)]
    rare = table.sum(0) * table.sum(1).min() < _EXPECTED * table.sum()
    if rare.sum() > 1 and not rare.all():
        together = np.column_stack([table[:, ~rare], table[:, rare].sum(1)])
        parts.append((_of_splits(together), _SHAPE))
    return Move(distance, _least(parts), change)


def _of_grid(known: Floats, missing: Floats, low: int, high: int) -> float:
    """Tests of numbers: their groups, their order, their ends, and how many are missing.

    `known` and `missing` count training and new rows; `low` and `high` new rows beyond all training
    rows.
    """
    totals = known.sum(1)
    parts = [(_beyond(low, high, totals), _BEYOND)]
    if missing.any():  # else no risk is spent on it
        parts.append((_of_splits(np.column_stack([totals, missing])), _MISSING))
    # Fewer groups where there are few rows: neighbours are put together.
    most = max(int(totals.min() // _EXPECTED), 2)
    wide = np.arange(known.shape[1]) * most // max(known.shape[1], most)
    fewer: Floats = np.add.reduceat(known, np.unique(wide, return_index=True)[1], axis=1)
    parts.append((max(_of_splits(fewer), _of_intervals(fewer)), _SHAPE))
    if known.shape[1] > 2:
        parts.append((_of_splits(known, in_order=True), _ORDER))
    return _least(parts)


def _apart(before: Floats, after: Floats, names: list[str]) -> tuple[float, str]:
    """Half the sum of the differences of shares, and the largest of them."""
    if not (before.any() and after.any()):
        return 0.0, ""
    one, other = before / before.sum(), after / after.sum()
    apart = np.abs(other - one)
    at = int(apart.argmax())
    return float(apart.sum() / 2), f"{names[at]}: {one[at]:.3g} -> {other[at]:.3g}"


def _least(parts: list[tuple[float, float]]) -> float:
    """One p-value of several, each of which may be wrong by its share of the risk."""
    total = sum(share for _, share in parts)
    return float(min(1.0, *(p * total / share for p, share in parts)))


def _of_splits(table: Floats, in_order: bool = False) -> float:
    """How often a split by chance is as uneven as that into training and new rows.

    By Pearson's statistic, or by that of Cramér and von Mises: how far the shares of rows up to
    each cell are apart, squared and added up.

    The table has training and new rows in each cell; weights are rounded.
    """
    table = np.rint(table).astype(np.int64)
    table = table[:, table.any(0)]
    cells, (n, m) = table.sum(0), table.sum(1).tolist()
    if cells.size < 2 or not n or not m:
        return 1.0
    if cells.size == 2 and cells.min() <= _MOST_CHANCES:
        return _of_two(int(cells.min()), int(table[1, cells.argmin()]), n, m)

    def uneven(new: Ints) -> Floats:
        if not in_order:
            return _pearson(cells - new, new)
        return np.square(np.cumsum(new - cells * (m / (n + m)), -1)).sum(-1)

    seen = float(uneven(table[1]))
    many = n + m >= _MOST_ROWS
    if not in_order and (many or cells.min() * (min(n, m) / (n + m)) >= _LEAST):
        return float(chdtrc(cells.size - 1, seen))
    if many:
        return 1.0  # more than can be drawn, and than Pearson's statistic needs
    rng = np.random.default_rng(0)
    by_row = min(n, m) <= _ROWS_A_CELL * cells.size and n + m <= _MOST_SHUFFLED
    method: Literal["count", "marginals"] = "count" if by_row else "marginals"

    def draw(size: int) -> Floats:
        return uneven(rng.multivariate_hypergeometric(cells, m, size, method=method))

    return _by_draws(seen, draw, cells.size)


def _of_intervals(table: Floats) -> float:
    """How often chance is as uneven as the new rows in groups whose ends are training rows.

    New rows fall between training rows with equal chances: a group with few training rows may be a
    narrow one, so that chance makes the numbers of new rows more uneven than a split of cells does.
    """
    before, after = np.rint(table).astype(np.int64)
    n, m = int(before.sum()), int(after.sum())
    before, after = before[before > 0], after[before > 0]
    if before.size < 2 or not m:
        return 1.0
    seen = float(_pearson(before, after))
    if before.min() * min(m / n, 1.0) >= _LEAST:
        return float(chdtrc(before.size - 1, seen))
    rng = np.random.default_rng(0)

    def draw(size: int) -> Floats:
        return _pearson(before, rng.multinomial(m, rng.dirichlet(before, size)))

    return _by_draws(seen, draw, before.size)


def _pearson(before: Ints, after: Ints) -> Floats:
    """Pearson's statistic of training and new rows in cells (last axis), none of them empty."""
    n, m = float(before.sum(-1).max()), float(after.sum(-1).max())
    found: Floats = np.square(before * (m / n) - after) * (n / m) / (before + after)
    return found.sum(-1)


def _by_draws(seen: float, draw: Callable[[int], Floats], n_cells: int) -> float:
    """How often a statistic is as large as the one seen, where nothing moved."""
    found, least = np.empty(0), seen * (1 - 1e-9)
    most = min(_SPLITS, max(_CELLS // n_cells, _FIRST))
    while found.size < most and (found >= least).sum() < _ENOUGH:
        found = np.append(found, draw(min(max(_FIRST, 4 * found.size), most - found.size)))
    odd, spread = int((found >= least).sum()), float(found.std())
    p_value = (1 + odd) / (1 + found.size)
    if odd or not spread:
        return p_value
    # Beyond all that were drawn: a gamma distribution of the same three moments.
    apart = (found - found.mean()) / spread
    return min(p_value, float(pearson3.sf((seen - found.mean()) / spread, (apart**3).mean())))


def _of_two(cell: int, seen: int, n: int, m: int) -> float:
    """Fisher's exact test: splits that leave a cell as improbable a number of its rows."""
    new = np.arange(max(0, cell - n), min(cell, m) + 1)
    logs = _ways(cell, new) + _ways(n + m - cell, m - new) - _ways(n + m, m)
    chances = np.exp(logs)
    return float(min(chances[logs <= logs[seen - new[0]] + 1e-7].sum(), 1.0))


def _ways(of: int, some: Ints | int) -> Floats:
    """Log of the ways to choose some."""
    return gammaln(of + 1.0) - gammaln(some + 1.0) - gammaln(of - some + 1.0)


def _beyond(low: int, high: int, rows: Floats) -> float:
    """How often so many of the least, or of the largest, values of all rows are new ones."""
    n, m = np.rint(rows)
    runs = np.array([low, high])
    return float(min(1.0, 2 * np.exp((_ways(n + m - runs, n) - _ways(n + m, n)).min())))


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
        found.append(span_in_words(ends[mine[0]], ends[mine[-1] + 1]))
    return found


def _of_moments(
    spec: ColumnSpec, moments: Moments | Mixtures, n_trained: float, numbers: Floats
) -> Move:
    """Tests of mean, variance, missing values, and numbers beyond all that were seen."""
    weight, mean, squares = moments.weight[0], moments.mean[0], plain_squares(moments)[0]
    n = float(weight.sum())
    new = numbers[~np.isnan(numbers)]
    m = new.size
    table = np.array([[max(n_trained - n, 0.0), n], [float(numbers.size - m), float(m)]])
    lost, change = _apart(table[0], table[1], ["missing", "known"])
    parts = [(_of_splits(table), _MISSING)]
    if n < 2 or not m:
        return Move(lost, parts[0][0], change)
    if not table[:, 0].any():
        parts.clear()  # nothing is missing anywhere: no risk is spent on it
    assert spec.distinct is not None
    ends = spec.distinct[[0, -1]]
    beyond = _beyond(int((new < ends[0]).sum()), int((new > ends[1]).sum()), table[:, 1])
    parts.append((beyond, _BEYOND))
    middle = float(weight @ mean / n)
    with np.errstate(over="ignore", invalid="ignore"):
        variance = float(np.nansum(squares + weight * np.square(mean - middle)) / (n - 1))
    deviation = float(np.sqrt(variance))
    told = f"mean: {middle:.4g} -> {new.mean():.4g}"
    if not 0 < deviation < np.inf:
        distance = float((new != middle).mean())
    else:
        away = (new - middle) / deviation
        parts += _of_away(away, (ends - middle) / deviation, n, spec.n_distinct)
        # Two normal distributions with this difference of means: rows that would have to change.
        distance = float(2 * ndtr(abs(away.mean()) / 2) - 1)
        told += f", sd: {deviation:.4g} -> {deviation * away.std(ddof=min(m - 1, 1)):.4g}"
    if lost > distance:
        return Move(lost, _least(parts), change)
    return Move(distance, _least(parts), told)


def _of_away(away: Floats, ends: Floats, n: float, n_distinct: int) -> list[tuple[float, float]]:
    """Tests of mean and variance, with their shares of the risk.

    How heavy the tails are is told by the new rows, and by how far out the ends of the training
    rows are: the third and fourth powers of the farther one are a good part of these moments, if
    tails are heavy.

    Parameters
    ----------
    away : new numbers less the mean of the training rows, in units of their standard deviation.
    ends : the least and the largest of the training rows, likewise.
    n, n_distinct : how many these are, and how many values they have.
    """
    m = away.size
    few, room, far = min(n, m), 1 / n + 1 / m, float(np.abs(ends).max())
    centred = away - away.mean()
    variance = float(np.square(centred).sum() / max(m - 1, 1))
    third, fourth = far**3 / n, max(3.0, 8 * far**4 / n)
    if variance > 0:
        third = max(third, abs(float((centred**3).mean())) / variance**1.5)
        fourth = max(fourth, float((centred**4).mean()) / variance**2)
    apart = abs(float(away.mean())) / np.sqrt(max(variance, 1.0) * room)
    free = max(min(few - 1, 4 + 6 * few / max(fourth - 3, 1e-9)), 1.0)
    tails = max(student.sf(apart, free), pearson3.sf(apart, third / np.sqrt(few)))
    by_mean = (min(1.0, 2 * float(tails)), _MEAN)
    if not variance > 0:
        # All have the value of the first: at least so many training rows have others.
        at = float(away[0])
        others = (n - 1 + n * at**2) / max(float(np.square(ends - at).max()), 1e-300)
        others = min(max(np.ceil(others - 1e-6), n_distinct - 1), n)
        return [by_mean, (_of_splits(np.array([[n - others, others], [m - 1, 0]])), _SPREAD)]
    apart = abs(np.log(variance)) / np.sqrt((fourth - 1) * room)
    by_variance = 2 * student.sf(apart, max(2 * (few - 1) / (fourth - 1), 1.0))
    return [by_mean, (float(by_variance), _SPREAD)]


# -- Have the columns moved since training ---------------------------------------------------------


# P-values of novelty at which rows are counted.
_LEVELS = (0.01, 0.05, 0.1)


@dataclass(frozen=True)
class Drift(Result):
    """Which columns of new rows are distributed otherwise than in training.

    Attributes
    ----------
    columns : list of str
        The model's columns, the clearest move first.
    distance : list of float
        Share of the rows that would have to change for the two distributions to be one, from 0 to 1
        (half the sum of the differences of shares); chance alone makes it more than 0, and with few
        rows of many levels much more.
    p_value, adjusted : list of float
        Of each column's tests, and corrected for the number of columns by Holm's method.
    change : list of str
        What changed most.
    rows : int
        New rows.
    alpha : float
        Columns with an adjusted p-value of at most this are called moved.
    novel : dict of float to float, or None
        Share of new rows whose novelty is at most each level; None without a rule (see `decide`).
    novelty_p : float or None
        P-value of the new rows being no more surprising than those held out (Mann and Whitney).

    Examples
    --------
    >>> import numpy as np
    >>> from bayesieve import NaiveBayes, drift
    >>> rng = np.random.default_rng(0)
    >>> X, y = rng.normal(size=(600, 3)), np.arange(600) % 2
    >>> found = drift(NaiveBayes().fit(X, y), rng.normal([0, 1, 0], 1, (200, 3)))
    >>> found.moved
    ['x1']
    >>> found
    <Drift of 200 rows: 1 of 3 columns moved: x1>
    """

    columns: list[str]
    distance: list[float]
    p_value: list[float]
    adjusted: list[float]
    change: list[str]
    rows: int
    alpha: float
    novel: dict[float, float] | None = None
    novelty_p: float | None = None
    _table: ClassVar[Mapping[str, str]] = {
        "column": "columns",
        "distance": "distance",
        "p_value": "p_value",
        "adjusted": "adjusted",
        "change": "change",
    }

    @property
    def moved(self) -> list[str]:
        """Columns that moved, the clearest first."""
        pairs = zip(self.columns, self.adjusted, strict=True)
        return [name for name, p in pairs if p <= self.alpha]

    def __repr__(self) -> str:
        return f"<Drift of {self.rows} rows: {self.headline()}>"

    def headline(self, most: int = 5) -> str:
        """One sentence: the columns that moved, and how novelty moved.

        Parameters
        ----------
        most : int, default=5
            Names that are told.
        """
        names = self.moved
        told = ", ".join(names[:most]) + (" ..." if len(names) > most else "")
        found = f"{len(names)} of {len(self.columns)} columns moved" + (
            f": {told}" if names else ""
        )
        if self.novel is not None:
            found += (
                f"; {100 * self.novel[0.05]:.3g} % of the rows are unlike those held out, where "
                "5 % are expected"
            )
        return found

    def to_dict(self) -> Fields:
        """One entry a column of the model, as plain values."""
        return self.to_columns()

    def caption(self) -> str:
        """The columns that moved, and how novelty moved."""
        return self.headline()

    def plot(self, ax: "Axes | None" = None) -> "Axes":
        """Draw how far the columns moved.

        Parameters
        ----------
        ax : matplotlib axes, optional
            Where to draw; a new figure by default.
        """
        from ..explain.plots import plot_drift

        return plot_drift(self, ax)


def drift(model: Model, X: object, *, alpha: float = 0.05) -> Drift:
    """Test for drift: which columns of new rows differ from training, and how novelty changed.

    Columns with levels are compared by counts (missing values and levels never seen are levels,
    too), numbers on a grid by counts of groups, their order, values beyond all that were seen, and
    missing ones; numbers known by their moments by mean and variance instead of groups and order.
    The p-values are corrected for the number of columns: with none moved, some column is called
    moved in a share `alpha` of all cases at most.

    Parameters
    ----------
    model : NaiveBayes, NaiveBayesSelector or WeightedNaiveBayes
        Fitted; with a rule of `decide`, novelty is told as well.
    X : array-like, data frame or sparse matrix
        New rows; no classes are needed.
    alpha : float, default=0.05
        Risk of calling any column moved that did not.

    Returns
    -------
    drift : Drift

    Notes
    -----
    With very many rows, the smallest move is certain: look at ``distance`` as well.  A column moves
    with the shares of the classes, too.

    Where nothing moved, training and new rows are one sample that chance has split, and all splits
    are equally probable.  So the tests of counts are exact: Fisher's of two levels, and of more,
    Pearson's statistic against up to 9999 such splits (the same ones every time) or, where 20 rows
    are expected everywhere, the chi-squared distribution.  A level that training has not seen is no
    proof of a move: it is often a rare one, left out by chance.  Weights count as so many rows,
    rounded; rows that are not independent (of one series or patient) move a column too easily.

    Of moments, only what they and the ends of the training rows tell is known: with heavy tails, a
    move of mean or variance must be large to be called one.

    Examples
    --------
    >>> import numpy as np
    >>> from bayesieve import NaiveBayes, drift
    >>> X, y = np.array([[0, 0], [0, 1], [1, 0], [1, 1]] * 50), np.arange(200) % 2
    >>> drift(NaiveBayes().fit(X, y), X[::-1])
    <Drift of 200 rows: 0 of 2 columns moved>
    """
    alpha = float(check_number("alpha", alpha, low=0.0, high=1.0))
    fitted = bayes_of(model).fitted_
    rows = rows_of(model, X)
    summary = fitted.problems[0].summary
    n_trained = float(summary.class_count.sum())
    moves = []
    for j, (spec, statistics) in enumerate(zip(summary.specs, summary.statistics, strict=True)):
        values, move = (
            rows.column(j),
            Move(0.0, 1.0, "not tested: its feature model keeps no counts"),
        )
        if spec.levels is not None:
            move = _of_counts(spec, statistics[0].sum(1), values)
        elif isinstance(statistics, Moments | Mixtures):
            move = _of_moments(spec, statistics, n_trained, encode(spec, values))
        moves.append(move)
    p_values = np.array([move.p_value for move in moves])
    adjusted = np.array(holm(p_values.tolist()))
    distance = np.array([move.distance for move in moves])
    order = np.lexsort((-distance, p_values)).tolist()
    novel, novelty_p = None, None
    if fitted.usual is not None:
        found = novelty_of(fitted, rows)
        novel = {level: float((found <= level).mean()) for level in _LEVELS}
        scores = surprise(fitted, rows)
        novelty_p = float(mannwhitneyu(scores, fitted.usual, alternative="greater").pvalue)
    return Drift(
        [summary.specs[j].name for j in order],
        distance[order].tolist(),
        p_values[order].tolist(),
        adjusted[order].tolist(),
        [moves[j].change for j in order],
        rows.n_rows,
        alpha,
        novel,
        novelty_p,
    )
