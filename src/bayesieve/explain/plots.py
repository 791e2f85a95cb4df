"""Pictures: paths, evidence, relevance, ranks, drift, calibration, stability, signals."""

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..estimators.signals import follow
from ..evaluation._typing import Model
from ..evaluation.compare.methods import SCORES
from ..evaluation.compare.result import Comparison
from ..evaluation.drift import Drift
from ..evaluation.performance import performance
from ..indicators.transformer import Indicators
from .text import factor_in_words, interval, short_names

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from ..evaluation.stability import Stability
    from ..rankings.divergence import RelevanceMatrix
    from ..search.path import Path, Step
    from .evidence import Evidence, Explanation
    from .model import Source, Value, ValueScale


# -- Pictures with matplotlib, which is imported only here and only when asked ---------------------


_FOR, _AGAINST, _QUIET = "#1b6ca8", "#c0392b", "#7a7a7a"

_MOST_LETTERS = 40

_FAR = 10.0  # nat, 22000 to 1: scales that go farther end in an arrow

_TEXTS_ACROSS = 21  # values that fit side by side on the scales of a nomogram

_MAPS_ACROSS = 3  # heat maps of pairs side by side

_MOST_TEXTS = 40  # cells of a small heat map that are written out


def axes_or_new(ax: "Axes | None", width: float, height: float) -> "Axes":
    """The axes given, or those of a new figure of this size."""
    if ax is not None:
        return ax
    try:
        import matplotlib.pyplot as plt
    except ImportError as error:
        raise ImportError("plot needs matplotlib: pip install 'bayesieve[plot]'.") from error
    return plt.subplots(figsize=(width, height), layout="constrained")[1]


def plain(text: object) -> str:
    """A name that fits an axis: short, on one line, and not taken for mathematics."""
    return plain_names([text])[0]


def plain_names(names: "Sequence[object]") -> list[str]:
    """Names that fit one axis, told apart."""
    return [name.replace("$", r"\$") for name in short_names(names, _MOST_LETTERS)]


def plot_evidence(explanation: "Explanation", ax: "Axes | None" = None, most: int = 20) -> "Axes":
    """The bars of one decision, strongest first; see `EvidenceDisplay`."""
    bars = explanation.evidence[: most + 1]
    left_out = explanation.evidence[most + 1 :]
    features = plain_names([bar.feature for bar in bars])
    labels = [_label(bar, name) for bar, name in zip(bars, features, strict=True)]
    sizes = [bar.log_ratio for bar in bars]
    if left_out:
        labels.append(f"{len(left_out)} more")
        sizes.append(sum(bar.log_ratio for bar in left_out))
    ax = axes_or_new(ax, 7, 0.32 * len(sizes) + 1.4)
    # An impossible value has an infinite bar: as long as all the others together.
    finite = [abs(size) for size in sizes if abs(size) != float("inf")]
    longest = max(sum(finite), 1.0)
    shown = [min(max(size, -longest), longest) for size in sizes]
    places = range(len(sizes))
    ax.barh(places, shown, color=[_FOR if size >= 0 else _AGAINST for size in sizes], height=0.7)
    for place, size, width in zip(places, sizes, shown, strict=True):
        rows = bars[place].rows if place < len(bars) else None  # of what is left out
        said = factor_in_words(size, rows)
        _write(ax, said, (max(width, 0.0), place), (4, 0), fontsize=8, va="center")
    ax.axvline(0, color=_QUIET, linewidth=0.8)
    low, high = min(*shown, 0.0), max(*shown, 0.0)
    ax.set_xlim(low - 0.03 * (high - low), high + 0.5 * (high - low or 1.0))
    ax.set_yticks(places, labels, fontsize=8)
    ax.invert_yaxis()
    _factors_across(ax, explanation.target, explanation.against)
    headline = replace(explanation, verdict=None).caption().replace("$", r"\$")
    ax.set_title(headline.replace(": probability", "\nprobability"), fontsize=10, loc="left")
    _bare(ax, "top", "right", "left")
    return ax


def _factors_across(ax: "Axes", target: "Value", against: "Value") -> None:
    """Log-ratios along an axis, written as factors."""
    ax.set_xticks(*_factor_marks(*ax.get_xlim()))
    ax.set_xlabel(f"times as likely in {plain(target)} (x) or {plain(against)} (/)")


def _factor_marks(low: float, high: float) -> tuple[list[float], list[str]]:
    """Round factors between two log-ratios, and how they are written."""
    decades = max(-low, high) / math.log(10)
    step = math.ceil(decades / 3)
    factors = [10.0 ** (step * i) for i in range(1, 4)] if decades > 1.5 else [2, 5, 10, 20]
    found = [(math.log(factor), f"x {factor:,g}".replace(",", " ")) for factor in factors]
    found += [(0.0, "x 1"), *((-nat, said.replace("x", "/")) for nat, said in found)]
    inside = sorted(each for each in found if low <= each[0] <= high)
    return [nat for nat, _ in inside], [said for _, said in inside]


def _label(bar: "Evidence", name: str) -> str:
    if bar.status == "prior":
        return "prior"
    value = f"{bar.value:.4g}" if isinstance(bar.value, float) else str(bar.value)
    note = f" ({bar.status})" if bar.status in ("missing", "unseen") else ""
    return name + (f" = {plain(value)}" if bar.value is not None else "") + note


def plot_nomogram(
    scales: "list[tuple[str, ValueScale]]",
    target: "Value",
    against: "Value",
    ax: "Axes | None" = None,
    most: int = 20,
) -> "Axes":
    """One scale a feature, its values where they speak; see `NomogramDisplay`."""
    shown = scales[:most]
    ax = axes_or_new(ax, 8, 0.45 * len(shown) + 1.6)
    ends = [min(max(r, -_FAR), _FAR) for _, scale in shown for _, r in scale]
    gap = (max(ends, default=1.0) - min(ends, default=0.0)) / _TEXTS_ACROSS
    for place, (_, scale) in enumerate(shown):
        known = [(value, ratio) for value, ratio in scale if abs(ratio) <= _FAR]
        ratios = [min(max(ratio, -_FAR), _FAR) for _, ratio in scale] or [0.0]
        ax.plot([min(ratios), max(ratios)], [place, place], color=_QUIET, linewidth=1)
        for end, mark in ((min(ratios), "<"), (max(ratios), ">")):
            if abs(end) == _FAR:
                ax.plot(end, place, mark, color=_QUIET, markersize=5)
        for i, (value, ratio) in enumerate(_ticks(known, gap)):
            ax.plot(ratio, place, "|", color=_FOR, markersize=9)
            apart = (0, 6 if i % 2 == 0 else -12)
            text = f"{value:.4g}" if isinstance(value, float) else plain(value)
            text = text if len(text) <= 12 else text[:11] + "…"
            _write(ax, text, (ratio, place), apart, fontsize=7, ha="center")
    ax.axvline(0, color=_QUIET, linewidth=0.8)
    ax.set_yticks(range(len(shown)), plain_names([name for name, _ in shown]), fontsize=8)
    ax.set_ylim(len(shown) - 0.4, -0.6)
    _factors_across(ax, target, against)
    if len(scales) > most:
        ax.set_title(f"the {most} longest of {len(scales)} scales", fontsize=9, loc="left")
    _bare(ax, "top", "right", "left")
    return ax


def _ticks(known: "ValueScale", gap: float) -> "ValueScale":
    """Values of a scale that are far enough apart to be read, the outermost first."""
    found: ValueScale = []
    for value, ratio in sorted(known, key=lambda pair: -abs(pair[1])):
        if all(abs(ratio - other) > gap for _, other in found):
            found.append((value, ratio))
    return sorted(found, key=lambda pair: pair[1])


def _write(
    ax: "Axes", text: str, at: tuple[float, float], apart: tuple[float, float], **style: Any
) -> None:
    """A text so many points apart from a place."""
    ax.annotate(text, at, apart, textcoords="offset points", **style)


def _bare(ax: "Axes", *sides: str) -> None:
    for side in sides:
        ax.spines[side].set_visible(False)


def mean_bands(values: Sequence[float], n_rows: int) -> list[float]:
    """Standard errors of means over rows of values from 0 to 1, such as errors: at most so large.

    Parameters
    ----------
    values : the means.
    n_rows : over how many rows.

    Examples
    --------
    >>> from bayesieve.explain.plots import mean_bands
    >>> mean_bands([0.2, 0.5], 100)
    [0.04, 0.05]
    """
    return [math.sqrt(max(value * (1 - value), 0.0) / n_rows) for value in values]


def plot_path(
    path: "Path", ax: "Axes | None" = None, bands: "Sequence[float] | None" = None
) -> "Axes":
    """Score and validation error of every state visited, against its size; see `Path.plot`.

    Parameters
    ----------
    path : of subsets, or of weighted terms.
    ax : where to draw.
    bands : standard errors of weighted terms, of which two are drawn on either side.
    """
    if path.of == "terms":
        return _plot_terms(path, ax, bands)
    ax = axes_or_new(ax, 7, 4.2)
    steps = path.steps
    scores = [step.score for step in steps]
    validated = bool(steps) and steps[0].validation_key is not None
    guide = {"error": "error", "probability": "expected error"}.get(path.criterion)
    sizes = [step.n_features for step in steps]
    n_guiding, n_validation = path.n_rows
    if guide is not None and n_guiding:
        _band(ax, sizes, scores, mean_bands(scores, n_guiding), _QUIET)
    # A score in other units than an error gets an axis of its own beside the validation error.
    guide_ax = ax.twinx() if guide is None and validated else ax
    guide = guide or path.criterion
    lines = guide_ax.plot(
        *_by_phase(steps, scores),
        color=_QUIET,
        linewidth=1.4,
        label=f"{guide} that guided the search",
    )
    chosen = steps[path.chosen] if path.chosen >= 0 else None
    heights = scores
    if validated:
        heights = [step.validation_error for step in steps]
        if path.validation_name == "validation_error" and n_validation:
            _band(ax, sizes, heights, mean_bands(heights, n_validation), _FOR)
        lines += ax.plot(
            *_by_phase(steps, heights), color=_FOR, linewidth=1.8, label="validation error"
        )
    if chosen is not None:
        height = heights[path.chosen]
        label = f"chosen: {chosen.n_features} feature{'s' * (chosen.n_features != 1)}, {height:.4g}"
        lines += ax.plot(chosen.n_features, height, "o", color=_AGAINST, ms=8, label=label)
    guide_ax.set_ylabel(guide)
    ax.set_ylabel("error" if validated else guide)
    ax.set_xlabel("number of features")
    # Above the axes, where no line can run under it.
    ax.legend(handles=lines, frameon=False, loc="lower left", bbox_to_anchor=(0, 1), borderpad=0)
    for each in (ax, guide_ax):
        _bare(each, *(("top",) if guide_ax is not ax else ("top", "right")))
    return ax


def _band(
    ax: "Axes", sizes: list[int], heights: list[float], errors: "Sequence[float]", colour: str
) -> None:
    """Two standard errors on either side; around all subsets where several have a size."""
    around: dict[int, tuple[float, float]] = {}
    for size, height, error in zip(sizes, heights, errors, strict=True):
        low, high = around.get(size, (height, height))
        around[size] = min(low, height - 2 * error), max(high, height + 2 * error)
    x = sorted(around)
    lows, highs = [around[size][0] for size in x], [around[size][1] for size in x]
    ax.fill_between(x, lows, highs, color=colour, alpha=0.15, linewidth=0, label="_band")


def _by_phase(steps: "list[Step]", heights: list[float]) -> tuple[list[float], list[float]]:
    """Sizes and heights with a gap where a new phase starts elsewhere."""
    found: list[tuple[float, float]] = []
    for step, height in zip(steps, heights, strict=True):
        found += [(math.nan, math.nan)] if step.action == "start" and found else []
        found.append((step.n_features, height))
    return [x for x, _ in found], [y for _, y in found]


def plot_relevance(matrix: "RelevanceMatrix", ax: "Axes | None" = None) -> "Axes":
    """A heat map: which features separate which class."""
    width = min(max(4.0, 0.35 * len(matrix.feature_names) + 2), 24)
    ax = axes_or_new(ax, width, 0.35 * len(matrix.class_names) + 2)
    shown = ax.imshow(matrix.normalised(), aspect="auto", cmap="Blues", vmin=0)
    names = plain_names(matrix.feature_names)
    ax.set_xticks(range(len(names)), names, rotation=90, fontsize=8)
    ax.set_yticks(range(len(matrix.class_names)), map(plain, matrix.class_names), fontsize=8)
    ax.set_ylabel("class")
    ax.figure.colorbar(shown, ax=ax, label="share of divergence")
    return ax


def nomogram_axes(n_scales: int, shapes: "list[tuple[int, int]]") -> "tuple[Axes, list[Axes]]":
    """Axes for scales, and smaller ones below them for pairs of so many rows and columns."""
    ax = axes_or_new(None, 9, 0.45 * n_scales + 1.6)
    if not shapes:
        return ax, []
    figure = cast("Figure", ax.figure)
    ax.remove()
    lines = [shapes[at : at + _MAPS_ACROSS] for at in range(0, len(shapes), _MAPS_ACROSS)]
    heights = [0.45 * n_scales + 1.2, *(0.28 * max(n for n, _ in line) + 1.5 for line in lines)]
    figure.set_size_inches(9, sum(heights))
    places = figure.add_gridspec(len(heights), _MAPS_ACROSS, height_ratios=heights)
    maps = [
        figure.add_subplot(places[1 + at // _MAPS_ACROSS, at % _MAPS_ACROSS])
        for at in range(len(shapes))
    ]
    return figure.add_subplot(places[0, :]), maps


def plot_pair(
    name: str,
    source: "Source",
    said: "tuple[list[float], Value, Value]",
    ax: "Axes | None" = None,
    most: float | None = None,
) -> "Axes":
    """A heat map: what each cell of two features says for one class against another.

    Parameters
    ----------
    name, source : of the pair.
    said : log-ratios of the cells, and the two classes.
    ax : where to draw.
    most : log-ratio of the deepest colour; without a bar of colours.
    """
    ratios, target, against = said
    first, second = source["first"], source["second"]
    lines = [ratios[at : at + len(second)] for at in range(0, len(ratios), len(second))]
    ax = axes_or_new(ax, 0.6 * len(second) + 3, 0.4 * len(first) + 1.6)
    deepest = max(map(abs, ratios), default=0.0) if most is None else most
    deepest = max(deepest, 1e-9)
    shown = ax.imshow(lines, aspect="auto", cmap="RdBu", vmin=-deepest, vmax=deepest)
    ax.set_xticks(range(len(second)), map(plain, second), rotation=45, ha="right", fontsize=8)
    ax.set_yticks(range(len(first)), map(plain, first), fontsize=8)
    ax.set_title(plain(name), fontsize=9, loc="left")
    ax.tick_params(length=0)
    _bare(ax, "top", "right", "left", "bottom")
    if most is None:
        marks, said_there = _factor_marks(-deepest, deepest)
        bar = ax.figure.colorbar(shown, ax=ax, ticks=marks)
        bar.set_ticklabels(said_there)
        bar.set_label(f"times as likely in {plain(target)} (x) or {plain(against)} (/)")
    elif len(ratios) <= _MOST_TEXTS:
        for at, ratio in enumerate(ratios):
            ink = "white" if abs(ratio) > 0.6 * deepest else "black"
            place = at % len(second), at // len(second)
            ax.text(*place, factor_in_words(ratio), ha="center", va="center", fontsize=7, color=ink)
    return ax


def _plot_terms(path: "Path", ax: "Axes | None", bands: "Sequence[float] | None") -> "Axes":
    """Leave-one-out log-loss against the number of terms; the chosen state is marked."""
    ax = axes_or_new(ax, 7, 4)
    sizes = [step.n_terms for step in path.steps]
    losses = [step.score for step in path.steps]
    if bands is not None:
        _band(ax, sizes, losses, bands, _FOR)
    ax.plot(sizes, losses, color=_FOR, marker=".")
    ax.axvline(sizes[path.chosen], color=_QUIET, linestyle=":")
    ax.set_xlabel("number of terms")
    ax.set_ylabel("leave-one-out log-loss")
    return ax


# -- Pictures of a comparison ----------------------------------------------------------------------


_INK, _BAR = "#222222", "#444444"

# Units of height: between two names, two bars, and above the axis.
_LINE, _STEP = 0.42, 0.2


def plot_ranks(found: Comparison, ax: Any = None) -> Any:
    """Critical-difference diagram: average ranks; bars join equal methods (Demsar 2006).

    Parameters
    ----------
    found : of several sets.
    ax : matplotlib axes, optional
    """
    ranks, gap = found.ranks, found.critical_difference
    assert gap is not None
    n, names = len(ranks), list(ranks)
    groups = [(ranks[group[0]], ranks[group[-1]]) for group in found.groups]
    half = (n + 1) // 2
    below = 0.3 + _STEP * len(groups)
    ax = axes_or_new(ax, 8, 1.5 + 0.62 * (below + _LINE * half))
    margin = max(0.42 * (n - 1), 0.5)
    ax.set_xlim(1 - margin, n + margin)
    ax.set_ylim(-(below + _LINE * half) + 0.1, 0.95)
    ax.axis("off")
    _draw_scale(ax, n, min(gap, n - 1 + margin), gap)
    for i, name in enumerate(names):
        left = i < half
        level = -(below + _LINE * (i if left else n - 1 - i))
        end = 1 - 0.06 * margin if left else n + 0.06 * margin
        colour = _FOR if name in found.best else _INK
        ax.plot([ranks[name], ranks[name], end], [0, level, level], color=colour, linewidth=0.9)
        text = f"{plain(name)}  {ranks[name]:.2f}" if left else f"{ranks[name]:.2f}  {plain(name)}"
        apart, side = (-4, "right") if left else (4, "left")
        weight = "bold" if name in found.best else "normal"
        style = {"va": "center", "ha": side, "color": colour, "fontweight": weight}
        _write(ax, text, (end, level), (apart, 0), fontsize=9, **style)
    over = 0.01 * (n - 1)
    for i, (low, high) in enumerate(groups):
        level = -0.22 - _STEP * i
        ends = [low - over, high + over]
        ax.plot(ends, [level, level], color=_BAR, linewidth=4, solid_capstyle="round")
    title = (
        f"Average rank by {SCORES[found.metric].title} on {len(found.sets)} sets; methods joined "
        f"by a bar are not told apart (alpha {found.alpha:g})"
    )
    ax.set_title(title, fontsize=10, loc="left")
    return ax


def _draw_scale(ax: Any, n: int, shown: float, gap: float) -> None:
    """The axis of ranks, and above it the critical difference."""
    ax.plot([1, n], [0, 0], color=_INK, linewidth=1)
    for rank in range(1, n + 1):
        ax.plot([rank, rank], [0, 0.1], color=_INK, linewidth=1)
        _write(ax, str(rank), (rank, 0.1), (0, 3), ha="center", fontsize=9, color=_INK)
    level = 0.7
    ax.plot([1, 1 + shown], [level, level], color=_QUIET, linewidth=1.2)
    for end in (1, 1 + shown):
        ax.plot([end, end], [level - 0.07, level + 0.07], color=_QUIET, linewidth=1.2)
    text, style = f"critical difference {gap:.2f}", {"va": "center", "color": _QUIET}
    _write(ax, text, (1 + shown, level), (6, 0), fontsize=8, **style)


def plot_scores(found: Comparison, ax: Any = None) -> Any:
    """The score of every fold, one method a line, best on top; the mean as a stroke.

    Parameters
    ----------
    found : of one set (of several, all their folds are shown).
    ax : matplotlib axes, optional
    """
    names = list(found.ranks)
    ax = axes_or_new(ax, 7, 0.42 * max(len(names), 1) + 1.4)
    for place, name in enumerate(names):
        colour = _FOR if name in found.best else _QUIET
        known = [found.values(name, each.name) for each in found.sets]
        values = [float(value) for each in known if each is not None for value in each]
        points = values, [place] * len(values), "o"
        ax.plot(*points, color=colour, alpha=0.35, markersize=6, markeredgewidth=0)
        mean = sum(values) / len(values)
        ax.plot([mean, mean], [place - 0.28, place + 0.28], color=colour, linewidth=2.5)
    ax.set_yticks(range(len(names)), [plain(name) for name in names], fontsize=9)
    ax.set_ylim(len(names) - 0.5, -0.5)
    ax.tick_params(axis="y", length=0)
    ax.set_xlabel(SCORES[found.metric].title)
    sets = ", ".join(each.name for each in found.sets)
    ax.set_title(f"Every fold on {plain(sets)}, and the mean", fontsize=10, loc="left")
    ax.grid(axis="x", color="#eeeeee")
    ax.set_axisbelow(True)
    _bare(ax, "top", "right", "left")
    return ax


# -- A picture of how far columns moved ------------------------------------------------------------


_STAYED = "#b5b5b5"

# Columns that a picture shows.
_MOST = 25


def plot_drift(found: Drift, ax: "Axes | None" = None) -> "Axes":
    """A bar for each column, how far it moved; those that moved by more than chance in colour.

    Parameters
    ----------
    found : of some columns, of which the first are drawn.
    ax : matplotlib axes, optional
    """
    names = plain_names(found.columns[:_MOST])
    lengths, moved = found.distance[:_MOST], set(found.moved)
    ax = axes_or_new(ax, 7.5, 1.3 + 0.28 * len(names))
    colours = [_AGAINST if name in moved else _STAYED for name in found.columns[:_MOST]]
    places = list(range(len(names)))
    ax.barh(places, lengths, color=colours, height=0.7)
    for at, (length, change) in enumerate(zip(lengths, found.change, strict=False)):
        _write(ax, change.replace("$", r"\$"), (length, at), (4, 0), va="center", fontsize=8)
    ax.set_yticks(places, names)
    ax.invert_yaxis()
    ax.set_xlim(0, max(1.6 * max(lengths, default=0.0), 0.1))
    ax.set_xlabel("share of rows that would have to change")
    _bare(ax, "top", "right")
    left = len(found.columns) - len(names)
    more = f"\n({left} more columns, less clearly)" if left else ""
    ax.set_title(found.headline(3).replace("$", r"\$") + more, fontsize=10, loc="left")
    return ax


# -- Pictures of how far a model can be trusted, and of what an indicator saw in a signal ----------


def plot_stability(found: "Stability", ax: "Axes | None" = None, most: int = 30) -> "Axes":
    """How often resamples selected each feature, with 95 % intervals; see `Stability.plot`."""
    order = [j for j in np.argsort(-found.frequency, kind="stable") if found.frequency[j] > 0]
    shown = order[:most]
    ax = axes_or_new(ax, 7, 0.28 * len(shown) + 1.4)
    share = found.frequency[shown]
    around = _around(share, np.full(share.size, found.n_resamples))
    places = np.arange(len(shown))
    ax.barh(places, share, color="#4c78a8", height=0.7)
    ax.errorbar(share, places, xerr=around, fmt="none", ecolor="#555", lw=1)
    ax.set_yticks(places, plain_names([found.feature_names[j] for j in shown]), fontsize=8)
    ax.invert_yaxis()
    ax.set_xlim(0, 1)
    ax.set_xlabel(f"share of {found.n_resamples} resamples that select it")
    left = len(order) - len(shown)
    ax.set_title(
        f"two resamples share {found.jaccard:.0%} of their columns"
        + (f"; {left} more were selected at times" if left else ""),
        loc="left",
        fontsize=9,
    )
    return ax


def _around(shares: NDArray[np.float64], rows: NDArray[np.float64]) -> NDArray[np.float64]:
    """How far the exact intervals of 95 % reach below and above shares of so many rows."""
    ends = [interval(share * n, n) for share, n in zip(shares, rows, strict=True)]
    low, high = np.array(ends).reshape(-1, 2).T
    return np.maximum([shares - low, high - shares], 0.0)


def plot_calibration(
    model: Model,
    X: object,
    y: ArrayLike,
    *,
    ax: "Axes | None" = None,
    names: Sequence[object] = (),
    groups: ArrayLike | None = None,
) -> "Axes":
    """Calibration curve: predicted probability against observed frequency, in ten bins.

    Parameters
    ----------
    model : NaiveBayes, NaiveBayesSelector, WeightedNaiveBayes, or a Pipeline that ends in one
        Fitted.
    X, y :
        Of a model, rows that are new to it; of a selector, those that it was fitted on: its
        validation part, or folds of the whole fit, are judged.
    ax : matplotlib axes, optional
    names : sequence, optional
        Classes (or labels) to draw; all by default, of two classes the second.
    groups : array-like of shape (n_samples,), optional
        What rows of one series, patient or machine share: whole groups are left out, and bars are
        as wide as so few independent rows make them.

    Returns
    -------
    ax : matplotlib axes
        Bars are 95 % intervals of the share that came true, by the rows of the bin.

    Examples
    --------
    >>> import matplotlib; matplotlib.use("Agg")
    >>> from sklearn.datasets import load_iris
    >>> from bayesieve import NaiveBayes
    >>> from bayesieve.plot import plot_calibration
    >>> X, y = load_iris(return_X_y=True)
    >>> ax = plot_calibration(NaiveBayes().fit(X[::2], y[::2]), X[1::2], y[1::2])
    >>> ax.get_xlabel(), len(ax.containers)
    ('probability told', 3)
    """
    model, X = follow(model, X)
    found = performance(model, X, y, groups=groups)
    verdicts, counted = found.verdicts, found.effective_rows / found.n_rows
    if not names:
        names = [v.name for v in (verdicts[1:] if len(verdicts) == 2 else verdicts)]
    ax = axes_or_new(ax, 5, 4.6)
    ax.plot([0, 1], [0, 1], color="#999", lw=1, ls="--")
    for verdict in verdicts:
        if verdict.name in names and verdict.calibration:
            said, came, rows = np.array(verdict.calibration).T
            around, name = _around(came, rows * counted), plain(verdict.name)
            ax.errorbar(said, came, yerr=around, marker="o", ms=4, lw=1, label=name)
    ax.set_xlabel("probability told")
    ax.set_ylabel("observed frequency")
    ax.set_xlim(-0.02, 1.02)
    ax.set_ylim(-0.02, 1.02)
    ax.legend(fontsize=8)
    return ax


def plot_signal(
    indicators: Indicators, series: ArrayLike, name: str, *, ax: "Axes | None" = None
) -> "Axes":
    """Draw one series, shaded where an indicator fired.

    Parameters
    ----------
    indicators : Indicators
        Fitted, of one channel.
    series : array-like of numbers
    name : str
        The indicator, as `Indicators.get_feature_names_out` names it.
    ax : matplotlib axes, optional

    Returns
    -------
    ax : matplotlib axes

    Examples
    --------
    >>> import matplotlib; matplotlib.use("Agg")
    >>> from bayesieve.plot import plot_signal
    >>> from bayesieve.datasets import make_signals
    >>> from bayesieve.indicators import Indicators
    >>> known = make_signals(20, 20, random_state=0)
    >>> indicators = Indicators().fit(known.series)
    >>> ax = plot_signal(indicators, known.series[0], indicators.get_feature_names_out()[0])
    >>> ax.get_xlabel()
    'point'
    """
    values = np.asarray(series, float)
    if values.ndim != 1:
        raise ValueError(
            f"series must be one row of numbers; got an array of shape {values.shape}. Give one "
            "channel of one series."
        )
    spans = indicators.fired(values, [name]).get(name, [])
    ax = axes_or_new(ax, 8, 2.6)
    ax.plot(values, color="#333", lw=0.8)
    for first, last in spans:
        ax.axvspan(first - 0.5, last + 0.5, color="#f58518", alpha=0.25, lw=0)
    ax.set_xlabel("point")
    ax.set_title(plain(name) + ("" if spans else ": not fired"), loc="left", fontsize=9)
    return ax
