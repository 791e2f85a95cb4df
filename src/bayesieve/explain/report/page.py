"""Plain data into one self-contained HTML file."""

import json
from functools import lru_cache
from importlib.resources import files

from ...evaluation.given import Value
from ..plain import jsonable
from .pairs import classes_of, heat_maps
from .shape import Content

_SCRIPTS = ("model.js", "charts.js", "pairs.js", "explorer.js")


_MISSING = "a report needs altair, vl-convert-python and jinja2: pip install 'bayesieve[cli]'."


def render(content: Content) -> str:
    """The page."""
    try:
        import jinja2

        from .charts import MOST_LABELS, MOST_LINES, charts
    except ImportError as error:
        raise ImportError(_MISSING) from error
    environment = jinja2.Environment(autoescape=True, trim_blocks=True, lstrip_blocks=True)
    environment.filters |= {
        "number": _number,
        "percent": _percent,
        "short": _short,
        "level": _level,
        "ratio": _ratio,
    }
    template = environment.from_string(_asset("page.html.j2"))
    data = {
        "charts": charts(content),
        "portable": content["portable"],
        "path": content["path"],
        "rows": content["rows"],
        "thresholds": [[v["name"], v["thresholds"]] for v in content["performance"]["verdicts"]],
        "sources": [
            [[f["counts"], f["source"]] for f in model["features"]] for model in content["model"]
        ],
    }
    return template.render(
        **content,
        most_labels=MOST_LABELS,
        most_lines=MOST_LINES,
        heat=[heat_maps(model, 1, 0) for model in content["model"]],
        class_names=[classes_of(model) for model in content["model"]],
        data=embed(data),
        style=_asset("style.css"),
        runtime=_runtime(),
        script="\n".join(_asset(name) for name in _SCRIPTS),
    )


def embed(value: object) -> str:
    """JSON that may stand inside a script element: no markup can come of any name."""
    text = json.dumps(jsonable(value), ensure_ascii=True, separators=(",", ":"), allow_nan=False)
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _asset(name: str) -> str:
    return (files(__package__) / "assets" / name).read_text(encoding="utf-8")


@lru_cache(maxsize=1)
def _runtime() -> str:
    """Vega, Vega-Lite and vega-embed, as vl-convert ships them."""
    try:
        import vl_convert
    except ImportError as error:
        raise ImportError(_MISSING) from error
    bundle = vl_convert.javascript_bundle(None)  # type: ignore[arg-type]  # None: everything
    return bundle.replace("</script", "<\\/script")


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
