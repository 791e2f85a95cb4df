"""Every score of the library against a slow twin, written from its definition, and scipy."""

import itertools
import math

import numpy as np
import pytest
from scipy import signal, stats

from bayesieve.engine.threads import Threads
from bayesieve.indicators import SCORES, Indicators, TraceScore
from bayesieve.indicators.kernels.traces import kernel_of
from bayesieve.indicators.scores import LIBRARY

# -- twins: the trace of one series, place by place ----------------------------------------------


def windows(x, size):
    size = size or len(x)
    return [x[s : s + size] for s in range(len(x) - size + 1)]


def halves(x, window):
    half = window // 2
    return [(part[:half], part[half:]) for part in windows(x, 2 * half)]


def robust(x, among):
    centre = np.median(among)
    unit = stats.median_abs_deviation(among, scale="normal")
    if unit == 0:
        unit = np.abs(among - centre).mean() * math.sqrt(math.pi / 2)
    return abs(x - centre) / unit if unit else 0.0


def around(x, i, window):
    start = min(max(i - window // 2, 0), len(x) - window)
    return x[start : start + window]


def run_around(flags, i):
    """Length of the run of True that a point is in."""
    lo = hi = i
    while lo > 0 and flags[lo]:
        lo -= 1
    while hi + 1 < len(flags) and flags[hi + 1]:
        hi += 1
    return hi - lo + 1


def moving_average(x, weight, reference):
    first = x[:reference]
    found, average = [], 0.0
    for t, value in enumerate(x, 1):
        average = weight * (value - first.mean()) / first.std(ddof=1) + (1 - weight) * average
        error = math.sqrt(weight / (2 - weight) * (1 - (1 - weight) ** (2 * t)))
        found.append(abs(average) / error)
    return found


def kendall_z(part):
    n = len(part)
    total = sum(np.sign(b - a) for a, b in itertools.combinations(part, 2))
    ties = np.unique(part, return_counts=True)[1]
    spread = (n * (n - 1) * (2 * n + 5) - (ties * (ties - 1) * (2 * ties + 5)).sum()) / 18
    return max(abs(total) - 1, 0) / math.sqrt(spread) if spread else 0.0


def own_correlation(part, lag):
    apart = part - part.mean()
    return (apart[lag:] * apart[:-lag]).sum() / (apart**2).sum()


def pattern_entropy(part, order):
    found = {}
    for s in range(len(part) - order + 1):
        pattern = tuple(np.argsort(part[s : s + order], kind="stable"))
        found[pattern] = found.get(pattern, 0) + 1
    return stats.entropy(list(found.values())) / math.log(math.factorial(order))


def strongest(part):
    power = signal.periodogram(part)[1]
    return power.max() / power.sum() if np.ptp(part) else 0.0


TWINS = {
    "highest": lambda x: x,
    "lowest": lambda x: x,
    "outside": lambda x, low, high: np.maximum(low - x, x - high),
    "welch": lambda x, window: [
        abs(stats.ttest_ind(a, b, equal_var=False).statistic) for a, b in halves(x, window)
    ],
    "cusum": lambda x: np.abs(np.cumsum(x - x.mean())) / (x.std() * math.sqrt(len(x))),
    "levene": lambda x, window: [stats.levene(a, b).statistic for a, b in halves(x, window)],
    "mann-kendall": lambda x, window: [kendall_z(part) for part in windows(x, window)],
    "slope": lambda x, window: [
        abs(stats.linregress(np.arange(len(part)), part).slope) for part in windows(x, window)
    ],
    "drift": moving_average,
    "spikes": lambda x: [robust(value, x) for value in x],
    "hampel": lambda x, window: [robust(x[i], around(x, i, window)) for i in range(len(x))],
    "stuck": lambda x, tolerance: [
        run_around(np.r_[False, np.abs(np.diff(x)) <= tolerance], i) for i in range(len(x))
    ],
    "dropouts": lambda x: [
        0 if np.isfinite(x[i]) else run_around(np.r_[False, ~np.isfinite(x)], i + 1) - 1
        for i in range(len(x))
    ],
    "periodicity": lambda x, window: [strongest(part) for part in windows(x, window)],
    "autocorrelation": lambda x, lag, window: [
        own_correlation(part, lag) for part in windows(x, window)
    ],
    "total-variation": lambda x, window: [
        np.abs(np.diff(part)).mean() for part in windows(x, window)
    ],
    "zero-crossings": lambda x, window: [
        np.mean(np.diff((part >= part.mean()).astype(int)) != 0) for part in windows(x, window)
    ],
    "permutation-entropy": lambda x, order, window: [
        pattern_entropy(part, order) for part in windows(x, window)
    ],
    "reference-ks": lambda x, reference, window: [
        stats.ks_2samp(x[:reference], part).statistic for part in windows(x[reference:], window)
    ],
    "reference-energy": lambda x, reference, window: [
        stats.energy_distance(x[:reference], part) for part in windows(x[reference:], window)
    ],
    "difference": lambda a, b, window: [abs(part.mean()) for part in windows(a - b, window)],
    "ratio": lambda a, b, window: [
        max(one.mean() / other.mean(), other.mean() / one.mean())
        if one.mean() * other.mean() > 0
        else math.nan
        for one, other in zip(windows(a, window), windows(b, window), strict=True)
    ],
    "lost-correlation": lambda a, b, window: [
        1 - stats.pearsonr(one, other).statistic
        for one, other in zip(windows(a, window), windows(b, window), strict=True)
    ],
}
#: Other points than those of the default grids.
MORE = {
    "outside": [(-0.5, 0.7)],
    "welch": [(4,), (13,)],
    "levene": [(6,), (31,)],
    "mann-kendall": [(2,), (9,)],
    "slope": [(2,), (11,)],
    "drift": [(1.0, 2), (0.05, 40)],
    "hampel": [(3,), (8,), (60,)],
    "stuck": [(0.3,)],
    "periodicity": [(5,), (17,), (32,)],
    "autocorrelation": [(3, 20)],
    "total-variation": [(2,)],
    "zero-crossings": [(7,)],
    "permutation-entropy": [(2, 12), (5, 40)],
    "reference-ks": [(1, 1), (20, 7)],
    "reference-energy": [(10, 25)],
    "difference": [(7,)],
    "ratio": [(7,)],
    "lost-correlation": [(5,)],
}
every = pytest.mark.parametrize("name", LIBRARY)


def series(kind, seed=0, size=75):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=size)
    if kind == "ties":
        x = np.round(2 * x) + 0.5
    elif kind == "step":
        x[size // 2 :] = 4 * x[size // 2 :] + 3
    elif kind == "far":
        x += 1e6
    return x


def points(name):
    return [point for point, _, _ in SCORES[name]._readings()] + MORE.get(name, [])


def given(name, x):
    """The channels that a trace reads."""
    if LIBRARY[name].n_channels == 2:
        return (x, 0.5 * x + series("noise", 9, x.size))
    if name == "dropouts":
        return (np.where(np.abs(x) > np.median(np.abs(x)), np.nan, x),)
    return (x,)


def trace(name, x, point):
    return kernel_of(LIBRARY[name].kernel)(*x, *point)


def test_every_score_has_a_twin_and_is_told_what_it_does_not_mind():
    assert set(TWINS) == set(SAME) == set(LIBRARY)


@every
@pytest.mark.parametrize("kind", ["noise", "ties", "step", "far"])
def test_a_trace_is_that_of_its_twin(name, kind):
    for point in points(name):
        x = given(name, series(kind))
        with np.errstate(all="ignore"):
            wanted = np.asarray(TWINS[name](*x, *point), float)
        got = trace(name, x, point)
        assert got.shape == wanted.shape
        assert got.dtype == np.float64
        close = 1e-6 if kind == "far" else 1e-9
        fine = np.isfinite(wanted)  # a perfect step is cut off, see below
        np.testing.assert_allclose(got[fine], wanted[fine], rtol=close, atol=close)


def reduced(answers, rule, level, successive):
    known = [value for value in answers if np.isfinite(value)]
    above = [bool(np.isfinite(value) and value > level) for value in answers]
    if not known:
        return math.nan
    runs = [len(list(group)) for on, group in itertools.groupby(above) if on]
    return {
        "largest": max(known),
        "smallest": min(known),
        "share": sum(above) / len(known),
        "run": max(runs, default=0),
        "among": max(
            sum(above[i : i + successive]) for i in range(max(len(above) - successive, 0) + 1)
        ),
    }[rule]


@pytest.mark.parametrize("rule", ["largest", "smallest", "share", "run", "among"])
def test_a_rule_is_that_of_its_twin(rule):
    from bayesieve.indicators.kernels.traces import reduce_trace
    from bayesieve.indicators.traces import RULES

    rng = np.random.default_rng(0)
    for size in (0, 1, 2, 5, 40):
        for _ in range(20):
            answers = rng.normal(size=size)
            answers[rng.random(size) < 0.2] = rng.choice([np.nan, np.inf, -np.inf])
            for successive in (1, 3, 50):
                got = reduce_trace(answers, RULES.index(rule) - 1, 0.3, successive)
                np.testing.assert_equal(got, reduced(answers, rule, 0.3, successive))


@every
def test_a_score_is_its_rule_over_its_trace_and_shades_what_exceeds(name):
    """For every rule that there is, at levels within the trace."""
    x = given(name, series("step", 3, 90))
    whole = LIBRARY[name]
    for point in points(name)[:3]:
        grid = {key: [value] for key, value in zip(whole.grid, point, strict=True)}
        answers = trace(name, x, point)
        level = float(np.nanmedian(answers))
        for rule, more in (
            ("largest", {}),
            ("smallest", {}),
            ("share", {"levels": [level]}),
            ("run", {"levels": [level]}),
            ("among", {"levels": [level], "successive": [5]}),
        ):
            score = whole.over(rule=rule, **more, **grid)
            record = x if whole.n_channels == 2 else x[0]
            with Threads(1) as engine:
                (column,) = score.columns([record], engine)
            assert column.values[0] == pytest.approx(reduced(answers, rule, level, 5))
            fires = answers <= level if rule == "smallest" else answers > level
            shaded = set()
            for i in np.flatnonzero(fires):
                first = x[0].size - answers.size + 1 + int(i)  # of what ends at the last point
                window = grid.get("window", [1])[0] or x[0].size
                if score.places == "points":
                    shaded.add(int(i))
                elif score.places == "breaks":
                    shaded.add(int(i) + window // 2)
                else:
                    shaded |= set(range(first - window, first))
            spans = score.spans(record, 0, level)
            assert {p for lo, hi in spans for p in range(lo, hi + 1)} == shaded


#: What a score does not mind: a shift, a scale, a change of sign, time turned round.
SAME = {
    "highest": "turn",
    "lowest": "turn",
    "outside": "turn",
    "cusum": "shift scale sign",
    "welch": "shift scale sign turn",
    "levene": "shift scale sign turn",
    "mann-kendall": "shift scale sign turn",
    "slope": "shift sign turn",
    "drift": "shift scale sign",
    "spikes": "shift scale sign turn",
    "hampel": "shift scale sign",
    "stuck": "shift sign turn",
    "dropouts": "shift scale sign turn",
    "periodicity": "shift scale sign turn",
    "autocorrelation": "shift scale sign turn",
    "total-variation": "shift sign turn",
    "zero-crossings": "shift scale turn",
    "permutation-entropy": "shift scale",
    "reference-ks": "shift scale sign",
    "reference-energy": "shift sign",
    "difference": "sign turn",
    "ratio": "scale sign turn",
    "lost-correlation": "shift scale sign turn",
}
CHANGES = {
    "shift": lambda x: x + 4.0,
    "scale": lambda x: x * 8.0,
    "sign": lambda x: -x,
    "turn": lambda x: x[::-1].copy(),
}


@pytest.mark.parametrize(
    ("name", "change"), [(name, change) for name in SAME for change in SAME[name].split()]
)
def test_what_a_score_does_not_mind(name, change):
    x = given(name, series("noise", 5, 96))
    turned = tuple(CHANGES[change](mine) for mine in x)
    score = LIBRARY[name]
    with Threads(1) as engine:
        records = [x, turned] if score.n_channels == 2 else [x[0], turned[0]]
        for column in score.columns(records, engine):
            np.testing.assert_allclose(*column.values, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("scale", [2.0**520, 2.0**1000, 2.0**-600, 2.0**-1000])
@pytest.mark.parametrize("name", [name for name in SAME if "scale" in SAME[name]])
def test_what_does_not_mind_a_scale_minds_none(name, scale):
    """Squares of such values overflow, or vanish."""
    x = given(name, series("step", 5, 96))
    score = LIBRARY[name]
    both = [x, tuple(scale * mine for mine in x)]
    with Threads(1) as engine:
        for column in score.columns(
            both if score.n_channels == 2 else [each[0] for each in both], engine
        ):
            np.testing.assert_allclose(*column.values, rtol=1e-9, atol=1e-12)


@every
def test_short_series_constants_and_single_points(name):
    score = LIBRARY[name]
    odd = [np.zeros(n) for n in (0, 1, 2, 3, 5, 80)] + [np.full(80, 0.1), np.full(80, -1e300)]
    odd += [np.full(80, np.nan), np.r_[np.zeros(79), np.nan]]
    with Threads(1) as engine:
        records = [(x, x) for x in odd] if score.n_channels == 2 else odd
        for column in score.columns(records, engine):
            assert not np.isinf(column.values).any()
            assert np.isnan(column.values[0])
            if not score.takes_missing:
                assert np.isnan(column.values[-2:]).all()
    indicators = Indicators([name]).fit([np.stack([x] * score.n_channels) for x in odd])
    for x in odd:
        indicators.fired(np.stack([x] * score.n_channels), indicators.names_)


def test_a_step_without_noise_is_a_step():
    x = np.r_[np.zeros(30), np.ones(30)]
    assert trace("welch", (x,), (20,)).max() == 1e6
    wild = np.r_[np.zeros(30), np.tile([-1.0, 1.0], 15)]
    assert trace("levene", (wild,), (20,)).max() == 1e6
    assert trace("cusum", (x,), ()).max() > 2
    for name in ("welch", "levene", "cusum", "spikes", "hampel", "periodicity", "mann-kendall"):
        for point in points(name):
            assert not trace(name, (np.full(80, 0.1),), point).any()


def test_missing_points_are_dropouts():
    x = np.array([1.0, np.nan, np.nan, 2.0, np.inf, 3.0])
    assert trace("dropouts", (x,), ()).tolist() == [0, 2, 2, 0, 1, 0]
    indicators = Indicators(["dropouts"]).fit([x])
    assert indicators.fired(x, ["dropouts > 0"]) == {"dropouts > 0": [(1, 2), (4, 4)]}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"window": []}, "window of 'slope' must not be empty"),
        ({"window": [-1]}, "window of 'slope' must be a whole number from 0"),
        ({"window": [2.5]}, "window of 'slope' must be a whole number"),
        (
            {"windows": [5]},
            "a parameter of 'slope' must be one of 'window'; got 'windows'. Did you",
        ),
        ({"rule": "biggest"}, "rule must be one of"),
        ({"rule": "share"}, "'share', 'run' and 'among' need levels"),
        ({"levels": [1.0]}, "the others take none"),
        ({"rule": "among", "levels": [1.0]}, "'among' also successive"),
        (
            {"rule": "among", "levels": [1.0], "successive": [0]},
            "successive must be a whole number",
        ),
        ({"thresholds": [float("nan")]}, "thresholds must be a number"),
    ],
)
def test_a_score_over_a_bad_grid(options, message):
    with pytest.raises((ValueError, TypeError), match=message):
        SCORES["slope"].over(**options)
    assert isinstance(SCORES["slope"], TraceScore)
