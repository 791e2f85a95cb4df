"""Cards: conditions on columns, found one by one, and whole points for them.

score_k = b_k + sum over columns of the value of the group that the row's code is in.  Groups of
codes are the conditions of a card: intervals of a number, sets of levels.  One group of each column
has no points; each other one is a line.  What is added up over rows are whole multiples of 2^-22,
so that a card does not depend on the order of rows.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise

import numpy as np
from scipy.optimize import minimize
from scipy.special import expit, gammaln, logsumexp, softmax

from ..checks import Array, Bools, Floats, Ints
from ..models.base import CORRECTION_BITS

#: Penalty on squared distances of a column's values from their mean while lines are sought; and
#: those among which folds choose for the lines found.
RIDGE, RIDGES = 4.0, (16.0, 4.0, 1.0, 0.25)

#: A line must gain so much at least; the first one also the log of the number of candidates.
LINE_PRICE = 0.2

#: A significant digit of a cut-off costs so much, in nat; one that is a 5, half of it.
DIGIT_PRICE = 0.5

#: What a point is worth is a whole multiple of this many nat.
UNIT = 2.0**-CORRECTION_BITS

#: What a line must say that makes a number rise here and fall there: so many nat, or this share of
#: what all lines leave unexplained, where that is less.
BEND_PRICE, BEND_SHARE = 2.0, 0.01

#: Of more columns, those of which one line alone says most are looked at again.
MOST_COLUMNS = 400

# A condition holds for such a share of the rows at least: for so many rows, from here to there.
_LEAST_SHARE, _FEWEST, _ENOUGH = 0.03, 5.0, 30.0

# Lines that are looked at again after each step.
_SWAPS = 3

# Newton steps, and what a change must gain to be one.
_STEPS, _ROUNDING = 12, 1e-6

# This share of what lines gain may be lost to have more of them: sizes near the best differ by
# chance, and more lines with less each are surer.
_SLACK = 0.05

# Units at which points are tried, as multiples of the finest.
_SCALES = np.geomspace(1.0, 6.0, 16)

# So sure is a scale of 1 before any row left out has spoken, in nat.
_PRIOR = 2.0


def _exact(values: Floats) -> Floats:
    """Multiples of 2^-22, whose sums do not depend on their order."""
    return np.rint(values * 2.0**22) / 2.0**22


# -- Rows ------------------------------------------------------------------------------------------


def digits(number: float) -> float:
    """Significant digits of a number; a last one that is a 5 counts half.

    Examples
    --------
    >>> digits(30.0), digits(35.0), digits(0.034), digits(1998.0)
    (1.0, 1.5, 2.0, 4.0)
    """
    text = f"{abs(number):.15e}".partition("e")[0].replace(".", "").rstrip("0")
    return max(len(text), 1) - 0.5 * (text[-1:] == "5")


def roundest(low: Floats, high: Floats) -> Floats:
    """The numbers of fewest digits above `low`, up to and with `high`.

    Examples
    --------
    >>> roundest(np.array([34.0, 28.0, -0.2, 1.21]), np.array([36.2, 31.5, 0.7, 1.24])).tolist()
    [35.0, 30.0, 0.0, 1.24]
    """
    found, waiting = high.astype(np.float64), np.ones(high.shape, bool)
    top = math.floor(
        math.log10(max(np.abs(high).max(initial=0), np.abs(low).max(initial=0), 1e-99))
    )
    for exponent in range(top, top - 16, -1):
        ten = 10.0 ** abs(exponent - 1)
        for part in (10, 5):
            step = part * ten if exponent > 0 else part / ten
            whole = np.floor(high / step) * part
            number = whole * ten if exponent > 0 else whole / ten
            fits = waiting & (low < number) & (number <= high)
            found[fits] = number[fits]
            waiting &= ~fits
    return found + 0.0


@dataclass(frozen=True)
class CardColumn:
    """A column of a card.

    Parameters
    ----------
    name : of the column.
    n_codes : with the one of missing values, which is the last.
    starts : of a number, where each code but the first begins; None: codes are levels.
    sign : 1 where its values may only rise, -1 where they may only fall, 0 where they need not.
    silent : has what is missing no points, whatever it tells?
    """

    name: str
    n_codes: int
    starts: Floats | None
    sign: int = 0
    silent: bool = False

    @cached_property
    def prices(self) -> Floats:
        """What a cut behind each code costs."""
        found = np.zeros(self.n_codes)
        for code, start in enumerate(() if self.starts is None else self.starts.tolist()):
            found[code] = DIGIT_PRICE * digits(start)
        return found


@dataclass(frozen=True)
class CardRows:
    """Rows as codes.

    Parameters
    ----------
    columns : what each column is like.
    codes : columns x rows.
    labels, weights : class of each row, and what it counts, in multiples of 2^-10.
    n_classes : how many classes there are.
    """

    columns: tuple[CardColumn, ...]
    codes: Array
    labels: Ints
    weights: Floats
    n_classes: int

    @property
    def n_logits(self) -> int:
        """Scores of a row: one for two classes."""
        return 1 if self.n_classes == 2 else self.n_classes

    @cached_property
    def truth(self) -> Floats:
        """1 for the class of each row: logits x rows."""
        wanted = [1] if self.n_classes == 2 else range(self.n_classes)
        return np.array([self.labels == k for k in wanted], np.float64)

    @cached_property
    def seen(self) -> Floats:
        """Weight of the rows of each code: columns x codes."""
        return self.sums(self.weights[None])[..., 0]

    def take(self, weights: Floats) -> "CardRows":
        """The rows with other weights; those of weight 0 are gone."""
        at = np.flatnonzero(weights > 0)
        return replace(self, codes=self.codes[:, at], labels=self.labels[at], weights=weights[at])

    def sums(self, parts: Floats) -> Floats:
        """Sums by code: columns x codes x parts."""
        width = max(each.n_codes for each in self.columns)
        found = np.empty((len(self.codes), width, len(parts)))
        for j, codes in enumerate(self.codes):
            for p, part in enumerate(parts):
                found[j, :, p] = np.bincount(codes, part, width)
        return found

    def likelihood(self, scores: Floats) -> tuple[float, Floats]:
        """Log-loss in nat, and probabilities of the logits, of scores: logits x rows."""
        if self.n_classes == 2:
            losses = np.logaddexp(0.0, np.where(self.labels == 1, -scores[0], scores[0]))
            proba = expit(scores)
        else:
            own = np.take_along_axis(scores, self.labels[None], 0)[0]
            losses, proba = logsumexp(scores, axis=0) - own, softmax(scores, axis=0)
        return float((_exact(losses) * self.weights).sum()), proba


#: The group of every code of a column; -1: nobody has it.
Groups = Mapping[int, Ints]


@dataclass(frozen=True)
class Draft:
    """Groups of codes and their values.

    Parameters
    ----------
    groups : of the columns that are in, by code.
    values : of each column, groups x logits.
    constants : one a logit.
    loss : penalised log-loss, in nat.
    unit : values are whole multiples of it; 0: they are no points.
    """

    groups: Groups
    values: Mapping[int, Floats]
    constants: Floats
    loss: float
    unit: float = 0.0

    @property
    def size(self) -> int:
        """Lines: groups but one of each column."""
        return sum(int(each.max()) for each in self.groups.values())

    def table(self, j: int) -> Floats:
        """What every code of a column says: codes x logits."""
        return np.vstack([self.values[j], np.zeros_like(self.constants)])[self.groups[j]]

    def points(self, j: int) -> Ints:
        """Points of the groups of a column: groups x logits."""
        return np.rint(self.values[j] / self.unit).astype(np.int64)

    def scores(self, rows: CardRows) -> Floats:
        """Logits x rows."""
        total = np.repeat(self.constants[:, None], rows.labels.size, 1)
        for j in self.groups:
            total += self.table(j).T[:, rows.codes[j]]
        return total

    def calibrated(self, scale: float, shift: float) -> "Draft":
        """Points that are worth so many times as much; scores of two classes are shifted, too."""
        unit = max(round(self.unit * scale / UNIT), 1) * UNIT
        values = {j: (self.points(j) * unit).astype(np.float64) for j in self.groups}
        constants = np.rint(self.constants / self.unit) * unit
        if constants.size == 1:
            constants = _exact(self.constants * scale + shift)
        return replace(self, values=values, constants=constants, unit=unit)


# -- Values of given groups ------------------------------------------------------------------------


class System:
    """The Newton system of groups: constants, and values less those of each column's largest group.

    Parameters
    ----------
    rows : those that train.
    groups : of codes.
    ridge : penalty on squared distances of the values of a column from their mean.
    """

    def __init__(self, rows: CardRows, groups: Groups, ridge: float):
        self.rows, self.groups = rows, groups
        self.places: dict[int, Ints] = {}  # the parameter of each group; -1: it has none
        sizes = [int(groups[j].max()) for j in groups]
        self.size = 1 + sum(sizes)
        self.penalty = np.zeros((self.size, self.size))
        self._holds = np.ones((rows.labels.size, self.size))
        at = 1
        for j, n in zip(groups, sizes, strict=True):
            known = groups[j] >= 0
            seen = np.bincount(groups[j][known], rows.seen[j, : known.size][known], n + 1)
            last = int(groups[j][rows.columns[j].n_codes - 1])
            silent = rows.columns[j].silent and last >= 0
            free, block = last if silent else int(seen.argmax()), slice(at, at + n)
            others = np.delete(np.arange(n + 1), free)
            self.places[j] = np.insert(np.arange(at, at + n), free, -1)
            self._holds[:, block] = groups[j][rows.codes[j]][:, None] == others
            self.penalty[block, block] = ridge * (np.eye(n) - 1.0 / (n + 1))
            at += n

    def point_of(self, draft: Draft) -> Floats:
        """Parameters x logits: the values of a draft whose groups are nearly these."""
        found = np.zeros((self.size + 1, self.rows.n_logits))
        found[0] = draft.constants
        for j, place in self.places.items():
            if j in draft.groups:
                first = [int((self.groups[j] == g).argmax()) for g in range(place.size)]
                told = draft.table(j)[first]
                base = told[int(place.argmin())]
                found[0] += base
                found[place] = told - base
        return _exact(found[:-1])

    def look(self, point: Floats) -> tuple[float, Floats]:
        """Penalised log-loss, and probabilities."""
        loss, proba = self.rows.likelihood((self._holds @ point).T)
        return loss + float((point * (self.penalty @ point)).sum()) / 2, proba

    def curvature(self, proba: Floats) -> Floats:
        """Second derivatives: (logits x parameters) squared."""
        m, n = self.size, self.rows.n_logits
        found = np.zeros((n, m, n, m))
        for k in range(n):
            for other in range(k + 1):
                curve = _exact(proba[k] * ((k == other) - proba[other])) * self.rows.weights
                part = self._holds.T @ (self._holds * curve[:, None])
                found[k, :, other] = found[other, :, k] = part + (k == other) * self.penalty
        flat = found.reshape(n * m, n * m)
        # Scores of all classes may rise together: a little holds them.
        flat[np.diag_indices_from(flat)] += 1e-6
        return flat

    def way(self, point: Floats, proba: Floats) -> Floats:
        """A Newton step."""
        rest = _exact(self.rows.truth - proba) * self.rows.weights
        slopes = (rest @ self._holds).T - self.penalty @ point
        step = np.linalg.solve(self.curvature(proba), slopes.T.ravel()).astype(np.float64)
        return step.reshape(slopes.T.shape).T

    def draft_of(self, point: Floats, loss: float) -> Draft:
        """The draft at a point."""
        padded = np.vstack([point, np.zeros_like(point[:1])])
        values = {j: padded[place] for j, place in self.places.items()}
        return Draft(self.groups, values, point[0].copy(), loss)


def refit(
    rows: CardRows, groups: Groups, start: Draft, ridge: float = RIDGE, steps: int = _STEPS
) -> Draft:
    """The values of groups, by Newton steps on the penalised log-loss.

    Parameters
    ----------
    rows : those that train.
    groups : of codes.
    start : a draft whose groups are nearly these.
    ridge : see `System`.
    steps : so many at most.
    """
    system = System(rows, dict(sorted(groups.items())), ridge)
    point = system.point_of(start)
    loss, proba = system.look(point)
    for _ in range(steps):
        way, share, before = system.way(point, proba), 1.0, loss
        while share > 1e-3:
            trial = _exact(point + share * way)
            found = system.look(trial)
            if found[0] < loss:
                point, (loss, proba) = trial, found
                break
            share /= 4
        if before - loss <= _ROUNDING:
            break
    return system.draft_of(point, loss)


# -- Lines -----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Split:
    """A group cut in two: its codes that become a group of their own."""

    gain: float
    column: int
    codes: Ints


class CardSearch:
    """Lines for some rows.

    Parameters
    ----------
    rows : those that train.
    forbidden : columns that do not enter.
    """

    def __init__(self, rows: CardRows, forbidden: Sequence[int] = ()):
        self.rows = rows
        seen = rows.seen > 0
        shares = np.bincount(rows.labels, rows.weights, rows.n_classes)
        logs = np.log(np.maximum(shares, 0.5) / shares.sum())
        start = _exact(logs[1:] - logs[:1] if rows.n_classes == 2 else logs - logs.mean())
        loss, _ = rows.likelihood(np.repeat(start[:, None], rows.labels.size, 1))
        self.empty = Draft({}, {}, start, loss)
        allowed = [j for j in range(len(seen)) if j not in set(forbidden) and seen[j].sum() > 1]
        self._numbers = [j for j in allowed if rows.columns[j].starts is not None]
        self._levels = [j for j in allowed if rows.columns[j].starts is None]
        self._whole = np.where(seen, 0, -1)
        self._prices = np.zeros(seen.shape)
        for j in self._numbers:
            # An interval without a row still belongs to one side of a cut.
            self._whole[j, : rows.columns[j].n_codes - 1] = 0
            self._prices[j, : rows.columns[j].n_codes] = rows.columns[j].prices
        self._least = min(max(_LEAST_SHARE * float(rows.weights.sum()), _FEWEST), _ENOUGH)
        self._n_candidates = int((seen[allowed].sum(1) - 1).sum())
        if len(allowed) > MOST_COLUMNS:
            self._screen()

    def greedy(self, most: int) -> Iterator[Draft]:
        """Drafts of 0, 1, 2 ... lines."""
        draft = self.empty
        yield draft
        while draft.size < most:
            found = self.best_split(draft)
            price = LINE_PRICE + (0.0 if draft.size else math.log(max(self._n_candidates, 1)))
            if found is None or found.gain < price:
                return
            size = draft.size
            draft = self._swapped(refit(self.rows, self._split(draft, found), draft))
            draft = straightened(self.rows, draft)
            if draft.size <= size:
                return
            yield draft

    def _screen(self) -> None:
        """Keep the columns of which one line alone says most; `best_split` looks at no other."""
        views, gains = self._gains(self.empty)[:2]
        best = np.full(len(self.rows.columns), -np.inf)
        np.maximum.at(best, views, gains.max(1))
        kept = set(np.argsort(-best, kind="stable")[:MOST_COLUMNS].tolist())
        self._numbers = [j for j in self._numbers if j in kept]
        self._levels = [j for j in self._levels if j in kept]

    def best_split(self, draft: Draft) -> _Split | None:
        """The condition that promises most, beyond the price of its digits."""
        if not self._numbers and not self._levels:
            return None
        views, gain, fair, prices, order, first = self._gains(draft)
        if not fair.any():
            return None
        net = np.where(fair, gain - prices, -np.inf)
        # Of gains that differ by rounding alone, the first is taken.
        at = (net.ravel() >= net.max() - 1e-9 * gain[fair].max()).argmax()
        v, p = divmod(int(at), gain.shape[1])
        return _Split(float(gain[v, p]), int(views[v]), order[v, first[v, p] : p + 1])

    def _gains(self, draft: Draft) -> tuple[Ints, Floats, Bools, Floats, Ints, Ints]:
        """What each cut promises: columns, gains, which may be, prices, order of codes, groups."""
        rows, n = self.rows, self.rows.n_logits
        _, proba = rows.likelihood(draft.scores(rows))
        parts = np.concatenate([rows.truth - proba, proba * (1 - proba)])
        sums = rows.sums(_exact(parts) * rows.weights)
        groups = self._whole.copy()
        for j, own in draft.groups.items():
            groups[j, : own.size] = own
        views, place = self._views(sums)
        # Codes group by group; those that nobody has come last.
        width = groups.shape[1]
        mine = np.where(groups < 0, width, groups)[views]
        order = np.lexsort((place, mine), axis=1)
        mine = np.take_along_axis(mine, order, 1)
        seen = np.take_along_axis(rows.seen[views], order, 1)
        added = np.take_along_axis(sums[views], order[..., None], 1)
        added = np.concatenate([added, seen[..., None]], 2).cumsum(1)
        first = _firsts(mine)
        last = width - 1 - np.flip(_firsts(np.flip(mine, 1)), 1)
        before = np.pad(added, ((0, 0), (1, 0), (0, 0)))
        before = np.take_along_axis(before, first[..., None], 1)
        low = added - before
        total = np.take_along_axis(added, last[..., None], 1) - before
        share = low[..., n : 2 * n] / np.maximum(total[..., n : 2 * n], 1e-300)
        step = low[..., :n] - share * total[..., :n]
        curve = np.maximum(low[..., n : 2 * n] * (1 - share), 0.0) + RIDGE
        gain = (step * step / curve).sum(2) / 2 * (1.0 if n == 1 else (n - 1) / n)
        at = np.arange(width)
        some, size = at - first + 1.0, last - first + 1.0
        named = gammaln(size + 1) - gammaln(some + 1) - gammaln(size - some + 1) - np.log(size)
        is_number = np.isin(views, self._numbers)[:, None]
        gain -= np.where(is_number, 0.0, np.maximum(named, 0.0))
        here, there = low[..., -1], total[..., -1] - low[..., -1]
        fair = (at < last) & (mine < width) & (seen > 0) & (np.minimum(here, there) >= self._least)
        fair &= gain > 0
        signs = np.array([column.sign for column in rows.columns])[views]
        fair &= signs[:, None] * step[..., 0] <= 0
        return views, gain, fair, np.take_along_axis(self._prices[views], order, 1), order, first

    def _views(self, sums: Floats) -> tuple[Ints, Floats]:
        """Columns, and the places of their codes in an order that a cut may follow."""
        n, width = self.rows.n_logits, sums.shape[1]
        plain = np.tile(np.arange(width, dtype=np.float64), (len(self._numbers), 1))
        missing = np.array([self.rows.columns[j].n_codes - 1 for j in self._numbers], np.int64)
        # What is missing stands on either side of a cut.
        ahead = plain.copy()
        ahead[np.arange(len(missing)), missing] = -1.0
        some = self.rows.seen[self._numbers, missing] > 0
        # Levels stand in the order of what their rows lack of each class.
        lean = np.round(sums[self._levels, :, :n] / (sums[self._levels, :, n:] + 1.0), 9)
        views = [*self._numbers, *np.array(self._numbers)[some], *self._levels * n]
        place = np.concatenate([plain, ahead[some], *np.moveaxis(lean, 2, 0)])
        return np.array(views, np.int64), place

    def _split(self, draft: Draft, split: _Split) -> Groups:
        """The groups, with one more."""
        j = split.column
        groups = draft.groups.get(j, self._whole[j, : self.rows.columns[j].n_codes]).copy()
        groups[split.codes] = groups.max() + 1
        return {**draft.groups, j: _in_order(groups)}

    def _swapped(self, draft: Draft) -> Draft:
        """One of the lines that say least for a better one, if there is any."""
        for groups in self._shorter(draft)[:_SWAPS]:
            less = refit(self.rows, groups, draft, steps=2)
            found = self.best_split(less)
            if found is None or found.gain < less.loss - draft.loss - 1.0:
                continue
            other = refit(self.rows, self._split(less, found), less, steps=4)
            if self._cost(other) < self._cost(draft) - _ROUNDING:
                return other
        return draft

    def _cost(self, draft: Draft) -> float:
        """Penalised log-loss, and the price of the cut-offs."""
        total = draft.loss
        for j, groups in draft.groups.items():
            total += self.rows.columns[j].prices[:-2][groups[1:-1] != groups[:-2]].sum()
        return total

    def _shorter(self, draft: Draft) -> list[Groups]:
        """The groups with each line taken out once, by about what that costs."""
        found: list[tuple[float, int, Groups]] = []
        for j, groups in draft.groups.items():
            values, known = draft.values[j], groups >= 0
            seen = np.bincount(groups[known], self.rows.seen[j, : groups.size][known])
            order = np.arange(len(values))
            if self.rows.columns[j].starts is None:
                order = np.argsort(values[:, 0], kind="stable")
            for a, b in pairwise(order.tolist()):
                rest = {i: each for i, each in draft.groups.items() if i != j}
                if len(values) > 2:
                    rest[j] = _in_order(np.where(groups == b, a, groups))
                apart = float(np.square(values[a] - values[b]).sum())
                cost = apart * seen[a] * seen[b] / max(seen[a] + seen[b], 1e-9)
                found.append((cost, len(found), rest))
        return [rest for _, _, rest in sorted(found, key=lambda each: each[:2])]


def _firsts(groups: Ints) -> Ints:
    """Where the run of equal numbers begins that each one is in."""
    fresh = np.diff(groups, axis=1, prepend=-2) != 0
    return np.maximum.accumulate(np.where(fresh, np.arange(groups.shape[1]), 0), axis=1)


def _in_order(groups: Ints) -> Ints:
    """Groups numbered in the order of their first codes."""
    names = list(dict.fromkeys(groups[groups >= 0].tolist()))
    return np.array([names.index(each) if each >= 0 else -1 for each in groups.tolist()])


# -- Numbers whose points only rise, or only fall --------------------------------------------------


def _unbent(draft: Draft, j: int, sign: int) -> Groups | None:
    """The groups without the step of a number that goes against a sign most; None: none does."""
    groups, values = draft.groups[j], draft.values[j][:, 0]
    shown = list(dict.fromkeys(groups[:-1].tolist()))
    against = sign * (values[shown[:-1]] - values[shown[1:]])
    if not against.size or against.max() <= 0:
        return None
    at = int(against.argmax())
    rest = {i: each for i, each in draft.groups.items() if i != j}
    joined = _in_order(np.where(groups == shown[at + 1], shown[at], groups))
    return {**rest, j: joined} if joined.max() > 0 else rest


def straightened(rows: CardRows, draft: Draft, ridge: float = RIDGE) -> Draft:
    """A draft whose numbers rise and fall as they may: neighbours that do not are one condition.

    Parameters
    ----------
    rows, draft : values fitted with this ridge.
    ridge : see `System`.
    """
    for j in list(draft.groups):
        while rows.columns[j].sign and j in draft.groups:
            groups = _unbent(draft, j, rows.columns[j].sign)
            if groups is None:
                break
            draft = refit(rows, groups, draft, ridge)
    return draft


def plainer(rows: CardRows, draft: Draft, ridge: float) -> Draft:
    """A draft whose numbers only rise, or only fall, where that costs next to nothing.

    Parameters
    ----------
    rows, draft : values fitted with this ridge.
    ridge : see `System`.
    """
    bend = min(BEND_PRICE, BEND_SHARE * draft.loss)
    for j in list(draft.groups):
        if rows.columns[j].starts is None or rows.n_logits > 1:
            continue
        found = []
        for sign in (1, -1):
            column = replace(rows.columns[j], sign=sign)
            columns = (*rows.columns[:j], column, *rows.columns[j + 1 :])
            other = straightened(replace(rows, columns=columns), draft, ridge)
            found.append((other.loss - draft.loss - bend * (draft.size - other.size), other))
        price, other = min(found, key=lambda each: each[0])
        if price < 0:
            draft = other
    return draft


# -- Whole points ----------------------------------------------------------------------------------


def whole_points(rows: CardRows, draft: Draft, ridge: float, most: int) -> Draft:
    """Points for groups, and their unit: the least penalised log-loss among several scales.

    Points are moved by ones on the quadratic form of the log-loss around its least.

    Parameters
    ----------
    rows, draft : values fitted with this ridge.
    ridge : see `System`.
    most : points of a line, at most.
    """
    if not draft.groups:
        return replace(draft, unit=UNIT)
    system = System(rows, draft.groups, ridge)
    point, n = system.point_of(draft), rows.n_logits
    full = form = system.curvature(system.look(point)[1])
    wanted = point.T.ravel()
    bound = np.where(np.arange(wanted.size) % system.size, float(most), np.inf)
    if n == 1:  # the constant follows, and is no whole number
        form = full[1:, 1:] - np.outer(full[1:, 0], full[0, 1:]) / full[0, 0]
        wanted, bound = wanted[1:], bound[1:]
    finest = max(float(np.abs(point[1:]).max()) / most, UNIT)
    tried = []
    for scale in _SCALES:
        unit = max(round(finest * scale / UNIT), 1) * UNIT
        told = unit * _steps(form, wanted, unit, bound)
        if n == 1:
            moved = float(full[0, 1:] @ (told - wanted)) / full[0, 0]
            told = np.append(point[0, 0] - moved, told)
        whole = _exact(told.reshape(n, -1).T)
        if n > 1:
            whole[0] -= whole[0].min()
        tried.append((system.look(whole)[0], unit, whole))
    loss, unit, whole = min(tried, key=lambda each: each[:2])
    found = replace(system.draft_of(whole, loss), unit=unit)
    joined = {j: _joined(rows.columns[j], found, j) for j in found.groups}
    joined = {j: each for j, each in joined.items() if each[1].any()}
    groups = {j: each[0] for j, each in joined.items()}
    return replace(found, groups=groups, values={j: each[1] for j, each in joined.items()})


def _steps(form: Floats, wanted: Floats, unit: float, bound: Floats) -> Floats:
    """Whole numbers near those wanted, by the form: each is moved as long as that helps."""
    z = np.clip(np.rint(wanted / unit), -bound, bound)
    slope = form @ (unit * z - wanted)
    for _ in range(60):
        moved = False
        for i in range(z.size):
            to = z[i] + np.rint(-slope[i] / (unit * max(form[i, i], 1e-9)))
            to = min(max(to, -bound[i]), bound[i])
            if to != z[i]:
                slope += form[:, i] * (unit * (to - z[i]))
                z[i], moved = to, True
        if not moved:
            break
    return z


def _joined(column: CardColumn, draft: Draft, j: int) -> tuple[Ints, Floats]:
    """Groups of equal values as one, of a number those that are neighbours; and the values."""
    groups, table = draft.groups[j], draft.table(j)
    if column.starts is None:
        values, back = np.unique(draft.values[j], axis=0, return_inverse=True)
        return np.where(groups >= 0, back.ravel()[groups], -1), values
    found = np.append(0, (table[1:-1] != table[:-2]).any(1).cumsum())
    missing = -1
    if groups[-1] >= 0:
        alike = (table[:-1] == table[-1]).all(1)
        missing = int(found[alike.argmax()] if alike.any() else found[-1] + 1)
    found = np.append(found, missing)
    return found, table[[int((found == g).argmax()) for g in range(int(found.max()) + 1)]]


# -- What folds decide -----------------------------------------------------------------------------


@dataclass(frozen=True)
class LearntCard:
    """A card, and what folds said of it.

    Parameters
    ----------
    draft : of all rows, with points.
    ridge : penalty that foretold rows left out best.
    losses : log-loss of rows left out with 0, 1, 2 ... lines, before rounding.
    order : columns in the order in which they came.
    left_out : logits of every row by a card that has not seen it; NaN of rows in no fold.
    """

    draft: Draft
    ridge: float
    losses: Floats
    order: tuple[int, ...]
    left_out: Floats


def learn_card(
    rows: CardRows, folds: Sequence[Floats], lines: int, most: int, forbidden: Sequence[int] = ()
) -> LearntCard:
    """Find lines and points; folds within the rows decide how many, how free, and the unit.

    Parameters
    ----------
    rows : all that train.
    folds : the share of each row that is held out, fold by fold.
    lines, most : lines of the card, and points of a line, at most.
    forbidden : columns that have no line.
    """
    walks, losses = [], np.zeros(lines + 1)
    for share in folds:
        held = _exact(rows.weights * share)
        train, test = rows.take(_exact(rows.weights - held)), rows.take(held)
        drafts = list(CardSearch(train, forbidden).greedy(lines))
        drafts += [drafts[-1]] * (lines + 1 - len(drafts))
        losses += [test.likelihood(draft.scores(test))[0] for draft in drafts]
        walks.append((train, test, drafts, np.flatnonzero(held > 0)))
    size, ridge = lines, RIDGE
    if folds:
        near = losses <= losses.min() + _SLACK * (losses[0] - losses.min())
        size = int(np.flatnonzero(near)[-1]) if losses.min() < losses[0] else 0
        told = np.zeros(len(RIDGES))
        for train, test, drafts, _ in walks:
            fits = [refit(train, drafts[size].groups, drafts[size], each) for each in RIDGES]
            told += [test.likelihood(fit.scores(test))[0] for fit in fits]
        ridge = RIDGES[int(told.argmin())]

    def pointed(some: CardRows, draft: Draft) -> Draft:
        fit = refit(some, draft.groups, draft, ridge)
        fit = plainer(some, straightened(some, fit, ridge), ridge)
        while True:  # a rounded number may go against its sign
            found = whole_points(some, fit, ridge, most)
            signs = [(j, some.columns[j].sign) for j in found.groups if some.columns[j].sign]
            against = (_unbent(found, j, sign) for j, sign in signs)
            groups = next((each for each in against if each is not None), None)
            if groups is None:
                return found
            fit = straightened(some, refit(some, groups, fit, ridge), ridge)

    path = list(CardSearch(rows, forbidden).greedy(size))
    order = tuple(dict.fromkeys(j for draft in path for j in draft.groups))
    found = pointed(rows, path[-1])
    left_out = np.full((rows.n_logits, rows.labels.size), np.nan)
    for train, test, drafts, at in walks:
        left_out[:, at] = pointed(train, drafts[size]).scores(test)
    if folds and found.groups:
        scale, shift = calibration(rows, left_out)
        left_out, found = left_out * scale + shift, found.calibrated(scale, shift)
    return LearntCard(found, ridge, losses, order, left_out)


def calibration(rows: CardRows, scores: Floats) -> tuple[float, float]:
    """The scale and the shift (of two classes) by which scores of rows left out are best.

    Parameters
    ----------
    rows : all of them.
    scores : logits x rows; NaN of rows that were never left out.
    """
    at = np.flatnonzero(~np.isnan(scores[0]))
    some, known = replace(rows, labels=rows.labels[at], weights=rows.weights[at]), scores[:, at]

    def loss(point: Floats) -> float:
        scale, shift = math.exp(point[0]), float(point[1:].sum())
        return some.likelihood(known * scale + shift)[0] + _PRIOR * (scale - 1) ** 2

    start = np.zeros(2 if rows.n_logits == 1 else 1)
    simplex = np.vstack([start, 0.25 * np.eye(start.size)])
    options = {"initial_simplex": simplex, "xatol": 1e-4, "fatol": 1e-5}
    best = minimize(loss, start, method="Nelder-Mead", options=options).x
    return math.exp(best[0]), float(best[1:].sum())
