"""The studio's data: uploads, tables and time series as a user chose them."""

import json
import re
import secrets
import shutil
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
import polars as pl
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.model_selection import StratifiedGroupKFold, train_test_split
from starlette.requests import Request

from ...checks import Array, BadUseError, Foreign, check_number, choose, plain_value
from ...data.files.base import unzipped
from ...data.files.formats import format_of, read_data
from ...data.files.sources import open_source
from ...data.series import SeriesForm, SeriesTable
from ...data.tables import RawTable, read_table
from ...estimators.selector import NaiveBayesSelector
from ...estimators.signals import SignalPipeline, signals
from ...indicators.transformer import Indicators
from ...session.session import Session
from ..learning import Learning, read_learning, score_series
from ..tables import is_moment, read_problem


class Uploads:
    """A temporary folder for what comes from the browser.

    Parameters
    ----------
    folder : it is there, and is removed by whoever made it.
    most_bytes : of a file, or of a folder of series.
    """

    def __init__(self, folder: Path, most_bytes: int):
        self.folder, self.most_bytes = folder, most_bytes
        self._series: Path | None = None

    def place(self, name: str, use: str) -> Path:
        """Where a file may land: a name of our own, unless it is one of a folder of series."""
        if use in ("first", "part"):
            if use == "first" or self._series is None:
                if self._series is not None:  # nobody came back for it
                    shutil.rmtree(self._series, ignore_errors=True)
                self._series = self.folder / secrets.token_hex(8)
                self._series.mkdir()
            found = self._series / safe_name(name)
            if found.exists():
                raise BadUseError(f"two files are called {found.name!r}; series need other names.")
            return found
        ending, zipped = unzipped(Path("x" + "".join(Path(name).suffixes[-2:])))
        ending = "".join(each for each in ending if each.isascii() and each.isalnum())[:20]
        return self.folder / f"{secrets.token_hex(8)}.{ending}{'.gz' * zipped}"

    def room(self, size: int) -> int:
        """May a file of this many bytes come?"""
        if size > self.most_bytes:
            most = f"{self.most_bytes / 2**20:,.0f} MB"
            raise BadUseError(
                f"the file is larger than {most}; start bayesieve studio FILE instead."
            )
        return self.most_bytes

    async def receive(self, request: Request, place: Path) -> None:
        """A file, whole or not at all: it may be too large, or whoever sends it goes."""
        size = 0
        try:
            with place.open("xb") as file:
                async for part in request.stream():
                    size += len(part)
                    self.room(size + self._held(place))
                    file.write(part)
        except BaseException:
            place.unlink(missing_ok=True)
            raise

    def _held(self, place: Path) -> int:
        """Bytes of the other files of a folder of series."""
        if place.parent == self.folder:
            return 0
        return sum(each.stat().st_size for each in place.parent.iterdir() if each != place)

    def take_series(self) -> Path:
        """The folder of series that was sent file by file."""
        found, self._series = self._series, None
        if found is None:
            raise BadUseError("choose a folder first.")
        return found

    def tidy(self, before: Path | None, now: Path | None) -> None:
        """A file that was dropped on the page before another one is not needed any more."""
        if before is None or before == now or before.parent != self.folder:
            return
        if before.is_dir():
            shutil.rmtree(before, ignore_errors=True)
        else:
            before.unlink(missing_ok=True)


def safe_name(name: str) -> str:
    """The last part of a name, where it holds nothing that a path could be made of."""
    found = name.replace("\\", "/").rsplit("/", 1)[-1]
    odd = [each for each in found if not (each.isalnum() or each in "-_ .+()=@,")]
    if not found or found.startswith(".") or odd:
        raise BadUseError(f"a file of a series must have a plain name; got {name!r}.")
    return found


# -- The table that a user chose -------------------------------------------------------------------


# Bytes of a file from which on its rows are not read before the target is known.
_LARGE = 2**26

# Rows of one range that is left out.
_MOST_ROWS = 10**7


@dataclass
class Chosen:
    """A table to learn from, or series and the indicators made of them, as a user chose it.

    Parameters
    ----------
    name : shown to people.
    path : of the file; None for what a notebook holds.
    columns : that may be the target; empty where the file holds its own.
    X, y : of a notebook.
    left_out : columns that are not learnt from, each with the reason.
    rows_out : rows that are not learnt from.
    aside : rows on which decisions are judged, and which are not learnt from.
    given : how often each row counts beside; None: once.
    labels, labels_name : a table with the classes of series, and what it is called.
    together : what rows of a project share that are never on both sides of a split; None: nothing.
    form : how series lie in the file; None: it is a table.
    n_jobs : threads that make indicators.
    target : whose classes were read with the series.
    learning : the series and their classes; None before they are read, and in a project.
    made : their indicators.
    pipeline : what makes them.
    """

    name: str
    path: Path | None = None
    columns: list[str] = field(default_factory=list)
    X: Foreign = None
    y: Foreign = None
    left_out: dict[str, str] = field(default_factory=dict)
    rows_out: list[int] = field(default_factory=list)
    aside: list[int] = field(default_factory=list)
    given: NDArray[np.int64] | None = None
    labels: Path | None = None
    labels_name: str = ""
    together: Array | None = None
    form: SeriesForm | None = None
    n_jobs: int | None = None
    target: str | None = None
    learning: Learning | None = None
    made: RawTable | None = None
    pipeline: SignalPipeline | None = None

    def split(self, target: str | None) -> tuple[Foreign, Foreign]:
        """Columns and classes; what cannot be learnt from is left out, and told."""
        if self.path is None:
            return self.X, self.y
        if self.form is not None:
            if self.learning is None or self.made is None or self.target != target:
                learning = read_learning(self.path, self.form, target, self.labels)
                pipeline = signals(n_jobs=self.n_jobs)
                self.made = score_series(pipeline, learning)
                self.learning, self.pipeline, self.target = learning, pipeline, target
            return self.made, self.learning.y
        large = self.path.stat().st_size >= _LARGE
        problem, named = read_problem(self.path, target, [], identifiers=not large)
        self.left_out = dict.fromkeys(named, "names every row")
        frame = problem.X
        if not isinstance(frame, pl.DataFrame):
            return frame, problem.y
        # Columns that name rows, or moments, tell nothing of new rows.
        for column in frame:
            every = column.dtype == pl.String and frame.height > 1
            if is_moment(column):
                self.left_out[column.name] = "holds moments in time"
            elif every and column.n_unique() == frame.height:
                self.left_out[column.name] = "names every row"
        kept = [name for name in frame.columns if name not in self.left_out]
        if not kept:
            raise BadUseError("every column names rows or moments: nothing is left to learn from.")
        return frame.select(kept), problem.y

    def code(self, target: str | None) -> str:
        """Python that reads the same columns and classes, or makes the same indicators."""
        lines = ["# X and y: the table and its classes, as they were given to the session."]
        if self.path is not None and self.form is not None:
            labels = None if self.labels is None else Path(self.labels_name)
            read = f"Path({self.name!r}), form, {target!r}, {labels and f'Path({str(labels)!r})'}"
            lines = [
                "from pathlib import Path",
                "",
                "from bayesieve import signals",
                "from bayesieve.app.learning import read_learning",
                "from bayesieve.data.series import SeriesForm",
                "",
                f"form = {self.form!r}",
                f"learning = read_learning({read})",
                "pipeline = signals()",
                "X, y, groups = pipeline.fit_columns(learning.table), learning.y, learning.groups",
            ]
        elif self.path is not None:
            lines = [
                "from pathlib import Path",
                "",
                "from bayesieve.app.tables import read_problem",
                "",
                f"problem, _ = read_problem(Path({self.name!r}), {target!r}, [], identifiers=True)",
                "X, y = problem.X, problem.y",
            ]
            lines += [f"X = X.drop({list(self.left_out)!r})"] if self.left_out else []
        if self.aside:
            out = f" if i not in {self.rows_out!r}" if self.rows_out else ""
            drawn = f"[i for i in range(len(y)){out}]"
            groups = "None" if self.groups is None else "groups"
            lines += ["from bayesieve.app.studio.data import draw_aside", ""]
            lines += [f"aside = draw_aside({drawn}, y, {groups})", ""]
        if self.given is not None:
            also = " and those kept aside" if self.aside else ""
            lines.append(f"# sample_weight: as it was given, 0 for rows left out{also}.")
        elif self.rows_out or self.aside:
            gone = [f"{self.rows_out!r}"] * bool(self.rows_out) + ["aside"] * bool(self.aside)
            lines += ["sample_weight = [1] * len(y)", f"for row in {' + '.join(gone)}:"]
            lines.append("    sample_weight[row] = 0")
        return "\n".join(lines)

    @property
    def about(self) -> dict[str, str]:
        """The recipe of the indicators."""
        if self.pipeline is None:
            return {}
        recipe = {"recipe": self.pipeline.indicators.recipe(), "form": self.pipeline.form_}
        return {"signals": json.dumps(recipe)}

    @property
    def signals(self) -> SeriesTable | None:
        """The series themselves."""
        return None if self.learning is None else self.learning.table

    @property
    def indicators(self) -> Indicators | None:
        """The indicators that make the columns."""
        return None if self.pipeline is None else self.pipeline.indicators

    @property
    def sentences(self) -> list[str]:
        """The sentence of each indicator."""
        if self.indicators is None:
            return []
        known = {each.id: each.sentence for each in self.indicators.indicators_}
        return [known[str(name)] for name in self.indicators.names_]

    @property
    def groups(self) -> Array | None:
        """Records of windows, which are never on both sides of a split."""
        return self.together if self.learning is None else self.learning.groups

    @property
    def notes(self) -> list[str]:
        """Remarks on the series, for people."""
        return [] if self.learning is None else self.learning.words

    def whole(self, model: NaiveBayesSelector) -> NaiveBayesSelector | SignalPipeline:
        """From series to decisions."""
        return model if self.pipeline is None else self.pipeline.with_estimator(model)

    @property
    def code_after(self) -> list[str]:
        """The model of series."""
        if self.path is None or self.form is None:
            return []
        return [
            "pipeline.form_ = learning.form.to_dict()\nmodel = pipeline.with_estimator(selector)"
        ]

    def weights(self, n_rows: int) -> NDArray[np.int64] | None:
        """How often each row counts; None where all do."""
        if not self.rows_out and not self.aside:
            return self.given
        if self.rows_out and self.rows_out[-1] >= n_rows:
            raise BadUseError(f"there is no row {self.rows_out[-1]}; the last one is {n_rows - 1}.")
        found = np.ones(n_rows, np.int64) if self.given is None else self.given.copy()
        found[self.rows_out] = 0
        found[self.aside] = 0
        return found


def draw_aside(rows: list[int], y: Foreign, groups: Foreign = None) -> list[int]:
    """A third of the rows, on which decisions are judged: of every class, and of whole groups.

    Parameters
    ----------
    rows : to draw from.
    y : classes of all rows.
    groups : what rows share that are never on both sides; None: nothing.

    Examples
    --------
    >>> from bayesieve.app.studio.data import draw_aside
    >>> len(draw_aside(list(range(9)), ["a"] * 6 + ["b"] * 3))
    3
    """
    classes = np.asarray(y)
    mine = classes[rows] if classes.ndim == 1 else None
    if not rows:
        raise BadUseError("no row is left: leave out fewer.")
    if mine is not None:
        names, many = np.unique(mine, return_counts=True)
        if many.min() < 2:
            name = plain_value(names[many.argmin()])
            raise BadUseError(
                f"a third of the rows cannot be kept aside: class {name!r} has one row only; "
                "leave it out."
            )
    try:
        if groups is None:
            found = train_test_split(rows, test_size=1 / 3, stratify=mine, random_state=0)[1]
        else:
            draw = StratifiedGroupKFold(3, shuffle=True, random_state=0)
            folds = draw.split(rows, mine, np.asarray(groups)[rows])
            # Of few groups, a fold may hold none of a class, or all.
            both = (at for _, at in folds if mine is None or _on_both_sides(mine, at))
            found = [rows[i] for i in next(both)]
    except StopIteration as error:
        raise BadUseError(
            "a third of the rows cannot be kept aside: rows that belong together stay together, "
            "and some class has them in too few groups."
        ) from error
    except ValueError as error:
        raise BadUseError(f"a third of the rows cannot be kept aside: {error}") from error
    return sorted(int(row) for row in found)


def _on_both_sides(classes: Array, aside: Array) -> bool:
    """Is every class among the rows kept aside, and among the others?"""
    n_classes = np.unique(classes).size
    parts = (classes[aside], np.delete(classes, aside))
    return all(np.unique(part).size == n_classes for part in parts)


def read_rows(text: str) -> list[int]:
    """Rows as people write them: ``"3, 17-20"``.

    Examples
    --------
    >>> from bayesieve.app.studio.data import read_rows
    >>> read_rows("3, 17-20")
    [3, 17, 18, 19, 20]
    """
    found: set[int] = set()
    for part in filter(None, (each.strip() for each in text.split(","))):
        match = re.fullmatch(r"(\d{1,9})(?:\s*-\s*(\d{1,9}))?", part)
        first, last = (int(match[1]), int(match[2] or match[1])) if match else (1, 0)
        if first > last:
            raise BadUseError(f"rows must be numbers and ranges such as 3, 17-20; got {part!r}.")
        found.update(range(first, min(last, first + _MOST_ROWS) + 1))
    return sorted(found)


def write_rows(rows: list[int]) -> str:
    """Rows as people write them, which `read_rows` reads.

    Examples
    --------
    >>> from bayesieve.app.studio.data import write_rows
    >>> write_rows([3, 17, 18, 19, 20])
    '3, 17-20'
    """
    found: list[list[int]] = []
    for row in rows:
        if found and row == found[-1][1] + 1:
            found[-1][1] = row
        else:
            found.append([row, row])
    return ", ".join(str(a) if a == b else f"{a}-{b}" for a, b in found)


def open_table(path: Path, name: str) -> Chosen:
    """A file that the user chose: which of its columns may be the target?"""
    kind = format_of(path)
    if path.stat().st_size >= _LARGE and kind.in_blocks:
        return Chosen(name, path, list(open_source(path).names))
    content = read_data(path)
    if content.target is not None:
        return Chosen(name, path)
    return Chosen(name, path, [*content.names, *content.texts.columns])


def given_table(
    X: Foreign, y: Foreign, weights: Foreign = None, name: str = "the table of the notebook"
) -> Chosen:
    """A table of a notebook; rows without weight are left out."""
    read_table(BaseEstimator(), X, reset=True)
    found = Chosen(name, None, [], X, y)
    if weights is not None:
        given = np.asarray(weights)
        found.rows_out = np.flatnonzero(given == 0).tolist()
        given = np.where(given == 0, 1, given)
        found.given = given if (given != 1).any() else None
    return found


# -- Time series that a user chose -----------------------------------------------------------------


def read_form(asked: dict[str, Foreign]) -> SeriesForm | None:
    """How series lie in a file, as a page says; None: it is a table.

    Examples
    --------
    >>> from bayesieve.app.studio.data import read_form
    >>> read_form({"kind": "long", "id": "who", "time": ""}).id
    'who'
    """
    kind = asked.get("kind") or "table"
    choose("kind", kind, ("table", "long", "wide", "folder"))
    if kind == "table":
        return None
    words = {name: asked.get(name) or None for name in ("id", "time", "channel")}
    for name, given in words.items():
        if not isinstance(given, str | None):
            raise BadUseError(f"{name} must be the name of a column; got {given!r}.")
    if kind == "long" and words["id"] is None:
        raise BadUseError("say which column names the series: rows of one series share it.")
    cuts = {name: asked.get(name) or None for name in ("window", "stride")}
    for name, many in cuts.items():
        if many is not None:
            check_number(name, many, low=2 if name == "window" else 1, whole=True)
    names = {"long": words, "wide": {"id": words["id"]}, "folder": {"time": words["time"]}}[kind]
    return SeriesForm(kind, **names, **cuts)


def saved(session: Session) -> Chosen:
    """The data of a project: a table, or indicators with their recipe."""
    about, weights = session.about, session.params.get("sample_weight")
    found = given_table(session.X, session.y, weights, about.get("name", "a project"))
    groups = session.params.get("groups")
    found.together = None if groups is None else np.asarray(groups)
    if about.get("aside"):  # of the rows without weight, some are kept aside
        gone, found.rows_out = found.rows_out, read_rows(about.get("rows_out", ""))
        found.aside = sorted(set(gone) - set(found.rows_out))
    text = about.get("signals", "")
    if not text:
        return found
    try:
        data = json.loads(text)
        indicators = Indicators.from_recipe(data["recipe"])
        form = SeriesForm.from_dict(data["form"] or {"kind": "long"})
    except (KeyError, TypeError) as error:
        raise ValueError(f"this is not a project: its indicators are {text[:80]!r}.") from error
    pipeline = SignalPipeline([("indicators", indicators), ("estimator", NaiveBayesSelector())])
    pipeline.form_ = form.to_dict()
    return replace(found, form=form, pipeline=pipeline)
