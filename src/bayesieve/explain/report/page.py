"""Plain data into one self-contained HTML file."""

import base64
import hashlib
import json
import math
from importlib.resources import files
from typing import TYPE_CHECKING

from ...evaluation.given import Value
from ..plain import jsonable
from ..words import SILENT, chance_in_words, few_digits, rate_in_words
from .curves import calibration_lines, detection_lines
from .decided import decided_in_words
from .explored import sources_of
from .looks import yes_or_no
from .pairs import classes_of, heat_maps, scaled
from .shape import AgreementData, Content

if TYPE_CHECKING:
    import jinja2

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
    "sheet.js",
    "page.js",
)


#: Labels with charts of their own, and classes or labels in one chart.
MOST_LABELS, MOST_LINES = 8, 12


_MISSING = "a report needs jinja2: pip install 'bayesieve[cli]'."


# Resamples of the choice are drawn for so many columns.
_MOST_BARS = 25


def render(content: Content) -> str:
    """The page."""
    environment = page_environment()
    style, script = page_style(), "\n".join(asset(name) for name in SCRIPTS)
    return environment.get_template("page.html.j2").render(
        **content,
        most_labels=MOST_LABELS,
        most_lines=MOST_LINES,
        heat=[heat_maps(model, 1, 0) for model in content["model"]],
        scales=[bool(scaled(model)) for model in content["model"]],
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
        "times": _times,
    }
    return environment


def page_data(content: Content) -> dict[str, object]:
    """What the scripts of the page read."""
    verdicts = content["performance"]["verdicts"]
    stable = content["stability"]
    return {
        "portable": content["portable"],
        "rules": content["rules"],
        "path": content["path"],
        "rows": content["rows"],
        "thresholds": [[v["name"], v["thresholds"]] for v in verdicts],
        "sources": sources_of(content["model"]),
        "roc": detection_lines(content, MOST_LINES),
        "calibration": calibration_lines(content, MOST_LINES),
        "stability": None if stable is None else _bars(stable),
    }


def _bars(stable: AgreementData) -> list[dict[str, object]]:
    return [
        {
            "name": each["name"],
            "share": each["frequency"],
            "low": each["interval"][0],
            "high": each["interval"][1],
            "full": each["selected"],
        }
        for each in stable["features"][:_MOST_BARS]
    ]


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


def _times(value: float) -> str:
    """A log-ratio as a factor, whichever way it points."""
    size = abs(value)
    if size < SILENT:
        return "1"
    return "> 10 000" if size >= math.log(10_000) else few_digits(math.exp(size))


def _percent(value: float) -> str:
    return "–" if value != value else f"{100 * value:.1f} %"


def _short(value: object, most: int = 120) -> str:
    line = " ".join(str(value).split())
    return line if len(line) <= most else line[: most - 1] + "…"
