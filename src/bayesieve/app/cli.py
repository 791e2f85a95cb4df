"""The command line: registers every verb with its options, and maps errors to exit codes."""

import contextlib
import inspect
import os
import sys
import traceback
import warnings
from collections.abc import Callable, Iterable
from functools import wraps
from pathlib import Path
from typing import Annotated, Any, get_args, get_type_hints

import typer
from typer.core import TyperCommand, TyperGroup

from ..checks import Foreign
from .commands import card, datasets, explain, predict, rank, select
from .demo import demo
from .evaluate import calibrate, compare, decide, drift, nested, report, stability
from .options import LIKE_SELECT, Argument, Option, OptionTable, say, send, tell
from .reproduce import reproduce
from .signals import scores, signals
from .studio.launch import studio_command

_PACKAGE = Path(__file__).parents[1]

#: Exit codes.
FAILURE, BAD_USE, INTERRUPTED = 1, 2, 130


# -- From the table of options to parameters that Typer reads --------------------------------------


def as_typer(name: str, verb: Callable[..., None]) -> Callable[..., None]:
    """A verb as Typer reads it: one parameter for each option that it takes.

    A parameter whose type is a table of options stands for all of them that the verb uses; where
    the verb takes every option of `select`, the others are taken too, and left out of the help.

    Its parameters are annotated with `Option`, `Argument`, or a table of options.
    """
    own = get_type_hints(verb, include_extras=True)
    tables = {
        key: hint
        for key, hint in own.items()
        if isinstance(hint, type) and issubclass(hint, OptionTable)
    }
    fields: dict[str, list[str]] = {key: [] for key in tables}
    found = []
    for key, each in inspect.signature(verb).parameters.items():
        if key not in tables:
            kind, told = get_args(own[key])
            found.append(_parameter(name, key, kind, told, each.default))
            continue
        hints = get_type_hints(tables[key])
        for field, option in tables[key].table().items():
            # A verb's own parameter stands for the table's of that name.
            if field not in own and (name in option.verbs or name in LIKE_SELECT):
                default = (
                    inspect.Parameter.empty
                    if name in option.required
                    else tables[key].default(field)
                )
                found.append(_parameter(name, field, hints[field], option, default))
                fields[key].append(field)

    @wraps(verb)
    def call(**values: Foreign) -> None:
        for key, table in tables.items():
            given = {field: values.pop(field) for field in fields[key]}
            values[key] = table(**given).validated(name)
        verb(**values)

    call.__signature__ = inspect.Signature(found)  # type: ignore[attr-defined]
    call.__annotations__ = {each.name: each.annotation for each in found}
    return call


def _parameter(
    verb: str, name: str, kind: Foreign, option: Option | Argument, default: object
) -> inspect.Parameter:
    """One parameter, with what Typer must know of it."""
    info: object
    if isinstance(option, Argument):
        info = typer.Argument(
            help=option.help, metavar=option.metavar, autocompletion=_completion(option.names)
        )
    else:
        hidden = bool(option.verbs) and verb not in option.verbs
        flags = [option.flag or option.flag_of(name)] if option.flag or kind is bool else []
        info = typer.Option(
            *flags,
            help=option.says.get(verb, option.help),
            min=option.low,
            max=option.high,
            hidden=hidden,
            autocompletion=_completion(option.names),
        )
    return inspect.Parameter(
        name,
        inspect.Parameter.KEYWORD_ONLY,
        default=default,
        annotation=Annotated[kind, info],
    )


def _completion(
    names: Callable[[], Iterable[str]] | None,
) -> Callable[[str], list[str]] | None:
    """Complete a name in the shell: the last of a list, where commas separate several."""
    if names is None:
        return None

    def complete(incomplete: str) -> list[str]:
        before, comma, last = incomplete.rpartition(",")
        return [before + comma + name for name in names() if name.startswith(last)]

    return complete


# -- The application -------------------------------------------------------------------------------


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


app = typer.Typer(
    cls=PlainGroup,
    add_completion=True,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    help="Feature selection for naive Bayes: exact, fast and readable.",
)


def _tell_version(asked: bool) -> None:
    if asked:
        from .. import __version__

        say(f"bayesieve {__version__}\n")
        raise typer.Exit


@app.callback()
def _main(
    context: typer.Context,
    debug: Annotated[bool, typer.Option("--debug", help="Show tracebacks.")] = False,
    version: Annotated[
        bool, typer.Option("--version", help="Show the version.", callback=_tell_version)
    ] = False,
) -> None:
    """Feature selection for naive Bayes: exact, fast and readable."""
    context.ensure_object(dict)["debug"] = debug


_VERBS: tuple[Callable[..., None], ...] = (
    *(compare, calibrate, decide, report, drift, nested, stability),
    *(reproduce, card, signals, scores, studio_command, demo),
    *(select, rank, predict, explain, datasets),
)

#: Every verb of the command line.
VERBS = {verb.__name__.removesuffix("_command"): verb for verb in _VERBS}

for _name, _verb in VERBS.items():
    app.command(_name, cls=PlainCommand)(as_typer(_name, _verb))


# -- How a run ends --------------------------------------------------------------------------------


def run() -> None:
    """Run the command line: exit code 2 for bad use, 1 and one sentence for failure.

    There is no traceback, unless ``--debug`` asks for one.
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
        send(sys.stdout.flush)
    except KeyboardInterrupt:
        code = INTERRUPTED
    except BrokenPipeError:
        code = FAILURE
        _hush()
    except Exception as error:
        if state["debug"]:
            traceback.print_exc()
        code = _exit_of(error)
        if isinstance(error, OSError):
            _hush()
    if code == INTERRUPTED:
        tell("bayesieve: interrupted.")
    sys.exit(code if isinstance(code, int) else 0)


def _exit_of(error: Exception) -> int:
    """Say in one sentence what went wrong; whose fault it was is the exit code."""
    if hasattr(error, "format_message"):
        return _usage_exit(error)
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


def _usage_exit(error: Foreign) -> int:
    """Say in one sentence which option or argument Typer does not understand."""
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
    """Drop what is left of standard output: nobody reads it any more, or it is full."""
    try:
        sys.stdout.flush()
    except (OSError, ValueError):
        with contextlib.suppress(OSError, ValueError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
