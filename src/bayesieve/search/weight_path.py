"""Every state of a path of weighted terms, for people to look at."""

from collections.abc import Mapping, Sequence
from typing import Any

from ..data.html import frame_of, html_table
from .weights import WeightStep


class WeightPath:
    """The terms as they came, what each promised, and what was gained.

    Parameters
    ----------
    steps : the states, the start first.
    names : of the terms that ever were in.
    units : terms that enter together.
    chosen : the state that the model has.

    Examples
    --------
    >>> import numpy as np
    >>> from bayesieve import WeightedNaiveBayes
    >>> X = np.array([[0], [1]] * 20)
    >>> path = WeightedNaiveBayes().fit(X, ["a", "b"] * 20).path_
    >>> path.to_dict()["term"]
    [None, 'x0']
    """

    def __init__(
        self,
        steps: Sequence[WeightStep],
        names: Mapping[int, str],
        units: Sequence[Sequence[int]],
        chosen: int,
    ):
        self.steps, self.names, self.chosen = list(steps), dict(names), chosen
        self.units = [tuple(unit) for unit in units]

    def __len__(self) -> int:
        return len(self.steps)

    def __repr__(self) -> str:
        return f"<WeightPath of {len(self)} states, {len(self.steps[self.chosen].terms)} terms>"

    def _repr_html_(self) -> str:
        return html_table(self.to_dict(), f"{len(self)} states; chosen: {self.chosen}")

    def to_dict(self) -> dict[str, list[object]]:
        """The path as columns of plain values."""
        return {
            "step": list(range(len(self))),
            "term": [self._name(step) for step in self.steps],
            "gain": [step.gain for step in self.steps],
            "loss": [step.loss for step in self.steps],
            "n_terms": [len(step.terms) for step in self.steps],
        }

    def _name(self, step: WeightStep) -> str | None:
        """What came in a step."""
        if step.unit < 0:
            return None
        return " + ".join(self.names.get(term, "(left at once)") for term in self.units[step.unit])

    def to_frame(self, backend: Any = None) -> Any:
        """The path as a data frame, one row a state.

        Parameters
        ----------
        backend : str, optional
            A data-frame library known to narwhals, such as "pandas" or "polars".
        """
        return frame_of(self.to_dict(), backend)

    def plot(self, ax: Any = None) -> Any:
        """Draw the leave-one-out log-loss against the number of terms.

        Parameters
        ----------
        ax : matplotlib axes, optional
            Where to draw; a new figure by default.
        """
        from ..explain.pictures import plot_weight_path

        return plot_weight_path(self, ax)
