"""The workbench: a session, the table behind it, and the pages that look at it."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from threading import RLock, Thread
from typing import TypedDict, cast

import numpy as np

from ...checks import Foreign, choose, plain_value
from ...criteria import CRITERIA
from ...data.files.base import BadUseError
from ...data.sample import Sample, read_sample
from ...data.tables import SparseTable
from ...estimators.auto import PRESETS
from ...estimators.naive_bayes import NaiveBayes
from ...estimators.resident.running import CancelledError, Point
from ...estimators.resident.session import Session
from ...estimators.selector import NaiveBayesSelector
from ...evaluation.performance import performance
from ...explain.evidence import explain
from ...explain.model import explain_model
from ...explain.plain import Plain, jsonable
from ...models.registry import MODELS
from ...rankings.families import find_families
from ...search import SEARCHES
from .exports import Export, code, command, export
from .looks import Look, chosen_models, histogram, leaks, looks, one_row
from .table import Chosen, open_table, read_rows, write_rows

#: Called with the name of an event and its data, from any thread.
Told = Callable[[str, Plain], None]

#: What a person may do to columns.
EDITS = ("add", "drop", "swap", "pin", "strike", "release", "group")

# Columns whose substitutes are looked for after an edit, lines of the log on a page, rows that two
# subsets decide otherwise.
_SUBSTITUTES, _LINES, _ROWS = 40, 200, 200


class Settings(TypedDict):
    """How a page would have it searched."""

    preset: str
    search: str
    criterion: str


class Bench:
    """Holds a session; every change is told to all who listen.

    Parameters
    ----------
    n_jobs : threads of the kernels.
    """

    def __init__(self, n_jobs: int | None = None):
        self.listeners: list[Told] = []
        self.session: Session | None = None
        self.table: Chosen | None = None
        self.target: str | None = None
        self.version = 0  #: of the state; grows with every change
        self.unsaved = False
        self._n_jobs = n_jobs
        self._lock = RLock()
        self._models = RLock()
        self._opened = 0
        self._sample: Sample | None = None
        self._looks: list[Look] = []
        self._errors: list[float] = []
        self._other: tuple[int, ...] | None = None
        self._leaders: list[int] = []
        self._figures: tuple[object, float, tuple[float, float]] | None = None

    # -- the table ------------------------------------------------------------------------------

    def open_file(self, path: Path, name: str) -> None:
        """Take a file that the user chose; the target comes next."""
        found = open_table(path, name)
        with self._lock:
            self.close()
            self.table, self.session, self.target = found, None, None
            self._changed("table")
        if not found.columns:
            self.open_target(None)

    def open_target(
        self, target: str | None, features: dict[str, str] | None = None, rows: str | None = None
    ) -> None:
        """Learn to tell the classes of a column.

        Parameters
        ----------
        target : its name; None where the file holds its own.
        features : feature models, by column; None: as they look.
        rows : that are left out, such as ``"3, 17-20"``; None: as before.
        """
        if self.table is None:
            raise BadUseError("choose a file first.")
        table = self.table if rows is None else replace(self.table, rows_out=read_rows(rows))
        X, y = table.split(target)
        for name, model in (features or {}).items():
            choose(f"the feature model of {name!r}", model, MODELS)
        estimator = NaiveBayes(features=features) if features else None
        old = self.session if (features, rows) != (None, None) else None
        asked = {"preset": "balanced", "n_jobs": self._n_jobs} if old is None else old.settings
        selector = NaiveBayesSelector(**{**asked, "estimator": estimator})
        groups = None if old is None else old.params.get("groups")
        session = Session(X, y, selector, sample_weight=table.weights(len(y)), groups=groups)
        if old is not None and old.names == session.names:
            session.resume(old.state, old.log, old.points)
            read = f"feature models: {features or 'as they look'}"
            session.note(read if rows is None else f"rows left out: {rows or 'none'}; {read}")
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
            session.about = {"name": table.name, "target": target or ""}
            self.session, self.table, self.target = session, table, target
            self._sample, self._looks, self._errors, self._other = sample, found, [], None
            self._leaders, self._figures = [], None
            self._opened += 1
            self._changed("table")
        asked = self._opened, session, sample
        Thread(target=self._look_for_leaks, args=asked, daemon=True).start()
        self._later()

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

    def _open(self) -> tuple[Session, Sample]:
        if self.session is None or self._sample is None:
            raise BadUseError("choose a file and its target first.")
        return self.session, self._sample

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
        return _plain(found)

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
            "settings": {name: session.settings[name] for name in Settings.__annotations__},
            "criterion": session.criterion,
            "log": session.log[-_LINES:],
            "undo": undo,
            "redo": redo,
            "points": _drawn(session.points),
            "running": running is not None and running.active,
            "paused": running is not None and running.paused,
            "compared": self._other is not None,
        }

    def columns(self) -> dict[str, Plain]:
        """Names, kinds and flags of all columns, as lists: there may be many."""
        session, _ = self._open()
        with self._lock:
            found: dict[str, object] = {
                "opened": self._opened,
                "names": session.names,
                "kinds": [look["kind"] for look in self._looks],
                "missing": [round(look["missing"], 4) for look in self._looks],
                "flags": [look["flag"] for look in self._looks],
                "alone": self._errors,
                "leaders": self._leaders,
            }
        return _plain(found)

    def histograms(self, columns: list[int]) -> dict[str, Plain]:
        """Rows by value and class of some columns."""
        _, sample = self._open()
        found = {str(j): histogram(sample, j) for j in self._places(columns)}
        return _plain(found)

    def model(self) -> dict[str, Plain]:
        """What the model of the present subset says."""
        session, _ = self._open()
        with self._models:
            fitted = session.model()
        label = fitted.estimator_.fitted_.labels[:1] or (None,)
        return _plain(explain_model(fitted, label=label[0]).to_dict())

    def row(self, at: int, changes: dict[str, str] | None = None) -> dict[str, Plain]:
        """The evidence behind the decision on one row, or on one that differs from it in values."""
        session, sample = self._open()
        place = int(np.searchsorted(sample.rows, at))
        if place == sample.rows.size or sample.rows[place] != at:
            raise BadUseError(
                f"there is no row {at}, or it is left out; the last row is {sample.rows[-1]}."
            )
        with self._models:
            model = session.model().estimator_
            table = one_row(sample.table, place, sorted(session.state.subset), changes or {})
            found = explain(model, table)
        labels = sample.labels
        truth = "" if sample.targets.labelled else plain_value(sample.classes[labels[place]])
        each = [{**one.to_dict(), "row": at} for one in found]
        return _plain({"truth": str(truth), "found": each})

    def decisions(self) -> dict[str, Plain]:
        """Detections and false alarms at every threshold, on rows that tables have not seen."""
        session, _ = self._open()
        with self._models:
            fitted = session.model()
        given: Foreign = session.params
        judged = performance(fitted, session.X, cast(Foreign, session.y), **given)
        return _plain(judged.to_dict())

    def remember(self) -> None:
        """Compare later subsets with this one."""
        session, _ = self._open()
        self._other = session.state.subset

    def compared(self) -> dict[str, Plain]:
        """Rows that the present subset decides otherwise than the one remembered."""
        session, sample = self._open()
        if self._other is None:
            raise BadUseError("remember a subset first, then change it.")
        names = [sample.classes.tolist(), sample.labels.tolist()]
        rows, mine = session.held_out()
        _, other = session.held_out(list(self._other))
        one, two = mine.argmax(1), other.argmax(1)
        apart = np.flatnonzero(one != two)
        found = {
            "n_rows": len(rows),
            "n_apart": len(apart),
            "error": list(session.error()),
            "other_error": list(session.error(list(self._other))),
            "other": [session.names[j] for j in self._other],
            "rows": [
                {
                    "row": int(sample.rows[rows[i]]),
                    "truth": str(names[0][names[1][rows[i]]]),
                    "now": str(names[0][one[i]]),
                    "before": str(names[0][two[i]]),
                }
                for i in apart[:_ROWS]
            ],
        }
        return _plain(found)

    def texts(self) -> dict[str, Plain]:
        """The code and the command line, to copy."""
        session, _ = self._open()
        assert self.table is not None
        if not session.state.subset:
            return {"code": "", "command": ""}
        return {
            "code": code(session, self.table, self.target),
            "command": command(session, self.table, self.target),
        }

    def export(self, kind: str) -> Export:
        """Something to take away."""
        session, _ = self._open()
        assert self.table is not None
        with self._models:
            found = export(kind, session, self.table, self.target)
        self.unsaved = self.unsaved and kind != "project"
        return found

    # -- what pages change ----------------------------------------------------------------------

    def edit(self, action: str, columns: list[int], note: str = "") -> dict[str, Plain]:
        """Change the subset; gives the new state."""
        choose("action", action, [*EDITS, "undo", "redo", "note"])
        with self._lock:
            session, _ = self._open()
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

    def pick(self, at: int) -> dict[str, Plain]:
        """Take a step of the path."""
        with self._lock:
            session, _ = self._open()
            session.choose(at=at)
            return self._edited()

    def search(self, settings: Settings, fresh: bool) -> dict[str, Plain]:
        """Search on from here (or anew), beside."""
        with self._lock:
            session, _ = self._open()
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
        session, _ = self._open()
        getattr(session, what)()
        self._changed("state")
        return self.state()

    def _places(self, columns: list[int]) -> list[int]:
        session, _ = self._open()
        n = len(session.names)
        odd = [j for j in columns if not isinstance(j, int) or not 0 <= j < n]
        if odd:
            raise BadUseError(f"columns are numbered 0 to {n - 1}; got {odd[0]!r}.")
        return columns

    # -- telling --------------------------------------------------------------------------------

    def _edited(self) -> dict[str, Plain]:
        self._changed("state")
        self._later()
        return self.state()

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
            left = running.seconds_left
            points = len(running.points)
            data: dict[str, object] = {"points": _drawn(running.points[-1:]), "n": points}
            data |= {"seconds": running.seconds, "left": left}
            self._tell("progress", _plain(data))
            return
        failure = running.failure
        if failure is not None and not isinstance(failure, CancelledError):
            self._tell("failure", {"said": " ".join(str(failure).split())})
        self._changed("state")
        self._later()

    def _later(self) -> None:
        """What takes longer follows: losses, substitutes."""
        if self.session is not None:
            asked = self.version, self.session
            Thread(target=self._extras, args=asked, daemon=True).start()

    def _extras(self, version: int, session: Session) -> None:
        state = session.state
        found = {str(j): loss for j, loss in session.answers.losses_if_left(state).items()}
        if version != self.version:
            return
        self._tell("losses", _plain({"version": version, "losses": found}))
        for j in state.subset[:_SUBSTITUTES]:
            if version != self.version:
                return
            best = session.answers.best_substitute(state, j)
            if best is not None:
                told = {"version": version, "column": j, "by": best.column, "loss": best.amount}
                self._tell("substitute", _plain(told))


def _plain(value: object) -> dict[str, Plain]:
    """Plain data of an object: what is not finite is null."""
    return cast(dict[str, Plain], jsonable(value))


def _drawn(points: list[Point]) -> list[list[object]]:
    """Points of a path as a page draws them."""
    return [
        [each["n_features"], each["score"], each["error"], each["spread"], each["action"]]
        for each in points
    ]
