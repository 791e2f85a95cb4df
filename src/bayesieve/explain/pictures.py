"""Pictures with matplotlib, which is imported only here and only when asked."""

from typing import TYPE_CHECKING, cast

from .bands import mean_bands
from .labels import short_names

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from ..rankings.divergence import RelevanceMatrix
    from ..search.path import Path, Step
    from ..search.weight_path import WeightPath
    from .explanations import Evidence, Explanation
    from .model import Value, ValueScale
    from .plain import Source

_FOR, _AGAINST, _QUIET = "#1b6ca8", "#c0392b", "#7a7a7a"


_MOST_LETTERS = 40


_FAR = 10.0  # nat, 22000 to 1: scales that go farther end in an arrow


_TEXTS_ACROSS = 21  # values that fit side by side on the scales of a nomogram


_MAPS_ACROSS = 3  # heat maps of pairs side by side


_MOST_TEXTS = 40  # cells of a small heat map that are written out


def new_axes(width: float, height: float) -> "Axes":
    """Axes of a new figure."""
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
    bars = explanation.evidence[:1] + explanation.evidence[1 : most + 1]
    left_out = explanation.evidence[most + 1 :]
    features = plain_names([bar.feature for bar in bars])
    labels = [_label(bar, name) for bar, name in zip(bars, features, strict=True)]
    sizes = [bar.log_ratio for bar in bars]
    if left_out:
        labels.append(f"{len(left_out)} more")
        sizes.append(sum(bar.log_ratio for bar in left_out))
    if ax is None:
        ax = new_axes(7, 0.32 * len(sizes) + 1.4)
    # An impossible value has an infinite bar: as long as all the others together.
    finite = [abs(size) for size in sizes if abs(size) != float("inf")]
    longest = max(sum(finite), 1.0)
    shown = [min(max(size, -longest), longest) for size in sizes]
    places = range(len(sizes))
    ax.barh(places, shown, color=[_FOR if size >= 0 else _AGAINST for size in sizes], height=0.7)
    for place, size, width in zip(places, sizes, shown, strict=True):
        ax.annotate(
            f"{size:+.2f}",
            (width, place),
            (4 if size >= 0 else -4, 0),
            fontsize=8,
            textcoords="offset points",
            va="center",
            ha="left" if size >= 0 else "right",
        )
    ax.axvline(0, color=_QUIET, linewidth=0.8)
    ax.margins(x=0.18)
    ax.set_yticks(places, labels, fontsize=8)
    ax.invert_yaxis()
    ax.set_xlabel(
        f"log-ratio: for {plain(explanation.target)} (right), "
        f"for {plain(explanation.against)} (left)"
    )
    ax.set_title(
        f"P({plain(explanation.target)}) = {explanation.probability:.4g}, "
        f"log-odds {explanation.log_odds:+.2f}",
        fontsize=10,
        loc="left",
    )
    _bare(ax, "top", "right", "left")
    return ax


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
    if ax is None:
        ax = new_axes(8, 0.45 * len(shown) + 1.6)
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
            ax.annotate(
                _tick_text(value),
                (ratio, place),
                (0, 6 if i % 2 == 0 else -12),
                fontsize=7,
                textcoords="offset points",
                ha="center",
            )
    ax.axvline(0, color=_QUIET, linewidth=0.8)
    ax.set_yticks(range(len(shown)), plain_names([name for name, _ in shown]), fontsize=8)
    ax.set_ylim(len(shown) - 0.4, -0.6)
    ax.set_xlabel(f"log-ratio: for {plain(target)} (right), for {plain(against)} (left)")
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


def _tick_text(value: "Value") -> str:
    text = f"{value:.4g}" if isinstance(value, float) else plain(value)
    return text if len(text) <= 12 else text[:11] + "…"


def _bare(ax: "Axes", *sides: str) -> None:
    for side in sides:
        ax.spines[side].set_visible(False)


def plot_path(path: "Path", ax: "Axes | None" = None) -> "Axes":
    """Score and validation error of every subset visited, against its size; see `Path.plot`."""
    if ax is None:
        ax = new_axes(7, 4.2)
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
    x: list[float] = []
    y: list[float] = []
    for step, height in zip(steps, heights, strict=True):
        if step.action == "start" and x:
            x.append(float("nan"))
            y.append(float("nan"))
        x.append(step.n_features)
        y.append(height)
    return x, y


def plot_relevance(matrix: "RelevanceMatrix", ax: "Axes | None" = None) -> "Axes":
    """A heat map: which features separate which class."""
    if ax is None:
        width = min(max(4.0, 0.35 * len(matrix.feature_names) + 2), 24)
        ax = new_axes(width, 0.35 * len(matrix.class_names) + 2)
    shown = ax.imshow(matrix.normalised(), aspect="auto", cmap="Blues", vmin=0)
    names = plain_names(matrix.feature_names)
    ax.set_xticks(range(len(names)), names, rotation=90, fontsize=8)
    ax.set_yticks(range(len(matrix.class_names)), map(plain, matrix.class_names), fontsize=8)
    ax.set_ylabel("class")
    ax.figure.colorbar(shown, ax=ax, label="share of divergence")
    return ax


def nomogram_axes(n_scales: int, shapes: "list[tuple[int, int]]") -> "tuple[Axes, list[Axes]]":
    """Axes for scales, and smaller ones below them for pairs of so many rows and columns."""
    ax = new_axes(9, 0.45 * n_scales + 1.6)
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
    ax = new_axes(0.6 * len(second) + 3, 0.4 * len(first) + 1.6) if ax is None else ax
    deepest = max(map(abs, ratios), default=0.0) if most is None else most
    deepest = max(deepest, 1e-9)
    shown = ax.imshow(lines, aspect="auto", cmap="RdBu", vmin=-deepest, vmax=deepest)
    ax.set_xticks(range(len(second)), map(plain, second), rotation=45, ha="right", fontsize=8)
    ax.set_yticks(range(len(first)), map(plain, first), fontsize=8)
    ax.set_title(plain(name), fontsize=9, loc="left")
    ax.tick_params(length=0)
    _bare(ax, "top", "right", "left", "bottom")
    if most is None:
        ax.figure.colorbar(shown, ax=ax, label=f"for {plain(target)} against {plain(against)}")
    elif len(ratios) <= _MOST_TEXTS:
        for at, ratio in enumerate(ratios):
            ink = "white" if abs(ratio) > 0.6 * deepest else "black"
            place = at % len(second), at // len(second)
            ax.text(*place, f"{ratio:+.1f}", ha="center", va="center", fontsize=7, color=ink)
    return ax


def plot_weight_path(
    path: "WeightPath", ax: "Axes | None" = None, bands: "Sequence[float] | None" = None
) -> "Axes":
    """Leave-one-out log-loss against the number of terms; the chosen state is marked.

    Parameters
    ----------
    path : of weighted terms.
    ax : where to draw.
    bands : standard errors of the states, of which two are drawn on either side.
    """
    ax = new_axes(7, 4) if ax is None else ax
    sizes = [len(step.terms) for step in path.steps]
    losses = [step.loss for step in path.steps]
    if bands is not None:
        _band(ax, sizes, losses, bands, _FOR)
    ax.plot(sizes, losses, color=_FOR, marker=".")
    ax.axvline(sizes[path.chosen], color=_QUIET, linestyle=":")
    ax.set_xlabel("number of terms")
    ax.set_ylabel("log-loss of rows left out")
    return ax
