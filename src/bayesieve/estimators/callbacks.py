"""Who hears of a search: scikit-learn's callbacks, a line of progress, a session."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from ..search.objective import Objective
from ..search.progress import ProgressLine
from ..search.run import Driver
from ..search.strategies.base import Search

if TYPE_CHECKING:
    from .selector import Searching

try:
    from sklearn.callback import CallbackSupportMixin as CallbackSupport
    from sklearn.callback import with_callbacks

    SUPPORTED = True
except ImportError:  # scikit-learn < 1.9
    SUPPORTED = False

    class CallbackSupport:  # type: ignore[no-redef]
        """Nothing to support."""

    def with_callbacks(method: Any) -> Any:
        """Leave the method as it is."""
        return method


#: Hears of an objective's changes; gives who may stop the search.
Watch = Callable[[Objective], Callable[[], bool]]


class Callbacks:
    """Turns the steps of a search into tasks of the estimator's `fit`.

    Parameters
    ----------
    estimator : the selector whose callbacks are told.
    context : scikit-learn's.
    """

    def __init__(self, estimator: Any, context: Any):
        self.stop = False  #: a callback asked to end the search
        self._estimator = estimator
        self._context = context
        context.call_on_fit_task_begin(estimator=estimator)

    def __call__(self, action: str, units: tuple[int, ...], objective: Objective) -> None:
        """One step of the search is one task."""
        task = self._context.subcontext(task_name=f"{objective.direction} {action}")
        task.call_on_fit_task_begin(estimator=self._estimator)
        self.stop |= bool(task.call_on_fit_task_end(estimator=self._estimator))

    def close(self) -> None:
        """The search has ended."""
        self._context.call_on_fit_task_end(estimator=self._estimator)


class Watched(CallbackSupport):
    """An estimator whose search others hear of, and may end."""

    progress: bool

    @contextmanager
    def watching(self, searching: "Searching", search: Search, driver: Driver) -> Iterator[Watch]:
        """Lets callbacks, the line of progress and a session hear of a search.

        Parameters
        ----------
        searching : what is searched.
        search : with all hints that it asked for.
        driver : says what a long search will cost.
        """
        callbacks = None
        if SUPPORTED and getattr(self, "_skl_callbacks", None):
            callbacks = Callbacks(self, self._init_callback_context(max_subtasks=None))
        limits, held = searching.task.limits, searching.held
        line = ProgressLine(None, search, limits) if self.progress else None

        def watch(objective: Objective) -> Callable[[], bool]:
            if callbacks is not None:
                objective.listeners.append(callbacks)
            if line is not None:
                objective.listeners.append(line)
                driver.say = line.say
            ended = None if held is None else held.watched(objective, search, limits)

            def stop() -> bool:
                if line is not None:
                    line.tick(objective)
                if ended is not None and ended():
                    return True
                return callbacks is not None and callbacks.stop

            return stop

        try:
            yield watch
        finally:
            if callbacks is not None:
                callbacks.close()
            if line is not None:
                line.close()
