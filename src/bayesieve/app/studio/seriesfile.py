"""Time series that a user chose: read as `bayesieve signals` reads them."""

import json
from dataclasses import dataclass, field, fields
from pathlib import Path

import numpy as np

from ...checks import Array, Foreign, check_number, choose
from ...data.files.base import BadUseError
from ...data.files.form import SeriesForm
from ...data.files.series import table_names
from ...data.series import SeriesTable
from ...data.tables import RawTable
from ...estimators.resident.session import Session
from ...estimators.selector import NaiveBayesSelector
from ...estimators.signals import SignalPipeline, signals
from ...indicators.transformer import Indicators
from ..learning import Learning, read_learning
from .table import Chosen, saved_table

_KINDS = ("table", "long", "wide", "folder")


@dataclass
class ChosenSeries(Chosen):
    """Series, and the indicators that are made of them.

    Parameters
    ----------
    form : how they lie in the file.
    n_jobs : threads.
    target : whose classes were read.
    learning : the series and their classes; None before they are read, and in a project.
    made : their indicators.
    pipeline : what makes them.
    """

    form: SeriesForm = field(default_factory=lambda: SeriesForm("long"))
    n_jobs: int | None = None
    target: str | None = None
    learning: Learning | None = None
    made: RawTable | None = None
    pipeline: SignalPipeline | None = None

    def split(self, target: str | None) -> tuple[Foreign, Foreign]:
        """Indicators and classes; scores are computed once."""
        if self.path is None:
            return self.X, self.y
        if self.learning is None or self.made is None or self.target != target:
            learning = read_learning(self.path, self.form, target, self.labels)
            pipeline = signals(n_jobs=self.n_jobs)
            pipeline.form_ = learning.form.to_dict()
            made = pipeline.fit_columns(learning.table)
            if not made.shape[1] or bool(np.isnan(made.columns).all()):
                raise BadUseError(
                    "no score has an answer on any of the series: they are shorter than all "
                    "windows, or all have missing points."
                )
            self.learning, self.made, self.pipeline, self.target = learning, made, pipeline, target
        return self.made, self.learning.y

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
        """What makes the columns."""
        return None if self.pipeline is None else self.pipeline.indicators

    @property
    def sentences(self) -> list[str]:
        """What each indicator says."""
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
        """What people should know of the series."""
        return [] if self.learning is None else self.learning.words

    def whole(self, model: NaiveBayesSelector) -> NaiveBayesSelector | SignalPipeline:
        """From series to decisions."""
        return model if self.pipeline is None else self.pipeline.with_estimator(model)

    def code(self, target: str | None) -> str:
        """Python that makes the same indicators."""
        if self.path is None:
            return super().code(target)
        labels = None if self.labels is None else Path(self.labels_name)
        read = f"Path({self.name!r}), form, {target!r}, {labels and f'Path({str(labels)!r})'}"
        lines = [
            "from pathlib import Path",
            "",
            "from bayesieve import signals",
            "from bayesieve.app.learning import read_learning",
            "from bayesieve.data.files.form import SeriesForm",
            "",
            f"form = {self.form!r}",
            f"learning = read_learning({read})",
            "pipeline = signals()",
            "X, y, groups = pipeline.fit_columns(learning.table), learning.y, learning.groups",
        ]
        return "\n".join([*lines, *self.weights_code()])

    @property
    def code_after(self) -> list[str]:
        """The model of series."""
        if self.path is None:
            return []
        lines = ["pipeline.form_ = learning.form.to_dict()"]
        return ["\n".join([*lines, "model = pipeline.with_estimator(selector)"])]


def open_folder(path: Path, name: str) -> Chosen:
    """A folder that the user chose, with a file for every series; classes are in another table."""
    return ChosenSeries(name, path, form=SeriesForm("folder"))


def read_form(asked: dict[str, Foreign]) -> SeriesForm | None:
    """How series lie in a file, as a page says; None: it is a table.

    Examples
    --------
    >>> from bayesieve.app.studio.seriesfile import read_form
    >>> read_form({"kind": "long", "id": "who", "time": ""}).id
    'who'
    """
    kind = asked.get("kind") or "table"
    choose("kind", kind, _KINDS)
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


def read_as(table: Chosen, form: SeriesForm | None, n_jobs: int | None) -> Chosen:
    """The same file, read as series that lie in it in this form, or as a table."""
    if isinstance(table, ChosenSeries) and table.form == form:
        return table
    held = {each.name: getattr(table, each.name) for each in fields(Chosen)}
    held |= {"rows_out": [], "aside": [], "left_out": {}}
    return Chosen(**held) if form is None else ChosenSeries(**held, form=form, n_jobs=n_jobs)


def with_labels(table: Chosen, labels: Path, name: str) -> Chosen:
    """The same series, whose classes another table has."""
    if table.path is None:
        raise BadUseError("choose a file of series first, then the table of their classes.")
    table.labels, table.labels_name = labels, name
    table.columns = [*dict.fromkeys([*table.columns, *table_names(labels)])]
    if isinstance(table, ChosenSeries):
        table.learning = None  # read again
    return table


def saved(session: Session) -> Chosen:
    """What a project holds: a table, or indicators with their recipe."""
    found, text = saved_table(session), session.about.get("signals", "")
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
    held = {each.name: getattr(found, each.name) for each in fields(Chosen)}
    return ChosenSeries(**held, form=form, pipeline=pipeline)
