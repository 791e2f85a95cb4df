"""Explanations of single decisions as a small page: bars without any script."""

from ...evaluation.given import Value
from ..evidence import Evidence, Explanation
from .page import _asset

_MISSING = "an HTML explanation needs jinja2: pip install 'bayesieve[cli]'."


def explanations_page(
    found: list[tuple[int, Explanation]], title: str = "Decisions explained"
) -> str:
    """A self-contained page of explanations.

    Parameters
    ----------
    found : list of (row number, Explanation)
    title : headline.

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
    try:
        import jinja2
    except ImportError as error:
        raise ImportError(_MISSING) from error
    environment = jinja2.Environment(autoescape=True, trim_blocks=True, lstrip_blocks=True)
    template = environment.from_string(_asset("single.html.j2"))
    decisions = [
        {"row": row, "each": each, "bars": [_bar(bar, each) for bar in each.evidence]}
        for row, each in found
    ]
    return template.render(title=title, style=_asset("style.css"), decisions=decisions)


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
        "width": f"{width:.3f}",
        "left": f"{50.0 if bar.log_ratio >= 0 else 50 - width:.3f}",
        "side": "for" if bar.log_ratio >= 0 else "against",
    }
