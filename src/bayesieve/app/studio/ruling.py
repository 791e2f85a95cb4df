"""A rule for decisions, as a person sets it on the page: `decide` makes it."""

import json
from dataclasses import asdict, dataclass

import numpy as np
from scipy.sparse import issparse

from ...checks import Foreign, check_number, plain_value
from ...data.files.base import BadUseError
from ...data.packed import PackedTable
from ...data.tables import RawTable
from ...estimators.resident.session import Session
from ...estimators.selector import NaiveBayesSelector
from ...evaluation.decide import decide
from ...evaluation.given import Value
from .table import Chosen


@dataclass(frozen=True)
class Wish:
    """What a person asks of decisions.

    Parameters
    ----------
    alarm : position of the class that is not to be missed.
    cost : of missing it, in false alarms.
    ask : cost of asking a person; None: nobody is asked.
    ceiling : share of the rows of other classes that may be taken for it; None: any.

    Examples
    --------
    >>> from bayesieve.app.studio.ruling import Wish
    >>> Wish(1, cost=5.0, ask=0.2).arguments(["no", "yes"])
    {'costs': [[0, 1], [5.0, 0]], 'abstain': 0.2}
    >>> Wish(1, ceiling=0.05).arguments(["no", "yes"])
    {'max_false_alarms': {'yes': 0.05}}
    """

    alarm: int
    cost: float = 1.0
    ask: float | None = None
    ceiling: float | None = None

    @classmethod
    def read(cls, asked: dict[str, Foreign], n_classes: int) -> "Wish":
        """The wish of a page, judged."""

        def number(name: str, low: float, high: float) -> float | None:
            given = asked.get(name)
            return None if given is None else float(check_number(name, given, low=low, high=high))

        alarm = check_number("alarm", asked.get("alarm"), low=0, high=n_classes - 1, whole=True)
        cost, ask = number("cost", 0.0, 1e6), number("ask", 0.0, 1e6)
        return cls(int(alarm), 1.0 if cost is None else cost, ask, number("ceiling", 0.0, 1.0))

    def arguments(self, classes: list[Value]) -> dict[str, Foreign]:
        """What `decide` takes."""
        found: dict[str, Foreign] = {}
        if self.cost != 1:
            every = range(len(classes))
            price = [self.cost if k == self.alarm else 1 for k in every]
            found["costs"] = [[0 if d == k else price[k] for d in every] for k in every]
        if self.ask is not None:
            found["abstain"] = self.ask
        if self.ceiling is not None:
            found["max_false_alarms"] = {classes[self.alarm]: self.ceiling}
        return found

    def code(self, classes: list[Value]) -> str:
        """Python that gives ``selector`` the same rule."""
        given = "".join(f", {name}={value!r}" for name, value in self.arguments(classes).items())
        return (
            "from bayesieve import decide\n"
            "from bayesieve.app.studio.ruling import rows_at\n\n"
            f"selector = decide(selector, rows_at(X, aside), rows_at(y, aside){given})"
        )

    def to_text(self) -> str:
        """As a project keeps it."""
        return json.dumps(asdict(self))

    @classmethod
    def from_text(cls, text: str, session: Session) -> "Wish | None":
        """The same, read back; None for no wish."""
        found = json.loads(text) if text else None
        return cls.read(found, len(classes_of(session))) if isinstance(found, dict) else None


def classes_of(session: Session) -> list[Value]:
    """The classes of a model, as code writes them: those of rows that count."""
    if getattr(session.y, "ndim", 1) > 1:
        raise BadUseError("y has labels: make a rule for them in Python, by decide(model, X, y).")
    y, weights = np.asarray(session.y), session.params.get("sample_weight")
    counted = y if weights is None else y[np.asarray(weights) > 0]
    return [plain_value(value) for value in np.unique(counted).tolist()]


def rows_at(X: Foreign, rows: list[int]) -> Foreign:
    """Some rows of whatever a session holds.

    Examples
    --------
    >>> from bayesieve.app.studio.ruling import rows_at
    >>> rows_at(["a", "b", "c"], [2, 0])
    ['c', 'a']
    """
    if isinstance(X, RawTable | PackedTable):
        return X.take(np.array(rows, np.int64))
    if isinstance(X, list | tuple):
        return [X[i] for i in rows]
    if issparse(X):
        return X.tocsr()[rows]  # not every sparse matrix can be asked for rows
    return X.iloc[rows] if hasattr(X, "iloc") else X[rows]


def ruled(session: Session, table: Chosen, wish: Wish) -> NaiveBayesSelector:
    """The model of the present subset, with the rule made on the rows kept aside."""
    X, y = rows_at(session.X, table.aside), rows_at(session.y, table.aside)
    return decide(session.model(), X, y, **wish.arguments(classes_of(session)))
