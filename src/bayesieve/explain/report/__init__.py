"""Reports: one self-contained HTML file about a selection."""

import os
from collections.abc import Callable
from typing import TypedDict, Unpack, cast

from numpy.typing import ArrayLike
from sklearn.pipeline import Pipeline

from ...checks import check_flag, check_number, choose
from ...data.files.output import write_text
from ...data.result import Section
from ...data.series import SeriesLike
from ...estimators.base import ChosenColumns, procedure_of
from ...estimators.signals import SignalPipeline, follow
from ...evaluation._typing import Model
from ...evaluation.stability import stability
from ...indicators.transformer import Indicators
from .content import Extras, gather
from .page import explanations_page, render

__all__ = ["explanations_page", "make_report", "write_report"]


class ReportOptions(TypedDict, total=False):
    """Options of `make_report` besides the model and the table."""

    sample_weight: ArrayLike | None
    groups: ArrayLike | None
    title: str
    include_rows: bool
    n_resamples: int
    left_out: dict[str, str] | None
    signals: SeriesLike | None
    indicators: Indicators | None
    random_state: int
    n_jobs: int | None
    remark: Callable[[str], None] | None


# Of every option; None where it is not named here.
_DEFAULTS = cast(
    ReportOptions,
    {
        **dict.fromkeys(ReportOptions.__annotations__),
        "title": "bayesieve report",
        "include_rows": False,
        "n_resamples": 20,
        "random_state": 0,
    },
)


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
        Bootstrap samples for the stability of the selection; 0 leaves it out.
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


def report_content(
    model: Model | Pipeline, X: object, y: ArrayLike, **options: Unpack[ReportOptions]
) -> Section:
    """What a report shows, as plain data; parameters as in `make_report`."""
    for name in options:
        choose("an option of the report", name, _DEFAULTS)
    asked: ReportOptions = {**_DEFAULTS, **options}
    if isinstance(model, SignalPipeline):
        series = cast(SeriesLike, X)
        asked = {**asked, "signals": series, "indicators": model.indicators}
        model, X = model.estimator, model.columns(series)
    model, X = follow(model, X)
    check_flag("include_rows", asked["include_rows"])
    n_resamples = check_number("n_resamples", asked["n_resamples"], low=0, whole=True)
    if n_resamples == 1:
        raise ValueError("n_resamples must be 0 (no stability) or at least 2; got 1.")
    remark = asked["remark"] or _silent
    found, why = None, "n_resamples is 0"
    if n_resamples and isinstance(model, ChosenColumns):
        remark(f"repeating the search on {n_resamples} resamples of the rows")
        try:
            found = stability(
                procedure_of(model).repeatable(),
                X,
                y,
                n_resamples=n_resamples,
                sample_weight=asked["sample_weight"],
                groups=asked["groups"],
                random_state=asked["random_state"],
                n_jobs=asked["n_jobs"],
            )
        except ValueError as error:
            # A sample may lack a rare class or label: the rest of the report stands.
            why = f"the search failed on a resample of the rows ({error})"
    extras = Extras(
        title=asked["title"],
        include_rows=bool(asked["include_rows"]),
        stability=found,
        left_out=dict(asked["left_out"] or {}),
        signals=asked["signals"],
        indicators=asked["indicators"],
        random_state=asked["random_state"],
        no_stability=why,
        groups=asked["groups"],
    )
    remark("estimating its error on held-out rows")
    return gather(model, X, y, extras, asked["sample_weight"])


def _silent(line: str) -> None:
    """Nothing is said."""


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
