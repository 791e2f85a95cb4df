"""Rabenoro, Lacaille, Cottrell and Rossi 2015: search strategies for binary feature selection.

Table 1 of the paper: signals become binary indicators; two filters and eight wrapper searches
choose among them, guided by half of the training signals, the size chosen on the other half; the
error is that of the chosen naive Bayes model on fresh test signals.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from bayesieve.datasets.simulated import make_signals
from bayesieve.estimators.naive_bayes import NaiveBayes
from bayesieve.estimators.selector import NaiveBayesSelector
from bayesieve.indicators.transformer import Indicators
from bayesieve.search.strategies.ranked import RankedSearch

from .base import Conclusion, PaperRun, Record, Reproduction, bare

if TYPE_CHECKING:
    from matplotlib.figure import Figure

TABLE = "Table 1"

#: Row, search, criterion, the paper's number of features and test error.
ROWS: tuple[tuple[str, str | RankedSearch, str, int, float], ...] = (
    ("MI filter, Error", RankedSearch("mutual-information"), "error", 422, 0.1387),
    ("mRMR filter, Error", RankedSearch("mrmr"), "error", 19, 0.1435),
    ("Forward search, Error", "forward", "error", 136, 0.1237),
    ("Forward search, Probability", "forward", "probability", 207, 0.1225),
    ("Backward search, Error", "backward", "error", 27, 0.1308),
    ("Backward search, Probability", "backward", "probability", 86, 0.1283),
    ("Forward-Backward, Error", "forward-backward", "error", 92, 0.1238),
    ("Forward-Backward, Probability", "forward-backward", "probability", 123, 0.1237),
    ("Backward-Forward, Error", "backward-forward", "error", 112, 0.1267),
    ("Backward-Forward, Probability", "backward-forward", "probability", 122, 0.1168),
)

#: A row that the paper speaks of but does not print.
UNPRINTED = ("Forward search, Log-likelihood", "forward", "log-likelihood")

SEARCHES = ("Forward search", "Backward search", "Forward-Backward", "Backward-Forward")

_SEEDS = 1000  # replications of one seed, at most

Result = dict[str, tuple[int, float]]


def reproduce(run: PaperRun, replications: int | None = None) -> Reproduction:
    """Table 1 on fresh signals, replication by replication.

    A quick run takes a tenth of the signals and 2 replications, instead of the paper's size and 10.
    No two seeds share a replication; no folder is needed, as signals are simulated.
    """
    replications = replications or (2 if run.quick else 10)
    results = [_replicate(run, _SEEDS * run.seed + r) for r in range(replications)]
    records = []
    for row, _, _, n_features, error in ROWS:
        records += _records(results, row, n_features, error)
    records += _records(results, UNPRINTED[0], None, None, "not printed in the paper")
    return Reproduction(
        "Rabenoro 2015: search strategies for binary feature selection",
        records,
        _conclusions(results, 600 if run.quick else 6000),
        [
            "The paper's 814 indicators are not listed (its reference [7]); ours are 810: 3 tests "
            "x 3 windows x 10 levels x 9 confirmations.",
            "Log-likelihood is guided by training rows, like the other rows; the paper reports no "
            "figure for it.",
            f"{replications} replication(s), seed {run.seed}"
            + (", a tenth of the paper's signals." if run.quick else ", at the paper's size."),
        ],
        lambda figure: _draw(figure, results),
    )


def _replicate(run: PaperRun, seed: int) -> Result:
    """Features and test error of every row, on signals of their own."""
    n_normal, n_anomalies = (300, 100) if run.quick else (3000, 1000)
    train = make_signals(n_normal, n_anomalies, random_state=2 * seed)
    test = make_signals(n_normal, n_anomalies, random_state=2 * seed + 1)
    indicators = Indicators(n_jobs=run.n_jobs)
    X, X_test = indicators.fit_transform(train.series), indicators.transform(test.series)
    found: Result = {}
    for row, search, criterion in [*((r, s, c) for r, s, c, _, _ in ROWS), UNPRINTED]:
        selector = NaiveBayesSelector(
            NaiveBayes("bernoulli"),
            search=search,
            criterion=criterion,
            cv="train",
            validation=0.5,
            random_state=seed,
            n_jobs=run.n_jobs,
            choice="best",
            reweigh=False,
        ).fit(X, train.y)
        size, error = found[row] = (len(selector.selected_), 1 - selector.score(X_test, test.y))
        run.report(f"seed {seed}: {row}: {size} features, test error {error:.4f}")
    return found


def _records(
    results: list[Result], row: str, n_features: int | None, error: float | None, table: str = TABLE
) -> list[Record]:
    values = np.array([result[row] for result in results])
    spread = values.std(0, ddof=1) if len(results) > 1 else [None, None]
    return [
        Record(table, row, column, paper, float(mean), None if sd is None else float(sd))
        for column, paper, mean, sd in zip(
            ("features", "test error"), (n_features, error), values.mean(0), spread, strict=True
        )
    ]


def _conclusions(results: list[Result], n_test: int) -> list[Conclusion]:
    """The paper's sentences, replication by replication."""
    wrappers = [row for row, *_ in ROWS[2:]]
    filters = [row for row, *_ in ROWS[:2]]

    def lowest(result: Result, rows: list[str]) -> float:
        return min(result[row][1] for row in rows)

    def near_best(result: Result) -> bool:
        best = lowest(result, filters + wrappers)
        noise = np.sqrt(best * (1 - best) / n_test)
        return bool(result["Backward-Forward, Probability"][1] <= best + noise)

    def more(one: str, other: str, at: int) -> Callable[[Result], bool]:
        return lambda result: result[one][at] > result[other][at]

    claims: list[tuple[str, Callable[[Result], bool]]] = [
        ("the best wrapper beats both filters", lambda r: lowest(r, wrappers) < lowest(r, filters)),
        (
            "every wrapper beats both filters",
            lambda r: max(r[row][1] for row in wrappers) < lowest(r, filters),
        ),
    ]
    for search in SEARCHES:
        worse = more(f"{search}, Probability", f"{search}, Error", 1)
        claim = f"probability is at least as good a guide as error: {search}"
        claims.append((claim, lambda r, worse=worse: not worse(r)))  # type: ignore[misc]
    for guide in ("Error", "Probability"):
        claims += [
            (
                f"backward-forward keeps more features than backward: {guide}",
                more(f"Backward-Forward, {guide}", f"Backward search, {guide}", 0),
            ),
            (
                f"forward-backward keeps fewer features than forward: {guide}",
                more(f"Forward search, {guide}", f"Forward-Backward, {guide}", 0),
            ),
        ]
    claims += [
        (
            "log-likelihood is a poor guide: worse than probability, forward search",
            more(UNPRINTED[0], "Forward search, Probability", 1),
        ),
        (
            "backward-forward with probability is the best row, or within one standard error of it",
            near_best,
        ),
    ]
    return [Conclusion.count(claim, map(holds, results)) for claim, holds in claims]


def _draw(figure: "Figure", results: list[Result]) -> None:
    """Test error of every row: the paper's, ours, and its spread."""
    ax = figure.subplots()
    rows = [row for row, *_ in ROWS]
    heights = range(len(rows), 0, -1)
    errors = np.array([[result[row][1] for row in rows] for result in results])
    ax.plot([error for *_, error in ROWS], heights, "D", color="#7a7a7a", label="Rabenoro 2015")
    for mine in errors:
        ax.plot(mine, heights, "o", color="#1b6ca8", alpha=0.25, markersize=4)
    ax.plot(errors.mean(0), heights, "o", color="#1b6ca8", label="bayesieve, mean")
    ax.set_yticks(list(heights), rows)
    ax.set_xlabel("test error")
    bare(ax, "x")
    ax.legend(frameon=False, loc="lower left", bbox_to_anchor=(0, 1), ncols=2)
