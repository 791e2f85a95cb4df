"""`Session`: interactive selection; every edit of the subset is scored at once."""

import inspect
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import wraps
from numbers import Real
from os import PathLike
from pathlib import Path as FilePath
from threading import RLock
from typing import Self, TypeVar, cast

from sklearn.base import BaseEstimator, clone

from ..checks import Array, Floats, Foreign, check_number, column_indices
from ..data.result import html_table
from ..data.sample import read_sample
from ..engine.contract import Units
from ..estimators._validation import judge_parameters, read_groups, settle
from ..estimators.naive_bayes import NaiveBayes
from ..estimators.selector import NaiveBayesSelector
from ..search.path import Path
from ..search.run import CachedRows
from .queries import Answers, CancelledError, Effect, Point, Running, subset_at
from .state import Entry, History, State

#: Kinds of values that code and files write as they are.
PLAIN = (type(None), bool, int, float, str)


def selector_code(
    selector: NaiveBayesSelector, log: Sequence[Entry] = (), given: Sequence[str] = ()
) -> str:
    """Python that fits a selector of these parameters to ``X`` and ``y``.

    Its parameters must be plain values, ours, or scikit-learn's splitters.  Comments tell the log;
    `given` names what `fit` takes beside.

    Examples
    --------
    >>> print(selector_code(NaiveBayesSelector(search="forward", n_jobs=2)))
    from bayesieve import NaiveBayesSelector
    <BLANKLINE>
    selector = NaiveBayesSelector(
        search='forward',
        n_jobs=2,
    ).fit(X, y)
    """
    imports: dict[str, None] = {"from bayesieve import NaiveBayesSelector": None}
    lines = []
    for name, value in _changed(selector).items():
        lines.append(f"    {name}={_written(name, value, imports)},")
    told = [f"# {_line(entry)}" for entry in log]
    fit = "".join(f", {name}={name}" for name in given)
    body = ["selector = NaiveBayesSelector(", *lines, f").fit(X, y{fit})"]
    return "\n".join([*imports, "", *told, *body])


def _changed(estimator: BaseEstimator) -> dict[str, object]:
    """Parameters that are not as by default."""
    usual = {
        name: each.default
        for name, each in inspect.signature(type(estimator).__init__).parameters.items()
    }
    found = estimator.get_params(deep=False)
    return {
        name: found[name]
        for name in usual
        if name in found and repr(found[name]) != repr(usual[name])
    }


def _written(name: str, value: object, imports: dict[str, None]) -> str:
    """A value as code."""
    if isinstance(value, PLAIN):
        return repr(value)
    if isinstance(value, list | tuple):
        parts = [_written(name, each, imports) for each in value]
        inside = ", ".join(parts) + ("," if isinstance(value, tuple) and len(parts) == 1 else "")
        return f"[{inside}]" if isinstance(value, list) else f"({inside})"
    if isinstance(value, dict):
        pairs = [(_written(name, k, imports), _written(name, v, imports)) for k, v in value.items()]
        return "{" + ", ".join(f"{k}: {v}" for k, v in pairs) + "}"
    if type(value) is NaiveBayes:
        imports["from bayesieve import NaiveBayes"] = None
        settings = [f"{k}={_written(k, v, imports)}" for k, v in _changed(value).items()]
        return f"NaiveBayes({', '.join(settings)})"
    if type(value).__module__.startswith("sklearn.model_selection"):
        imports[f"from sklearn.model_selection import {type(value).__name__}"] = None
        return " ".join(repr(value).split())
    raise ValueError(
        f"{name} cannot be written as code: it is a {type(value).__name__}. Give a name, a number, "
        "a list, or a splitter of scikit-learn."
    )


def _line(entry: Entry) -> str:
    """One entry of the log in one line."""
    names = ", ".join(repr(name) for name in entry["columns"])
    note = " ".join(entry["note"].split())
    parts = (entry["time"], entry["action"], names, note and f"({note!a})")
    # A log may come from a file that somebody else wrote: nothing of it may begin a line.
    return " ".join(" ".join(parts).split())


def command_settings(selector: NaiveBayesSelector, names: list[str]) -> dict[str, Foreign]:
    """Options of the command line that choose the columns of `keep`; what it cannot say is refused.

    The selector keeps as many columns as it chooses.
    """
    model = NaiveBayes() if selector.estimator is None else selector.estimator
    if type(model) is not NaiveBayes or set(_changed(model)) - {"features"}:
        raise ValueError("the command line has no options for this estimator; use the Python code.")
    if not isinstance(model.features, str):
        raise ValueError("the command line has one feature model for all columns; use the code.")
    if not isinstance(selector.random_state, int):
        raise ValueError("the command line takes whole numbers for random_state.")
    for name in ("criterion", "cv"):
        value = getattr(selector, name)
        if not isinstance(value, str | int):
            raise ValueError(f"the command line takes {name} by name or number; got {value!r}.")
    share = selector.validation
    if not isinstance(share, Real) and share not in (None, "auto"):
        raise ValueError("the command line takes a share of the rows for validation.")
    if selector.class_weight not in (None, "balanced"):
        raise ValueError("the command line takes class_weight='balanced'; use the Python code.")
    if selector.reweigh != "auto":
        raise ValueError("the command line decides itself on reweigh; use the Python code.")
    return {
        "search": selector.search,
        "n_features": selector.n_features,
        "keep": [key if isinstance(key, str) else names[key] for key in selector.keep],
        "seed": selector.random_state,
        "criterion": None if selector.criterion == "auto" else selector.criterion,
        "cv": str(selector.cv),
        "validation": float(share) if isinstance(share, Real) else None,
        "features": model.features,
        "class_weight": selector.class_weight,
    }


# -- Session ---------------------------------------------------------------------------------------


_Method = TypeVar("_Method", bound=Callable[..., Foreign])


def atomic(method: _Method) -> _Method:
    """Make a method atomic: no search in the background changes the subset while it runs."""

    @wraps(method)
    def alone(self: "Session", *args: Foreign, **named: Foreign) -> Foreign:
        with self._lock:
            found = method(self, *args, **named)
        # Without the lock: one that was given up may be waiting for it.
        if self._running is not None and self._running.cancelled:
            self._running.wait()
        return found

    return cast(_Method, alone)


#: What `configure` may change while the table stays.
CHANGEABLE = (
    "search",
    "criterion",
    "preset",
    "choice",
    "families",
    "n_features",
    "max_features",
    "min_features",
    "time_limit",
    "reweigh",
    "n_jobs",
)


class Session:
    """Interactive selection: a table stays in memory while an expert adds, drops and pins columns.

    Every question is answered from running sums that are kept: nothing is read or fitted again.
    What a search finds from here, and the model of the columns chosen, are those of
    `NaiveBayesSelector`, to the bit.

    Parameters
    ----------
    X : array-like, data frame, sparse matrix or packed table of shape (n_samples, n_features)
    y : array-like of shape (n_samples,), or 0/1 matrix of shape (n_samples, n_labels)
    selector : NaiveBayesSelector, optional
        The settings: model, search, criterion, cv and so on.  Its `keep`, `forbid`,
        `feature_groups` and `start` are where the session begins.
    sample_weight, groups : array-like of shape (n_samples,), optional
        As in the selector's `fit`.

    Attributes
    ----------
    names : list of str
        Names of all columns.
    log : list of dict
        What was changed, when, and why.
    path : Path or None
        What the last search visited.
    settings : dict
        Parameters of the selector.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from bayesieve import Session
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> session = Session(X, y).add("petal length (cm)")
    >>> before = session.score()
    >>> session.strike("sepal width (cm)", note="the ruler was bent").search().columns
    ['petal length (cm)', 'petal width (cm)']
    >>> session.score() < before, session.undo().columns
    (True, ['petal length (cm)'])
    >>> session.log[1]["note"]
    'the ruler was bent'
    """

    def __init__(
        self,
        X: object,
        y: object,
        selector: NaiveBayesSelector | None = None,
        *,
        sample_weight: object = None,
        groups: object = None,
    ):
        selector = NaiveBayesSelector() if selector is None else selector
        self.settings: dict[str, Foreign] = clone(selector).get_params(deep=False)
        if self.settings["engine"] not in (None, "threads"):
            raise ValueError(
                "engine: a session keeps its rows in this process; got "
                f"{self.settings['engine']!r}. Use engine=None."
            )
        if self.settings["random_state"] is None:
            self.settings["random_state"] = 0  # so that others find the same
        given = {"sample_weight": sample_weight, "groups": groups}
        params = {name: value for name, value in given.items() if value is not None}
        sample = read_sample(NaiveBayes(), X, y, sample_weight, whole=True)
        self.X, self.y, self.params = X, y, params
        self.names = list(sample.table.names)
        self._held = CachedRows(X, sample, params)
        self._running: Running | None = None
        self._lock = RLock()
        self._models: tuple[State, NaiveBayesSelector] | None = None
        self.heard: Callable[[], None] | None = None  #: called after each step of a search
        self.path: Path | None = None
        self.about: dict[str, str] = {}  #: where the rows come from, in words
        self._points: list[Point] = []
        taken = {name: self.settings.pop(name) for name in _STATE}
        groups = read_groups(taken["feature_groups"], self.names)
        state = State(groups=tuple(tuple(group) for group in groups if len(group) > 1))
        pinned, struck = (
            frozenset(state.whole(self._find(taken[name]))) for name in ("keep", "forbid")
        )
        start = [*self._find(taken["start"] or ()), *sorted(pinned)]
        state = replace(state.with_columns(start), pinned=pinned, struck=struck)
        self._history = History(state.judge(self.names))
        self._prepare()

    # -- the subset -----------------------------------------------------------------------------

    @property
    def columns(self) -> list[str]:
        """Names of the columns in the subset, in the order in which they joined."""
        return [self.names[j] for j in self.state.subset]

    @property
    def pinned(self) -> list[str]:
        """Columns that must stay."""
        return [self.names[j] for j in sorted(self.state.pinned)]

    @property
    def struck(self) -> list[str]:
        """Columns that never enter."""
        return [self.names[j] for j in sorted(self.state.struck)]

    @property
    def grouped(self) -> list[list[str]]:
        """Columns that enter and leave together."""
        return [[self.names[j] for j in group] for group in self.state.groups]

    @property
    def state(self) -> State:
        """The subset and what is pinned, struck and grouped, by position."""
        return self._history.state

    @property
    def log(self) -> list[Entry]:
        """Every change, with its time and its reason."""
        return list(self._history.log)

    @property
    def ways(self) -> tuple[bool, bool]:
        """Whether there is something to undo, and to redo."""
        return self._history.ways

    # -- changes --------------------------------------------------------------------------------

    @atomic
    def add(self, *columns: str | int, note: str = "") -> Self:
        """Add columns to the subset, each with its group."""
        found = self._find(columns)
        self._free_of("struck", found)
        return self._change("add", found, note, self.state.with_columns(found))

    @atomic
    def drop(self, *columns: str | int, note: str = "") -> Self:
        """Remove columns from the subset, each with its group."""
        found = self._find(columns)
        self._free_of("pinned", found)
        return self._change("drop", found, note, self.state.without(found))

    @atomic
    def swap(self, old: str | int, new: str | int, note: str = "") -> Self:
        """Replace one column of the subset by another."""
        found = self._find([old, new])
        self._free_of("pinned", found[:1])
        self._free_of("struck", found[1:])
        state = self.state.without(found[:1]).with_columns(found[1:])
        return self._change("swap", found, note, state)

    @atomic
    def pin(self, *columns: str | int, note: str = "") -> Self:
        """Pin columns: they are added, and no search drops them."""
        found = self._find(columns)
        self._free_of("struck", found)
        state = self.state.with_columns(found)
        pinned = state.pinned.union(state.whole(found))
        return self._change("pin", found, note, replace(state, pinned=pinned))

    @atomic
    def strike(self, *columns: str | int, note: str = "") -> Self:
        """Strike columns: they are removed, and no search selects them."""
        found = self._find(columns)
        self._free_of("pinned", found)
        state = self.state.without(found)
        struck = state.struck.union(state.whole(found))
        if len(struck) == len(self.names):
            raise ValueError("strike: no column would be left to choose from; leave one.")
        return self._change("strike", found, note, replace(state, struck=struck))

    @atomic
    def release(self, *columns: str | int, note: str = "") -> Self:
        """Undo pin and strike of columns."""
        found = self._find(columns)
        state, free = self.state, set(self.state.whole(found))
        freed = replace(state, pinned=state.pinned - free, struck=state.struck - free)
        return self._change("release", found, note, freed)

    @atomic
    def group(self, *columns: str | int, note: str = "") -> Self:
        """Group columns that enter and leave together; one column alone leaves its group."""
        found, state = self._find(columns), self.state
        left = [tuple(j for j in members if j not in found) for members in state.groups]
        groups = [members for members in left if len(members) > 1]
        if len(found) > 1:
            groups.append(tuple(sorted(set(found))))
        state = replace(state, groups=tuple(groups))
        both = set(found) & state.pinned, set(found) & state.struck
        if all(both):
            raise ValueError("group: one of the columns is pinned, another struck; release one.")
        if len(found) > 1 and both[1] and set(found) & set(state.subset):
            raise ValueError(
                "group: one of the columns is struck, another in the subset; release the one, or "
                "drop the other."
            )
        if len(found) > 1:
            state = replace(
                state,
                pinned=state.pinned.union(found if both[0] else ()),
                struck=state.struck.union(found if both[1] else ()),
            )
            if set(found) & set(state.subset):
                state = state.with_columns(found)
        return self._change("group", found, note, state)

    @atomic
    def note(self, text: str) -> Self:
        """Write a remark into the log."""
        return self._change("note", [], text, self.state)

    @atomic
    def undo(self) -> Self:
        """Undo the last change."""
        return self._travel(-1)

    @atomic
    def redo(self) -> Self:
        """Redo the change that was undone last."""
        return self._travel(1)

    # -- questions ------------------------------------------------------------------------------

    def score(self, columns: Iterable[str | int] | None = None) -> float:
        """Criterion value of the present subset, or of other columns.

        Parameters
        ----------
        columns : names or positions, optional
            The subset by default.
        """
        subset = self.state.subset if columns is None else self._find(columns)
        return self.answers.score(subset)

    def error(self, columns: Iterable[str | int] | None = None) -> tuple[float, float]:
        """Misclassification rate and its standard error.

        On the rows that score the subset, as `cv` has it.
        """
        return self.answers.error(self.state.subset if columns is None else self._find(columns))

    @property
    def criterion(self) -> str:
        """Name of the criterion."""
        return self.answers.criterion

    def errors_alone(self) -> list[float]:
        """Error of every single column (with its group), in the table's order."""
        return self.answers.errors_alone()

    def held_out(self, columns: Iterable[str | int] | None = None) -> tuple[Array, Floats]:
        """Out-of-sample probabilities of the present subset, or of other columns.

        Returns
        -------
        rows : ndarray of int
        probabilities : ndarray of shape (rows, classes)
            Before weights: as the searches see them.
        """
        return self.answers.held_out(self.state.subset if columns is None else self._find(columns))

    def losses_if_left(self) -> dict[str, float]:
        """Loss in score when each column (with its group) is removed."""
        found = self.answers.losses_if_left(self.state)
        return {self.names[j]: loss for j, loss in found.items()}

    def gains_if_joined(self, most: int = 10) -> list[tuple[str, float]]:
        """Columns whose addition improves the score most, and the gain of each."""
        most = check_number("most", most, low=1, whole=True)
        return self._named(self.answers.gains(self.state, most))

    def substitutes(self, column: str | int, most: int = 5) -> list[tuple[str, float]]:
        """Best substitutes for a column, and the loss with each."""
        most = check_number("most", most, low=1, whole=True)
        found = self._find([column])
        if found[0] not in self.state.subset:
            raise ValueError(f"{self.names[found[0]]!r} is not in the subset; add it first.")
        return self._named(self.answers.substitutes(self.state, found[0], most))

    # -- searching ------------------------------------------------------------------------------

    def configure(self, **changes: object) -> "Session":
        """Change settings of the searches to come, by the selector's names."""
        unknown = sorted(set(changes) - set(CHANGEABLE))
        if unknown:
            raise ValueError(
                f"configure changes {', '.join(CHANGEABLE)}; got {unknown[0]!r}. Begin another "
                "session for other rows, models or folds."
            )
        self._end_search()
        old, self.settings = self.settings, {**self.settings, **changes}
        try:
            self._prepare()
        except BaseException:
            self.settings = old
            raise
        return self

    def search(self, *, fresh: bool = False, background: bool = False, note: str = "") -> "Session":
        """Continue the search from the present subset; the result becomes the subset.

        Parameters
        ----------
        fresh : bool, default=False
            Begin with the pinned columns alone.
        background : bool, default=False
            Return at once: see `running`, `pause`, `go_on`, `stop` and `wait`.
        note : str
            For the log.
        """
        self._end_search()
        state = self.state
        desk = self.answers.another_error_desk(self._units())
        running = self._running = Running(desk, lambda: self.heard and self.heard())
        free = [group for group in state.groups if not state.struck.intersection(group)]
        selector = NaiveBayesSelector(
            **self.settings,
            keep=self._keys(sorted(state.pinned)),
            forbid=self._keys(sorted(state.struck)),
            feature_groups=[self._keys(group) for group in free] or None,
            start=None if fresh or not state.subset else self._keys(state.subset),
        )

        def work() -> None:
            selector.fit(self._held.heard_by(running), None)
            found = replace(state, subset=tuple(selector.selected_.tolist()))
            score = self._score_of(found)
            with self._lock:
                if running.cancelled:
                    raise CancelledError
                self.path, self._points = selector.path_, running.points
                self._history.change("search", [], note, found, score)

        running.run(work, background)
        return self

    @property
    def running(self) -> Running | None:
        """The search under way, or the last one."""
        return self._running

    @property
    def points(self) -> list[Point]:
        """Subsets that the last search has visited, also while it runs."""
        active = self._running is not None and self._running.active
        return list(self._running.points if active and self._running else self._points)

    def pause(self) -> "Session":
        """Pause the background search."""
        return self._tell("pause")

    def go_on(self) -> "Session":
        """Resume the background search."""
        return self._tell("go_on")

    def stop(self) -> "Session":
        """Stop the background search; its best subset so far is taken."""
        return self._tell("stop")

    def wait(self, seconds: float | None = None) -> "Session":
        """Wait for the background search; an exception in it is raised here."""
        if self._running is not None:
            self._running.wait(seconds)
            failure = self._running.failure
            if failure is not None and not isinstance(failure, CancelledError):
                self._running.failure = None
                raise failure
        return self

    @atomic
    def choose(
        self, *, at: int | None = None, size: int | None = None, note: str = ""
    ) -> "Session":
        """Take a subset that the last search visited; what is pinned or struck by now stays so.

        Parameters
        ----------
        at : int, optional
            Which step.
        size : int, optional
            The best of those with so many columns.
        """
        points = self.points
        if at is None:
            of_size = [i for i, point in enumerate(points) if point["n_features"] == size]
            if not of_size:
                seen = sorted({point["n_features"] for point in points})
                raise ValueError(f"size must be one of those visited, {seen}; got {size!r}.")
            at = min(of_size, key=lambda i: (self.answers.sign * points[i]["score"], i))
        check_number("at", at, low=0, high=len(points) - 1, whole=True)
        subset = [j for j in subset_at(points, at) if j not in self.state.struck]
        missing = sorted(self.state.pinned - set(subset))
        # Columns that were grouped since the search come whole.
        state = replace(self.state, subset=()).with_columns([*subset, *missing])
        return self._change("choose", [], note or f"step {at} of the search", state)

    # -- what comes out -------------------------------------------------------------------------

    def selector(self) -> NaiveBayesSelector:
        """A selector that chooses the present subset, and nothing else; not fitted."""
        if not self.state.subset:
            raise ValueError("the subset is empty: add a column, or search, before it is a model.")
        subset = self._keys(sorted(self.state.subset))
        exact = {**self.settings, **_EXACT, "keep": subset, "n_features": len(subset)}
        return NaiveBayesSelector(**exact)

    @atomic
    def model(self) -> NaiveBayesSelector:
        """The model of the present subset, fitted on all rows; it carries the log as ``log_``."""
        if self._models is None or self._models[0].subset != self.state.subset:
            self._models = self.state, self.selector().fit(self._held, None)
        found = self._models[1]
        found.log_ = found.estimator_.log_ = self.log
        return found

    def to_code(self) -> str:
        """Python that gives the same model, to the bit, from ``X`` and ``y``."""
        return selector_code(self.selector(), self.log, sorted(self.params))

    def to_command(self, data: str, target: str, out: str = "selection") -> str:
        """The command line that gives the same model from a file.

        Parameters
        ----------
        data, target : the file, and its column with the classes.
        out : folder for the result.
        """
        if self.params:
            raise ValueError(
                f"the command line does not know the {' and '.join(sorted(self.params))} of this "
                "session; use the Python code."
            )
        from ..app.options import Settings, command_line

        asked = command_settings(self.selector(), self.names)
        return command_line(
            "select", [data], Settings(target=target or None, out=FilePath(out), **asked)
        )

    def save(self, path: str | PathLike[str]) -> None:
        """Write a project: the table, the settings, the subset and the log, in one file."""
        from .project import write_project

        write_project(self, path)

    @classmethod
    def load(cls, path: str | PathLike[str]) -> "Session":
        """Load a project from its file."""
        from .project import read_project

        return read_project(path)

    def resume(self, state: State, log: list[Entry], points: list[Point]) -> "Session":
        """Continue from the state of another session of the same table."""
        self._history, self._points = History(state.judge(self.names), log), points
        self.answers.regroup(self._units())
        return self

    def __repr__(self) -> str:
        return f"<Session of {len(self.names)} columns, {len(self.state.subset)} of them chosen>"

    def _repr_html_(self) -> str:
        state, losses = self.state, self.losses_if_left()
        error, spread = self.error()
        columns: dict[str, list[Foreign]] = {
            "feature": self.columns,
            "": ["pinned" if j in state.pinned else "" for j in state.subset],
            "worse without it by": [losses.get(name) for name in self.columns],
        }
        said = f"{len(state.subset)} of {len(self.names)} columns, {len(state.struck)} struck; "
        return html_table(columns, f"{said}error {error:.4f} ± {spread:.4f}")

    # -- within ---------------------------------------------------------------------------------

    def _units(self) -> Units:
        return Units(self.state.units(self.names))

    def _keys(self, columns: Iterable[int]) -> list[Foreign]:
        """Columns as users name them: by name where they have names of their own."""
        named = hasattr(self.X, "columns") or hasattr(self.X, "names")
        return [self.names[j] if named else int(j) for j in columns]

    def _find(self, columns: Iterable[str | int]) -> list[int]:
        """Positions of columns that a person names, each once."""
        return list(dict.fromkeys(column_indices("columns", columns, self.names)))

    def _free_of(self, what: str, columns: list[int]) -> None:
        """None of the columns may be struck, or pinned."""
        held = self.state.struck if what == "struck" else self.state.pinned
        odd = [j for j in self.state.whole(columns) if j in held]
        if odd:
            raise ValueError(f"column {self.names[odd[0]]!r} is {what}; release it first.")

    def _score_of(self, state: State) -> float | None:
        return self.answers.score(state.subset) if state.subset else None

    def _change(self, action: str, columns: list[int], note: str, state: State) -> Self:
        self._give_up_search()
        regrouped = state.groups != self.state.groups
        names = [self.names[j] for j in columns]
        self._history.change(action, names, note, state, self._score_of(state))
        if regrouped:
            self.answers.regroup(self._units())
        return self

    def _travel(self, step: int) -> Self:
        state = self._history.beside(step)
        self._give_up_search()
        self._history.travel(step, self._score_of(state))
        self.answers.regroup(self._units())
        return self

    def _give_up_search(self) -> None:
        """A change while a search runs: nothing that it finds from now on is kept."""
        if self._running is not None and self._running.active:
            self._running.give_up()

    def _prepare(self) -> None:
        """Read and count what the settings ask for, unless that was done before."""
        judge_parameters(settle(NaiveBayesSelector(**self.settings)))
        asked = {**self.settings, **_EXACT, "search": _Stay(), "reweigh": False, "min_features": 0}
        found = NaiveBayesSelector(**asked).fit(self._held, None)
        #: answers to questions about subsets
        self.answers = Answers(self._held, found.settings_["criterion"], self._units())
        self._models = None

    def _end_search(self) -> None:
        """The rows are needed for something else: a search under way is given up."""
        if self._running is not None and self._running.active:
            self._running.cancel()

    def _named(self, found: list[Effect]) -> list[tuple[str, float]]:
        return [(self.names[each.column], each.amount) for each in found]

    def _tell(self, what: str) -> "Session":
        if self._running is None or not self._running.active:
            raise ValueError(f"{what}: no search is running; call search(background=True) first.")
        getattr(self._running, what)()
        return self


class _Stay:
    """A search that stays where it begins."""

    def steps(self, objective: Foreign, limits: Foreign) -> Foreign:
        objective.start(sorted(objective.keep), "forward")
        yield


#: Parameters of a selector that are a session's state.
_STATE = ("keep", "forbid", "feature_groups", "start")

#: What a selector must not ask for where the subset is given.
_EXACT: dict[str, Foreign] = {
    "search": "forward",
    "choice": "best",
    "preset": None,
    "families": None,
    "max_features": None,
    "min_features": 1,
    "n_features": None,
    "time_limit": None,
    "checkpoint": None,
    "progress": False,
}
