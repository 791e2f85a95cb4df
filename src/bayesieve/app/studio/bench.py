"""State of the studio: one session, its views for the page, and its exports."""

import json
import tempfile
from collections import Counter
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from itertools import pairwise
from pathlib import Path
from threading import RLock, Timer
from typing import Any, NamedTuple, TypedDict, cast

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse
from sklearn.base import BaseEstimator, clone

from ...checks import PRESETS, BadUseError, Foreign, check_number, choose, plain_value
from ...criteria import CRITERIA
from ...data.columns import is_missing
from ...data.files.output import hidden_folder
from ...data.files.series import table_names
from ...data.look import counts_rows
from ...data.result import Plain, jsonable
from ...data.sample import Sample, read_sample
from ...data.series import SeriesForm
from ...data.storage import PackedTable
from ...data.tables import RawTable, SparseTable, Table, read_table
from ...estimators.card import ScoreCard
from ...estimators.naive_bayes import NaiveBayes
from ...estimators.selector import NaiveBayesSelector
from ...evaluation._typing import Value
from ...evaluation.decide import Decision, decide
from ...evaluation.performance import performance
from ...explain.modelfile.file import save_model
from ...explain.python_source import to_python
from ...explain.report import make_report
from ...explain.report.content import Extras
from ...explain.report.sections import explorer_data
from ...explain.sql import to_sql
from ...models.registry import MODELS
from ...rankings.families import find_families
from ...search import SEARCHES
from ...session.queries import CancelledError, Point
from ...session.session import Session
from .data import (
    Chosen,
    draw_aside,
    open_table,
    read_rows,
    saved,
    write_rows,
)

#: Called with the name of an event and its data, from any thread.
Told = Callable[[str, Plain], None]

# Columns whose substitutes are looked for after an edit.
_SUBSTITUTES = 40

# Seconds that what takes longer leaves to the page.
_PAUSE = 0.05


def plain(value: object) -> dict[str, Plain]:
    """Plain data of an object: what is not finite is null."""
    return cast(dict[str, Plain], jsonable(value))


def drawn(points: list[Point]) -> list[list[object]]:
    """Points of a path as a page draws them."""
    return [
        [each["n_features"], each["score"], each["error"], each["spread"], each["action"]]
        for each in points
    ]


# -- What each column looks like -------------------------------------------------------------------


# Bars of a histogram, and columns whose kind is looked for in all rows.
_BARS = 12

# Of a large table so many rows are looked at.
_MOST_ROWS = 20_000

# A column alone that errs on fewer rows than this may hold the answer.
_LEAK = 0.01


class StudioLook(TypedDict):
    """One column."""

    kind: str
    missing: float
    flag: str


class Histogram(TypedDict):
    """Rows by bar and class; bars are ranges or values."""

    labels: list[str]
    counts: list[list[int]]


def looks(sample: Sample) -> list[StudioLook]:
    """The kind of every column, what is missing, and what is odd about it."""
    table, rows = sample.table, _some(sample)
    return [_look(table, j, rows) for j in range(len(table.names))]


def _some(sample: Sample) -> NDArray[np.int64]:
    n = sample.labels.size
    return np.unique(np.linspace(0, n - 1, min(n, _MOST_ROWS)).astype(np.int64))


def _look(table: Table, j: int, rows: NDArray[np.int64]) -> StudioLook:
    if isinstance(table, SparseTable):
        known_cells = table.matrix.indptr[j + 1] > table.matrix.indptr[j]
        return StudioLook(kind="sparse", missing=0.0, flag="" if known_cells else "constant")
    column = table.column(j)[rows]
    text, flag = column.dtype == object, ""
    gone = is_missing(column)
    known, kind = column[~gone], "text" if text else "number"
    if (known == known[:1]).all():
        kind, flag = kind if known.size else "empty", "constant"
    elif text:
        flag = "identifier" if len(set(known.tolist())) == rows.size > 20 else ""
    elif np.isin(known, (0, 1)).all():
        kind = "yes/no"
    elif known.size == rows.size and counts_rows(known):
        flag = "identifier"
    return StudioLook(kind=kind, missing=float(gone.mean()), flag=flag)


def chosen_models(session: Session) -> dict[str, str]:
    """Feature models that were chosen, by column."""
    model = session.settings["estimator"]
    found = {} if model is None else model.features
    return {str(k): str(v) for k, v in found.items()} if isinstance(found, dict) else {}


def learner(session: Session | None, features: dict[str, str] | None) -> BaseEstimator | None:
    """The naive Bayes of the next session: that of the last, with other feature models.

    Parameters
    ----------
    session : that goes on; None: there is none.
    features : feature models, by column; None: as they are, or as they look.
    """
    before: BaseEstimator | None = None if session is None else session.settings["estimator"]
    if session is not None and features in (None, chosen_models(session)):
        return before
    if before is None or "features" not in before.get_params(deep=False):
        return NaiveBayes(features=features) if features else None
    return clone(before).set_params(features=features or "auto")


def leaks(errors: list[float], labels: NDArray[np.int64]) -> list[int]:
    """Columns that tell the class alone, where that is no small thing."""
    usual = 1 - np.bincount(labels).max() / labels.size
    if usual < 10 * _LEAK:
        return []
    return [j for j, error in enumerate(errors) if error < _LEAK]


def histogram(sample: Sample, j: int) -> Histogram:
    """Rows of each class by value or range of one column."""
    rows = _some(sample)
    labels, n_classes = sample.labels[rows], int(sample.labels.max()) + 1
    column = sample.table.column(j)[rows]
    known = ~is_missing(column)
    values = column[known]
    if column.dtype == object:
        texts = [str(value) for value in values]
        common = [text for text, _ in Counter(sorted(texts)).most_common(_BARS)]
        at = np.array([common.index(t) if t in common else -1 for t in texts], np.int64)
        shown = [text[:40] for text in common]
    elif (distinct := np.unique(values)).size <= _BARS:
        at, shown = np.searchsorted(distinct, values), [f"{v:.6g}" for v in distinct]
    else:
        edges = np.linspace(values.min(), values.max(), _BARS + 1)
        at = np.clip(np.searchsorted(edges, values, side="right") - 1, 0, _BARS - 1)
        shown = [f"{a:.4g} to {b:.4g}" for a, b in pairwise(edges)]
    inside = at >= 0
    flat = at[inside] * n_classes + labels[known][inside]
    counts = np.bincount(flat, minlength=len(shown) * n_classes).reshape(-1, n_classes)
    return Histogram(labels=shown, counts=counts.tolist())


# -- What a page shows of a model ------------------------------------------------------------------


# Rows that two subsets decide otherwise.
_ROWS = 200


# -- A rule for decisions, as a person sets it on the page -----------------------------------------


@dataclass(frozen=True)
class Wish:
    """Requirements on decisions: costs, a person to ask, a ceiling on false alarms.

    Parameters
    ----------
    alarm : position of the class that is not to be missed.
    cost : of missing it, in false alarms.
    ask : cost of asking a person; None: nobody is asked.
    ceiling : share of the rows of other classes that may be taken for it; None: any.

    Examples
    --------
    >>> from bayesieve.app.studio.bench import Wish
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
        """Read and validate the wish of a page."""

        def number(name: str, low: float, high: float) -> float | None:
            given = asked.get(name)
            return None if given is None else float(check_number(name, given, low=low, high=high))

        alarm = check_number("alarm", asked.get("alarm"), low=0, high=n_classes - 1, whole=True)
        cost, ask = number("cost", 0.0, 1e6), number("ask", 0.0, 1e6)
        return cls(int(alarm), 1.0 if cost is None else cost, ask, number("ceiling", 0.0, 1.0))

    def arguments(self, classes: list[Value]) -> dict[str, Foreign]:
        """Arguments of `decide`."""
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
            "from bayesieve.app.studio.bench import rows_at\n\n"
            f"selector = decide(selector, rows_at(X, aside), rows_at(y, aside){given})"
        )


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
    >>> from bayesieve.app.studio.bench import rows_at
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


# -- What comes out of a session, by name ----------------------------------------------------------


class Export(NamedTuple):
    """A file to hand over."""

    name: str
    kind: str
    content: bytes


def _written(write: Callable[[Path], object], name: str) -> bytes:
    with hidden_folder(Path(tempfile.gettempdir())) as folder:
        path = folder / name
        write(path)
        return path.read_bytes()


# -- The workbench ---------------------------------------------------------------------------------


#: What a person may do to columns.
EDITS = ("add", "drop", "swap", "pin", "strike", "release", "group")

# Lines of the log on a page.
_LINES = 200


class StudioSettings(TypedDict):
    """How a page would have it searched."""

    preset: str
    search: str
    criterion: str


class Bench:
    """State of the page: a session whose changes are sent to all listeners.

    Parameters
    ----------
    n_jobs : threads of the kernels.
    """

    def __init__(self, n_jobs: int | None = None):
        self.listeners: list[Told] = []
        self.session: Session | None = None
        self.version = 0  #: of the state; grows with every change
        self.unsaved = False
        self.table: Chosen | None = None
        self.target: str | None = None
        self.wish: Wish | None = None  #: what is asked of decisions
        self._n_jobs = n_jobs
        self._lock = RLock()
        self._models = RLock()
        self._opened = self._looked = 0
        self._sample: Sample | None = None
        self._looks: list[StudioLook] = []
        self._errors: list[float] = []
        self._other: tuple[int, ...] | None = None
        self._leaders: list[int] = []
        self._figures: tuple[object, float, tuple[float, float]] | None = None
        self._ruled: tuple[object, NaiveBayesSelector] | None = None
        self._whole: Table | None = None

    # -- events ---------------------------------------------------------------------------------

    def _changed(self, what: str) -> None:
        self.version += 1
        self.unsaved = self.session is not None
        self._tell(what, {"version": self.version})

    def _tell(self, what: str, data: dict[str, Plain]) -> None:
        for listener in list(self.listeners):
            listener(what, data)

    def _progress(self) -> None:
        """A search has made a step, or ended."""
        session = self.session
        running = None if session is None else session.running
        if session is None or running is None:
            return
        if running.active:
            last, n = drawn(running.points[-1:]), len(running.points)
            times = {"seconds": running.seconds, "left": running.seconds_left}
            self._tell("progress", plain({"points": last, "n": n, **times}))
            return
        failure = running.failure
        if failure is not None and not isinstance(failure, CancelledError):
            self._tell("failure", {"said": " ".join(str(failure).split())})
        self._changed("state")
        self._later()

    def welcome(self, listener: Told) -> None:
        """Add a listener, and send it what takes longer to compute."""
        self.listeners.append(listener)
        self._later()

    def _later(self) -> None:
        """Compute losses and substitutes in the background, and send them."""
        if self.session is not None:
            self._beside(self._extras, self.version, self.session)

    def _beside(self, work: Callable[..., None], *given: object) -> None:
        """Start background work, once the page has what it waits for."""
        timer = Timer(_PAUSE, work, given)
        timer.daemon = True
        timer.start()

    def _extras(self, version: int, session: Session) -> None:
        state = session.state
        found = {str(j): loss for j, loss in session.answers.losses_if_left(state).items()}
        if version != self.version:
            return
        self._tell("losses", plain({"version": version, "losses": found}))
        for j in state.subset[:_SUBSTITUTES]:
            if version != self.version:
                return
            best = session.answers.best_substitute(state, j)
            if best is not None:
                told = {"version": version, "column": j, "by": best.column, "loss": best.amount}
                self._tell("substitute", plain(told))

    # -- the table ------------------------------------------------------------------------------

    def open_file(self, path: Path, name: str) -> None:
        """Take a file that the user chose; the target comes next."""
        # A folder has a file for every series; classes are in another table.
        folder = Chosen(name, path, form=SeriesForm("folder"))
        found = folder if path.is_dir() else open_table(path, name)
        with self._lock:
            self.close()
            self.table, self.session, self.target, self.wish = found, None, None, None
            self._changed("table")
        if not found.columns and not path.is_dir():
            self.open_target(None)

    def read_as(self, form: SeriesForm | None) -> None:
        """Read the file as series that lie in it in this form; None: as a table."""
        if self.table is None:
            raise BadUseError("choose a file first.")
        if form is None or self.table.form != form:
            new: dict[str, Foreign] = {"rows_out": [], "aside": [], "left_out": {}}
            new |= dict.fromkeys(("target", "learning", "made", "pipeline"))  # read again
            self.table = replace(self.table, form=form, n_jobs=self._n_jobs, **new)

    def add_labels(self, path: Path, name: str) -> None:
        """Another table has the classes of the series."""
        table = self.table
        if table is None or table.path is None:
            raise BadUseError("choose a file of series first, then the table of their classes.")
        table.labels, table.labels_name = path, name
        table.columns = [*dict.fromkeys([*table.columns, *table_names(path)])]
        table.learning = None  # read again
        self._changed("table")

    def open_target(
        self,
        target: str | None,
        features: dict[str, str] | None = None,
        rows: str | None = None,
        aside: bool | None = None,
    ) -> None:
        """Learn to tell the classes of a column.

        Parameters
        ----------
        target : its name; None where the file holds its own.
        features : feature models, by column; None: as before, or as they look.
        rows : that are left out, such as ``"3, 17-20"``; None: as before.
        aside : is a third of the rows kept aside for decisions?  None: as before.
        """
        if self.table is None:
            raise BadUseError("choose a file first.")
        table = self.table if rows is None else replace(self.table, rows_out=read_rows(rows))
        X, y = table.split(target)
        kept = bool(table.aside) if aside is None else aside
        out = set(table.rows_out)
        every = [i for i in range(len(y)) if i not in out] if kept else []
        table = replace(table, aside=draw_aside(every, y, table.groups) if kept else [])
        for name, model in (features or {}).items():
            choose(f"the feature model of {name!r}", model, MODELS)
        old = self.session if (features, rows, aside) != (None, None, None) else None
        if table.path is not None and target != self.target:
            old = None  # it tells other classes apart
        asked = {"preset": "balanced", "n_jobs": self._n_jobs} if old is None else old.settings
        selector = NaiveBayesSelector(**{**asked, "estimator": learner(old, features)})
        groups = table.groups if old is None else old.params.get("groups")
        session = Session(X, y, selector, sample_weight=table.weights(len(y)), groups=groups)
        if old is not None and old.names == session.names:
            session.resume(old.state, old.log, old.points)
            said = [] if rows is None else [f"rows left out: {rows or 'none'}"]
            said += [] if aside is None else [f"a third of the rows kept aside: {aside}"]
            said += [] if features is None else [f"feature models: {features or 'as they look'}"]
            session.note("; ".join(said))
        self.wish = self.wish if old is not None and kept else None
        self.hold(session, table, target)

    def hold(self, session: Session, table: Chosen, target: str | None) -> None:
        """Take over a session; its columns are looked at."""
        sample = read_sample(
            NaiveBayes(), session.X, session.y, session.params.get("sample_weight")
        )
        found = looks(sample)
        with self._lock:
            self.close()
            session.heard = self._progress
            self._whole, self._ruled = None, None
            self.session, self.table, self.target = session, table, target
            self._sample, self._looks, self._errors, self._other = sample, found, [], None
            self._leaders, self._figures = [], None
            self._opened += 1
            self._describe()
            self._of_session(session, sample)  # the figures are there when a page asks
            self._changed("table")

    def hold_saved(self, session: Session) -> None:
        """Take over the session of a project."""
        about = dict(session.about)
        with self._lock:
            self.wish = None  # that of the session before is not this one's
        self.hold(session, saved(session), about.get("target") or None)
        with self._lock:
            if self.table is not None and self.table.aside:
                rule = json.loads(about.get("rule") or "null")
                known = isinstance(rule, dict)
                self.wish = Wish.read(rule, len(classes_of(session))) if known else None
                self._describe()

    def _describe(self) -> None:
        """A project knows where its rows come from, and what is asked of decisions."""
        session, _, table = self._open()
        session.about = {
            **table.about,
            "name": table.name,
            "target": self.target or "",
            "rows_out": write_rows(table.rows_out),
            "aside": "yes" if table.aside else "",
            "rule": "" if self.wish is None else json.dumps(asdict(self.wish)),
        }

    def close(self) -> None:
        """A search under way is given up."""
        running = None if self.session is None else self.session.running
        if running is not None and running.active:
            running.cancel()

    def _look_for_leaks(self, opened: int, session: Session, sample: Sample) -> None:
        errors = session.errors_alone()
        leaders: list[int] = []
        if not isinstance(sample.table, SparseTable):
            leaders = find_families(sample.table).leader.tolist()
        with self._lock:
            if opened != self._opened:
                return
            self._errors, self._leaders = errors, leaders
            if not sample.targets.labelled:
                for j in leaks(errors, sample.labels):
                    self._looks[j]["flag"] = "leak"
        self._tell("columns", {"version": self.version})

    def _open(self) -> tuple[Session, Sample, Chosen]:
        if self.session is None or self._sample is None or self.table is None:
            raise BadUseError("choose a file and its target first.")
        return self.session, self._sample, self.table

    # -- what pages ask -------------------------------------------------------------------------

    def state(self) -> dict[str, Plain]:
        """All that a page shows of the subset, in one go."""
        with self._lock:
            table, session = self.table, self.session
            found: dict[str, object] = {
                "version": self.version,
                "opened": self._opened,
                "file": None if table is None else table.name,
                "targets": [] if table is None else table.columns,
                "left_out": {} if table is None else table.left_out,
                "rows_out": "" if table is None else write_rows(table.rows_out),
                "n_aside": 0 if table is None else len(table.aside),
                "series": table.form.to_dict() if table and table.form else None,
                "labels": "" if table is None else table.labels_name,
                "notes": [] if table is None else table.notes,
                "rule": None if self.wish is None else asdict(self.wish),
                "target": self.target,
                "open": session is not None,
                "choices": {
                    "presets": list(PRESETS),
                    "searches": ["auto", *(n for n, s in SEARCHES.items() if s.starts_anywhere)],
                    "criteria": ["auto", *CRITERIA],
                    "models": ["auto", *(name for name in MODELS if name.isalpha())],
                },
            }
            if session is not None and self._sample is not None:
                found |= self._of_session(session, self._sample)
        return plain(found)

    def _of_session(self, session: Session, sample: Sample) -> dict[str, object]:
        state, running = session.state, session.running
        undo, redo = session.ways
        asked = (session.answers, state.subset)  # itself: the id of one that is gone may come again
        if self._figures is None or self._figures[0] != asked:
            self._figures = asked, session.score(), session.error()
        return {
            "classes": [str(plain_value(value)) for value in sample.classes.tolist()],
            "class_counts": np.bincount(sample.labels).tolist(),
            "n_rows": sample.table.n_rows,
            "n_columns": len(session.names),
            "subset": list(state.subset),
            "pinned": sorted(state.pinned),
            "struck": sorted(state.struck),
            "groups": [list(group) for group in state.groups],
            "score": self._figures[1],
            "error": list(self._figures[2]),
            "features": chosen_models(session),
            "settings": {name: session.settings[name] for name in StudioSettings.__annotations__},
            "criterion": session.criterion,
            "log": session.log[-_LINES:],
            "undo": undo,
            "redo": redo,
            "points": drawn(session.points),
            "running": running is not None and running.active,
            "paused": running is not None and running.paused,
            "compared": self._other is not None,
        }

    def columns(self) -> dict[str, Plain]:
        """Names, kinds and flags of all columns, as lists: there may be many.

        Whoever asks first makes somebody look for leaks and families, which takes longer.
        """
        session, sample, table = self._open()
        with self._lock:
            if self._looked != self._opened:
                self._looked = self._opened
                self._beside(self._look_for_leaks, self._opened, session, sample)
            found: dict[str, object] = {
                "opened": self._opened,
                "names": session.names,
                "kinds": [look["kind"] for look in self._looks],
                "missing": [round(look["missing"], 4) for look in self._looks],
                "flags": [look["flag"] for look in self._looks],
                "sentences": table.sentences,
                "alone": self._errors,
                "leaders": self._leaders,
            }
        return plain(found)

    def histograms(self, columns: list[int]) -> dict[str, Plain]:
        """Rows by value and class of some columns."""
        _, sample, _ = self._open()
        return plain({str(j): histogram(sample, j) for j in self._places(columns)})

    def model(self, rows: list[int] | None = None) -> dict[str, Plain]:
        """The model of the present subset, and some rows to look at.

        Parameters
        ----------
        rows : that somebody wants to look at; others are drawn.
        """
        session, sample, table = self._open()
        said = ""
        with self._models:
            try:
                fitted = self._ruled_model()
            except ValueError as error:
                if self.wish is None or not session.state.subset:
                    raise
                fitted, said = session.model(), f"No rule: {error}"
            if self._whole is None:
                self._whole = sample.table
                if sample.table.n_rows < len(np.asarray(session.y)):  # some are left out
                    self._whole = read_table(NaiveBayes(), session.X, reset=True)
            for row in rows or ():
                if not 0 <= row < self._whole.n_rows:
                    last = self._whole.n_rows - 1
                    raise BadUseError(f"there is no row {row}; the last one is {last}.")
            behind: Foreign = {"signals": table.signals, "indicators": table.indicators}
            extras = Extras(include_rows=True, wanted=tuple(rows or ()), **behind)
            found = explorer_data(fitted, self._whole, cast(Foreign, session.y), extras)
        told = cast("list[dict[str, Any]]", found.pop("told"))[0]
        decision = getattr(fitted, "decision_", None)
        if isinstance(decision, Decision):  # in words, and what it decided on the rows kept aside
            found["decision"] = {"words": decision.to_text(), **decision.to_dict()}
        features = [
            {name: each[name] for name in ("feature", "model", "importance")}
            for each in told["features"]
        ]
        more = {"classes": told["classes"], "features": features, "said": said}
        return plain({"decision": None, **found, **more})

    def _ruled_model(self) -> NaiveBayesSelector:
        """The model as it decides: with its rule, where there is one."""
        session, _, table = self._open()
        if self.wish is None:
            return session.model()
        asked = (session.model(), self.wish)
        if self._ruled is None or self._ruled[0] != asked:
            X, y = rows_at(session.X, table.aside), rows_at(session.y, table.aside)
            self._ruled = asked, decide(asked[0], X, y, **self.wish.arguments(classes_of(session)))
        found = self._ruled[1]
        found.log_ = found.estimator_.log_ = session.log  # which goes on while the rule stays
        return found

    def decisions(self) -> dict[str, Plain]:
        """Detections and false alarms at every threshold, on rows that tables have not seen."""
        session, *_ = self._open()
        X, y, given = session.X, cast(Foreign, session.y), cast(Foreign, session.params)
        with self._models:
            return plain(performance(session.model(), X, y, **given).to_dict())

    def remember(self) -> dict[str, Plain]:
        """Compare later subsets with this one."""
        self._other = self._open()[0].state.subset
        return self.state()

    def compared(self) -> dict[str, Plain]:
        """Rows that the present subset decides otherwise than the one remembered."""
        session, sample, _ = self._open()
        if self._other is None:
            raise BadUseError("remember a subset first, then change it.")
        classes, labels, other = sample.classes.tolist(), sample.labels, list(self._other)
        rows, mine = session.held_out()
        one, two = mine.argmax(1), session.held_out(other)[1].argmax(1)
        apart = np.flatnonzero(one != two)
        found = {
            "n_rows": len(rows),
            "n_apart": len(apart),
            "error": session.error(),
            "other_error": session.error(other),
            "other": [session.names[j] for j in other],
            "rows": [
                {
                    "row": sample.rows[rows[i]],
                    "truth": str(classes[labels[rows[i]]]),
                    "now": str(classes[one[i]]),
                    "before": str(classes[two[i]]),
                }
                for i in apart[:_ROWS]
            ],
        }
        return plain(found)

    def texts(self) -> dict[str, Plain]:
        """The code and the command line, to copy."""
        if not self._open()[0].state.subset:
            return {"code": "", "command": ""}
        return {"code": self._code(), "command": self._command()}

    def _code(self) -> str:
        """The whole program."""
        session, _, table = self._open()
        parts = [table.code(self.target), session.to_code()]
        if self.wish is not None:
            parts.append(self.wish.code(classes_of(session)))
        return "\n\n".join([*parts, *table.code_after]) + "\n"

    def _command(self) -> str:
        """The command line, or why there is none."""
        session, _, table = self._open()
        if table.path is None:
            return "# The table came from a notebook: the command line reads files."
        if table.signals is not None:
            return "# bayesieve signals chooses among indicators itself: use the code."
        if table.rows_out or table.aside:
            return "# The command line cannot leave out rows: use the code."
        odd = [name for name, why in table.left_out.items() if "moments" in why]
        if odd:
            return (
                f"# The command line refuses tables with moments, such as {odd[0]!r}: use the code."
            )
        try:
            return session.to_command(table.name, self.target or "")
        except ValueError as error:
            return "# " + " ".join(str(error).split())

    def export(self, kind: str) -> Export:
        """One of the things to take away, by name."""
        with self._models:
            found = self._export(kind)
        self.unsaved = self.unsaved and kind != "project"
        return found

    def _export(self, kind: str) -> Export:
        session, _, table = self._open()
        choose("export", kind, ("report", "card", "model", "sql", "python", "code", "project"))
        if kind == "code":
            return Export("select.py", "text/plain", self._code().encode())
        if kind == "project":
            content = _written(session.save, "project")
            return Export("project.bayesieve", "application/zip", content)
        model = self._ruled_model()
        if kind == "model":
            content = _written(lambda path: save_model(table.whole(model), path), "model.json")
            return Export("model.json", "application/json", content)
        if kind == "sql":
            return Export("model.sql", "text/plain", to_sql(model).encode())
        if kind == "python":
            return Export("model.py", "text/plain", to_python(model).encode())
        given: Foreign = session.params
        told: Foreign = {
            "title": f"Selection from {table.name}",
            "left_out": dict(table.left_out),
            "signals": table.signals,
            "indicators": table.indicators,
        }
        if kind == "card":  # with its rows, so that a page can say what a change of it costs
            model = ScoreCard.from_model(model, session.X, session.y, **given)
            told = {"title": f"Card from {table.name}", "include_rows": True}
        target = cast(Foreign, session.y)
        page = make_report(model, session.X, target, n_resamples=0, **told, **given)
        return Export(f"{kind}.html", "text/html", page.encode())

    # -- what pages change ----------------------------------------------------------------------

    def edit(self, action: str, columns: list[int], note: str = "") -> dict[str, Plain]:
        """Change the subset; gives the new state."""
        choose("action", action, [*EDITS, "undo", "redo", "note"])
        with self._lock:
            session, *_ = self._open()
            if action in ("undo", "redo"):
                getattr(session, action)()
            elif action == "note":
                session.note(note)
            else:
                if not columns or (action == "swap" and len(columns) != 2):
                    least = "two columns" if action == "swap" else "a column"
                    raise BadUseError(f"{action} needs {least}; got {columns!r}.")
                getattr(session, action)(*self._places(columns), note=note)
            return self._edited()

    def set_rule(self, asked: dict[str, Foreign] | None) -> dict[str, Plain]:
        """Decide by costs, a person to ask and a ceiling; or, by None, for the most probable class.

        The rule is made on rows that the model has not seen: a third of them is kept aside.
        """
        with self._lock:
            session, _, table = self._open()
            wish = None if asked is None else Wish.read(asked, len(classes_of(session)))
            before = session, table, self.wish
            if wish is not None and not table.aside:
                self.open_target(self.target, aside=True)
            self.wish = wish
            try:
                with self._models:
                    _ = wish and self._ruled_model()  # who wants none may have no subset
            except ValueError:
                self.wish = before[2]
                if self.session is not session:
                    self.hold(*before[:2], self.target)  # as if nothing had been asked
                raise
            self._describe()
            return self._edited()

    def pick(self, at: int) -> dict[str, Plain]:
        """Take a step of the path."""
        with self._lock:
            self._open()[0].choose(at=at)
            return self._edited()

    def search(self, settings: StudioSettings, fresh: bool) -> dict[str, Plain]:
        """Search in the background, from the present subset or from the start."""
        with self._lock:
            session, *_ = self._open()
            changed = {
                name: value for name, value in settings.items() if session.settings[name] != value
            }
            if changed:
                session.configure(**changed)
            session.search(fresh=fresh, background=True)
            self._changed("state")
            return self.state()

    def halt(self, what: str) -> dict[str, Plain]:
        """Pause, go on with, or stop the search."""
        choose("what", what, ["pause", "go_on", "stop"])
        getattr(self._open()[0], what)()
        self._changed("state")
        return self.state()

    def _places(self, columns: list[int]) -> list[int]:
        n = len(self._open()[0].names)
        odd = [j for j in columns if not isinstance(j, int) or not 0 <= j < n]
        if odd:
            raise BadUseError(f"columns are numbered 0 to {n - 1}; got {odd[0]!r}.")
        return columns

    def _edited(self) -> dict[str, Plain]:
        self._changed("state")
        self._later()
        return self.state()
