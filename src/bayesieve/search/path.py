"""What a search visited, and the choice among it."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from ..criteria.base import Key, read_as
from ..data.result import frame_of, html_table
from .objective import Objective, Scorer
from .progress import in_features

# A subset that is just within the margin stays so, however the machine rounds.
_ROUNDING = 1e-12


@dataclass(frozen=True)
class Step:
    """One committed state of a search."""

    action: str  #: "start", "add" or "drop"
    units: tuple[int, ...]  #: what moved; for "start", the whole subset
    phase: int
    direction: str
    n_features: int
    key: Key
    score: float
    validation_key: Key | None = None
    #: Error on the validation rows; their score, where the criterion itself chooses (AUC).
    validation_error: float = float("nan")


class Path:
    """Every subset that a search visited, in order.

    Attributes
    ----------
    steps : list of Step
        The committed states, the start of each phase included.
    chosen : int
        The step whose subset was chosen.
    best : int
        The step with the best score; `chosen` may be a smaller subset that is nearly as good.
    standard_error : float
        Standard error of the best score, or of its distance from the score chosen, where it helped
        to choose; otherwise NaN.
    n_rows : (int, int)
        Rows that guided, and rows that chose; where rows come in groups, the groups of each.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from bayesieve import NaiveBayesSelector
    >>> X, y = load_iris(return_X_y=True)
    >>> selector = NaiveBayesSelector(search="forward", random_state=0).fit(X, y)
    >>> path = selector.path_
    >>> len(path), path.subset(path.chosen) == selector.selected_.tolist()
    (5, True)
    """

    n_rows: tuple[int, int] = (0, 0)

    def __init__(
        self,
        members: tuple[tuple[int, ...], ...],
        names: list[str],
        criterion: str,
        validation_name: str = "validation_error",
    ):
        self.validation_name = validation_name
        self.steps: list[Step] = []
        self.chosen = self.best = -1
        self.standard_error = float("nan")
        self.criterion = criterion
        self.names = names
        self.members = members

    def __len__(self) -> int:
        return len(self.steps)

    def __repr__(self) -> str:
        return f"<Path of {len(self)} subsets, criterion {self.criterion!r}>"

    def _repr_html_(self) -> str:
        columns = self.to_dict()
        if all(step.validation_key is None for step in self.steps):
            del columns[self.validation_name]
        chosen = self.steps[self.chosen].n_features if self.chosen >= 0 else None
        said = ""
        if chosen is not None:
            said = f"; chosen: step {self.chosen}, {in_features(chosen)}"
        guide = read_as(self.criterion)
        return html_table(columns, f"{len(self)} subsets, guided by {guide}{said}")

    def choose(
        self,
        least: int,
        most: int,
        margin: Callable[[list[int]], float] | None = None,
        paired: Callable[[list[int], list[int]], float] | None = None,
    ) -> int:
        """Best allowed step: by validation where there is one, else by the guiding score.

        Then fewest features, then first visited (in exhaustive search: first in lexicographic
        order).  With a margin (of the best subset's columns): the smallest subset whose score is
        not further from the best one, the best of equal size.  With a paired margin (of the
        columns of a subset and of the best): the same, where it holds for the two.
        """
        allowed = [i for i, step in enumerate(self.steps) if least <= step.n_features <= most]
        if not allowed:
            raise ValueError(
                f"the search visited no subset of {in_features(least, most)} (sizes seen: "
                f"{sorted({step.n_features for step in self.steps})}); feature_groups and keep may "
                "leave no such size. Change n_features, min_features or max_features."
            )

        def rank(i: int) -> tuple[Key, int, tuple[int, ...]]:
            step = self.steps[i]
            key = step.key if step.validation_key is None else step.validation_key
            # Every subset came up in exhaustive search: the order of its walk means nothing.
            tie = tuple(sorted(step.units)) if step.direction == "exhaustive" else (i,)
            return key, step.n_features, tie

        self.chosen = self.best = min(allowed, key=rank)
        if margin is not None:
            self.standard_error = margin(self.subset(self.best))
            near = [i for i in allowed if self._shortfall(i) <= self.standard_error + _ROUNDING]
            self.chosen = min(near, key=lambda i: (self.steps[i].n_features, rank(i)))
        if paired is not None:
            self._choose_paired(
                sorted(allowed, key=lambda i: (self.steps[i].n_features, rank(i))), paired
            )
        return self.chosen

    def _choose_paired(
        self, order: list[int], paired: Callable[[list[int], list[int]], float]
    ) -> None:
        """The first of these that is not told apart from the best."""
        best = self.subset(self.best)
        seen: set[int] = set()
        for i in order:
            size = self.steps[i].n_features
            if i == self.best:
                self.standard_error = 0.0
            elif size in seen:
                continue  # the best of its size was told apart
            else:
                seen.add(size)
                self.standard_error = paired(self.subset(i), best)
            if self._shortfall(i) <= self.standard_error + _ROUNDING:
                self.chosen = i
                return

    def choose_smallest(self, least: int, most: int) -> int:
        """The smallest allowed subset, the best of equal size: what else was found is chance."""
        sizes = [step.n_features for step in self.steps if least <= step.n_features <= most]
        return self.choose(min(sizes), min(sizes))

    def _shortfall(self, at: int) -> float:
        """How far the score that chooses is from the best one."""
        one, best = self.steps[at], self.steps[self.best]
        if best.validation_key is None:
            return abs(one.score - best.score)
        return abs(one.validation_error - best.validation_error)

    def subset(self, at: int) -> list[int]:
        """Columns of the subset at a step, best first.

        Forward phases list them as they joined.  Backward phases list first what was dropped last,
        since that was missed most.
        """
        step = self.steps[at]
        first = max(i for i in range(at + 1) if self.steps[i].action == "start")
        units = dict.fromkeys(self.steps[first].units)
        if self.steps[first - 1].direction == "backward" and first > 0:
            units = dict.fromkeys(self._ranked_units(units, first - 1))
        for i in range(first + 1, at + 1):
            unit = self.steps[i].units[0]
            if self.steps[i].action == "add":
                units[unit] = None
            else:
                del units[unit]
        order = list(units)
        if step.direction == "backward":
            order = self._ranked_units(order, at)
        return [column for unit in order for column in self.members[unit]]

    def _ranked_units(self, units: Iterable[int], at: int) -> list[int]:
        """Order units by when the phase around step `at` dropped them for good, last first."""
        phase = self.steps[at].phase
        dropped = {}
        for i, step in enumerate(self.steps):
            if step.phase == phase and step.action == "drop":
                dropped[step.units[0]] = i
            elif step.phase == phase and step.action == "add":
                dropped.pop(step.units[0], None)
        never = len(self.steps)
        return sorted(units, key=lambda unit: -dropped.get(unit, never))

    def to_dict(self) -> dict[str, list[object]]:
        """The path as columns of plain values."""
        names = self.names
        return {
            "step": list(range(len(self))),
            "phase": [step.phase for step in self.steps],
            "action": [step.action for step in self.steps],
            "feature": [
                None
                if step.action == "start"
                else " + ".join(names[c] for c in self.members[step.units[0]])
                for step in self.steps
            ],
            "n_features": [step.n_features for step in self.steps],
            "score": [step.score for step in self.steps],
            self.validation_name: [step.validation_error for step in self.steps],
        }

    def to_frame(self, backend: Any = None) -> Any:
        """The path as a data frame, one row a step.

        Parameters
        ----------
        backend : str, optional
            A data-frame library known to narwhals, such as "pandas" or "polars".  By default the
            first of these two that is installed.
        """
        return frame_of(self.to_dict(), backend)

    def plot(self, ax: Any = None) -> Any:
        """Draw score and validation error against the number of features.

        Bands: two standard errors on either side, where the score is a share of rows or a mean of
        probabilities; of the many subsets visited, the best is surely too good.

        Parameters
        ----------
        ax : matplotlib axes, optional
            Where to draw; a new figure by default.

        Returns
        -------
        ax : matplotlib axes
        """
        from ..explain.plots import plot_path

        return plot_path(self, ax)


class Recorder:
    """Listens to an objective and writes its path, with the validation part's verdict.

    Parameters
    ----------
    path : written to.
    verdicts : the validation part's, or None.
    """

    def __init__(self, path: Path, verdicts: Scorer | None):
        self._path = path
        self._verdicts = verdicts
        self._selected: set[int] = set()
        self._phase = -1

    def __call__(self, action: str, units: tuple[int, ...], objective: Objective) -> None:
        """Write one step."""
        if action == "start":
            self._phase += 1
            self._follow(set(units), objective)
        else:
            self._follow(self._selected ^ set(units), objective)
        key = objective.score()
        verdict, error = None, float("nan")
        if self._verdicts is not None:
            verdict = self._verdicts.now()
            error = self._verdicts.value(verdict)
        step = Step(
            action,
            units,
            phase=self._phase,
            direction=objective.direction,
            n_features=objective.size,
            key=key,
            score=objective.value(key),
            validation_key=verdict,
            validation_error=error,
        )
        self._path.steps.append(step)

    def _follow(self, wanted: set[int], objective: Objective) -> None:
        """Move the validation part to the same subset."""
        if self._verdicts is not None:
            self._verdicts.apply(objective.columns(sorted(self._selected - wanted)), -1)
            self._verdicts.apply(objective.columns(sorted(wanted - self._selected)), 1)
        self._selected = wanted
