"""Options that hold numbers by class, and tables of costs."""

import csv
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import polars as pl

from ..checks import Array
from ..data.files.base import BadUseError
from ..models.decisions import ASK
from ..models.priors import shares_of_classes, shares_of_labels
from .tables import Problem


def read_numbers(option: str, text: str, words: str) -> dict[str, float]:
    """Numbers by class as the command line writes them: CLASS=NUMBER, separated by commas.

    Parameters
    ----------
    option, text : its name and what came.
    words : what else it may be.
    """
    found = {}
    for part in text.split(","):
        name, equals, number = part.rpartition("=")
        try:
            found[name.strip()] = float(number)
        except ValueError:
            equals = ""
        if not equals:
            raise BadUseError(
                f"{option} must be {words} or one CLASS=NUMBER for each class, separated by "
                f"commas; got {part!r}."
            )
    return found


def read_priors(text: str | None) -> str | dict[str, float] | None:
    """Priors: uniform, or by class."""
    if text is None or text == "uniform":
        return text
    return read_numbers("--priors", text, "'uniform'")


def check_place(priors: str | dict[str, float] | None, y: pl.DataFrame | pl.Series | Array) -> None:
    """Refuse priors that do not fit the classes, or the labels, before any work.

    Parameters
    ----------
    priors : what `read_priors` gave.
    y : the target.
    """
    if priors is None:
        return
    if isinstance(y, pl.DataFrame):
        shares_of_labels(priors, y.columns)
    else:
        shares_of_classes(priors, np.unique(np.asarray(y)))


def read_rates(option: str, text: str | None) -> float | dict[str, float] | None:
    """A number, or numbers by class."""
    if text is None:
        return None
    try:
        return float(text)
    except ValueError:
        return read_numbers(option, text, "a number")


def read_class_weight(text: str | None, problem: Problem) -> str | dict[object, float] | None:
    """Balanced, or weights by class, in the kind that the table's classes are."""
    if text is None or text == "balanced":
        return text
    given = read_numbers("--class-weight", text, "'balanced'")
    if isinstance(problem.y, pl.DataFrame):
        raise BadUseError("--class-weight is for classes; with --labels, leave it out.")
    known = {str(value): value for value in np.unique(np.asarray(problem.y)).tolist()}
    odd = next((name for name in given if name not in known), None)
    if odd is not None:
        raise BadUseError(
            f"--class-weight names {odd!r}; the classes are {', '.join(map(repr, known))}."
        )
    return {known[name]: weight for name, weight in given.items()}


def read_costs(path: Path | None) -> dict[str, dict[str, float]] | None:
    """A table of costs: a line for each class, a column for each decision, named in the header."""
    if path is None:
        return None
    try:
        with path.open(newline="", encoding="utf-8-sig") as file:
            lines = [line for line in csv.reader(file) if any(cell.strip() for cell in line)]
    except (OSError, UnicodeError, csv.Error) as error:
        raise BadUseError(f"--costs: {str(path)!r} cannot be read as a table of text.") from error
    if len(lines) < 2 or any(len(line) != len(lines[0]) for line in lines):
        raise BadUseError(
            f"--costs: {str(path)!r} must be a CSV table: a header with the decisions (and maybe "
            f"{ASK!r}), and a line for each class that begins with its name."
        )
    decisions = [cell.strip() for cell in lines[0][1:]]
    return {line[0].strip(): _costs_of(line, decisions, path) for line in lines[1:]}


def _costs_of(line: Sequence[str], decisions: Sequence[str], path: Path) -> dict[str, float]:
    found = {}
    for decision, cell in zip(decisions, line[1:], strict=True):
        try:
            found[decision] = float(cell)
        except ValueError as error:
            raise BadUseError(
                f"--costs: {str(path)!r} must hold a number for taking {line[0]!r} for "
                f"{decision!r}; got {cell!r}."
            ) from error
    return found
