"""One table of options: parameter, flag, type, meaning, and the verbs that use it.

The fields of `Settings` are the table.  The command line takes its flags from it (`cli.as_typer`),
the studio writes its command with it (`command_line`), and the documentation lists it
(`options_page`).  What only the command line needs is not needed to read it.
"""

import shlex
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, fields, replace
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, Literal, NamedTuple, Self, TypeAlias, get_args, get_type_hints

from ..checks import PRESETS, Foreign, choose
from ..search import SEARCHES
from .engines import ENGINES, FILES, KEEPER, SCHEDULER

#: Verbs that take every option of `select`: what was selected is judged with the same words.
LIKE_SELECT = ("select", "nested", "stability", "calibrate", "report")

# Verbs that choose columns of a table; and these with what chooses indicators of series.
_CHOOSE = ("select", "nested", "stability")
_LEARN = (*_CHOOSE, "signals")


# Names of what takes seconds to import: asked for when a value is given, or completed.


def _criteria() -> Iterable[str]:
    from ..criteria import CRITERIA

    return CRITERIA


def _models() -> Iterable[str]:
    from ..models.registry import MODELS

    return ["auto", *MODELS]


# Others whose results machines read.
_LISTED = (
    *("look", "card", "calibrate", "decide", "compare", "drift"),
    *("rank", "explain", "datasets", "scores", "reproduce"),
)


#: The panels of a verb's help, in their order.
Panel: TypeAlias = Literal["Data", "Model", "Honesty", "Output", "Machine"]
PANELS: tuple[Panel, ...] = get_args(Panel)


class Option(NamedTuple):
    """An option of the command line."""

    panel: Panel  #: of the help, where it stands
    help: str  #: what it does, in a sentence
    verbs: tuple[str, ...] = ()  #: that use it
    #: where it is not the parameter's name; "--x/--no-x" for a switch with two sides
    flag: str = ""
    low: float | None = None  #: bounds of a number
    high: float | None = None
    names: Callable[[], Iterable[str]] | None = None  #: gives the names that the shell completes
    only: bool = False  #: must it be one of these names?
    searches: bool = False  #: does it ask for a search of columns?
    required: tuple[str, ...] = ()  #: verbs that cannot do without it
    says: Mapping[str, str] = MappingProxyType({})  #: other words for the help of some verbs

    def flag_of(self, name: str) -> str:
        """The flag of a parameter, as it is written."""
        return self.flag.partition("/")[0] or f"--{name.replace('_', '-')}"


def option(default: Foreign, *told: Foreign, **more: Foreign) -> Foreign:
    """A field of a table of options: its default, and what `Option` tells of it."""
    return field(default=default, metadata={"option": Option(*told, **more)})


class Argument(NamedTuple):
    """An argument of the command line, which has no flag."""

    help: str
    metavar: str | None = None
    names: Callable[[], Iterable[str]] | None = None


@dataclass(frozen=True)
class OptionTable:
    """A table of options; the values of one call are its fields."""

    @classmethod
    @cache
    def table(cls) -> dict[str, Option]:
        """Every parameter with its option."""
        return {each.name: each.metadata["option"] for each in fields(cls)}

    @classmethod
    def default(cls, name: str) -> object:
        """The default of a parameter."""
        return next(each.default for each in fields(cls) if each.name == name)

    def validated(self, verb: str) -> Self:
        """The values that a verb uses; wrong names are refused, what it has no use for is told."""
        unused = {}
        for name, option in self.table().items():
            value, usual = getattr(self, name), self.default(name)
            if option.only and option.names is not None and value != usual:
                choose(option.flag_of(name), value, option.names())
            if verb not in option.verbs and value != usual:
                unused[name] = usual
        if unused and not getattr(self, "quiet", False):
            flags = ", ".join(self.table()[name].flag_of(name) for name in unused)
            tell(f"bayesieve: {verb} has no use for {flags}.")
        return replace(self, **unused)


@dataclass(frozen=True)
class Settings(OptionTable):
    """Options of a selection: those of `select`, which the verbs that judge it share.

    Examples
    --------
    >>> command_line("select", ["t.csv"], Settings(target="y", keep=["a"], n_features=2))
    'bayesieve select t.csv --target=y --n-features=2 --keep=a'
    """

    out: Path | None = option(
        None,
        "Output",
        "Folder for model.json, *.csv and report.html.",
        ("select", "signals", "card"),
        required=("select", "signals", "card"),
        says={"card": "Folder for card.html, .pdf, .txt, .json and .xlsx, and model.json."},
    )
    target: str | None = option(
        None,
        "Data",
        "Column with the classes; svmlight and npz files hold theirs.",
        ("look", *LIKE_SELECT, "rank", "decide", "signals", "compare", "studio", "card"),
        says={
            "signals": "Column with the classes, of DATA or of --labels.",
            "compare": "Column with the classes, in every table given.",
        },
    )
    labels: str | None = option(
        None,
        "Data",
        "Columns of 0 and 1, separated by commas.",
        (*LIKE_SELECT, "rank", "decide"),
        says={"report": "Columns of 0 and 1, by commas; of series, a table of classes."},
    )
    preset: str | None = option(
        None,
        "Model",
        "'few' (at most 8 terms), 'balanced' (18) or 'accurate' (60).",
        _LEARN,
        names=lambda: PRESETS,
        only=True,
    )
    estimator: str = option(
        "auto",
        "Model",
        "'weighted' (WeightedNaiveBayes: terms with weights) or 'selector' (NaiveBayesSelector: "
        "a search of columns). By default weighted, unless --labels or a search option is given.",
        _LEARN,
        names=lambda: ["auto", "weighted", "selector"],
        only=True,
        says={"signals": "'weighted' (terms with weights) or 'selector' (a search)."},
    )
    search: str = option(
        "auto", "Model", "Search strategy.", _CHOOSE, names=lambda: SEARCHES, searches=True
    )
    criterion: str | None = option(
        None,
        "Model",
        "Criterion that guides it; by default 'probability' for classes, 'auc' for labels.",
        _CHOOSE,
        names=_criteria,
        searches=True,
    )
    cv: str = option(
        "auto",
        "Honesty",
        "Rows that score a subset: 'auto', 'train', 'loo' or a number of folds.",
        _CHOOSE,
        searches=True,
    )
    choice: str = option(
        "auto",
        "Honesty",
        "Which subset visited is taken: 'auto', 'best', 'one-se' or 'proven'.",
        _CHOOSE,
        names=lambda: ["auto", "best", "one-se", "proven"],
        only=True,
        searches=True,
    )
    features: str = option(
        "auto",
        "Model",
        "Feature model of the columns: auto, curve, levels, gaussian ...",
        _CHOOSE,
        "--model",
        names=_models,
        only=True,
    )
    validation: float | None = option(
        None,
        "Honesty",
        "Share of the rows held out to choose the subset; 0: none. By default none, or the "
        "latest 0.3 with --time.",
        _CHOOSE,
    )
    groups: str | None = option(
        None,
        "Data",
        "Column of groups (series, patient, machine) that are never split.",
        (*LIKE_SELECT, "decide", "signals", "card"),
        says={
            "decide": "Column of groups (a patient, a machine): rates then hold for rows of new "
            "groups, estimated from one row of each.",
            "signals": "Column of DATA or --labels with groups of series (a machine, a person) "
            "that are never split.",
        },
    )
    time: str | None = option(
        None,
        "Data",
        "Column with the time: the later rows validate.",
        LIKE_SELECT,
        says=dict.fromkeys(("calibrate", "report"), "Column with the time, which is no feature."),
    )
    n_features: int | None = option(
        None, "Model", "Number of columns.", _CHOOSE, low=1, searches=True
    )
    min_features: int | None = option(
        None, "Model", "Minimum number of columns.", _CHOOSE, low=0, searches=True
    )
    max_features: int | None = option(
        None,
        "Model",
        "Maximum number of columns.",
        _LEARN,
        low=1,
        searches=True,
        says={"signals": "Maximum number of indicators, by a search."},
    )
    class_weight: str | None = option(
        None,
        "Model",
        "'balanced': every class weighs the same; or CLASS=NUMBER,...",
        (*_LEARN, "card"),
    )
    jobs: int = option(
        -1, "Machine", "Threads; -1 for all cores.", (*_LEARN, "compare", "studio", "card")
    )
    seed: int = option(0, "Machine", "Random seed.", (*_LEARN, "card"), low=0)
    identifiers: bool = option(
        False, "Data", "Keep text columns with as many values as rows.", (*_CHOOSE, "card")
    )
    checkpoint: Path | None = option(
        None,
        "Machine",
        "File for the progress of the search.",
        ("select", "signals", "compare"),
        says={"compare": "File for the fits that are done."},
    )
    resume: bool = option(
        False, "Machine", "Continue from --checkpoint.", ("select", "signals", "compare")
    )
    time_limit: float | None = option(None, "Machine", "Stop after so many seconds.", _LEARN, low=0)
    families: bool = option(
        False,
        "Model",
        "Select at most one of columns that are nearly the same.",
        _LEARN,
        says={"signals": "Select at most one of indicators that are nearly the same."},
    )
    keep: list[str] | None = option(
        None, "Model", "A column that is always selected; repeatable.", _CHOOSE
    )
    forbid: list[str] | None = option(
        None, "Model", "A column that is never selected; repeatable.", (*_CHOOSE, "card")
    )
    monotone: str | None = option(
        None,
        "Model",
        "COLUMN=1,...: evidence for the second of two classes only rises with the column; -1: only "
        "falls.",
        (*_CHOOSE, "card"),
        says={"card": "COLUMN=1,...: points only rise with the column; -1: only fall."},
    )
    no_pairs: bool = option(False, "Model", "No term of two columns.", _LEARN)
    priors: str | None = option(
        None,
        "Model",
        "Class priors where the model is used: CLASS=NUMBER,... for every class, or 'uniform'.",
        ("select", "signals", "predict"),
    )
    include_rows: bool = option(
        False,
        "Output",
        "Put rows of the table into the report (at most 1000).",
        ("select", "signals", "report"),
    )
    resamples: int | None = option(
        None,
        "Honesty",
        "Halves of the rows drawn for the stability of the choice; 0: none. 20 by default, none "
        "for more than two million cells.",
        ("select", "signals", "stability"),
        low=0,
    )
    title: str | None = option(
        None,
        "Output",
        "Headline of the report.",
        ("select", "signals", "report", "card"),
        says={"card": "Headline of the card."},
    )
    force: bool = option(
        False,
        "Output",
        "Overwrite an existing result.",
        ("select", "signals", "report", "demo", "card"),
    )
    safe_csv: bool = option(
        False,
        "Output",
        "Names that a spreadsheet takes for formulas get a ' in *.csv.",
        ("select", "signals"),
    )
    engine: str = option(
        "threads", "Machine", KEEPER, ("select",), names=lambda: ENGINES, only=True
    )
    scheduler: str | None = option(None, "Machine", SCHEDULER, ("select",))
    quiet: bool = option(
        False,
        "Output",
        "Print errors only.",
        (*LIKE_SELECT, "predict", "signals", "decide", "compare", "card"),
    )
    as_json: bool = option(
        False,
        "Output",
        "Print JSON to standard output.",
        (*_LEARN, *_LISTED),
        "--json",
        says={"reproduce": "Print everything as JSON."},
    )

    @property
    def label_names(self) -> list[str]:
        """Columns of `labels`."""
        return self.labels.split(",") if self.labels else []

    @property
    def aside(self) -> list[str]:
        """Columns that say something about the rows, and are none to learn from."""
        return list(dict.fromkeys(name for name in (self.groups, self.time) if name is not None))

    @property
    def progress(self) -> bool:
        """Whether to show progress."""
        return not self.quiet and not self.as_json

    @property
    def asks_for_terms(self) -> str | None:
        """The flag of the first option given that only weighted terms have."""
        given = {"--monotone": self.monotone, "--no-pairs": self.no_pairs}
        return next((flag for flag, value in given.items() if value), None)

    @property
    def asks_for_search(self) -> str | None:
        """The flag of the first option given that only a search of columns has."""
        given = (
            option.flag_of(name)
            for name, option in self.table().items()
            if option.searches and getattr(self, name) not in (None, "auto")
        )
        return next(given, None)


_OF_SERIES = ("signals", "studio")


@dataclass(frozen=True)
class SeriesSettings(OptionTable):
    """How time series lie in files."""

    series_id: str | None = option(
        None, "Data", "Column that says which series a row belongs to.", _OF_SERIES, "--id"
    )
    time: str | None = option(None, "Data", "Column that says when.", _OF_SERIES)
    value: list[str] | None = option(
        None,
        "Data",
        "Column of values, a channel each; repeatable. All others by default.",
        _OF_SERIES,
    )
    channel: str | None = option(
        None, "Data", "Column that names the channel of a row.", _OF_SERIES
    )
    wide: bool = option(False, "Data", "One row is a whole series.", _OF_SERIES)
    labels: Path | None = option(
        None, "Data", "Table of classes: (id, class), or (id, start, end, class).", _OF_SERIES
    )
    window: int | None = option(
        None, "Data", "Cut long records into windows of so many points.", _OF_SERIES, low=2
    )
    stride: int | None = option(
        None, "Data", "Points from one window to the next; a window's.", _OF_SERIES, low=1
    )

    @property
    def given(self) -> bool:
        """Does any of it say that a file holds series?"""
        return any(getattr(self, name) for name in self.table())

    def kind(self, data: Path) -> Literal["folder", "wide", "long"]:
        """How series lie in a file, or in a folder of them."""
        return "folder" if data.is_dir() else "wide" if self.wide else "long"


# -- Arguments that several verbs share ------------------------------------------------------------


_TABLE = (
    "A table: .csv, .tsv, .arff, .svm, .svmlight, .libsvm (all also .gz), .parquet, .arrow, .npz; "
)

Data = Annotated[
    Path, Argument(f"{_TABLE}for a model of series, series of the form it was learnt from.")
]

Tables = Annotated[list[Path], Argument(_TABLE + FILES, "DATA")]

NewData = Annotated[Path, Argument("A table of rows that did not train the model.")]

Model = Annotated[Path, Argument("A model file, as written by select.")]

OwnScores = Annotated[
    list[Path] | None,
    Option(
        "Data",
        "Of series: the Python file with the scores that the model was learnt with, which is RUN. "
        "Repeatable.",
        flag="--scores",
    ),
]


# -- What is made from the table -------------------------------------------------------------------


def command_line(verb: str, words: Iterable[str], settings: OptionTable) -> str:
    """A command of the shell that gives a verb these settings.

    Settings that are as by default are not written.
    """
    parts = ["bayesieve", verb, *words]
    for name, option in settings.table().items():
        value = getattr(settings, name)
        if value == settings.default(name):
            continue
        flag = option.flag_of(name)
        if value is True:
            parts.append(flag)
        else:
            parts += [f"{flag}={each}" for each in (value if isinstance(value, list) else [value])]
    return " ".join(map(shlex.quote, parts))


def metavar_of(hint: Foreign) -> str:
    """What stands for a value of a type: ``--out PATH``; nothing for a switch."""
    kind = next((each for each in get_args(hint) if each is not type(None)), hint)
    kind = (get_args(kind) or (kind,))[0]  # of a list, what is in it
    return {bool: "", int: "N", float: "NUMBER", Path: "PATH"}.get(kind, "TEXT")


def options_page() -> Iterator[str]:
    """The options of `select` as lines of a Markdown table, with the verbs that use each."""
    yield "| option | meaning | used by |"
    yield "| --- | --- | --- |"
    hints = get_type_hints(Settings)
    for name, option in Settings.table().items():
        written = f"{option.flag_of(name)} {metavar_of(hints[name])}".rstrip()
        yield f"| `{written}` | {option.help} | {', '.join(option.verbs)} |"


# -- What the command line says --------------------------------------------------------------------


def say(text: str) -> None:
    """Write results to standard output."""
    send(lambda: sys.stdout.write(text))


def send(action: Callable[[], object]) -> None:
    """Do what writes to standard output; where that fails it is named."""
    try:
        action()
    except BrokenPipeError:
        raise
    except OSError as error:
        why = (error.strerror or str(error)).lower()
        raise OSError(f"standard output cannot be written: {why}") from error


def tell(line: str) -> None:
    """Write a remark to standard error."""
    sys.stderr.write(line + "\n")
    sys.stderr.flush()
