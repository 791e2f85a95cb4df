"""Scores shown on examples: a series in which each of them fires, and where."""

from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..checks import choose
from ..data.files.output import whole_file
from ..explain.plain import Plain
from ..indicators.indicator import Indicator, Spans
from ..indicators.scores import LIBRARY, SCORES, Score
from ..indicators.transformer import Indicators

_POINTS = 144
_COLUMNS, _LINES = 72, 9

# What shows a score best; a step of the level shows the others.
_EXAMPLES = {
    "f-test": "jump",
    "levene": "jump",
    "mann-kendall": "trend",
    "slope": "trend",
    "drift": "trend",
    "spikes": "spike",
    "hampel": "spike",
    "stuck": "stuck",
    "dropouts": "gap",
    "periodicity": "wave",
    "autocorrelation": "wave",
    "total-variation": "jump",
    "reference-energy": "jump",
    "lowest": "dip",
    "permutation-entropy": "trend",
}


class Shown(NamedTuple):
    """A score on an example."""

    name: str
    indicator: Indicator
    series: NDArray[np.float64]  #: channels x points
    spans: Spans
    holds: bool  #: if not, the spans are what speaks against it


def listed() -> list[dict[str, Plain]]:
    """Every score: name, what it finds, what it measures, its parameters."""
    found: list[dict[str, Plain]] = []
    grid: dict[str, Plain]
    for name, score in SCORES.items():
        if name in LIBRARY:
            trace = LIBRARY[name]
            grid = {key: [*values] for key, values in trace.grid.items()}
            words = (trace.title, _without_braces(trace.measure), trace.unit)
        elif isinstance(score, Score):
            grid = {key: [str(value) for value in values] for key, values in score.grid.items()}
            words = ("Your own", score.label, score.unit)
        else:
            grid, words = {}, _TESTS[name]
        found.append(
            {
                "name": name,
                "title": words[0],
                "measure": words[1],
                "unit": words[2],
                "parameters": grid,
                "channels": int(getattr(score, "n_channels", 1)),
            }
        )
    return found


_TESTS = {
    "windows": ("Changes", "U, KS and F tests, confirmed over successive windows", ""),
    "u-test": ("Level steps", "Mann-Whitney test on both halves of a window", ""),
    "ks-test": ("Distribution changes", "Kolmogorov-Smirnov test on both halves", ""),
    "f-test": ("Variance jumps", "F test on both halves of a window", ""),
}


def _without_braces(text: str) -> str:
    return text.replace(":g}", "}").replace("{", "").replace("}", "")


def example(name: str) -> Shown:
    """A score on a series in which it fires, beside one in which nothing happens.

    Parameters
    ----------
    name : of a score.
    """
    choose("NAME", name, SCORES)
    score = SCORES[name]
    n_channels = int(getattr(score, "n_channels", 1))
    quiet = np.random.default_rng(0).normal(size=(2, _POINTS))
    eventful = _series(_EXAMPLES.get(name, "step"), quiet[0].copy())
    if n_channels > 1:
        quiet[1] = quiet[0] + 0.2 * quiet[1]
        both = [quiet + 5, np.stack([_series("jump", quiet[0].copy()), quiet[1]]) + 5]
    else:
        both = [quiet[:1], eventful[None]]
    made = Indicators([name], quantiles=(0.5,)).fit(both)
    values = made.transform(both)
    # What must hold everywhere is shown where it does not.
    holds = made.indicators_[0].rule != "smallest"
    fired = np.flatnonzero((values[1] == holds) & (values[0] != holds))
    fired = fired if fired.size else np.flatnonzero(values[1] == holds)
    at = int(fired[fired.size // 2]) if fired.size else 0
    wanted = made.names_[at]
    spans = made.fired(both[1][0] if n_channels == 1 else both[1], [wanted])[wanted]
    return Shown(name, made.indicators_[at], both[1], spans, holds)


def _series(kind: str, x: NDArray[np.float64]) -> NDArray[np.float64]:
    """Noise to which something happens in the middle."""
    half = _POINTS // 2
    if kind == "step":
        x[half:] += 3
    elif kind == "jump":
        x[half:] *= 4
    elif kind == "trend":
        x[half:] += 6 * np.arange(1, _POINTS - half + 1) / (_POINTS - half)
    elif kind == "spike":
        x[[half, half + 30]] += 12
    elif kind == "stuck":
        x[half : half + 40] = x[half]
    elif kind == "dip":
        x[half : half + 20] -= 6
    elif kind == "gap":
        x[half : half + 20] = np.nan
    else:
        x = 0.3 * x + 2 * np.sin(2 * np.pi * np.arange(_POINTS) / 16)
    return x


def as_text(shown: Shown) -> str:
    """The series as letters, and below it where the score fired."""
    lines = [_headline(shown), ""]
    for x in shown.series:
        lines += [*_plot(x), ""]
    marks = np.zeros(shown.series.shape[1], bool)
    for first, last in shown.spans:
        marks[first : last + 1] = True
    places = np.array_split(marks, _COLUMNS)
    fired = "".join("^" if part.any() else " " for part in places).rstrip()
    lines[-1] = f"  {fired or '(nowhere)'}"
    return "\n".join(lines) + "\n"


def _headline(shown: Shown) -> str:
    but = "" if shown.holds else " (not in this series, because of what is marked)"
    return f"{shown.name}: {shown.indicator.sentence}{but}"


def _plot(x: NDArray[np.float64]) -> list[str]:
    """One letter for some points, from the lowest to the highest of them."""
    low, high = np.nanmin(x), np.nanmax(x)
    level = np.rint((x - low) / max(high - low, 1e-300) * (_LINES - 1))
    grid = np.full((_LINES, _COLUMNS), " ")
    for j, part in enumerate(np.array_split(level, _COLUMNS)):
        known = part[~np.isnan(part)]
        for i in known.astype(int):
            grid[_LINES - 1 - i, j] = "*"
    return ["  " + "".join(row).rstrip() for row in grid]


def draw(shown: Shown, path: Path) -> None:
    """A picture of the same.

    Parameters
    ----------
    shown : what `example` gave.
    path : of the picture; its ending says the format.
    """
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8, 2 * len(shown.series) + 1), layout="constrained")
    panels = figure.subplots(len(shown.series), 1, squeeze=False, sharex=True)[:, 0]
    figure.suptitle(_headline(shown), fontsize=10)
    for panel, x in zip(panels, shown.series, strict=True):
        panel.plot(x, color="black", linewidth=0.8)
        for first, last in shown.spans:
            panel.axvspan(first - 0.5, last + 0.5, color="tab:orange", alpha=0.3)
    kind = path.suffix[1:].lower()
    known = figure.canvas.get_supported_filetypes()
    choose("the ending of --out", kind, sorted(known))
    with whole_file(path) as file:
        figure.savefig(file, format=kind)
