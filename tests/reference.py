"""Slow, obvious twins of the library: plain loops, every model refitted from scratch."""

import math
from fractions import Fraction
from functools import cache

import numpy as np
from scipy.special import ndtr

BITS = 40


# -- elementary functions ------------------------------------------------------------------------


def exp_fixed(x):
    """Exp by ln 2 range reduction and Taylor's polynomial of degree 13, in double precision."""
    k = math.floor(x * 1.4426950408889634 + 0.5)
    r = (x - k * 0.6931471803691238) - k * 1.9082149292705877e-10
    p = 0.0
    for n in range(13, -1, -1):
        p = p * r + 1.0 / math.factorial(n)
    return p * 2.0**k


def log_fixed(z):
    """Log by halving and the series of atanh up to the 23rd power."""
    shift = 0.0
    while z >= 1.4142135623730951:
        z, shift = z * 0.5, shift + 1.0
    u = (z - 1.0) / (z + 1.0)
    p = 0.0
    for n in range(23, 0, -2):
        p = p * (u * u) + 1.0 / n
    return shift * 0.6931471805599453 + 2.0 * u * p


@cache
def log_of(fraction):
    """Log of a positive fraction: the rounded logs of the primes of top less those of bottom."""
    return (_units(fraction.numerator) - _units(fraction.denominator)) / 2.0**BITS


@cache
def _units(number):
    for prime in range(2, math.isqrt(number) + 1):
        if number % prime == 0:
            return _units(prime) + _units(number // prime)
    return math.floor(log_fixed(float(number)) * 2**BITS + 0.5) if number > 1 else 0


@cache
def fraction(number):
    """The simple fraction that a float stands for."""
    return Fraction(number).limit_denominator(2**20)


# -- terms ---------------------------------------------------------------------------------------


def is_missing(value):
    return value is None or value == "" or value != value


def count_term(value, rows, k, problem, column, means):
    """(finite term, impossible?) of a discrete value for class k; rows: (value, label, weight)."""
    kind, levels = problem["models"][column], problem["levels"][column]
    if is_missing(value) or value not in levels:
        return 0.0, False
    if kind == "categorical" and not any(v == value and w for v, _, w in rows):
        return 0.0, False
    factor = fraction(problem["factors"][k])
    counts = [sum(int(w) for v, y, w in rows if v == level and y == k) for level in levels]
    at = levels.index(value)
    if problem["smoothing"] == "mean":
        pseudo = [1.0 / len(levels)] * len(levels)
        if kind == "bernoulli":
            pseudo = [1.0 - means[k], means[k]]
        top = counts[at] * float(factor) + pseudo[at]
        bottom = sum(counts) * float(factor) + sum(pseudo)
        if top <= 0:
            return -float(np.log(bottom)), True
        return float(np.log(top) - np.log(bottom)), False
    top = counts[at] * factor + fraction(problem["smoothing"])
    bottom = sum(counts) * factor + len(levels) * fraction(problem["smoothing"])
    if bottom == 0:
        return -log_of(Fraction(len(levels))), False
    if top == 0:
        return -log_of(bottom), True
    return log_of(top / bottom), False


def moments(rows, k):
    """Weight, mean and sum of squares of class k."""
    weight = total = 0.0
    for v, y, w in rows:
        if y == k and not is_missing(v):
            weight += w
            total += w * v
    mean = total / weight if weight else 0.0
    squares = left_over = 0.0
    for v, y, w in rows:
        if y == k and not is_missing(v):
            squares += w * (v - mean) * (v - mean)
            left_over += w * (v - mean)
    if weight:
        shift = left_over / weight
        mean, squares = mean + shift, squares - shift * left_over
    return weight, mean, squares


def gaussian_terms(value, rows, problem, column):
    """Terms of a continuous value for all classes."""
    n_classes = problem["n_classes"]
    if is_missing(value):
        return [0.0] * n_classes
    known = sorted({v for v in problem["X"][column] if not is_missing(v)})
    resolution = (known[-1] - known[0]) / (len(known) - 1) if len(known) > 1 else 0.01
    pooled = problem["models"][column] == "gaussian-pooled"
    extra = problem["extra_variance"]
    stats = [moments(rows, k) for k in range(n_classes)]
    weight = sum(float(problem["factors"][k]) * stats[k][0] for k in range(n_classes))
    within = sum(float(problem["factors"][k]) * stats[k][2] for k in range(n_classes))
    terms = []
    for n, mean, squares in stats:
        variance = within / weight if pooled and weight else squares / n if n else 0.0
        if pooled or extra is not None:
            if n == 0:
                terms.append(-math.log(resolution * max(len(known), 1)))
                continue
            if extra is None:
                variance = max(variance, (resolution / 6) ** 2)
            else:
                variance = max(variance + extra, np.finfo(float).tiny)
            apart = value - mean
            terms.append(
                -0.5 * (math.log(2 * math.pi) + math.log(variance))
                - apart * (apart / (2 * variance))
            )
        elif n == 0:
            terms.append(-math.log(max(len(known), 1)))
        else:
            sd = max(math.sqrt(variance), resolution / 6)
            z, half = abs(value - mean) / sd, resolution / (2 * sd)
            assert half >= 1e-3, "the twin has no series for narrow intervals"
            p = ndtr(half - z) - ndtr(-half - z)
            terms.append(max(math.log(p) if p > 0 else -math.inf, math.log(1e-75)))
    if pooled or extra is not None:
        # A density stays within 2^14 nat of 0; lines far below are lifted as a whole.
        lift = max(-(2.0**13) - max(terms), 0.0)
        terms = [min(max(t + lift, -(2.0**14)), 2.0**14) for t in terms]
    return terms


def binary_means(problem, rows_of):
    """Guyon's prior: mean over binary columns of the frequency of 1, by class."""
    means = []
    for k in range(problem["n_classes"]):
        shares = []
        for column, kind in enumerate(problem["models"]):
            if kind == "bernoulli":
                mine = [(v, w) for v, y, w in rows_of(column) if y == k and not is_missing(v)]
                weight = sum(w for _, w in mine)
                if weight:
                    shares.append(sum(w for v, w in mine if v == 1) / weight)
        means.append(sum(shares) / len(shares) if shares else 0.5)
    return means


def prior_terms(problem, labels, weights):
    """(finite, impossible?) log-priors from the rows of a training set."""
    n_classes = problem["n_classes"]
    if problem["priors"] is None:
        counts = [
            sum(int(w) for y, w in zip(labels, weights, strict=True) if y == k)
            * fraction(problem["factors"][k])
            for k in range(n_classes)
        ]
        total = sum(counts)
        return [
            (log_of(c / total), False) if c > 0 else (-float(np.log(max(float(total), 1.0))), True)
            for c in counts
        ]
    given = problem["priors"]
    if isinstance(given, str):
        given = [1 / n_classes] * n_classes
    return [(log_of(fraction(p)), False) if p > 0 else (0.0, True) for p in given]


# -- the ledger, without a ledger ----------------------------------------------------------------


class Twin:
    """Scores any subset by refitting for every line; the rounding is the library's own."""

    def __init__(self, problem, criterion, lines):
        """`lines`: (row, training weights) pairs; a weight of 0 leaves a row out."""
        self.problem = problem
        self.criterion = criterion
        self.lines = lines
        raw = [self._raw_terms(row, weights) for row, weights in lines]
        self.cost = self._cost(raw)
        self.memo = {}
        self.terms = [self._line_terms(found) for found in raw]

    def _cost(self, raw):
        """What an impossible value costs: a power of two beyond twice the largest finite sum."""
        problem = self.problem
        total = 0.0
        largest = {}
        impossible = False
        for found in raw:
            for j, terms in enumerate(found):
                largest[j] = max([largest.get(j, 0.0)] + [abs(finite) for finite, _ in terms])
                impossible |= any(never for _, never in terms)
        for j, bound in largest.items():
            if j == 0 or problem["models"][j - 1] in ("bernoulli", "categorical"):
                total += bound
            elif problem["models"][j - 1] == "gaussian" and problem["extra_variance"] is None:
                total += -math.log(1e-75)
            else:
                total += 2.0**14
        assert total < 2**18, "the twin works in units of 2^-40 only"
        self.impossible = impossible
        return 2.0 ** math.ceil(math.log2(2 * max(total, 1.0) + 1024)) if impossible else 0.0

    def _raw_terms(self, row, weights):
        """[prior, column 0, column 1, ...], each a list of (finite, impossible?) by class."""
        problem = self.problem
        labels = problem["labels"]
        found = [prior_terms(problem, labels, weights)]

        def rows_of(column):
            return [
                (v, y, w)
                for v, y, w in zip(problem["X"][column], labels, weights, strict=True)
                if w
            ]

        means = binary_means(problem, rows_of) if problem["smoothing"] == "mean" else None
        for column, kind in enumerate(problem["models"]):
            value, rows = problem["X"][column][row], rows_of(column)
            if kind in ("bernoulli", "categorical"):
                found.append(
                    [
                        count_term(value, rows, k, problem, column, means)
                        for k in range(problem["n_classes"])
                    ]
                )
            else:
                found.append([(t, False) for t in gaussian_terms(value, rows, problem, column)])
        return found

    def _line_terms(self, raw):
        return [
            [
                round(math.ldexp(finite, BITS)) - (int(self.cost * 2**BITS) if never else 0)
                for finite, never in terms
            ]
            for terms in raw
        ]

    def score(self, columns):
        """Exact loss of a set of columns, as a fraction."""
        key = frozenset(columns)
        if key not in self.memo:
            problem = self.problem
            losses, weights = [0] * problem["n_classes"], [0] * problem["n_classes"]
            for (row, _), terms in zip(self.lines, self.terms, strict=True):
                sums = [
                    terms[0][k] + sum(terms[j + 1][k] for j in key)
                    for k in range(problem["n_classes"])
                ]
                y = problem["labels"][row]
                losses[y] += problem["weights"][row] * self.row_value(sums, y)
                weights[y] += problem["weights"][row]
            total = sum(f * n for f, n in zip(problem["factors"], losses, strict=True))
            weight = sum(f * n for f, n in zip(problem["factors"], weights, strict=True))
            self.memo[key] = Fraction(total, weight * 2**BITS)
        return self.memo[key]

    def row_value(self, sums, y):
        """The line's contribution in units of 2^-BITS, rounded as the library rounds it."""
        x = [(s - sums[y]) * 2.0**-BITS for s in sums]
        if self.criterion == "error":
            best = max(range(len(sums)), key=lambda k: (sums[k], -k))
            return 2**BITS if best != y else 0
        if self.criterion == "probability":
            odds = 0.0
            for k, apart in enumerate(x):
                if k != y:
                    odds += exp_fixed(min(max(apart, -50.0), 50.0))
            return math.floor(odds / (1.0 + odds) * 2.0**BITS + 0.5)
        top = max(0.0, *x)
        total = 0.0
        for apart in x:
            total += exp_fixed(max(apart - top, -50.0))
        return math.floor((top + log_fixed(total)) * 2.0**BITS + 0.5)


# -- searches ------------------------------------------------------------------------------------


class Walk:
    """A search's state: units in, and what was visited."""

    def __init__(self, twin, units, keep, least, most):
        self.twin, self.units, self.keep, self.least, self.most = twin, units, keep, least, most
        self.inside = []
        self.visited = []

    def columns(self, inside):
        return [c for u in inside for c in self.units[u]]

    def loss(self, inside=None):
        return self.twin.score(self.columns(self.inside if inside is None else inside))

    def size(self, inside=None):
        return len(self.columns(self.inside if inside is None else inside))

    def start(self, inside):
        self.inside = list(inside)
        self.visited.append(("start", tuple(sorted(inside)), self.loss()))

    def joined(self):
        """Every subset with one unit more that fits."""
        return {
            u: [*self.inside, u]
            for u in range(len(self.units))
            if u not in self.inside and self.size() + len(self.units[u]) <= self.most
        }

    def left(self):
        """Every subset with one unit fewer that fits."""
        return {
            u: [v for v in self.inside if v != u]
            for u in sorted(self.inside)
            if u not in self.keep and self.size() - len(self.units[u]) >= self.least
        }

    def best(self, options):
        return min(options, key=lambda u: (self.loss(options[u]), u)) if options else None

    def take(self, action, unit, inside):
        self.inside = inside
        self.visited.append((action, unit, self.loss()))

    def allowed(self):
        return self.least <= self.size() <= self.most


def sweep(walk, direction, watch=lambda: None):
    """Greedy steps to the end."""
    action = "add" if direction == "forward" else "drop"
    while True:
        options = walk.joined() if direction == "forward" else walk.left()
        unit = walk.best(options)
        if unit is None:
            return
        walk.take(action, unit, options[unit])
        watch()


def run_search(name, walk):
    """Run a search by name; what it visited is in walk.visited."""
    everything = list(range(len(walk.units)))
    if name in ("forward", "backward"):
        walk.start(sorted(walk.keep) if name == "forward" else everything)
        sweep(walk, name)
    elif name in ("forward-backward", "backward-forward"):
        phases(walk, name.split("-")[0], everything)
    else:
        floating(walk, "forward" if name == "sffs" else "backward", everything)
    return walk.visited


def phases(walk, direction, everything):
    best = None
    start = sorted(walk.keep) if direction == "forward" else everything

    def watch():
        nonlocal best
        if walk.allowed():
            rank = (walk.loss(), walk.size())
            if best is None or rank < best[0]:
                best = (rank, list(walk.inside))

    while True:
        before = best
        walk.start(start)
        watch()
        sweep(walk, direction, watch)
        if best is None or (before is not None and not best[0][0] < before[0][0]):
            return
        start = best[1]
        direction = "backward" if direction == "forward" else "forward"


def floating(walk, direction, everything):
    walk.start(sorted(walk.keep) if direction == "forward" else everything)
    best = {walk.size(): walk.loss()}
    there, back = ("add", "drop") if direction == "forward" else ("drop", "add")
    while True:
        options = walk.joined() if there == "add" else walk.left()
        moved = walk.best(options)
        if moved is None:
            return
        walk.take(there, moved, options[moved])
        best[walk.size()] = min(best.get(walk.size(), walk.loss()), walk.loss())
        while True:
            if back == "drop":
                options = walk.left()
            else:
                most, walk.most = walk.most, math.inf
                options = walk.joined()
                walk.most = most
            unit = walk.best(options)
            if unit is None or unit == moved:
                break
            size = walk.size(options[unit])
            if size in best and not walk.loss(options[unit]) < best[size]:
                break
            walk.take(back, unit, options[unit])
            best[size] = walk.loss()


def doubled_pairs(truth, scores):
    """Twice the concordant pairs (ties count one), and twice all pairs of unlike rows."""
    positive = [s for t, s in zip(truth, scores, strict=True) if t]
    negative = [s for t, s in zip(truth, scores, strict=True) if not t]
    counted = sum(int(p > n) + int(p >= n) for p in positive for n in negative)
    return counted, 2 * len(positive) * len(negative)


# -- stability -----------------------------------------------------------------------------------


def nogueira(selected):
    """Stability as the paper writes it: variances of columns, chance correction, in fractions."""
    m, d = len(selected), len(selected[0])
    spread = []
    for f in range(d):
        p = Fraction(sum(int(row[f]) for row in selected), m)
        spread.append(Fraction(m, m - 1) * p * (1 - p))
    share = Fraction(sum(int(v) for row in selected for v in row), m * d)
    if share in (0, 1):
        return None
    return 1 - (sum(spread) / d) / (share * (1 - share))


def nogueira_variance(selected):
    """Variance of the measure as the paper writes it, in fractions."""
    m, d = len(selected), len(selected[0])
    p = [Fraction(sum(int(row[f]) for row in selected), m) for f in range(d)]
    kbar, measure = sum(p), nogueira(selected)
    shares = []
    for row in selected:
        k = sum(int(v) for v in row)
        agreement = Fraction(sum(int(v) * q for v, q in zip(row, p, strict=True)), d)
        chance = k * kbar / d**2
        size = 2 * k * kbar / d**2 - Fraction(k, d) - kbar / d + 1
        scale = (kbar / d) * (1 - kbar / d)
        shares.append((agreement - chance + measure / 2 * size) / scale)
    mean = sum(shares) / m
    return Fraction(4, m**2) * sum((v - mean) ** 2 for v in shares)
