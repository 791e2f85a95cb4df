"""Explanations of single decisions as a small page: bars without any script."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...evaluation.given import Value
from ..explanations import Evidence, Explanation
from ..words import SILENT, odds_in_words
from .page import page_environment, page_style

# Width and height of the picture of a series, and how many of its points are drawn.
_WIDTH, _HEIGHT, _MOST_POINTS = 600, 60, 600


class Picture(NamedTuple):
    """A series behind an indicator."""

    label: str  #: what is seen, for those who do not see it
    channels: list[NDArray[np.float64]]
    spans: list[tuple[int, int]]  #: points that it comes from, last included


def explanations_page(
    found: list[tuple[int, Explanation]],
    title: str = "Decisions explained",
    *,
    names: Sequence[str] | None = None,
    pictures: Sequence[Sequence[Sequence[Picture]]] | None = None,
) -> str:
    """A self-contained page of explanations.

    Parameters
    ----------
    found : list of (row number, Explanation)
    title : headline.
    names : what the rows are called, where they have names.
    pictures : of each explanation and each of its bars, what is drawn below it.

    Examples
    --------
    >>> import numpy as np
    >>> from bayesieve import NaiveBayes, explain
    >>> from bayesieve.explain.report.single import explanations_page
    >>> X = np.array([[1], [0]] * 5)
    >>> found = explain(NaiveBayes().fit(X, ["a", "b"] * 5), X[:2])
    >>> "<script" in explanations_page(list(enumerate(found)))
    False
    """
    template = page_environment().get_template("single.html.j2")
    decisions = []
    for i, (row, each) in enumerate(found):
        drawn = [()] * len(each.evidence) if pictures is None else pictures[i]
        bars = [
            {**_bar(bar, each), "drawings": [_drawing(picture) for picture in mine]}
            for bar, mine in zip(each.evidence, drawn, strict=True)
        ]
        name = f"Row {row}" if names is None else names[i]
        decisions.append({"name": name, "each": each, "bars": bars, "total": _total(each)})
    # Sentences need room, and yes and no little.
    widths = (30, 20, 32, 18) if names is None else (44, 10, 28, 18)
    return template.render(title=title, style=page_style(), decisions=decisions, widths=widths)


def _total(each: Explanation) -> str:
    """How much more probable the target is."""
    if abs(each.log_odds) < SILENT:
        return f"as probable as {each.against}"
    more = f"{odds_in_words(each.log_odds)} as probable"
    return f"{more} as {each.against}" if each.log_odds > 0 else f"{each.against} is {more}"


def _bar(bar: Evidence, each: Explanation) -> dict[str, Value]:
    """What a row of the table shows; the stick as percentages of its cell."""
    sizes = [abs(b.log_ratio) for b in each.evidence if abs(b.log_ratio) != float("inf")]
    longest = max(sizes, default=0.0) or 1.0
    width = 50 * min(abs(bar.log_ratio) / longest, 1.0)
    value = f"{bar.value:.10g}" if isinstance(bar.value, float) else bar.value
    return {
        "feature": "prior" if bar.status == "prior" else bar.feature,
        "value": "" if value is None else value,
        "note": bar.status if bar.status in ("missing", "unseen") else "",
        "ratio": f"{bar.log_ratio:+.3f}",
        "odds": odds_in_words(bar.log_ratio) if abs(bar.log_ratio) >= SILENT else "nothing",
        "width": f"{width:.3f}",
        "left": f"{50.0 if bar.log_ratio >= 0 else 50 - width:.3f}",
        "side": "for" if bar.log_ratio >= 0 else "against",
    }


def _drawing(picture: Picture) -> dict[str, Value | list[Value] | list[list[float]]]:
    """What an SVG of a series needs: lines, broken where points are missing, and shades."""
    known = np.concatenate(picture.channels)
    known = known[np.isfinite(known)]
    low, high = (known.min(), known.max()) if known.size else (0.0, 1.0)
    lines = [
        line for x in picture.channels for line in _lines(x, float(low), float(high) - float(low))
    ]
    step = _WIDTH / max(max(x.size for x in picture.channels) - 1, 1)
    shades = [[first * step, max((last - first + 1) * step, 1.0)] for first, last in picture.spans]
    return {"label": picture.label, "lines": lines, "shades": shades}


def _lines(x: NDArray[np.float64], low: float, height: float) -> list[Value]:
    """The points of a series as an SVG has them, a text for each stretch without a gap."""
    step = max(1, x.size // _MOST_POINTS)
    at = np.arange(0, x.size, step)
    places = at * (_WIDTH / max(x.size - 1, 1))
    heights = _HEIGHT * (1 - (x[at] - low) / (height or 1.0))
    there = np.isfinite(heights)
    cuts = np.flatnonzero(there[1:] != there[:-1]) + 1
    return [
        " ".join(f"{a:.1f},{b:.1f}" for a, b in zip(one, other, strict=True))
        for one, other in zip(np.split(places, cuts), np.split(heights, cuts), strict=True)
        if other.size and np.isfinite(other[0])
    ]
