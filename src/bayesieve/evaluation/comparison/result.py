"""A comparison: every cell, what they come to, and whether the differences are more than chance."""

import importlib.util
import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations
from typing import Any, NamedTuple

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from ...checks import check_number, choose
from . import words
from .cell import Cell
from .grid import Grid
from .scores import SCORES
from .statistics import (
    Friedman,
    Outcome,
    corrected_t,
    critical_difference,
    friedman,
    holm,
    rank_groups,
    rank_rows,
    signed_rank,
)

Floats = NDArray[np.float64]


class SetSize(NamedTuple):
    """A data set by name and size."""

    name: str
    rows: int
    columns: int
    classes: int


class Steadiness(NamedTuple):
    """How far the fits of a method on a set select the same features."""

    jaccard: float  #: mean over all pairs of fits of |both| / |either|; 1 for the same features
    size_sd: float  #: standard deviation of the number of features


class Versus(NamedTuple):
    """Two methods against each other."""

    one: str
    other: str
    difference: float  #: mean over the sets of one's score less the other's
    wins: int  #: sets on which `one` is better
    ties: int
    losses: int
    clear_wins: int  #: of them, more than chance by the folds of that set
    clear_losses: int
    statistic: float  #: signed-rank over the sets; corrected t over the folds of a single set
    p: float
    p_holm: float  #: corrected for all pairs


@dataclass(frozen=True)
class Comparison:
    """What `compare` found.

    `str` says first which method is best and whether that is more than chance.  All questions are
    about one score, `metric`; `by` asks the same of another.

    Attributes
    ----------
    cells : tuple of Cell
        One for each method, data set, seed and fold.
    methods : tuple of str
    sets : tuple of SetSize
    seeds : tuple of int
    folds : int
    metric : str
        The score that decides: a name in `SCORES`.
    alpha : float
        Risk that is taken of calling chance a difference.

    Notes
    -----
    A method's score on a set is the mean over its folds and seeds (of seconds, the median: the
    first fit may compile).  Where one of its fits failed, it has none there and ranks last.  A
    method without a score on any set (no probabilities, say) has no rank.

    Examples
    --------
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> from bayesieve import compare
    >>> methods = {"bayes": GaussianNB(), "stump": DecisionTreeClassifier(max_depth=1)}
    >>> found = compare(methods, ["iris", "wine"], seeds=1)
    >>> found.best, found.ranks
    (('bayes',), {'bayes': 1.0, 'stump': 2.0})
    >>> round(found.score("bayes", "iris"), 4)
    0.96
    >>> found.by("log_loss").best
    ('bayes',)
    """

    cells: tuple[Cell, ...]
    methods: tuple[str, ...]
    sets: tuple[SetSize, ...]
    seeds: tuple[int, ...]
    folds: int
    metric: str = "accuracy"
    alpha: float = 0.05

    def by(self, metric: str | None = None, *, alpha: float | None = None) -> "Comparison":
        """The same cells judged by another score, or at another risk."""
        metric = self.metric if metric is None else choose("metric", metric, SCORES)
        alpha = self.alpha if alpha is None else check_number("alpha", alpha, low=1e-6, high=0.5)
        return replace(self, metric=metric, alpha=alpha)

    # -- figures -------------------------------------------------------------------------------

    @cached_property
    def _at(self) -> dict[tuple[str, str], list[Cell]]:
        found: dict[tuple[str, str], list[Cell]] = {}
        for cell in sorted(self.cells, key=lambda each: (each.seed, each.fold)):
            found.setdefault((cell.method, cell.data), []).append(cell)
        return found

    def values(self, method: str, data: str, score: str | None = None) -> Floats | None:
        """A score of every fold, seed by seed; None where the method failed or does not tell it."""
        name = self.metric if score is None else score
        found = [cell.scores[name] for cell in self._at[method, data]]
        known = [value for value in found if value is not None]
        return np.array(known) if len(known) == len(found) else None

    def score(self, method: str, data: str, score: str | None = None) -> float | None:
        """A score over folds and seeds: the mean, of seconds the median; None after a failure."""
        found = self.values(method, data, score)
        middle = SCORES[self.metric if score is None else score].middle
        return None if found is None else float(np.median(found) if middle else found.mean())

    def mean(self, method: str, score: str | None = None) -> float | None:
        """The mean of a score over all sets; None where one of them has none."""
        found = [self.score(method, each.name, score) for each in self.sets]
        known = [value for value in found if value is not None]
        return float(np.mean(known)) if len(known) == len(found) else None

    def steadiness(self, method: str, data: str) -> Steadiness | None:
        """How alike the selections of all fits are; None where the method does not select."""
        cells = self._at[method, data]
        chosen = [set(cell.selected) for cell in cells if cell.selected is not None]
        if len(chosen) < len(cells):
            return None
        alike = [len(a & b) / len(a | b) if a | b else 1.0 for a, b in combinations(chosen, 2)]
        sizes = [float(len(each)) for each in chosen]
        return Steadiness(float(np.mean(alike)), float(np.std(sizes, ddof=1)))

    @property
    def failures(self) -> list[tuple[str, str, int, str]]:
        """Method, set, number of fits that failed, and the words of the first."""
        found = []
        for (method, data), cells in self._at.items():
            said = [cell.failure for cell in cells if cell.failure]
            if said:
                found.append((method, data, len(said), said[0]))
        return found

    # -- ranks and tests -----------------------------------------------------------------------

    @cached_property
    def ranked(self) -> tuple[str, ...]:
        """The methods that have a score on some set."""
        return tuple(
            method
            for method in self.methods
            if any(self.score(method, each.name) is not None for each in self.sets)
        )

    @cached_property
    def rank_table(self) -> Floats:
        """Ranks, sets x ranked methods; 1 is best, equals share, a failure is last."""
        sign = -1 if SCORES[self.metric].greater_is_better else 1
        found = [[self.score(m, each.name) for m in self.ranked] for each in self.sets]
        losses = [[np.inf if value is None else sign * value for value in row] for row in found]
        return rank_rows(np.array(losses))

    @cached_property
    def ranks(self) -> dict[str, float]:
        """Average rank of each ranked method, best first."""
        means = self.rank_table.mean(0) if self.ranked else []
        pairs = sorted(zip(means, range(len(self.ranked)), strict=True))
        return {self.ranked[i]: float(mean) for mean, i in pairs}

    @property
    def best(self) -> tuple[str, ...]:
        """The method of the best average rank; several where they share it."""
        least = min(self.ranks.values(), default=0.0)
        return tuple(name for name, rank in self.ranks.items() if rank <= least + 1e-9)

    @cached_property
    def friedman(self) -> Friedman | None:
        """Test that all methods are equal; None for fewer than three methods or two sets."""
        if len(self.ranked) < 3 or len(self.sets) < 2:
            return None
        return friedman(self.rank_table)

    @cached_property
    def critical_difference(self) -> float | None:
        """Average ranks farther apart differ by more than chance (Nemenyi); None for one set."""
        if len(self.ranked) < 2 or len(self.sets) < 2:
            return None
        return critical_difference(len(self.ranked), len(self.sets), self.alpha)

    @property
    def groups(self) -> list[tuple[str, ...]]:
        """Methods whose average ranks are no farther apart than that, best group first."""
        names = list(self.ranks)
        gap = self.critical_difference
        found = [] if gap is None else rank_groups(list(self.ranks.values()), gap)
        return [tuple(names[i] for i in group) for group in found]

    @cached_property
    def _within(self) -> dict[tuple[str, str, str], tuple[Outcome, float]]:
        """Corrected t-tests within each set, and their Holm values: (set, one, other)."""
        found = {}
        for data in self.sets:
            pairs = [
                pair
                for pair in combinations(self.ranks, 2)
                if all(self.values(method, data.name) is not None for method in pair)
            ]
            tests = [self._by_folds(*pair, data.name) for pair in pairs]
            fair = holm([test.p for test in tests])
            for pair, test, p_holm in zip(pairs, tests, fair, strict=True):
                found[data.name, *pair] = test, p_holm
        return found

    def _by_folds(self, one: str, other: str, data: str) -> Outcome:
        mine, theirs = self.values(one, data), self.values(other, data)
        assert mine is not None
        assert theirs is not None
        cells = self._at[one, data]
        n_train, n_test = np.mean([(cell.n_train, cell.n_test) for cell in cells], axis=0)
        return corrected_t(mine - theirs, float(n_train), float(n_test))

    @cached_property
    def versus(self) -> tuple[Versus, ...]:
        """Every pair of ranked methods, the better of each first, best methods first."""
        pairs = list(combinations(self.ranks, 2))
        tests = [self._test(*pair) for pair in pairs]
        fair = holm([test.p for test in tests])
        return tuple(
            self._versus(*pair, test, p) for pair, test, p in zip(pairs, tests, fair, strict=True)
        )

    def _shared(self, one: str, other: str) -> list[tuple[str, float]]:
        """Sets on which both have a score, and by how much they differ there."""
        both = [(s.name, self.score(one, s.name), self.score(other, s.name)) for s in self.sets]
        return [(name, a - b) for name, a, b in both if a is not None and b is not None]

    def _test(self, one: str, other: str) -> Outcome:
        shared = self._shared(one, other)
        if len(self.sets) == 1 and shared:
            return self._within[self.sets[0].name, one, other][0]
        if not shared:
            return Outcome(0.0, 1.0)
        return signed_rank(np.array([apart for _, apart in shared]))

    def _versus(self, one: str, other: str, test: Outcome, p_holm: float) -> Versus:
        sign = 1 if SCORES[self.metric].greater_is_better else -1
        shared = [(name, round(sign * apart, 12)) for name, apart in self._shared(one, other)]
        clear = [name for name, _ in shared if self._within[name, one, other][1] < self.alpha]
        wins = [name for name, apart in shared if apart > 0]
        losses = [name for name, apart in shared if apart < 0]
        return Versus(
            one,
            other,
            float(np.mean([sign * apart for _, apart in shared])) if shared else 0.0,
            len(wins),
            len(shared) - len(wins) - len(losses),
            len(losses),
            sum(name in clear for name in wins),
            sum(name in clear for name in losses),
            test.statistic,
            test.p,
            p_holm,
        )

    # -- words, tables, files ------------------------------------------------------------------

    @property
    def verdict(self) -> str:
        """Which method is best, and whether that is more than chance."""
        return words.verdict(self)

    def to_text(self) -> str:
        """The verdict, a table of the methods, one of the sets, the tests, and what failed."""
        return words.to_text(self)

    def __str__(self) -> str:
        return self.to_text()

    def _repr_html_(self) -> str:
        return words.to_html(self)

    def to_csv(self) -> str:
        """One line for each method and set: means and standard deviations of all scores."""
        return words.by_method_and_set(self).to_csv()

    def to_latex(self) -> str:
        """Sets x methods by the score that decides, the best of each set in bold; for booktabs."""
        return words.by_set(self).to_latex()

    def to_grid(self) -> Grid:
        """What `to_csv` writes."""
        return words.by_method_and_set(self)

    def to_dict(self) -> dict[str, object]:
        """Everything, cells and tests, as plain data."""
        return words.to_dict(self)

    def to_json(self) -> str:
        """The same as JSON."""
        return json.dumps(self.to_dict(), indent=2) + "\n"

    def to_frame(self, backend: Any = None) -> Any:
        """A data frame, one row a cell.

        Parameters
        ----------
        backend : str, optional
            A data-frame library known to narwhals, such as "pandas" or "polars".  By default the
            first of these two that is installed.
        """
        if backend is None:
            found = [name for name in ("pandas", "polars") if importlib.util.find_spec(name)]
            if not found:
                raise ImportError("to_frame needs pandas or polars; install one, or use to_dict().")
            backend = found[0]
        about = ("method", "data", "seed", "fold")
        columns: dict[str, Sequence[object]] = {
            name: [getattr(cell, name) for cell in self.cells] for name in about
        }
        columns |= {name: [cell.scores[name] for cell in self.cells] for name in SCORES}
        columns["failure"] = [cell.failure for cell in self.cells]
        return nw.from_dict(columns, backend=backend).to_native()

    def plot(self, ax: object = None) -> Any:
        """Draw the average ranks with the critical difference; of one set, the folds' scores.

        Parameters
        ----------
        ax : matplotlib axes, optional
            Where to draw; a new figure by default.

        Returns
        -------
        ax : matplotlib axes
        """
        from ...explain.ranks import plot_ranks, plot_scores

        return plot_scores(self, ax) if self.critical_difference is None else plot_ranks(self, ax)
