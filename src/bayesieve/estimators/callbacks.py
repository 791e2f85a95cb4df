"""scikit-learn's callback protocol, where the installed version has it."""

from typing import Any

from ..search.objective import Objective

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
