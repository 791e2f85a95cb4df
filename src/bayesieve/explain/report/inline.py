"""A report where one works: a page within a notebook."""

import os
from html import escape
from typing import cast

from numpy.typing import ArrayLike

from ...data.files.atomic import write_text
from ...evaluation.given import Model


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


def report_page(model: object, X: object, y: ArrayLike, options: dict[str, object]) -> ReportPage:
    """The report of a model, as a page."""
    from . import ReportOptions, make_report

    return ReportPage(make_report(cast(Model, model), X, y, **cast(ReportOptions, options)))
