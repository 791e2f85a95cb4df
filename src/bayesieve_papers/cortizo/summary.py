"""Table 3, the paper's sentences put to the test, and the figure."""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
from numpy.typing import NDArray

from bayesieve.checks import Array

from ..base import Conclusion, Record
from .methods import Outcomes
from .printed import METHODS, SUMMARY, TABLE_2, TABLE_3

if TYPE_CHECKING:
    from matplotlib.figure import Figure

#: Figures of each method.
Figures: TypeAlias = Mapping[str, tuple[float | None, ...]]


NB_WITHIN = 0.01


def _accuracies(outcomes: Outcomes, rows: list[str]) -> dict[str, np.ndarray]:
    """Mean accuracy over shuffles of each method, set by set."""
    return {
        method: np.array([np.mean([one.accuracy for one in outcomes[row, method]]) for row in rows])
        for method in (*TABLE_3, "Best")
    }


def table_3(
    outcomes: Outcomes, honest: dict[tuple[str, str], float], rows: list[str]
) -> list[Record]:
    """Average accuracy, share of the error removed and times best, guided and nested."""
    if not rows:
        return []
    guided = _summarise(_accuracies(outcomes, rows))
    nested = _summarise({m: np.array([honest[row, m] for row in rows]) for m in TABLE_3})
    printed = {m: [TABLE_2[row][METHODS.index(m)] for row in rows] for m in TABLE_3}
    theirs = _summarise({m: np.array(values, float) for m, values in printed.items()})
    blank = dict.fromkeys(TABLE_3, (None,) * len(SUMMARY))
    tables: list[tuple[str, Figures, Figures]] = [
        ("Table 3 (the paper's recomputed from its Table 2, on the sets above)", theirs, guided),
        ("Table 3, nested", blank, nested),
    ]
    if len(rows) == len(TABLE_2):
        tables.insert(0, ("Table 3", TABLE_3, guided))
    return [
        Record(title, method, column, paper, ours)
        for title, of_paper, of_ours in tables
        for method in TABLE_3
        for column, paper, ours in zip(SUMMARY, of_paper[method], of_ours[method], strict=True)
    ]


def _summarise(found: dict[str, np.ndarray]) -> dict[str, tuple[float, float, int]]:
    """Average accuracy, share of naive Bayes' error removed, times best, by method."""
    best = np.nanmax([found[m] for m in TABLE_3 if m != "NB"], axis=0)
    base = np.nanmean(found["NB"])
    rows = {}
    for method in TABLE_3:
        mean = np.nanmean(found[method])
        times = int((found[method] >= best - 1e-12).sum())
        rows[method] = (float(mean), float((mean - base) / (1 - base)), times)
    return rows


def conclusions(
    outcomes: Outcomes,
    honest: dict[tuple[str, str], float],
    changes: dict[tuple[str, str], list[float]],
    rows: list[str],
) -> list[Conclusion]:
    """How often each sentence held: over sets, domains, or once for an average."""
    found = _accuracies(outcomes, rows)
    tried, seconds = (
        {
            m: np.array(
                [np.mean([getattr(one, field) for one in outcomes[row, m]]) for row in rows]
            )
            for m in ("FBL", "LF", "LB")
        }
        for field in ("n_tried", "seconds")
    )
    nested = {m: np.array([honest[row, m] for row in rows]) for m in TABLE_3}
    printed = np.array([TABLE_2[row][0] for row in rows], float)
    near = 1e-12

    def sets(claim: str, held: NDArray[np.bool_]) -> Conclusion:
        return Conclusion(claim, int(np.sum(held)), len(rows))

    def once(claim: str, held: bool | np.bool_) -> Conclusion:
        return Conclusion(claim, int(bool(held)), 1)

    claims = [
        sets(
            f"naive Bayes within {NB_WITHIN} of the paper's (set by set)",
            np.abs(found["NB"] - printed) <= NB_WITHIN,
        ),
        sets("some subset is better than all attributes", found["Best"] > found["NB"] + near),
        sets("FBL is at least as accurate as naive Bayes", found["FBL"] >= found["NB"] - near),
        sets("... also on rows that took no part", nested["FBL"] >= nested["NB"] - near),
        once(
            "FBL has the best average of all methods",
            all(found["FBL"].mean() >= found[m].mean() for m in TABLE_3),
        ),
        once("... also nested", all(nested["FBL"].mean() >= nested[m].mean() for m in TABLE_3)),
    ]
    for rival in ("LF", "LB"):
        fewer = tried["FBL"] < tried[rival]
        claims += [
            sets(f"FBL tries fewer subsets than {rival}", fewer),
            sets(
                f"... and is at least as accurate as {rival}",
                fewer & (found["FBL"] >= found[rival] - near),
            ),
            sets(f"FBL takes less time than {rival} (here)", seconds["FBL"] < seconds[rival]),
        ]
    claims += [
        once("PCA is worse than naive Bayes on average", found["PCA"].mean() < found["NB"].mean()),
        once(
            "information gain is worse than naive Bayes on average",
            found["IG"].mean() < found["NB"].mean(),
        ),
        *_of_domains(changes),
    ]
    return claims


def _of_domains(changes: dict[tuple[str, str], list[float]]) -> list[Conclusion]:
    """Who loses accuracy when dependent attributes join."""
    found = []
    for algorithm in dict.fromkeys(algorithm for algorithm, _ in changes):
        mine = [float(np.mean(v)) for (name, _), v in changes.items() if name == algorithm]
        claim = f"{algorithm} loses accuracy when dependent attributes join"
        found.append(Conclusion(claim, sum(change < 0 for change in mine), len(mine)))
    return found


def draw(
    figure: "Figure", outcomes: Outcomes, honest: dict[tuple[str, str], float], rows: list[str]
) -> None:
    """Accuracy of naive Bayes, FBL and the best subset: guided (filled) and nested (hollow)."""
    ax = figure.subplots()
    heights = np.arange(len(rows), 0, -1)
    looks: tuple[tuple[str, str, Callable[[Array], Array]], ...] = (
        ("NB", "#7a7a7a", lambda h: h + 0.2),
        ("FBL", "#1b6ca8", lambda h: h),
        ("Best", "#c4461b", lambda h: h - 0.2),
    )
    for method, colour, place in looks:
        guided = [np.mean([one.accuracy for one in outcomes[row, method]]) for row in rows]
        inside = [honest[row, method] for row in rows]
        at = place(heights)
        ax.hlines(at, guided, inside, color=colour, linewidth=1)
        ax.plot(guided, at, "o", color=colour, label=f"{method}, guided")
        ax.plot(inside, at, "o", color=colour, markerfacecolor="white", label=f"{method}, nested")
    ax.set_yticks(heights, rows)
    ax.set_xlabel("ten-fold accuracy")
    ax.grid(axis="x", color="#e5e5e5")
    ax.legend(frameon=False, loc="lower left", bbox_to_anchor=(0, 1), ncols=3)
    for side in ("top", "right"):
        ax.spines[side].set_visible(False)
