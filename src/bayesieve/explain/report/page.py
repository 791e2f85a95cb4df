"""The report as one HTML page: assets inlined, nothing fetched."""

import base64
import hashlib
import json
import os
from collections.abc import Sequence
from html import escape
from importlib.resources import files
from typing import TYPE_CHECKING, NamedTuple, Unpack, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.pipeline import Pipeline

from ...data.files.output import write_text
from ...data.kernels.options import FEW_ROWS
from ...data.result import Section, jsonable
from ...evaluation._typing import Model, Value
from ..evidence import Evidence, Explanation
from ..text import (
    SILENT,
    chance_in_words,
    factor_in_words,
    odds_in_words,
    rate_in_words,
    value_in_words,
    yes_or_no,
)
from .content import MOST_LABELS, ReportOptions, calibration_lines, detection_lines, report_content
from .sections import classes_of, decided_in_words, heat_maps, sources_of, speaking

if TYPE_CHECKING:
    import jinja2


class ReportPage(str):
    """A report as text that a notebook shows as the page it is.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from bayesieve import NaiveBayesSelector
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> page = NaiveBayesSelector().fit(X, y).report(X, y, title="Iris", n_resamples=0)
    >>> page._repr_html_()[:7], repr(page).endswith("kB: save(path) writes it>")
    ('<iframe', True)
    """

    __slots__ = ()

    def __repr__(self) -> str:
        return f"<report, {len(self) // 1000} kB: save(path) writes it>"

    def _repr_html_(self) -> str:
        # A frame of its own: the notebook's style and the page's do not meet.
        style = "width:100%;height:900px;border:1px solid #8886;border-radius:6px"
        return (
            f'<iframe style="{style}" title="report" srcdoc="{escape(self, quote=True)}"></iframe>'
        )

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the page to a file, in one go.

        Parameters
        ----------
        path : path
            Of the HTML file.
        """
        write_text(path, str(self))


def make_report(
    model: Model | Pipeline, X: object, y: ArrayLike, **options: Unpack[ReportOptions]
) -> str:
    """A report as the text of an HTML page, which needs nothing else.

    Parameters
    ----------
    model : NaiveBayesSelector, NaiveBayes, WeightedNaiveBayes or what `signals` gives
        Fitted.  A report on a model alone has no search path, no columns dropped and no stability,
        and judges it on the rows given.
    X, y :
        For a selector, what it was fitted on; for `signals`, series and their classes.
    sample_weight : array-like of shape (n_samples,), optional
        For a selector, as in its fit.
    groups : array-like of shape (n_samples,), optional
        For a selector, as in its fit: resamples are drawn by group.
    title : str, default="bayesieve report"
    include_rows : bool, default=False
        May rows of the table be in the page?  At most 1000 are.  Without them counts, levels, class
        names, means and the ends of numeric ranges are in it, and no row.
    n_resamples : int, default=20
        Halves of the rows drawn for the stability of the selection; 0 leaves it out.
    left_out : dict, optional
        Columns that were left out before the search, each with the reason.
    signals : series in any form that `Indicators` takes, optional
        The series behind the rows, shown with `include_rows`.
    indicators : Indicators, optional
        What made the columns from them: the page then shows where in a signal a score fired.
    random_state : int, default=0
        Draws rows and resamples.
    n_jobs : int, optional
        Threads; -1 for all cores.
    remark : callable, optional
        Told in words how far the work is.
    progress : bool, default=False
        Tell on standard error how many of the fits that judge it are done.

    Returns
    -------
    page : str

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from bayesieve import NaiveBayesSelector
    >>> from bayesieve.explain.report import make_report
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> selector = NaiveBayesSelector(random_state=0).fit(X, y)
    >>> page = make_report(selector, X, y, title="Iris", n_resamples=0)
    >>> page[:15], "Iris" in page, "http://" in page.split("<script")[0]
    ('<!DOCTYPE html>', True, False)
    """
    return render(report_content(model, X, y, **options))


def write_report(
    model: Model | Pipeline,
    X: object,
    y: ArrayLike,
    path: str | os.PathLike[str],
    **options: Unpack[ReportOptions],
) -> None:
    """Write the HTML report of a model to a file (atomically).

    Parameters
    ----------
    model, X, y, **options :
        As in `make_report`.
    path : path
        Of the HTML file.

    Examples
    --------
    >>> import os, tempfile
    >>> from sklearn.datasets import load_iris
    >>> from bayesieve import NaiveBayesSelector
    >>> from bayesieve.explain.report import write_report
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> selector = NaiveBayesSelector(random_state=0).fit(X, y)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_report(selector, X, y, os.path.join(folder, "iris.html"), n_resamples=0)
    ...     os.listdir(folder)
    ['iris.html']
    """
    write_text(path, make_report(model, X, y, **options))


def report_page(model: object, X: object, y: ArrayLike, options: dict[str, object]) -> ReportPage:
    """The report of a model, as a page."""
    return ReportPage(make_report(cast(Model, model), X, y, **cast(ReportOptions, options)))


# -- Plain data into one self-contained HTML file --------------------------------------------------


#: The parts of the page in JavaScript, one name each; later ones build on earlier ones.
SCRIPTS = (
    "dom.js",
    "words.js",
    "model.js",
    "charts.js",
    "signal.js",
    "nomogram.js",
    "pairs.js",
    "behind.js",
    "rowlist.js",
    "explorer.js",
    "card.js",
    "sheet.js",
    "page.js",
)

#: Classes or labels in one chart.
MOST_LINES = 12

_MISSING = "a report needs jinja2: pip install 'bayesieve[cli]'."

# Resamples of the choice are drawn for so many columns.
_MOST_BARS = 25


def render(content: Section) -> str:
    """The page."""
    environment = page_environment()
    style, script = page_style(), "\n".join(asset(name) for name in SCRIPTS)
    return environment.get_template("page.html.j2").render(
        **content,
        most_labels=MOST_LABELS,
        most_lines=MOST_LINES,
        few_rows=FEW_ROWS,
        heat=[heat_maps(model, 1, 0) for model in content["model"]],
        scales=[any(f["model"] != "pair" for f in speaking(model)) for model in content["model"]],
        class_names=[classes_of(model) for model in content["model"]],
        data=embed(page_data(content)),
        policy=_policy(style, script),
        style=style,
        script=script,
    )


def page_style() -> str:
    """The style of all pages: colours, and what is made of them."""
    return asset("colours.css") + asset("style.css")


def part_script() -> str:
    """The parts of a report, without the page that puts them together: other pages use them too."""
    return "\n".join(asset(name) for name in SCRIPTS[:-1])


def page_environment() -> "jinja2.Environment":
    """Templates of the assets, and how they write numbers."""
    try:
        import jinja2
    except ImportError as error:
        raise ImportError(_MISSING) from error
    environment = jinja2.Environment(
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        loader=jinja2.FunctionLoader(asset),
    )
    environment.filters |= {
        "number": _number,
        "percent": _percent,
        "chance": chance_in_words,
        "rate": rate_in_words,
        "short": _short,
        "level": _level,
        "decided": decided_in_words,
        "yes_no": yes_or_no,
        "ratio": _ratio,
        "times": factor_in_words,
    }
    return environment


def page_data(content: Section) -> dict[str, object]:
    """What the scripts of the page read."""
    verdicts = content["performance"]["verdicts"]
    stable = content["stability"]
    bars = stable and [
        {
            "name": each["name"],
            "share": each["frequency"],
            "low": each["interval"][0],
            "high": each["interval"][1],
            "full": each["selected"],
        }
        for each in stable["features"][:_MOST_BARS]
    ]
    return {
        "portable": content["portable"],
        "rules": content["rules"],
        "path": content["path"],
        "rows": content["rows"],
        "card": content["card"],
        "thresholds": [[v["name"], v["thresholds"]] for v in verdicts],
        "sources": sources_of(content["model"]),
        "roc": detection_lines(content, MOST_LINES),
        "calibration": calibration_lines(content, MOST_LINES),
        "stability": bars,
    }


def _policy(style: str, script: str) -> str:
    """What a browser may do with the page: run its own script, and ask nobody for anything."""

    def digest(text: str) -> str:
        return base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()

    return (
        f"default-src 'none'; script-src 'sha256-{digest(script)}'; style-src-elem "
        f"'sha256-{digest(style)}'; style-src-attr 'unsafe-inline'; img-src data:; base-uri 'none'"
    )


def embed(value: object) -> str:
    """JSON that may stand inside a script element: no markup can come of any name."""
    text = json.dumps(jsonable(value), ensure_ascii=True, separators=(",", ":"), allow_nan=False)
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def asset(name: str) -> str:
    """The text of a file that pages are made of."""
    return (files(__package__) / "assets" / name).read_text(encoding="utf-8")


def _number(value: float | str | None, digits: int = 4) -> str:
    if value is None:
        return "–"
    if isinstance(value, float):
        return f"{value:.{digits}g}"
    return str(value)


def _level(value: Value) -> str:
    """A value of a discrete column: two of them must not look alike."""
    return f"{value:.12g}" if isinstance(value, float) else str(value)


def _ratio(value: float) -> str:
    """A log-ratio in a cell: its sign, and one digit behind the point."""
    text = f"{abs(value):.1f}"
    return text if text == "0.0" else f"{'+' if value > 0 else '−'}{text}"


def _percent(value: float) -> str:
    return "–" if value != value else f"{100 * value:.1f} %"


def _short(value: object, most: int = 120) -> str:
    line = " ".join(str(value).split())
    return line if len(line) <= most else line[: most - 1] + "…"


# -- Explanations of single decisions as a small page ----------------------------------------------


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
    >>> from bayesieve.explain.report.page import explanations_page
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
    widths = (32, 18, 24, 26) if names is None else (40, 10, 26, 24)
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
    said = factor_in_words(bar.log_ratio, bar.rows, bar.low, bar.high)
    number, opened, rest = said.partition("(")
    return {
        "feature": "prior" if bar.status == "prior" else bar.feature,
        "value": "" if bar.value is None else value_in_words(bar.value),
        "note": bar.status if bar.status in ("missing", "unseen") else "",
        "odds": number.strip(),
        "behind": opened + rest,
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
