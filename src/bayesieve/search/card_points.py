"""Points of a card: cut-offs that a person would choose, whole points, and their worth."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from ..checks import Array, Floats, Ints
from ..models.base import CORRECTION_BITS
from .card import RIDGE, Card, CardColumn, CardFit, CardRows, System

#: A significant digit of a cut-off is worth so much, in nat; one that is a 5, half of it.
DIGIT_PRICE = 0.5

#: What a point is worth is a whole multiple of this many nat.
UNIT = 2.0**-CORRECTION_BITS

#: Penalties on squared values among which folds choose.
RIDGES = (16.0, 4.0, 1.0, 0.25)

# Scales at which points are tried, the finest first; and how many of them are judged exactly.
_SCALES, _JUDGED = np.geomspace(1.0, 6.0, 24), 4

# This share of what lines gain may be lost to have more of them: sizes near the best differ by
# chance, and more lines with less each are surer.
_SLACK = 0.05

# Units near one that are judged as well.
_NEAR = (0.8, 0.9, 1.0, 1.1, 1.2)

# So sure is a scale of 1 before any row left out has spoken, in nat.
_PRIOR = 2.0

# No scale is smaller.
_LEAST = 0.05


@dataclass(frozen=True)
class PointColumn:
    """A column of a finished card.

    Parameters
    ----------
    column : its position.
    starts : of a number, where its intervals after the first begin; None: it has levels.
    groups : condition of each code: of intervals, or levels; the last is that of missing values,
        -1 where nobody has the code.
    points : conditions x logits; of one condition, 0.
    """

    column: int
    starts: Floats | None
    groups: Ints
    points: Ints

    @property
    def n_lines(self) -> int:
        """Conditions with points other than 0."""
        return int(self.points.any(1).sum())

    def codes(self, rows: CardRows) -> Ints:
        """Code of each row."""
        if self.starts is None:
            return rows.codes[self.column].astype(np.int64)
        found = np.searchsorted(self.starts, rows.numbers[self.column], "right")
        found[np.isnan(rows.numbers[self.column])] = self.groups.size - 1
        return found

    def by_code(self) -> Ints:
        """Points of each code: codes x logits."""
        return np.vstack([self.points, np.zeros_like(self.points[:1])])[self.groups]


@dataclass(frozen=True)
class PointCard:
    """A finished card: score = constant + unit x (start + sum of points), by logit.

    Parameters
    ----------
    columns : those that have lines.
    unit : what a point is worth, in nat.
    constants : by logit, in nat.
    """

    columns: tuple[PointColumn, ...]
    unit: float
    constants: Floats

    @property
    def n_lines(self) -> int:
        """Conditions with points other than 0."""
        return sum(each.n_lines for each in self.columns)

    def totals(self, rows: CardRows) -> Ints:
        """Sums of points: logits x rows."""
        total = np.zeros((rows.n_logits, rows.labels.size), np.int64)
        for each in self.columns:
            total += each.by_code().T[:, each.codes(rows)]
        return total

    def scores(self, rows: CardRows) -> Floats:
        """Logits of rows, in nat."""
        return self.constants[:, None] + self.unit * self.totals(rows)

    def calibrated(self, scale: float, shift: float) -> "PointCard":
        """The card with scores that are this many times as large, and shifted."""
        steps = max(round(self.unit * scale / UNIT), 1)
        unit = steps * UNIT
        if self.constants.size == 1:
            moved = np.rint((self.constants * scale + shift) * 2.0**22) / 2.0**22
            return replace(self, unit=unit, constants=moved)
        return replace(self, unit=unit, constants=self.constants / self.unit * unit)


# -- Cut-offs --------------------------------------------------------------------------------------


def digits(number: float) -> float:
    """Significant digits of a number; a last one that is a 5 counts half.

    Examples
    --------
    >>> digits(30.0), digits(35.0), digits(0.034), digits(1998.0)
    (1.0, 1.5, 2.0, 4.0)
    """
    text = f"{abs(number):.15e}".partition("e")[0].replace(".", "").rstrip("0")
    return max(len(text), 1) - 0.5 * (text[-1:] == "5")


def round_cut(values: Floats, moved: Floats, low: float, high: float) -> float:
    """A cut-off as round as it may be: of candidates, the best by likelihood and digits.

    Parameters
    ----------
    values : ascending numbers of the rows of both sides.
    moved : what the log-loss gains when each of them is above the cut, rather than below.
    low, high : the numbers between which the cut is: it may be `high`, and not `low`.
    """
    cost = np.append(0.0, moved[::-1].cumsum())[::-1]
    here = cost[np.searchsorted(values, high)]
    best, found = math.inf, high
    span = max(values[-1] - values[0], 1e-300)
    power = math.floor(math.log10(max(abs(values[0]), abs(values[-1]), span)))
    for exponent in range(power, power - 17, -1):
        inside = False
        for part in (10, 5):
            step = part * 10.0 ** (exponent - 1)
            middle = math.floor(high / step)
            for k in range(middle - 2, middle + 3):
                number = float(f"{k * part}e{exponent - 1}")
                if not values[0] < number <= values[-1]:
                    continue
                at = float(cost[np.searchsorted(values, number)] - here)
                inside |= low < number <= high
                price = max(at, 0.0) + DIGIT_PRICE * digits(number)
                apart = abs(number - high)
                if (price, apart) < (best - 1e-9, 0) or (
                    abs(price - best) <= 1e-9 and apart < abs(found - high)
                ):
                    best, found = price, number
        if inside:
            break
    return found


def settle_cuts(fit: CardFit, card: Card) -> tuple[CardRows, Card, dict[int, Floats]]:
    """The columns of a card, their numbers cut where a person would: rows, values, and cuts."""
    rows = fit.rows
    scores = card.scores(rows)
    tables, starts = card.tables(), {}
    columns, codes, groups = [], [], {}
    for at, j in enumerate(sorted(card.groups)):
        column, mine = rows.columns[j], card.groups[j]
        if not column.number:
            columns.append(column)
            codes.append(rows.codes[j])
            groups[at] = mine
            continue
        rest = scores - tables[j].T[:, rows.codes[j]]
        cuts = _cuts_of(rows, j, mine, card.values[j], rest)
        starts[at] = cuts
        found = np.searchsorted(cuts, rows.numbers[j], "right")
        found[np.isnan(rows.numbers[j])] = cuts.size + 1
        columns.append(CardColumn(column.name, cuts.size + 2, True, column.sign))
        codes.append(found.astype(np.uint8))
        groups[at] = np.append(np.arange(cuts.size + 1), mine[-1])
    new = CardRows(
        tuple(columns),
        np.array(codes).reshape(len(codes), rows.labels.size),
        rows.labels,
        rows.weights,
        rows.n_classes,
    )
    old = Card(
        dict(groups),
        {at: card.values[j] for at, j in enumerate(sorted(card.groups))},
        card.constants,
        card.loss,
    )
    return new, old, starts


def _cuts_of(rows: CardRows, j: int, groups: Ints, values: Floats, rest: Floats) -> Floats:
    """Where the intervals of a number begin, as round as may be."""
    numbers = rows.numbers[j]
    n = int(groups[:-1].max()) + 1
    known = np.flatnonzero(~np.isnan(numbers))
    mine = groups[rows.codes[j][known]]
    found: list[float] = []
    for a in range(n - 1):
        # No cut passes the one below it.
        rest_of = numbers[known] >= (found[-1] if found else -np.inf)
        both = known[((mine == a) | (mine == a + 1)) & rest_of]
        order = both[np.argsort(numbers[both], kind="stable")]
        losses = [
            _losses(rows, order, rest[:, order] + values[side][:, None]) for side in (a, a + 1)
        ]
        moved = np.rint((losses[1] - losses[0]) * 2.0**22) / 2.0**22
        low = float(numbers[known[(mine == a) & rest_of]].max())
        high = float(numbers[known[mine == a + 1]].min())
        found.append(round_cut(numbers[order], moved, low, high))
    return np.array(found)


def _losses(rows: CardRows, some: Ints, scores: Floats) -> Floats:
    """Log-loss of some rows with these scores."""
    labels, weights = rows.labels[some], rows.weights[some]
    if rows.n_classes == 2:
        return weights * np.logaddexp(0.0, np.where(labels == 1, -scores[0], scores[0]))
    top = scores.max(0)
    own = np.take_along_axis(scores, labels[None], 0)[0]
    return weights * (np.log(np.exp(scores - top).sum(0)) + top - own)


# -- Whole points ----------------------------------------------------------------------------------


def whole_points(rows: CardRows, card: Card, ridge: float, most: int) -> PointCard:
    """Points for groups, and their unit: the least penalised log-loss among several scales.

    Points are moved by ones on the quadratic form of the log-loss around its least, which sees the
    penalty as well as the rows; the scales that it likes best are judged by the log-loss itself.

    Parameters
    ----------
    rows, card : with settled cuts, and values fitted with this ridge.
    ridge : penalty on squared values.
    most : points of a line, at most.
    """
    system = System(rows, card.groups, ridge)
    point = system.point_of(card)
    n, m = rows.n_logits, system.size
    form = system.curvature(system.look(point)[1])
    wanted = point.T.ravel()
    fixed = np.zeros(n * m, bool)
    if n == 1:
        # The constant follows.
        form = form[1:, 1:] - np.outer(form[1:, 0], form[0, 1:]) / form[0, 0]
        wanted, fixed = wanted[1:], fixed[1:]
    starts = np.arange(n) * m if n > 1 else np.empty(0, np.int64)
    bound = np.full(wanted.size, float(most))
    bound[starts] = np.inf
    lines = np.ones(wanted.size, bool)
    lines[starts] = False
    largest = max(float(np.abs(wanted[lines]).max()), UNIT)
    order = _monotone_neighbours(system) if n == 1 else {}
    tried = []
    for scale in _SCALES:
        unit = max(round(largest / most * scale / UNIT), 1) * UNIT
        z = _steps(form, wanted, unit, bound, order)
        off = unit * z - wanted
        tried.append((float(off @ form @ off), unit, z))
    tried.sort(key=lambda each: each[0])
    best: tuple[float, float, Floats, Floats] | None = None
    for _, unit, z in tried[:_JUDGED]:
        found = _judged(system, unit, z)
        if best is None or found[0] < best[0] - 1e-9:
            best = found
    assert best is not None
    _, unit, constants, whole = best
    columns = tuple(
        PointColumn(
            j, None, card.groups[j], np.vstack([whole, np.zeros((1, n))])[place].astype(np.int64)
        )
        for j, place in zip(system.columns, system.places, strict=True)
    )
    return PointCard(columns, unit, constants)


def _monotone_neighbours(system: System) -> dict[int, list[tuple[int, int]]]:
    """For each parameter that must rise or fall: the others beside it, and on which side."""
    found: dict[int, list[tuple[int, int]]] = {}
    for j, place in zip(system.columns, system.places, strict=True):
        column = system.rows.columns[j]
        last = int(system.groups[j][: column.n_codes - 1].max(initial=0))
        if not column.sign:
            continue
        at = [int(each) - 1 if each < system.size else -1 for each in place[: last + 1]]
        for low, high in pairwise(at):
            if high >= 0:
                found.setdefault(high, []).append((low, column.sign))
            if low >= 0:
                found.setdefault(low, []).append((high, -column.sign))
    return found


def _steps(
    form: Floats,
    wanted: Floats,
    unit: float,
    bound: Floats,
    order: Mapping[int, Sequence[tuple[int, int]]],
) -> Floats:
    """Whole numbers near those wanted, by the form: each is moved as long as that helps."""
    z = np.clip(np.rint(wanted / unit), -bound, bound)
    slope = form @ (unit * z - wanted)
    curve = np.maximum(np.diag(form), 1e-9)
    for _ in range(60):
        moved = False
        for i in range(z.size):
            step = float(np.rint(-slope[i] / (unit * curve[i])))
            if not step:
                continue
            least, most = -bound[i], bound[i]
            for other, sign in order.get(i, ()):
                beside = z[other] if other >= 0 else 0.0
                least, most = (max(least, beside), most) if sign > 0 else (least, min(most, beside))
            to = min(max(z[i] + step, least), most)
            if to == z[i]:
                continue
            slope += form[:, i] * (unit * (to - z[i]))
            z[i], moved = to, True
        if not moved:
            break
    return z


def _judged(system: System, unit: float, z: Floats) -> tuple[float, float, Floats, Floats]:
    """Penalised log-loss at the best unit and constants; those, and the points by parameter."""
    rows = system.rows
    if rows.n_logits == 1:
        whole = np.append(0.0, z)[:, None]
        best = None
        for share in _NEAR:
            at = max(round(unit * share / UNIT), 1) * UNIT
            point = whole * at
            for _ in range(8):
                loss, proba = system.look(point)
                rest = float(system.slopes(point, proba)[0, 0])
                curve = float((proba * (1 - proba) * rows.weights).sum())
                point[0, 0] = (
                    np.rint((point[0, 0] + np.clip(rest / max(curve, 1e-9), -2, 2)) * 2.0**22)
                    / 2.0**22
                )
                if abs(rest) < 1e-4 * max(curve, 1.0):
                    break
            loss = system.look(point)[0]
            if best is None or loss < best[0] - 1e-9:
                best = loss, at, point[0].copy(), whole
        assert best is not None
        best[3][0] = 0.0
        return best[0], best[1], best[2], best[3]
    whole = z.reshape(rows.n_logits, -1).T.copy()
    whole[0] -= whole[0].min()
    units = [max(round(unit * share / UNIT), 1) * UNIT for share in _NEAR]
    loss, least = min((system.look(whole * at)[0], at) for at in units)
    return loss, least, whole[0] * least, whole


def joined(card: PointCard, number: Mapping[int, Floats]) -> PointCard:
    """Conditions of equal points as one; columns without points are gone.

    Parameters
    ----------
    card : its columns numbered as those of the settled rows.
    number : where the intervals of those begin that are numbers.
    """
    found = []
    for each in card.columns:
        if not each.points.any():
            continue
        if each.column not in number:
            lines, back = np.unique(each.points, axis=0, return_inverse=True)
            groups = np.where(each.groups >= 0, back.ravel()[np.maximum(each.groups, 0)], -1)
            found.append(replace(each, groups=groups, points=lines))
            continue
        cuts = number[each.column]
        mine = each.by_code()
        stay = np.append(True, (mine[1:-1] != mine[:-2]).any(1))
        at = np.cumsum(stay) - 1
        points = mine[:-1][stay]
        missing = int(each.groups[-1])
        groups = np.arange(len(points))
        if missing >= 0:
            alone = not (each.groups[:-1] == missing).any()
            same = (
                at[int(np.flatnonzero(each.groups[:-1] == missing)[0])]
                if not alone
                else len(points)
            )
            if alone:
                equal = np.flatnonzero((points == each.points[missing]).all(1))
                same = int(equal[0]) if equal.size else len(points)
                if not equal.size:
                    points = np.vstack([points, each.points[missing]])
            missing = int(same)
        found.append(
            replace(each, starts=cuts[stay[1:]], groups=np.append(groups, missing), points=points)
        )
    return replace(card, columns=tuple(found))


def finish(fit: CardFit, card: Card, ridge: float, most: int) -> PointCard:
    """A card with whole points: cut-offs rounded, values fitted again, then points.

    Parameters
    ----------
    fit : of the rows that train.
    card : what it found.
    ridge : penalty on squared values.
    most : points of a line, at most.
    """
    if not card.groups:
        return PointCard((), UNIT, card.constants)
    settled, old, starts = settle_cuts(fit, card)
    again = CardFit(settled, ridge)
    values = again.obedient(again.refit(old.groups, old))
    found = joined(whole_points(settled, values, ridge, most), starts)
    names = sorted(card.groups)
    columns = tuple(replace(each, column=names[each.column]) for each in found.columns)
    return replace(found, columns=columns)


# -- What folds decide -----------------------------------------------------------------------------


@dataclass(frozen=True)
class LearntCard:
    """A card, and what folds said of it.

    Parameters
    ----------
    card : of all rows.
    ridge : penalty that foretold rows left out best.
    losses : log-loss of rows left out with 0, 1, 2 ... lines, before rounding.
    order : columns in the order in which they came.
    left_out : logits of every row by a card that has not seen it; NaN of rows in no fold.
    """

    card: PointCard
    ridge: float
    losses: tuple[float, ...]
    order: tuple[int, ...]
    left_out: Floats


def learn_card(
    rows: CardRows,
    folds: Sequence[Floats],
    lines: int,
    most: int,
    keep: Sequence[int] = (),
    forbidden: Sequence[int] = (),
) -> LearntCard:
    """Find lines and points; folds within the rows decide how many, how free, and the unit.

    Parameters
    ----------
    rows : all that train.
    folds : the share of each row that is held out, fold by fold.
    lines, most : lines of the card, and points of a line, at most.
    keep, forbidden : columns that have a line at least, and that have none.
    """
    walks, sizes = [], lines + 1
    losses = np.zeros(sizes)
    for share in folds:
        train, test = rows.take(rows.weights * (1 - share)), rows.take(rows.weights * share)
        fit = CardFit(train, forbidden=forbidden)
        cards = _by_size(fit.greedy(lines, keep), sizes)
        losses += [test.likelihood(card.scores(test))[0] for card in cards]
        walks.append((fit, cards, test, np.flatnonzero(share > 0)))
    least = len(keep)
    size = _size_of(losses, least) if folds else lines
    ridge = RIDGE
    if folds:
        told = [
            sum(
                test.likelihood(
                    CardFit(fit.rows, r).refit(cards[size].groups, cards[size]).scores(test)
                )[0]
                for fit, cards, test, _ in walks
            )
            for r in RIDGES
        ]
        ridge = RIDGES[int(np.argmin(told))]
    fit = CardFit(rows, forbidden=forbidden)
    path = list(fit.greedy(size, keep))
    order = tuple(dict.fromkeys(j for card in path for j in card.groups))
    whole = finish(fit, _by_size(path, size + 1)[size], ridge, most)
    left_out = np.full((rows.n_logits, rows.labels.size), np.nan)
    scale, shift = 1.0, 0.0
    if folds and whole.columns:
        for fold, cards, test, at in walks:
            left_out[:, at] = finish(fold, cards[size], ridge, most).scores(test)
        known = ~np.isnan(left_out[0])
        scale, shift = calibration(rows, left_out, known)
        left_out = left_out * scale + shift
        whole = whole.calibrated(scale, shift)
    elif folds:
        left_out[:] = whole.constants[:, None]
    return LearntCard(whole, ridge, tuple(losses.tolist()), order, left_out)


def _size_of(losses: Floats, least: int) -> int:
    """The most lines with which rows left out lose next to nothing, of what lines gain."""
    best = float(losses[least:].min())
    if losses[least] <= best:
        return least
    near = losses[least:] <= best + _SLACK * (losses[0] - best)
    return least + int(np.flatnonzero(near)[-1])


def _by_size(cards: Iterable[Card], sizes: int) -> list[Card]:
    """The last card of at most so many lines, by number of lines."""
    found: list[Card | None] = [None] * sizes
    for card in cards:
        if card.n_lines < sizes:
            found[card.n_lines] = card
    for at in range(1, sizes):
        if found[at] is None:
            found[at] = found[at - 1]
    return found  # type: ignore[return-value]


def calibration(rows: CardRows, scores: Floats, known: Array) -> tuple[float, float]:
    """The scale and the shift (of two classes) by which scores of rows left out are best."""
    at = np.flatnonzero(known)
    order = at[np.lexsort((rows.weights[at], rows.labels[at], *scores[:, at]))]
    s, weights, labels = scores[:, order], rows.weights[order], rows.labels[order]
    some = CardRows(rows.columns, rows.codes[:, :0], labels, weights, rows.n_classes)
    truth = some.truth
    point = np.array([1.0, 0.0])

    def look(point: Floats) -> float:
        loss = some.likelihood(point[0] * s + point[1])[0]
        return loss + _PRIOR * (point[0] - 1) ** 2

    best = look(point)
    for _ in range(30):
        _, proba = some.likelihood(point[0] * s + point[1])
        rest, more = (proba - truth) * weights, 2 * _PRIOR
        step = np.zeros(2)
        if rows.n_logits == 1:
            curve = proba * (1 - proba) * weights
            slope = np.array([(s * rest).sum() + more * (point[0] - 1), rest.sum()])
            both = (curve * s).sum()
            form = np.array([[(curve * s * s).sum() + more, both], [both, curve.sum() + 1e-9]])
            step = np.linalg.solve(form, slope)
        else:
            mean = (proba * s).sum(0)
            bend = (weights * ((proba * s * s).sum(0) - mean * mean)).sum() + more
            step[0] = ((s * rest).sum() + more * (point[0] - 1)) / bend
        share = 1.0
        while share > 1e-4:
            trial = point - share * step
            if trial[0] > _LEAST and (found := look(trial)) < best - 1e-9:
                point, best = trial, found
                break
            share /= 2
        else:
            break
    return float(point[0]), float(point[1])
