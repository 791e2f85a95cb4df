"""One table of options: the command line, the studio and the documentation say the same."""

import shlex
from dataclasses import fields
from pathlib import Path

import pytest
import typer

from bayesieve.app import cli
from bayesieve.app.options import LIKE_SELECT, SeriesSettings, Settings, command_line, options_page
from bayesieve.session.session import Session

PAGE = Path(__file__).parents[2] / "docs" / "command-line.md"


def flags(verb):
    """Every flag that a verb takes, also those that its help does not list."""
    command = typer.main.get_command(cli.app).commands[verb]
    return {flag for each in command.params for flag in each.opts if flag.startswith("--")}


def settings_of(line):
    """What the words of a command come to, before any work."""
    found = []
    _, verb, *words = shlex.split(line)
    signature = cli.as_typer(verb, cli.VERBS[verb]).__signature__
    app = typer.Typer()

    def call(**values):
        known = [each.name for each in fields(Settings)]
        found.append(Settings(**{name: values[name] for name in known if name in values}))

    call.__signature__ = signature
    call.__annotations__ = {key: each.annotation for key, each in signature.parameters.items()}
    app.command(verb)(call)
    app(words, standalone_mode=False)
    return found[0]


@pytest.mark.parametrize("verb", LIKE_SELECT)
def test_every_option_of_select_is_taken_by_those_who_judge_it(verb):
    assert flags("select") <= flags(verb)
    assert {option.flag_of(name) for name, option in Settings.table().items()} <= flags(verb)


@pytest.mark.parametrize("verb", cli.VERBS)
def test_a_verb_has_the_options_of_the_table_that_name_it(verb):
    for table in (Settings, SeriesSettings):
        for name, option in table.table().items():
            assert set(option.verbs) <= set(cli.VERBS)
            if verb in option.verbs:
                assert option.flag_of(name) in flags(verb), name


def test_the_page_lists_the_table():
    listed = "\n".join(options_page())
    assert listed in PAGE.read_text("utf-8"), f"docs/command-line.md must list:\n{listed}"
    assert len(listed.splitlines()) == len(fields(Settings)) + 2


@pytest.mark.parametrize(
    "settings",
    [
        Settings(out=Path("o"), target="a class"),
        Settings(out=Path("o"), labels="a,b", keep=["x", "-y z"], forbid=["q"], families=True),
        Settings(out=Path("o"), target="t", features="gaussian", validation=0.25, seed=7, cv="5"),
        Settings(out=Path("o"), target="t", as_json=True, identifiers=True, min_features=0, jobs=2),
    ],
)
def test_what_is_written_as_a_command_is_read_back(settings):
    assert settings_of(command_line("select", ["t.csv"], settings)) == settings


def test_what_a_session_says_on_the_command_line_is_read_back():
    rows = [[i % 2, i % 3 == 0, i % 5] for i in range(40)]
    session = Session(rows, [i % 2 for i in range(40)]).add(0, 2)
    found = settings_of(session.to_command("a b.csv", "y"))
    assert found == Settings(
        out=Path("selection"), target="y", search="forward", n_features=2, keep=["x0", "x2"]
    )


def test_what_a_verb_has_no_use_for_is_said_and_left_out(capsys):
    given = Settings(target="y", title="Wine", checkpoint=Path("c"), n_features=2)
    used = given.validated("nested")
    assert used == Settings(target="y", n_features=2)
    assert capsys.readouterr().err == "bayesieve: nested has no use for --checkpoint, --title.\n"
    assert Settings(title="Wine", quiet=True).validated("calibrate") == Settings(quiet=True)
    assert capsys.readouterr().err == ""
    with pytest.raises(ValueError, match=r"--preset must be one of .* Did you mean 'few'\?"):
        Settings(preset="fw").validated("report")
