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
from .options import (
    LIKE_SELECT,
    PANELS,
    Argument,
    Option,
    OptionTable,
    metavar_of,
    say,
    send,
    tell,
)
from .verbs import CHAPTERS

_PACKAGE = Path(__file__).parents[1]

#: Exit codes.
FAILURE, BAD_USE, INTERRUPTED = 1, 2, 130


# -- From the table of options to parameters that Typer reads --------------------------------------


def as_typer(name: str, verb: Callable[..., None]) -> Callable[..., None]:
    """A verb as Typer reads it: one parameter for each option that it takes.

    A parameter whose type is a table of options stands for all of them that the verb uses; where
    the verb takes every option of `select`, the others are taken too, and left out of the help.

    Its parameters are annotated with `Option`, `Argument`, or a table of options; arguments come
    first, then options panel by panel.
    """
    own = get_type_hints(verb, include_extras=True)
    tables = {
        key: hint
        for key, hint in own.items()
        if isinstance(hint, type) and issubclass(hint, OptionTable)
    }
    fields: dict[str, list[str]] = {key: [] for key in tables}
    found: list[tuple[int, inspect.Parameter]] = []

    def add(key: str, kind: Foreign, told: Option | Argument, default: object) -> None:
        at = -1 if isinstance(told, Argument) else PANELS.index(told.panel)
        found.append((at, _parameter(name, key, kind, told, default)))

    for key, each in inspect.signature(verb).parameters.items():
        if key not in tables:
            kind, told = get_args(own[key])
            add(key, kind, told, each.default)
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
                add(field, hints[field], option, default)
                fields[key].append(field)

    @wraps(verb)
    def call(**values: Foreign) -> None:
        for key, table in tables.items():
            given = {field: values.pop(field) for field in fields[key]}
            values[key] = table(**given).validated(name)
        verb(**values)

    parameters = [each for _, each in sorted(found, key=lambda pair: pair[0])]
    call.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    call.__annotations__ = {each.name: each.annotation for each in parameters}
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
            metavar=metavar_of(kind) or None,
            rich_help_panel=option.panel,
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


class _InPanels:
    """Help whose options stand in panels: boxes on a terminal, plain paragraphs elsewhere."""

    def get_params(self, ctx: Any) -> Any:
        """Arguments and options, as help shows them."""
        found = super().get_params(ctx)  # type: ignore[misc]
        for each in found:
            if getattr(each, "is_flag", False) and each.metavar is None:
                each.metavar = ""  # it takes no value, and so shows no type
            if not getattr(each, "rich_help_panel", None) and each.param_type_name == "option":
                each.rich_help_panel = PANELS[-1]
        return found

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Boxes are for people at a terminal; what is piped is read by programs too."""
        if not sys.stdout.isatty():
            self.rich_markup_mode: Any = None
        super().format_help(ctx, formatter)  # type: ignore[misc]

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Paragraphs of help, one a panel."""
        panels: dict[str, list[tuple[str, str]]] = {}
        for each in self.get_params(ctx):
            record = each.get_help_record(ctx)
            if record is not None:
                title = getattr(each, "rich_help_panel", None) or "Arguments"
                if each.param_type_name == "argument":  # what it is, its help says
                    record = record[0].partition(" <")[0], record[1]
                panels.setdefault(title, []).append(record)
        for title, records in panels.items():
            with formatter.section(title):
                formatter.write_dl(records)


class PanelCommand(_InPanels, TyperCommand):
    """A verb."""


class PanelGroup(_InPanels, TyperGroup):
    """All verbs."""

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """The verbs, one paragraph a chapter; then the options of all of them."""
        for title, verbs in CHAPTERS:
            with formatter.section(title):
                known = [(verb.__name__, self.get_command(ctx, verb.__name__)) for verb in verbs]
                formatter.write_dl(
                    [(name, each.get_short_help_str(200)) for name, each in known if each]
                )
        super().format_options(ctx, formatter)


app = typer.Typer(
    cls=PanelGroup,
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


#: Every verb of the command line.
VERBS = {verb.__name__: verb for chapter in CHAPTERS for verb in chapter.verbs}

for _chapter in CHAPTERS:
    for _verb in _chapter.verbs:
        app.command(_verb.__name__, cls=PanelCommand, rich_help_panel=_chapter.title)(
            as_typer(_verb.__name__, _verb)
        )


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
