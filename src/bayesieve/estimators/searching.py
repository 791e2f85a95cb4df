"""One search of a selector: told what it needs, run on ledgers of some rows, its choice made."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..criteria.base import Criterion
from ..engine.contract import Units
from ..engine.threads import Threads
from ..search.hints import RowHints
from ..search.objective import Objective, Settler
from ..search.path import Path, Recorder
from ..search.run import Clock, Driver, Ledgers, Task, dense_ledgers
from ..search.sparse import sparse_ledgers
from ..search.strategies.base import Search
from .parameters import chooser_of

if TYPE_CHECKING:
    from .selector import NaiveBayesSelector

Rows = NDArray[np.int64]

#: Hears of an objective's changes; gives who may stop the search.
Watch = Callable[[Objective], Callable[[], bool]]


class Found(NamedTuple):
    """What a search found."""

    path: Path
    guide: Settler
    n_tried: int


@dataclass(frozen=True)
class Searching:
    """All that a search needs but the rows.

    Parameters
    ----------
    asked : the selector, nothing in which is "auto".
    task, search, criterion : its judged input.
    threads, clock : who works, and how long.
    """

    asked: "NaiveBayesSelector"
    task: Task
    search: Search
    criterion: Criterion
    threads: Threads
    clock: Clock

    def informed(self, guiding: Rows, draw: np.random.RandomState) -> Search:
        """The search with what it asks of the guiding rows."""
        if not self.search.takes_hints:
            return self.search
        task = self.task
        return self.search.given(
            RowHints(
                task.table,
                task.models,
                task.sample.labels,
                task.row_weights(guiding),
                guiding,
                task.units,
                int(draw.randint(2**31 - 1)),
                task.limits.most,
                self.threads,
                task.families,
            )
        )

    def ledgers(self, guiding: Rows, validating: Rows) -> Ledgers:
        """Who owns the rows, and the model of all of them."""
        make = sparse_ledgers if self.task.sparse else dense_ledgers
        return make(self.task, guiding, validating, self.threads)

    def run(
        self, ledgers: Ledgers, search: Search, driver: Driver, watch: Watch | None = None
    ) -> Found:
        """Drive the search to its end, and choose."""
        task, criterion = self.task, self.criterion
        path = Path(
            tuple(map(tuple, task.units)),
            task.table.names,
            criterion.name,
            "validation_score" if criterion.chooses else "validation_error",
        )
        units = Units(path.members)
        guide = Settler(ledgers.guide, criterion, units)
        judge = None
        if self.asked.validation is not None and ledgers.judge is not None:
            judge = Settler(ledgers.judge, chooser_of(self.asked, criterion), units)
        objective = Objective(driver.verdicts(guide), units, task.keep)
        told = None if judge is None else driver.verdicts(judge)
        objective.listeners.append(Recorder(path, told))
        stop = (lambda: False) if watch is None else watch(objective)
        driver.drive(search, task.limits, objective, path, task.sizes, stop)
        margin = None if self.asked.choice == "best" else (judge or guide).standard_error
        path.choose(*task.sizes, margin)
        return Found(path, guide, objective.n_tried)

    def explore(self, train: Rows, test: Rows) -> tuple[Path, Settler]:
        """The whole search on some rows; verdicts of its criterion on others."""
        search = self.informed(train, np.random.RandomState(0))
        ledgers = self.ledgers(train, test)
        found = self.run(ledgers, search, Driver(None, self.clock))
        assert ledgers.judge is not None
        return found.path, Settler(ledgers.judge, self.criterion, Units(found.path.members))
