"""The verbs `demo`, a pipeline from simulated signals to a model in words, and `reproduce`."""

import json
import time
from pathlib import Path

import numpy as np
from rich.console import Console

import bayesieve_papers as papers

from ..data.files.output import check_new, output_file, output_text
from ..datasets.simulated import make_signals
from ..estimators.selector import NaiveBayesSelector
from ..explain.model import explain_model
from ..explain.text import factor_in_words, odds_in_words
from ..indicators.transformer import Indicators
from .options import Settings, say, tell

_STRONGEST = 10

_RESAMPLES = 4  # for the report: a few seconds

_TITLE = "Signals, simulated"


def demo(settings: Settings, seed: int, quick: bool, out: Path | None) -> None:
    """Simulate signals, score them, sieve the indicators: the pipeline of Rabenoro 2015."""
    if out is not None:
        check_new([out / "report.html"], settings.force or is_own(out / "report.html"))
    import polars as pl

    # Soft: lines are not broken where the output is piped.
    console = Console(highlight=False, soft_wrap=True)
    sizes = (300, 100) if quick else (3000, 1000)
    start = time.perf_counter()
    train = make_signals(*sizes, random_state=2 * seed)
    test = make_signals(*sizes, random_state=2 * seed + 1)
    console.print(
        f"{len(train.series)} signals to learn from, {len(test.series)} to test on "
        f"(half normal, the rest with a shift of mean or variance, or a trend)"
    )
    indicators = Indicators(n_jobs=-1)
    names = indicators.fit(train.series).get_feature_names_out().tolist()
    X, X_test = (
        pl.DataFrame(indicators.transform(part.series), schema=names) for part in (train, test)
    )
    console.print(f"{X.shape[1]} binary indicators   {time.perf_counter() - start:.1f} s")
    selector = NaiveBayesSelector(
        search="backward-forward",
        criterion="probability",
        cv="train",
        validation=0.5,
        choice="best",
        reweigh=False,
        random_state=seed,
        n_jobs=-1,
    ).fit(X, train.y)
    console.print(
        f"{len(selector.selected_)} chosen by backward-forward search guided by probability, "
        f"{selector.n_tried_} subsets tried   {time.perf_counter() - start:.1f} s\n"
    )
    error = 1 - selector.score(X_test, test.y)
    console.print("Method            Perf. measure  features  test error   paper")
    console.print(
        f"Backward-Forward  Probability    {len(selector.selected_):8d}  {error:10.4f}   "
        "122, 0.1168\n"
    )
    _show_strongest(console, selector, names)
    if out is not None:
        from ..explain.report import write_report

        console.print("\nevaluating it, and writing the report ...")
        out.mkdir(parents=True, exist_ok=True)
        write_report(
            selector,
            X,
            train.y,
            out / "report.html",
            title=_TITLE,
            include_rows=True,
            n_resamples=_RESAMPLES,
            signals=train.series,
            indicators=indicators,
            random_state=seed,
            n_jobs=-1,
        )
        console.print(f"\n{time.perf_counter() - start:.1f} s in all. The report is in:")
        console.print(str(out / "report.html"), markup=False)


def is_own(path: Path) -> bool:
    """Did an earlier demonstration write this report?  It may then be written over."""
    if not path.is_file():
        return False
    with path.open(encoding="utf-8", errors="replace") as file:
        return f"<h1>{_TITLE}</h1>" in file.read(200_000)


def _show_strongest(console: Console, selector: NaiveBayesSelector, names: list[str]) -> None:
    """The indicators whose presence tells two classes apart most."""
    columns = np.flatnonzero(selector.support_)
    found = explain_model(selector)
    terms = np.array([each.terms[1] for each in found.features])  # of presence
    classes = [str(name) for name in selector.classes_]
    best, worst = terms.argmax(1), terms.argmin(1)
    strength = terms.max(1) - terms.min(1)
    console.print(
        "The strongest indicators, and what their presence (b = 1) says, from smoothed counts:"
    )
    for j in np.argsort(-strength, kind="stable")[:_STRONGEST]:
        said = found.said(found.features[j], best[j], worst[j])[1]
        beside = factor_in_words(*said).partition(" (")
        console.print(
            f"  {names[columns[j]]}\n      {odds_in_words(strength[j])} as likely under "
            f"{classes[best[j]]!r} as under {classes[worst[j]]!r}{beside[1]}{beside[2]}",
            markup=False,
        )


# -- The verb reproduce ----------------------------------------------------------------------------


def reproduce(
    paper: str,
    settings: Settings,
    quick: bool,
    seed: int,
    data: Path | None,
    figure: Path | None,
    as_csv: Path | None,
    as_latex: Path | None,
) -> None:
    """Tables of a paper, published and reproduced figures side by side."""
    start = time.perf_counter()
    found = papers.run(
        paper, quick=quick, seed=seed, folder=data, tell=None if settings.as_json else tell
    )
    if settings.as_json:
        say(json.dumps(found.to_dict(), indent=2) + "\n")
    else:
        say(found.to_text())
        tell(f"{time.perf_counter() - start:.1f} s")
    if figure is not None:
        from matplotlib.figure import Figure

        picture = Figure(figsize=found.figure_size, layout="constrained")
        if found.draw is not None:
            found.draw(picture)
        with output_file(figure) as file:
            picture.savefig(file, format=figure.suffix[1:], dpi=150)
    if as_csv is not None:
        output_text(as_csv, found.to_csv())
    if as_latex is not None:
        output_text(as_latex, found.to_latex())
