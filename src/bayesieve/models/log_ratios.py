"""Log-ratios of values by class, and how weights temper them.

score_k = b_k + sum over terms of w_tk log [P(x_t | k) / P(x_t)]: a term is a column or a pair of
columns, a weight a whole number of sixteenths from 0 to 1, b a whole number of sixty-fourths.
Terms are integers, so a weighted term is a product of integers: nothing is rounded a second time.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from ..checks import Array, Bools
from ..data.kernels.options import FEW_ROWS
from .base import (
    CORRECTION_BITS,
    SCORE_BITS,
    ColumnTerms,
    Floats,
    Grid,
    Ints,
    ModelSettings,
    PairTerms,
    Scale,
    Support,
    Terms,
    TrainingSets,
    Weighting,
    corrected,
)
from .columns import Summary, build_columns
from .counts import log_shares_of
from .fitted import FittedProblem
from .registry import MODELS

#: A weight is a whole number of these, from 0 to WEIGHT_STEPS.
WEIGHT_STEPS = 16

#: Terms are whole multiples of 2^-TERM_BITS nat.
TERM_BITS = 36

#: A constant is a whole number of these in a nat; one of them, in units of scores.
CONSTANT_STEPS = 64
CONSTANT_STEP = (1 << SCORE_BITS) // CONSTANT_STEPS

# No sum of terms comes near this many nat.
_BOUND = 2.0**21


@dataclass(frozen=True)
class Ratios:
    """One term: log [P(value | class) / P(value)], in whole units of 2^-TERM_BITS nat.

    Parameters
    ----------
    table : codes x classes; the last code says nothing.  Where it means something that a value is
        missing, the code before it says what.
    own : what is added to the term of a row's own class when the row itself is left out.
    lone : codes of levels that a single row has: left out, it would find nothing known.
    """

    table: Ints
    own: Ints
    lone: Bools


def _fixed(nat: Floats) -> Ints:
    return np.rint(np.ldexp(nat, TERM_BITS)).astype(np.int64)


def centred(terms: Floats, shares: Floats) -> Ints:
    """Terms less the pooled one of their value, values x classes, in whole units."""
    from ..data.kernels.exact import pooled

    reference = np.empty(terms.shape[0])
    pooled(np.ascontiguousarray(terms), shares, reference)
    return _fixed(terms) - _fixed(reference)[:, None]


def held_to_rows(table: Ints, own: Ints, rows: Floats) -> tuple[Ints, Ints]:
    """Evidence that never outruns the rows behind it, in whole units.

    Where n rows stand behind a code, one class is at most 5^sqrt(n / 5) times as likely as another;
    from 5 rows on, 5^((n / 5)^3) times.

    Parameters
    ----------
    table, own : codes x classes, as in `Ratios`.
    rows : of all classes, behind each code.

    Examples
    --------
    Two rows, one of which says a hundred times:

    >>> import numpy as np
    >>> from bayesieve.models.log_ratios import held_to_rows
    >>> table = np.rint(np.log([[0.1, 10.0], [0.1, 10.0]]) * 2.0**36).astype(np.int64)
    >>> held, _ = held_to_rows(table, np.zeros_like(table), np.array([20.0, 4.0]))
    >>> np.exp((held[:, 1] - held[:, 0]) * 2.0**-36).round(3)
    array([100.   ,   4.219])
    """
    share = rows / FEW_ROWS
    most = np.log(FEW_ROWS) * np.maximum(np.sqrt(share), share**3)
    apart = np.ldexp((table.max(-1) - table.min(-1)).astype(np.float64), -TERM_BITS)
    beyond = apart > most
    if not beyond.any():
        return table, own
    share = np.divide(most, apart, out=np.ones_like(apart), where=beyond)[..., None]
    held, moved = (np.rint(part * share).astype(np.int64) for part in (table, own))
    return np.where(beyond[..., None], held, table), np.where(beyond[..., None], moved, own)


class CellRatios(NamedTuple):
    """What cells say of the classes, groups x groups x classes each, and what stands behind it.

    Parameters
    ----------
    table : log [P(class | cell) / P(class)].
    own : what it loses when a row of the class leaves the cell.
    rows : weight of the rows behind it.
    prior : weight of the rows that are added because of what the two columns say each alone.
    """

    table: Floats
    own: Floats
    rows: Floats
    prior: Floats


def cell_ratios(counts: Floats, class_weight: Floats, numbers: tuple[bool, bool]) -> CellRatios:
    """What the cells of two columns say, from their counts.

    P(class | cell) = (S + a E) / (sum of S + a): S are the counts, smoothed along numbers; E is
    what the two columns say each alone, multiplied.  The width, and how many rows a, are those by
    which rows that are left out are foretold best.  What a cell says beyond its columns is held to
    the rows behind it, and what they say to theirs.

    Parameters
    ----------
    counts : rows, groups x groups x classes.
    class_weight : factor on the counts of each class.
    numbers : is the column a number, whose groups have neighbours?

    Examples
    --------
    Two columns that say nothing each alone, and all together:

    >>> import numpy as np
    >>> from bayesieve.models.log_ratios import cell_ratios
    >>> counts = np.array([[[20.0, 0.0], [0.0, 20.0]], [[0.0, 20.0], [20.0, 0.0]]])
    >>> cell_ratios(counts, np.ones(2), (False, False)).table[0, 0].round(2)
    array([ 0.67, -3.04])
    """
    from .kernels.density import judge_cells

    known = np.ascontiguousarray(counts * class_weight)
    one, two = (_alone(counts.sum(1 - axis), class_weight, numbers[axis]) for axis in range(2))
    found = CellRatios(*(np.empty(counts.shape) for _ in range(4)))
    judge_cells(known, class_weight, one[0], two[0], one[1], two[1], *numbers, *found)
    return found


def _alone(counts: Floats, class_weight: Floats, number: bool) -> tuple[Floats, Floats]:
    """What one of the columns says by groups, and with a row of the group and class taken out."""
    from .kernels.density import hold_to_rows, judge_levels, judge_rank_kernel

    ratio, own = np.ones((1, *counts.shape)), np.ones((1, *counts.shape))
    judge = judge_rank_kernel if number else judge_levels
    more = np.zeros(1), np.full((1, 2), -1.0)
    judge((counts * class_weight)[None], class_weight, ratio, own, *more)
    hold_to_rows(counts.sum(1), number, ratio[0], own[0])
    return ratio[0], own[0]


def pair_ratios(counts: Floats, summary: Summary, columns: tuple[int, int]) -> Ratios:
    """What the cells of a pair of columns say; the last code says nothing.

    Parameters
    ----------
    counts : rows of each class, groups x groups x classes.
    summary : of the rows that were counted.
    columns : of the pair.
    """
    first, second = (summary.specs[j].on_grid for j in columns)
    found = cell_ratios(counts, summary.class_weight, (first, second))
    n_classes, silent = counts.shape[-1], ((0, 1), (0, 0))
    table, own = (np.pad(_fixed(part.reshape(-1, n_classes)), silent) for part in found[:2])
    return Ratios(table, own, np.zeros(table.shape[0], bool))


def column_ratios(
    summary: Summary, smoothing: float | str, sets: TrainingSets | None = None, speaks: bool = False
) -> list[Ratios]:
    """What every column says, and what it says of rows that are left out.

    Parameters
    ----------
    summary : what was counted.
    smoothing : pseudo-count.
    sets : the rows that were counted; None: nobody asks for rows that are left out.
    speaks : does it mean anything that a value is missing?
    """
    settings = ModelSettings(smoothing, None, summary.class_weight)
    shares = log_shares_of(summary.class_count * summary.class_weight)
    binary = [j for j, spec in enumerate(summary.specs) if spec.model == "bernoulli"]
    known = _binary_terms([summary.statistics[j] for j in binary], settings)
    if known is not None and not speaks:
        ready = dict(zip(binary, _binary_ratios(*known, shares, sets is not None), strict=True))
    else:
        ready = {}
    quick = {} if known is None else dict(zip(binary, zip(*known[:2], strict=True), strict=True))
    found = []
    for j, spec in enumerate(summary.specs):
        if j in ready:
            found.append(ready[j])
            continue
        (column,) = build_columns([spec], [summary.statistics[j]], settings)
        terms, left = quick[j] if j in quick else _terms(column, spec.n_codes, sets)
        counts = column.statistics[0]
        own = np.zeros_like(terms)
        if sets is not None:
            # Codes that no row of a class has are nobody's to be left out of.
            own[:-1] = np.where(counts[:-1] > 0, (left - terms)[:-1], 0.0)
        held = column.model.held
        if speaks:
            more, less = presence(counts, summary, smoothing)
            # What is held is a log-ratio already: centred anew, it could outrun its rows.
            terms = terms + (np.ldexp(centred(more, shares), -TERM_BITS) if held else more)
            own = own + less
        lone = np.zeros(spec.n_codes, bool)
        if column.model.silent_unseen:
            lone[:-1] = counts[:-1].sum(-1) == 1
        table, moved = _fixed(terms) if held else centred(terms, shares), _fixed(own)
        # Curves and levels are held where they are made; here only what a missing value says.
        some = slice(None) if spec.model == "bernoulli" else slice(-1, None)
        if spec.model == "bernoulli" or (speaks and held):
            told = table[some], moved[some], _telling(counts)[some]
            table[some], moved[some] = held_to_rows(*told)
        if speaks:
            # Nor does a level that nobody knows say what a missing value says.
            table, moved = (np.pad(part, ((0, 1), (0, 0))) for part in (table, moved))
        found.append(Ratios(table, moved, lone))
    return found


def _telling(counts: Floats) -> Floats:
    """Rows of all classes behind each code; none behind the value of a constant."""
    rows = counts.sum(-1)
    rows[..., :-1] *= (rows[..., :-1] > 0).sum(-1, keepdims=True) > 1
    return rows


def _terms(column: ColumnTerms, n_codes: int, sets: TrainingSets | None) -> tuple[Floats, Floats]:
    """Terms of all codes, and those of a row's own class without that row: codes x classes."""
    known = np.arange(n_codes)
    terms = column.of(known, 0).finite
    if sets is None:
        return terms, terms
    left = column.model.left_out(column, known, known, sets)
    return terms, column.model.limit(left.finite, column.settings)


def _binary_ratios(
    terms: Floats, left: Floats, counts: Floats, shares: Floats, own: bool
) -> list[Ratios]:
    """What binary columns say, all at once: columns x codes x classes."""
    table = centred(terms.reshape(-1, terms.shape[-1]), shares).reshape(terms.shape)
    moved = np.zeros(terms.shape, np.int64)
    if own:
        moved[:, :-1] = _fixed(np.where(counts > 0, left - terms, 0.0)[:, :-1])
    table, moved = held_to_rows(table, moved, _telling(counts))
    lone = np.zeros(terms.shape[1], bool)
    return [Ratios(table[j], moved[j], lone) for j in range(len(terms))]


def _binary_terms(
    statistics: Sequence[Floats], settings: ModelSettings
) -> tuple[Floats, Floats, Floats] | None:
    """Terms of all binary columns together, left out and not, and their counts."""
    if not len(statistics):
        return None
    counts = np.array(statistics)[:, 0]  # columns x codes x classes
    less = np.repeat(counts[:, None], 3, axis=1)  # ... x code that loses a row x codes x classes
    for code in range(2):
        less[:, code, code] -= less[:, code, code] > 0
    found = MODELS["bernoulli"].terms(less, np.arange(3), Grid(), settings).finite
    left = np.zeros_like(counts)
    for code in range(2):
        left[:, code] = found[:, code, code]
    return found[:, 2], left, counts


def presence(counts: Floats, summary: Summary, smoothing: float | str) -> tuple[Floats, Floats]:
    """What it adds that a value is there, or missing; and when the row itself is left out."""
    from ..data.kernels.exact import log_all

    if not counts[-1].any():
        return np.zeros_like(counts), np.zeros_like(counts)
    pseudo = float(smoothing)
    missing = counts[-1] * summary.class_weight
    total = counts.sum(0) * summary.class_weight
    there = total - missing

    def logs(numbers: Floats) -> Floats:
        out = np.empty(numbers.size)
        log_all(np.maximum(numbers, 1e-300), out)
        return out

    less = np.maximum(total - summary.class_weight, 0.0)
    bottom, below = logs(total + 2 * pseudo), logs(less + 2 * pseudo)
    more, own = np.empty_like(counts), np.empty_like(counts)
    for part, rows in ((missing, slice(-1, None)), (there, slice(None, -1))):
        more[rows] = logs(part + pseudo) - bottom
        fewer = np.maximum(part - summary.class_weight, 0.0)
        own[rows] = np.where(part > 0, logs(fewer + pseudo) - below - more[rows][0], 0.0)
    return more, own


def weigh(
    summary: Summary,
    ratios: Sequence[Ratios],
    constants: Ints,
    weighting: Weighting,
    smoothing: float | str,
    temperature: float = 1.0,
) -> FittedProblem:
    """The model of these weights.

    Parameters
    ----------
    summary, ratios : of the columns that it reads.
    constants : sixty-fourths of a nat, one a class.
    weighting : weights of the columns, and pairs of them with theirs.
    smoothing, temperature : the model's.
    """
    settings = ModelSettings(smoothing, None, summary.class_weight)
    columns = build_columns(summary.specs, list(summary.statistics), settings)
    lines = zip(summary.specs, ratios, weighting.weights, strict=True)
    tables = tuple(
        corrected(each.table[: spec.n_codes] * line, weighting.correction(j))
        for j, (spec, each, line) in enumerate(lines)
    )
    prior = Terms(np.ldexp((constants * CONSTANT_STEP).astype(float), -SCORE_BITS)[None])
    scale = Scale(SCORE_BITS, 0, _BOUND)
    return FittedProblem(
        summary, tuple(columns), tables, prior, scale, None, temperature, weighting
    )


# -- Evidence that may only rise, or only fall, with a number --------------------------------------


def pooled_rising(values: Floats, weights: Floats) -> Floats:
    """The nearest numbers that never fall, by weighted squares: neighbours that do are averaged.

    Examples
    --------
    >>> import numpy as np
    >>> from bayesieve.models.log_ratios import pooled_rising
    >>> pooled_rising(np.array([0.0, 3.0, 1.0, 4.0]), np.ones(4)).tolist()
    [0.0, 2.0, 2.0, 4.0]
    """
    means: list[float] = []
    sizes: list[float] = []
    widths: list[int] = []
    for value, weight in zip(values.tolist(), weights.tolist(), strict=True):
        means.append(value)
        sizes.append(weight)
        widths.append(1)
        while len(means) > 1 and means[-2] > means[-1]:
            mean, size, width = means.pop(), sizes.pop(), widths.pop()
            both = sizes[-1] + size
            means[-1] = (means[-1] * sizes[-1] + mean * size) / both
            sizes[-1] = both
            widths[-1] += width
    return np.repeat(means, widths)


def rising(ratios: Ratios, counts: Floats, shares: Floats, sign: int) -> Ratios:
    """A term of two classes with the second's log-ratio rising (1) or falling (-1).

    Both classes' terms then rise or fall with it, so that no weights can turn it.

    Parameters
    ----------
    ratios : of a column on the grid.
    counts : rows, codes x classes.
    shares : log-shares of the classes.
    """
    table, n_values = ratios.table, counts.shape[0] - 1
    apart = np.ldexp((table[:n_values, 1] - table[:n_values, 0]).astype(float), -TERM_BITS)
    if not apart.size:
        return ratios
    smooth = sign * pooled_rising(sign * apart, counts[:-1].sum(1) + 1e-9)
    terms = np.stack([np.zeros_like(smooth), smooth], axis=1)
    found = centred(terms, shares)
    return replace(ratios, table=np.concatenate([found, table[n_values:]]))


# -- What stands behind the terms of a fitted model, its weights held fixed ------------------------


def column_support(problem: FittedProblem, j: int, values: Array) -> Support | None:
    """What stands behind a column; None: nobody knows.

    Parameters
    ----------
    problem, j : a model, and a column of it.
    values : numbers to speak of; of a column with levels, all codes are spoken of.
    """
    column, weighting, weight = problem.columns[j], problem.weighting, problem.summary.class_weight
    found = column.model.support(column, values)
    if found is None or weighting is None:
        return found
    counts = column.statistics[0]
    if weighting.speaks and counts[-1].any():
        # What it adds that a value is there; and a missing one has its rows, too.
        pseudo = float(column.settings.smoothing)
        more, _ = presence(counts, problem.summary, pseudo)
        found = Support(
            np.vstack([found.point[:-1] + more[:-1], more[-1:]]),
            np.vstack([found.rows[:-1], counts[-1:]]),
            np.vstack([found.prior[:-1], pseudo / weight[None]]),
            np.maximum(found.whole, counts.sum(0)),
        )
    return _weighted(problem, found, weighting.weights[j], weighting.correction(j))


def term_rows(problem: FittedProblem, columns: Sequence[int]) -> Floats | None:
    """Rows of each class behind all that a column, or a pair of columns, says; None: nobody knows.

    Parameters
    ----------
    problem, columns : a model, and one or two columns of it.
    """
    if len(columns) == 2:
        return next(pair.counts for pair in problem.pairs if set(pair.columns) == {*columns})
    (j,) = columns
    if problem.tables[j] is None:
        return None
    found = column_support(problem, j, np.arange(problem.specs[j].n_codes))
    speaks = problem.weighting is not None and problem.weighting.speaks
    return None if found is None else found.rows[: None if speaks else -1]


def pair_support(problem: FittedProblem, pair: PairTerms) -> Support:
    """What stands behind the cells of a pair: rows, smoothed, and what its columns say alone."""
    weight = problem.summary.class_weight
    first, second = (problem.specs[j].on_grid for j in pair.columns)
    found = cell_ratios(pair.counts, weight, (first, second))
    flat = [each.reshape(-1, weight.size) for each in (found.table, found.rows, found.prior)]
    point, rows, prior = flat[0], flat[1] / weight, flat[2] / weight
    behind = Support(point, rows, prior, np.full(weight.size, np.inf))
    return _weighted(problem, behind, pair.weights, pair.correction)


def _weighted(
    problem: FittedProblem, found: Support, weights: Ints, correction: Ints | None
) -> Support:
    """Support of what is said with weights and corrections."""
    shares = np.exp(log_shares_of(problem.summary.class_count * problem.summary.class_weight))
    added = None
    if correction is not None:
        mine = np.ldexp(correction.reshape(-1, shares.size).astype(float), -CORRECTION_BITS)
        added = np.pad(mine, ((0, len(found.point) - len(mine)), (0, 0)))
    return found._replace(weights=weights / WEIGHT_STEPS, shares=shares, added=added)
