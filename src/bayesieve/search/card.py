"""Cards: lines (conditions on columns), found one by one, and whole points for them.

score_k = b_k + sum over columns of the value of the group that the row's code is in.  Groups of
codes are the conditions of a card: intervals of a number, sets of levels.  One group of each column
has no points; each other one is a line.  All sums over rows are of whole numbers, so that a card
does not depend on the order of rows.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from ..checks import Array, Floats, Ints

#: Penalty on squared distances of values from their mean, while lines are sought.
RIDGE = 4.0

#: A line must gain so much at least; the first one also the log of the number of candidates.
LINE_PRICE = 0.2


# Codes that a column may have, with the one of missing values.
_CODES = 256

# Values and sums over rows are whole multiples of 2^-_BITS.
_BITS = 22
_ONE = float(1 << _BITS)

_FACTORIALS = np.array([math.lgamma(n + 1.0) for n in range(_CODES + 1)])

# A condition holds for such a share of the rows at least: for so many rows, from here to there.
_LEAST_SHARE, _FEWEST, _ENOUGH = 0.03, 5.0, 30.0

# Lines that are looked at again after each step.
_SWAPS = 3

# Newton steps, and what a change must gain to be one.
_STEPS, _ROUNDING = 12, 1e-6


@dataclass(frozen=True)
class CardColumn:
    """A column of a card.

    Parameters
    ----------
    name : of the column.
    n_codes : with the one of missing values, which is the last.
    number : are the codes intervals of a number?
    sign : its points may only rise (1) or fall (-1) with it; 0: both.
    """

    name: str
    n_codes: int
    number: bool
    sign: int = 0


@dataclass(frozen=True)
class CardRows:
    """Rows as codes.

    Parameters
    ----------
    columns : what each column is like.
    codes : columns x rows.
    labels, weights : class of each row, and what it counts.
    n_classes : how many classes there are.
    numbers : values of the columns that are numbers.
    """

    columns: tuple[CardColumn, ...]
    codes: Array
    labels: Ints
    weights: Floats
    n_classes: int
    numbers: Mapping[int, Floats] = field(default_factory=dict)

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
        codes, labels = np.ascontiguousarray(self.codes[:, at]), self.labels[at]
        numbers = {j: each[at] for j, each in self.numbers.items()}
        return CardRows(self.columns, codes, labels, weights[at], self.n_classes, numbers)

    def sums(self, parts: Floats) -> Floats:
        """Sums by code: columns x codes x parts."""
        from ..engine.kernels.card import sums_by_code

        out = np.zeros((len(self.codes), _CODES, len(parts)))
        sums_by_code(self.codes, np.ascontiguousarray(parts.T), out)
        return out

    def likelihood(self, scores: Floats) -> tuple[float, Floats]:
        """Log-loss in nat, and probabilities of the logits, of scores: logits x rows."""
        if self.n_classes == 2:
            s = scores[0]
            losses = np.logaddexp(0.0, np.where(self.labels == 1, -s, s))
            proba = (1.0 / (1.0 + np.exp(-np.clip(s, -700, 700))))[None]
        else:
            top = scores.max(0)
            odds = np.exp(scores - top)
            total = odds.sum(0)
            proba = odds / total
            own = np.take_along_axis(scores, self.labels[None], 0)[0]
            losses = np.log(total) + top - own
        return float(np.rint(losses * self.weights * _ONE).sum()) / _ONE, proba


#: The group of every code of a column; -1: nobody has it.
Groups = Mapping[int, Ints]


@dataclass(frozen=True)
class Card:
    """Groups of codes and their values.

    Parameters
    ----------
    groups : of the columns that are in, by code.
    values : of each column, groups x logits.
    constants : one a logit.
    loss : penalised log-loss, in nat.
    """

    groups: Groups
    values: Mapping[int, Floats]
    constants: Floats
    loss: float

    @property
    def n_lines(self) -> int:
        """Conditions with points: one group of each column has none."""
        return sum(int(each.max()) for each in self.groups.values())

    def tables(self) -> dict[int, Floats]:
        """What every code says: codes x logits."""
        found = {}
        for j, groups in self.groups.items():
            padded = np.vstack([self.values[j], np.zeros_like(self.constants)])
            found[j] = padded[groups]
        return found

    def scores(self, rows: CardRows) -> Floats:
        """Logits x rows."""
        total = np.repeat(np.rint(self.constants * _ONE)[:, None], rows.labels.size, 1)
        for j, table in self.tables().items():
            total += np.rint(table * _ONE).T[:, rows.codes[j]]
        return total / _ONE


@dataclass(frozen=True)
class _Split:
    """A group cut in two: its codes that become a group of their own."""

    gain: float
    column: int
    codes: Ints


class CardFit:
    """Cards of some rows.

    Parameters
    ----------
    rows : those that train.
    ridge : penalty on squared distances of the values of a column from their mean.
    forbidden : columns that do not enter.
    """

    def __init__(self, rows: CardRows, ridge: float = RIDGE, forbidden: Sequence[int] = ()):
        self.rows, self.ridge = rows, ridge
        shares = np.bincount(rows.labels, rows.weights, rows.n_classes)
        logs = np.log(np.maximum(shares, 0.5) / shares.sum())
        start = logs[1:] - logs[:1] if rows.n_classes == 2 else logs - logs.mean()
        self._allowed = [j for j in range(len(rows.columns)) if j not in set(forbidden)]
        self._allowed = [j for j in self._allowed if (rows.seen[j] > 0).sum() > 1]
        start = np.rint(start * _ONE) / _ONE
        loss, _ = rows.likelihood(np.repeat(start[:, None], rows.labels.size, 1))
        self._whole = np.where(rows.seen > 0, 0, -1)
        self._least = min(max(_LEAST_SHARE * float(rows.weights.sum()), _FEWEST), _ENOUGH)
        kinds = [each.sign if each.number else 2 for each in rows.columns]
        self._signs = np.array(kinds)
        self._orders: dict[int, tuple[Ints | None, list[Ints]]] = {}
        self.empty = Card({}, {}, start, loss)

    # -- values of given groups ----------------------------------------------------------------

    def refit(self, groups: Groups, start: Card | None = None, steps: int = _STEPS) -> Card:
        """The values of groups, by Newton steps on the penalised log-loss."""
        system = System(self.rows, groups, self.ridge)
        point = system.point_of(start or self.empty)
        loss, proba = system.look(point)
        for _ in range(steps):
            way = system.way(point, proba)
            share, moved = 1.0, False
            while share > 1e-3:
                trial = np.rint((point + share * way) * _ONE) / _ONE
                found = system.look(trial)
                if found[0] < loss:
                    moved = loss - found[0] > _ROUNDING
                    point, (loss, proba) = trial, found
                    break
                share /= 4
            if not moved:
                break
        return system.card_of(point, loss)

    # -- lines ---------------------------------------------------------------------------------

    def best_split(self, card: Card, among: Sequence[int] | None = None) -> _Split | None:
        """The condition that promises most, beyond what it takes to name its levels."""
        from ..engine.kernels.card import best_cuts

        rows, n = self.rows, self.rows.n_logits
        _, proba = rows.likelihood(card.scores(rows))
        rest = np.rint((rows.truth - proba) * rows.weights * _ONE)
        curve = np.rint(proba * (1 - proba) * rows.weights * _ONE)
        sums = rows.sums(np.concatenate([rest, curve])) / _ONE
        groups = self._whole.copy()
        for j, own in card.groups.items():
            groups[j, : own.size] = own
        views: list[int] = []
        orders: list[Ints] = []
        for j in self._allowed if among is None else among:
            column, mine = rows.columns[j], card.groups.get(j)
            if column.number:
                known = self._orders.get(j)
                if known is None or known[0] is not mine:
                    known = mine, _orders_of_number(column, groups[j, : column.n_codes])
                    self._orders[j] = known
                found = known[1]
            else:
                part = sums[j, : column.n_codes]
                found = _orders_of_levels(groups[j, : column.n_codes], part[:, :n], part[:, n:])
            views += [j] * len(found)
            orders += found
        if not views:
            return None
        listed = np.zeros((len(views), _CODES), np.int64)
        for at, order in enumerate(orders):
            listed[at, : order.size] = order
        ends = np.array([order.size for order in orders])
        gain, place = np.empty(len(views)), np.empty(len(views), np.int64)
        told = np.array(views), listed, ends, groups, self._signs, _FACTORIALS
        best_cuts(sums, rows.seen, *told, self.ridge, self._least, gain, place)
        # Of gains that differ by rounding alone, the first is taken.
        at = int(np.flatnonzero(gain >= gain.max() * (1 - 1e-9))[0])
        if gain[at] <= 0:
            return None
        j, order = views[at], orders[at]
        low = order[: place[at] + 1]
        return _Split(float(gain[at]), j, low[groups[j, low] == groups[j, low[-1]]])

    def split(self, card: Card, split: _Split) -> Groups:
        """The groups, with one more."""
        column = self.rows.columns[split.column]
        groups = card.groups.get(split.column)
        if groups is None:
            groups = self._whole[split.column, : column.n_codes]
        groups = groups.copy()
        groups[split.codes] = groups.max() + 1
        return {**card.groups, split.column: _in_order(groups)}

    def merged(self, card: Card) -> Iterator[tuple[Groups, float, int]]:
        """The groups with each line taken out once, and about what that costs."""
        for j, groups in card.groups.items():
            values = card.values[j][:, 0] if self.rows.n_logits == 1 else card.values[j].mean(1)
            seen = np.bincount(groups[groups >= 0], self.rows.seen[j, : groups.size][groups >= 0])
            for a, b in _neighbours(self.rows.columns[j], groups, values):
                found = groups.copy()
                found[found == b] = a
                apart = np.square(card.values[j][a] - card.values[j][b]).sum()
                cost = apart * seen[a] * seen[b] / (seen[a] + seen[b]) / 8
                rest = {i: each for i, each in card.groups.items() if i != j}
                if found.max() > 0 and len(set(found[found >= 0].tolist())) > 1:
                    rest[j] = _in_order(found)
                yield rest, cost, j

    def greedy(self, most: int, keep: Sequence[int] = ()) -> Iterator[Card]:
        """Cards of 0, 1, 2 ... lines."""
        card, first, waiting = self.empty, True, list(keep)
        yield card
        n_candidates = sum(int((self.rows.seen[j] > 0).sum()) - 1 for j in self._allowed)
        allowed = list(self._allowed)
        while card.n_lines < most:
            kept = bool(waiting)
            found = self.best_split(card, [waiting.pop(0)] if kept else allowed)
            if found is None and kept:
                continue
            price = LINE_PRICE + math.log(max(n_candidates, 1)) * first
            if found is None or (not kept and found.gain < price):
                return
            more = self.refit(self.split(card, found), card)
            more = self.swapped(more, keep, most if more.n_lines % 5 == 0 else _SWAPS)
            more = self.obedient(more)
            if more.n_lines <= card.n_lines:
                # What had to rise fell: the column has no more to say.
                allowed = [j for j in allowed if j != found.column]
                continue
            card, first = more, False
            yield card

    def swapped(self, card: Card, keep: Sequence[int] = (), most: int = _SWAPS) -> Card:
        """Some lines, those that say least first, each once for a better one."""
        tried: set[int] = set()
        for _ in range(min(card.n_lines, most)):
            ways = list(self.merged(card))
            left = [(cost, i) for i, (_, cost, _) in enumerate(ways) if i not in tried]
            if not left:
                break
            _, i = min(left)
            tried.add(i)
            groups, _, j = ways[i]
            if j in keep and j not in groups:
                continue
            less = self.refit(groups, card, steps=2)
            found = self.best_split(less)
            if found is None or found.gain < less.loss - card.loss - 1.0:
                continue
            other = self.refit(self.split(less, found), less, steps=4)
            if other.loss < card.loss - _ROUNDING:
                card = other
        return card

    def obedient(self, card: Card) -> Card:
        """Neighbours that fall where they must rise are one."""
        while True:
            wrong = None
            for j, groups in card.groups.items():
                sign, column = self.rows.columns[j].sign, self.rows.columns[j]
                if not sign:
                    continue
                last = int(groups[: column.n_codes - 1].max(initial=0))
                steps = sign * np.diff(card.values[j][: last + 1, 0])
                if steps.size and steps.min() < 0:
                    wrong = j, int(steps.argmin())
                    break
            if wrong is None:
                return card
            j, at = wrong
            found = card.groups[j].copy()
            found[found > at] -= 1
            rest = {i: each for i, each in card.groups.items() if i != j}
            if found.max() > 0:
                rest[j] = found
            card = self.refit(rest, card)


def _in_order(groups: Ints) -> Ints:
    """Groups numbered in the order of their first codes."""
    found = np.full(groups.shape, -1)
    _, first = np.unique(groups[groups >= 0], return_index=True)
    known = groups[groups >= 0][np.sort(first)]
    for at, group in enumerate(known.tolist()):
        found[groups == group] = at
    return found


def _orders_of_number(column: CardColumn, groups: Ints) -> list[Ints]:
    """Codes group by group; what is missing stands on either side of a cut."""
    codes = np.flatnonzero(groups >= 0)
    place = codes.astype(np.float64)
    found = [codes[np.lexsort((place, groups[codes]))]]
    if codes.size and codes[-1] == column.n_codes - 1:
        place[-1] = -1.0
        found.append(codes[np.lexsort((place, groups[codes]))])
    return found


def _orders_of_levels(groups: Ints, g: Floats, h: Floats) -> list[Ints]:
    """Codes group by group, in the order of what their rows lack of each class."""
    codes = np.flatnonzero(groups >= 0)
    lean = np.round(g[codes] / (h[codes] + 1.0), 9)
    return [codes[np.lexsort((codes, each, groups[codes]))] for each in lean.T]


def _neighbours(column: CardColumn, groups: Ints, values: Floats) -> Iterator[tuple[int, int]]:
    """Pairs of groups that may become one."""
    n = int(groups.max()) + 1
    if not column.number:
        order = np.lexsort((np.arange(n), values))
        yield from zip(order[:-1].tolist(), order[1:].tolist(), strict=True)
        return
    missing = int(groups[-1])
    alone = missing >= 0 and not (groups[:-1] == missing).any()
    last = n - 1 - alone
    for at in range(last):
        yield at, at + 1
    if alone:
        near = int(np.abs(values[:-1] - values[-1]).argmin())
        yield near, missing


class System:
    """The Newton system of groups: constants, and values less those of each column's largest group.

    Parameters
    ----------
    rows : those that train.
    groups : of codes.
    ridge : see `CardFit`.
    """

    def __init__(self, rows: CardRows, groups: Groups, ridge: float):
        self.rows, self.groups = rows, groups
        self.columns = sorted(groups)
        sizes = [int(groups[j].max()) + 1 for j in self.columns]
        self.size = 1 + sum(sizes) - len(sizes)
        # The parameter of each group; the last one stands for the group that has none.
        self.places: list[Ints] = []
        self._at = np.empty((rows.labels.size, len(sizes)), np.int64)
        self.penalty = np.zeros((self.size, self.size))
        at = 1
        for c, (j, n) in enumerate(zip(self.columns, sizes, strict=True)):
            known = groups[j] >= 0
            seen = np.bincount(groups[j][known], rows.seen[j, : known.size][known], n)
            place = np.insert(np.arange(at, at + n - 1), int(seen.argmax()), self.size)
            self.places.append(place)
            self._at[:, c] = place[np.maximum(groups[j], 0)][rows.codes[j]]
            block = slice(at, at + n - 1)
            self.penalty[block, block] = ridge * (np.eye(n - 1) - 1.0 / n)
            at += n - 1

    def point_of(self, card: Card) -> Floats:
        """Parameters x logits, as near to a card as these groups are."""
        found = np.zeros((self.size + 1, self.rows.n_logits))
        found[0] = card.constants
        tables = card.tables()
        for j, place in zip(self.columns, self.places, strict=True):
            if j not in tables:
                continue
            known = self.groups[j] >= 0
            mine, seen = self.groups[j][known], self.rows.seen[j, : known.size][known]
            total = np.maximum(np.bincount(mine, seen, place.size), 1e-12)
            for k, told in enumerate(tables[j][known].T):
                mean = np.bincount(mine, seen * told, place.size) / total
                free = int(np.flatnonzero(place == self.size)[0])
                found[0, k] += mean[free]
                found[place, k] = mean - mean[free]
        return np.rint(found[:-1] * _ONE) / _ONE

    def look(self, point: Floats) -> tuple[float, Floats]:
        """Penalised log-loss, and probabilities."""
        from ..engine.kernels.card import add_up

        scores = np.empty((self.rows.n_logits, self.rows.labels.size))
        add_up(self._at, np.vstack([point, np.zeros_like(point[:1])]), scores)
        loss, proba = self.rows.likelihood(scores)
        return loss + float((point * (self.penalty @ point)).sum()) / 2, proba

    def slopes(self, point: Floats, proba: Floats) -> Floats:
        """How the loss falls: parameters x logits."""
        from ..engine.kernels.card import add_slopes

        rows, found = self.rows, np.zeros((self.size + 1, self.rows.n_logits))
        add_slopes(self._at, np.rint((rows.truth - proba) * rows.weights * _ONE), found)
        return found[:-1] / _ONE - self.penalty @ point

    def curvature(self, proba: Floats) -> Floats:
        """Second derivatives: (logits x parameters) squared."""
        from ..engine.kernels.card import add_curvature

        rows, m, n = self.rows, self.size, self.rows.n_logits
        pairs = [(k, other) for k in range(n) for other in range(k + 1)]
        parts = np.array([proba[k] * ((k == other) - proba[other]) for k, other in pairs])
        sums = np.zeros((len(pairs), m + 1, m + 1))
        add_curvature(self._at, np.rint(parts * rows.weights * _ONE), sums)
        found = np.zeros((n, m, n, m))
        for (k, other), part in zip(pairs, sums[:, :-1, :-1] / _ONE, strict=True):
            whole = part + part.T - np.diag(np.diag(part))
            if k == other:
                whole = whole + self.penalty
            found[k, :, other] = found[other, :, k] = whole
        flat = found.reshape(n * m, n * m)
        # Scores of all classes may rise together: a little holds them.
        flat[np.diag_indices_from(flat)] += 1e-6
        return flat

    def way(self, point: Floats, proba: Floats) -> Floats:
        """A Newton step."""
        slopes = self.slopes(point, proba).T
        found = np.linalg.solve(self.curvature(proba), slopes.ravel()).astype(np.float64)
        return found.reshape(slopes.shape).T

    def card_of(self, point: Floats, loss: float) -> Card:
        """The card at a point."""
        padded = np.vstack([point, np.zeros_like(point[:1])])
        values = {j: padded[at] for j, at in zip(self.columns, self.places, strict=True)}
        return Card(self.groups, values, point[0].copy(), loss)
