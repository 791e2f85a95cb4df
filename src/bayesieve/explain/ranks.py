"""Pictures of a comparison: average ranks with their critical difference, and scores of folds."""

from typing import Any

from ..evaluation.comparison.result import Comparison
from ..evaluation.comparison.scores import SCORES
from .pictures import new_axes, plain

_INK, _QUIET, _BEST, _BAR = "#222222", "#7a7a7a", "#1b6ca8", "#444444"

# Units of height: between two names, two bars, and above the axis.
_LINE, _STEP = 0.42, 0.2


def plot_ranks(found: Comparison, ax: Any = None) -> Any:
    """Average ranks, best to the left; bars join methods that cannot be told apart (Demsar 2006).

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
    if ax is None:
        ax = new_axes(8, 1.5 + 0.62 * (below + _LINE * half))
    margin = max(0.42 * (n - 1), 0.5)
    ax.set_xlim(1 - margin, n + margin)
    ax.set_ylim(-(below + _LINE * half) + 0.1, 0.95)
    ax.axis("off")
    _draw_scale(ax, n, min(gap, n - 1 + margin), gap)
    for i, name in enumerate(names):
        left = i < half
        level = -(below + _LINE * (i if left else n - 1 - i))
        end = 1 - 0.06 * margin if left else n + 0.06 * margin
        colour = _BEST if name in found.best else _INK
        ax.plot([ranks[name], ranks[name], end], [0, level, level], color=colour, linewidth=0.9)
        text = f"{plain(name)}  {ranks[name]:.2f}" if left else f"{ranks[name]:.2f}  {plain(name)}"
        ax.annotate(
            text,
            (end, level),
            (-4 if left else 4, 0),
            textcoords="offset points",
            va="center",
            ha="right" if left else "left",
            fontsize=9,
            color=colour,
            fontweight="bold" if name in found.best else "normal",
        )
    over = 0.01 * (n - 1)
    for i, (low, high) in enumerate(groups):
        level = -0.22 - _STEP * i
        ax.plot(
            [low - over, high + over],
            [level, level],
            color=_BAR,
            linewidth=4,
            solid_capstyle="round",
        )
    ax.set_title(_headline(found), fontsize=10, loc="left")
    return ax


def _draw_scale(ax: Any, n: int, shown: float, gap: float) -> None:
    """The axis of ranks, and above it the critical difference."""
    ax.plot([1, n], [0, 0], color=_INK, linewidth=1)
    for rank in range(1, n + 1):
        ax.plot([rank, rank], [0, 0.1], color=_INK, linewidth=1)
        ax.annotate(
            str(rank),
            (rank, 0.1),
            (0, 3),
            textcoords="offset points",
            ha="center",
            fontsize=9,
            color=_INK,
        )
    level = 0.7
    ax.plot([1, 1 + shown], [level, level], color=_QUIET, linewidth=1.2)
    for end in (1, 1 + shown):
        ax.plot([end, end], [level - 0.07, level + 0.07], color=_QUIET, linewidth=1.2)
    ax.annotate(
        f"critical difference {gap:.2f}",
        (1 + shown, level),
        (6, 0),
        textcoords="offset points",
        va="center",
        fontsize=8,
        color=_QUIET,
    )


def _headline(found: Comparison) -> str:
    title = SCORES[found.metric].title
    return (
        f"Average rank by {title} on {len(found.sets)} sets; methods joined by a bar are not told "
        f"apart (alpha {found.alpha:g})"
    )


def plot_scores(found: Comparison, ax: Any = None) -> Any:
    """The score of every fold, one method a line, best on top; the mean as a stroke.

    Parameters
    ----------
    found : of one set (of several, all their folds are shown).
    ax : matplotlib axes, optional
    """
    names = list(found.ranks)
    if ax is None:
        ax = new_axes(7, 0.42 * max(len(names), 1) + 1.4)
    for place, name in enumerate(names):
        colour = _BEST if name in found.best else _QUIET
        known = [found.values(name, each.name) for each in found.sets]
        values = [float(value) for each in known if each is not None for value in each]
        ax.plot(
            values,
            [place] * len(values),
            "o",
            color=colour,
            alpha=0.35,
            markersize=6,
            markeredgewidth=0,
        )
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
    for side in ("top", "right", "left"):
        ax.spines[side].set_visible(False)
    return ax
