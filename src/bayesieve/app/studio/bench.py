"""The workbench: a session, the table behind it, and the pages that look at it."""

from dataclasses import asdict, replace
from pathlib import Path
from threading import RLock
from typing import TypedDict

import numpy as np

from ...checks import Foreign, choose, plain_value
from ...criteria import CRITERIA
from ...data.files.base import BadUseError
from ...data.files.form import SeriesForm
from ...data.sample import Sample, read_sample
from ...data.tables import SparseTable, Table
from ...estimators.auto import PRESETS
from ...estimators.naive_bayes import NaiveBayes
from ...estimators.resident.session import Session
from ...estimators.selector import NaiveBayesSelector
from ...explain.plain import Plain
from ...models.registry import MODELS
from ...rankings.families import find_families
from ...search import SEARCHES
from .exports import Export, Ruling, code, command, export
from .looks import Look, chosen_models, histogram, leaks, learner, looks
from .ruling import Wish, classes_of, ruled
from .seriesfile import ChosenSeries, open_folder, read_as, saved, with_labels
from .table import Chosen, draw_aside, open_table, read_rows, write_rows
from .telling import Telling, drawn, plain
from .views import compared_view, decisions_view, model_view, whole_table

#: What a person may do to columns.
EDITS = ("add", "drop", "swap", "pin", "strike", "release", "group")

# Lines of the log on a page.
_LINES = 200


class Settings(TypedDict):
    """How a page would have it searched."""

    preset: str
    search: str
    criterion: str


class Bench(Telling):
    """Holds a session; every change is told to all who listen.

    Parameters
    ----------
    n_jobs : threads of the kernels.
    """

    def __init__(self, n_jobs: int | None = None):
        super().__init__()
        self.table: Chosen | None = None
        self.target: str | None = None
        self.wish: Wish | None = None  #: what is asked of decisions
        self._n_jobs = n_jobs
        self._lock = RLock()
        self._models = RLock()
        self._opened = self._looked = 0
        self._sample: Sample | None = None
        self._looks: list[Look] = []
        self._errors: list[float] = []
        self._other: tuple[int, ...] | None = None
        self._leaders: list[int] = []
        self._figures: tuple[object, float, tuple[float, float]] | None = None
        self._ruled: tuple[object, NaiveBayesSelector] | None = None
        self._whole: Table | None = None

    # -- the table ------------------------------------------------------------------------------

    def open_file(self, path: Path, name: str) -> None:
        """Take a file that the user chose; the target comes next."""
        found = open_folder(path, name) if path.is_dir() else open_table(path, name)
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
        self.table = read_as(self.table, form, self._n_jobs)

    def add_labels(self, path: Path, name: str) -> None:
        """Another table has the classes of the series."""
        if self.table is None:
            raise BadUseError("choose a file of series first, then the table of their classes.")
        self.table = with_labels(self.table, path, name)
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
        self.hold(session, saved(session), about.get("target") or None)
        with self._lock:
            if self.table is not None and self.table.aside:
                self.wish = Wish.from_text(about.get("rule", ""), session)
                self._describe()

    def _describe(self) -> None:
        """A project knows where its rows come from, and what is asked of decisions."""
        session, table = self.session, self.table
        assert session is not None
        assert table is not None
        session.about = {
            **table.about,
            "name": table.name,
            "target": self.target or "",
            "rows_out": write_rows(table.rows_out),
            "aside": "yes" if table.aside else "",
            "rule": "" if self.wish is None else self.wish.to_text(),
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
                "n_aside": 0 if table is None else len(table.aside),
                "series": table.form.to_dict() if isinstance(table, ChosenSeries) else None,
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
            "settings": {name: session.settings[name] for name in Settings.__annotations__},
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
        session, sample = self._open()
        with self._lock:
            if self._looked != self._opened:
                self._looked = self._opened
                asked = self._opened, session, sample
                self._beside(self._look_for_leaks, *asked)
            found: dict[str, object] = {
                "opened": self._opened,
                "names": session.names,
                "kinds": [look["kind"] for look in self._looks],
                "missing": [round(look["missing"], 4) for look in self._looks],
                "flags": [look["flag"] for look in self._looks],
                "sentences": [] if self.table is None else self.table.sentences,
                "alone": self._errors,
                "leaders": self._leaders,
            }
        return plain(found)

    def histograms(self, columns: list[int]) -> dict[str, Plain]:
        """Rows by value and class of some columns."""
        _, sample = self._open()
        found = {str(j): histogram(sample, j) for j in self._places(columns)}
        return plain(found)

    def model(self, rows: list[int] | None = None) -> dict[str, Plain]:
        """What the model of the present subset says, and some rows to look at.

        Parameters
        ----------
        rows : that somebody wants to look at; others are drawn.
        """
        session, sample = self._open()
        assert self.table is not None
        said = ""
        with self._models:
            try:
                fitted = self._ruled_model()
            except ValueError as error:
                if self.wish is None or not session.state.subset:
                    raise
                fitted, said = session.model(), f"No rule: {error}"
            if self._whole is None:
                self._whole = whole_table(session, sample)
            found = model_view(fitted, self._whole, session.y, self.table, rows or [])
        return plain(found | {"said": said})

    def _ruled_model(self) -> NaiveBayesSelector:
        """The model as it decides: with its rule, where there is one."""
        session, _ = self._open()
        assert self.table is not None
        if self.wish is None:
            return session.model()
        asked = (session.model(), self.wish)
        if self._ruled is None or self._ruled[0] != asked:
            self._ruled = asked, ruled(session, self.table, self.wish)
        found = self._ruled[1]
        found.log_ = found.estimator_.log_ = session.log  # which goes on while the rule stays
        return found

    def decisions(self) -> dict[str, Plain]:
        """Detections and false alarms at every threshold, on rows that tables have not seen."""
        session, _ = self._open()
        with self._models:
            return plain(decisions_view(session.model(), session))

    def remember(self) -> None:
        """Compare later subsets with this one."""
        session, _ = self._open()
        self._other = session.state.subset

    def compared(self) -> dict[str, Plain]:
        """Rows that the present subset decides otherwise than the one remembered."""
        session, sample = self._open()
        if self._other is None:
            raise BadUseError("remember a subset first, then change it.")
        return plain(compared_view(session, sample, self._other))

    def texts(self) -> dict[str, Plain]:
        """The code and the command line, to copy."""
        session, _ = self._open()
        assert self.table is not None
        if not session.state.subset:
            return {"code": "", "command": ""}
        return {
            "code": code(session, self.table, self.target, self.wish),
            "command": command(session, self.table, self.target),
        }

    def export(self, kind: str) -> Export:
        """Something to take away."""
        session, _ = self._open()
        assert self.table is not None
        with self._models:
            ruling = Ruling(self._ruled_model, self.wish)
            found = export(kind, session, self.table, self.target, ruling)
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

    def set_rule(self, asked: dict[str, Foreign] | None) -> dict[str, Plain]:
        """Decide by costs, a person to ask and a ceiling; or, by None, for the most probable class.

        The rule is made on rows that the model has not seen: a third of them is kept aside.
        """
        with self._lock:
            session, _ = self._open()
            assert self.table is not None
            wish = None if asked is None else Wish.read(asked, len(classes_of(session)))
            before = session, self.table, self.wish
            if wish is not None and not self.table.aside:
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

    def _edited(self) -> dict[str, Plain]:
        self._changed("state")
        self._later()
        return self.state()
