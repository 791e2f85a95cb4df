"""Options that several verbs share, and how the command line speaks: messages, errors, progress."""

import contextlib
import os
import sys
import traceback
import warnings
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Annotated, Any, Protocol, cast

import typer
from typer import Typer
from typer.core import TyperCommand, TyperGroup

_PACKAGE = Path(__file__).parents[1]

#: Exit codes.
FAILURE, BAD_USE, INTERRUPTED = 1, 2, 130


class _UsageError(Protocol):
    """What Typer raises where it does not understand a command."""

    exit_code: int

    def format_message(self) -> str:
        """What is wrong."""


class _PlainFlags:
    """Help in which a flag is its name: it takes no value, and so shows no type."""

    def get_params(self, ctx: Any) -> Any:
        """Arguments and options, as help shows them."""
        found = super().get_params(ctx)  # type: ignore[misc]
        for each in found:
            if getattr(each, "is_flag", False) and each.metavar is None:
                each.metavar = ""
        return found


class PlainCommand(_PlainFlags, TyperCommand):
    """A verb."""


class PlainGroup(_PlainFlags, TyperGroup):
    """All verbs."""


def say(text: str) -> None:
    """Write results to standard output."""
    _send(lambda: sys.stdout.write(text))


def _send(action: Callable[[], object]) -> None:
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


def guarded(app: Typer) -> None:
    """Run a Typer application and leave with an exit code; never with a traceback, unless asked.

    Parameters
    ----------
    app : Typer
        Its callback sets ``context.obj["debug"]`` where tracebacks are wanted.
    """
    state = {"debug": False}

    def remark(
        message: Warning | str,
        category: type[Warning],
        filename: str,
        lineno: int,
        file: object = None,
        line: str | None = None,
    ) -> None:
        # No file and no line of ours; what other libraries tell programmers is for --debug.
        if state["debug"] or Path(filename).is_relative_to(_PACKAGE):
            tell(f"bayesieve: {message}")

    warnings.showwarning = remark
    try:
        # Not alone: Typer would draw panels.  It returns an exit code where it would have left.
        code = app(standalone_mode=False, prog_name="bayesieve", obj=state)
        _send(sys.stdout.flush)
    except KeyboardInterrupt:
        code = INTERRUPTED
    except BrokenPipeError:
        code = FAILURE
        _hush()
    except Exception as error:
        if state["debug"]:
            traceback.print_exc()
        code = _judge(error)
        if isinstance(error, OSError):
            _hush()
    if code == INTERRUPTED:
        tell("bayesieve: interrupted.")
    sys.exit(code if isinstance(code, int) else 0)


def _judge(error: Exception) -> int:
    """Say in one sentence what went wrong; whose fault it was is the exit code."""
    if hasattr(error, "format_message"):
        return _judge_usage(cast(_UsageError, error))
    text = " ".join(str(error).split())
    if isinstance(error, ValueError):
        # The library's own words for bad input.
        tell(f"bayesieve: {text}")
        return BAD_USE
    if isinstance(error, MemoryError) and "GB" not in text:  # where we refuse, bytes are named
        text = "the memory does not suffice; use fewer rows or columns"
    elif isinstance(error, OSError) and error.strerror:
        where = f"{error.filename}: " if error.filename else ""
        text = f"{where}{error.strerror.lower()}"
    elif not isinstance(error, OSError | ImportError | MemoryError):
        text = f"{type(error).__name__}: {text} (bayesieve --debug shows where)"
    tell(f"bayesieve: {text.rstrip('.')}.")
    return FAILURE


def _judge_usage(error: _UsageError) -> int:
    """What Typer has to say about options and arguments."""
    context = getattr(error, "ctx", None)
    if type(error).__name__ == "NoArgsIsHelpError":
        # With rich, the help was printed when the error was made.
        if help_text := error.format_message().strip():
            tell(help_text)
        return BAD_USE
    text = " ".join(error.format_message().split()).removeprefix("Invalid value: ").rstrip(".")
    text += " See" if text.endswith("?") else "; see"
    where = context.command_path if context is not None else "bayesieve"
    tell(f"bayesieve: {text[:1].lower()}{text[1:]} '{where} --help'.")
    return int(error.exit_code)


def _hush() -> None:
    """Nobody reads standard output any more, or it is full: drop what is left of it."""
    try:
        sys.stdout.flush()
    except (OSError, ValueError):
        with contextlib.suppress(OSError, ValueError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


# -- Arguments and options that several verbs share ------------------------------------------------


Data = Annotated[
    Path,
    typer.Argument(
        help="A table: .csv, .tsv, .arff, .svm, .svmlight, .libsvm (all also .gz), .parquet, "
        ".arrow, .npz; for a model of series, series of the form it was learnt from.",
    ),
]


Target = Annotated[
    str | None,
    typer.Option(help="Column with the classes; svmlight and npz files hold theirs."),
]


Labels = Annotated[str | None, typer.Option(help="Columns of 0 and 1, separated by commas.")]


Json = Annotated[bool, typer.Option("--json", help="JSON on standard output, for machines.")]


Quiet = Annotated[bool, typer.Option("--quiet", help="Say nothing but errors.")]


IncludeRows = Annotated[
    bool,
    typer.Option("--include-rows", help="Put rows of the table into the report (at most 1000)."),
]


Force = Annotated[bool, typer.Option("--force", help="Write over an existing result.")]


Title = Annotated[str | None, typer.Option(help="Headline of the report.")]


Priors = Annotated[
    str | None,
    typer.Option(help="Of the place of use: CLASS=NUMBER,... for every class, or 'uniform'."),
]


Model = Annotated[Path, typer.Argument(help="A model file, as written by select.")]


Scores = Annotated[
    list[Path] | None,
    typer.Option(
        help="A TOML file that says which scores, over which grid; or a Python file with "
        "register_score, which is RUN, with all that a program may do. Repeatable."
    ),
]


OwnScores = Annotated[
    list[Path] | None,
    typer.Option(
        "--scores",
        help="Of series: the Python file with the scores that the model was learnt with, which is "
        "RUN. Repeatable.",
    ),
]


def _starting(incomplete: str, names: Iterable[str]) -> list[str]:
    return [name for name in names if name.startswith(incomplete)]


def known_searches(incomplete: str) -> list[str]:
    """Names of searches that begin so."""
    from ..search import SEARCHES

    return _starting(incomplete, SEARCHES)


def known_criteria(incomplete: str) -> list[str]:
    """Names of criteria that begin so."""
    from ..criteria import CRITERIA

    return _starting(incomplete, CRITERIA)


def known_methods(incomplete: str) -> list[str]:
    """Names of rankings that begin so."""
    from ..rankings.rank import ranking_names

    return _starting(incomplete, ranking_names())


def known_models(incomplete: str) -> list[str]:
    """Names of feature models that begin so."""
    from ..models.registry import MODELS

    return _starting(incomplete, ["auto", *MODELS])
