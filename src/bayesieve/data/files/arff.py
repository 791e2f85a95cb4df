"""ARFF, Weka's format: nominal and text attributes as text, full and sparse rows."""

import re
import zlib
from array import array
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from io import TextIOWrapper
from pathlib import Path

import numpy as np
import polars as pl
import scipy.sparse

from ...checks import BadUseError
from .base import Content, FileFormat, check_unpacked, open_unpacked

_QUOTED = r"""'((?:[^'\\]|\\.)*)'|"((?:[^"\\]|\\.)*)\""""

_NAME = re.compile(rf"\s*(?:{_QUOTED}|([^\s{{'\"]+))\s*(.*)", re.DOTALL)

_CELL = re.compile(rf"\s*(?:{_QUOTED}|([^,'\"]*?))\s*(,|$)")

_ENTRY = re.compile(rf"\s*(\d{{1,18}})\s+(?:{_QUOTED}|([^,'\"]*?))\s*(?:,|$)")

# Bytes in memory for each byte of the file: every cell is a text of its own for a while.
_TIMES = 10

_ESCAPED = {"n": "\n", "t": "\t", "r": "\r"}


@dataclass(frozen=True)
class _Attribute:
    name: str
    levels: tuple[str, ...] | None  #: of a nominal attribute
    numeric: bool

    @property
    def counts_as_number(self) -> bool:
        """In sparse rows: what is not written is 0."""
        if self.levels is None:
            return self.numeric
        return bool(self.levels) and self.levels[0] == "0" and all(map(_is_number, self.levels))


@dataclass(frozen=True)
class ArffFormat(FileFormat):
    """ARFF files; sparse rows give a sparse matrix.

    In sparse rows, what is not written is 0, or the first value of a nominal attribute; nominal
    attributes with numbers for values, 0 first, count as numbers there.
    """

    endings: tuple[str, ...]
    gzipped = True

    def read(self, path: Path) -> Content:
        """The whole table."""
        check_unpacked(path, _TIMES)
        try:
            return _read(path)
        except (OSError, EOFError, zlib.error) as error:
            raise BadUseError(f"{path.name} cannot be read as arff: {error}.") from error
        except UnicodeError as error:
            raise BadUseError(
                f"{path.name} is not a text file in UTF-8; save it as such."
            ) from error


def _read(path: Path) -> Content:
    with TextIOWrapper(open_unpacked(path), "utf-8-sig") as file:
        lines = ((i + 1, line.strip()) for i, line in enumerate(file))
        lines = ((i, line) for i, line in lines if line and not line.startswith("%"))
        attributes = _header(path, lines)
        rows = list(lines)
    if not rows:
        raise BadUseError(f"{path.name} has no rows after @data.")
    names = [each.name for each in attributes]
    name, times = Counter(names).most_common(1)[0]
    if times > 1:
        raise BadUseError(
            f"{path.name} has several attributes named {name!r}; give each its own name."
        )
    sparse = [line.startswith("{") for _, line in rows]
    if all(sparse):
        return _sparse_table(path, attributes, rows)
    if any(sparse):
        i = rows[sparse.index(not sparse[0])][0]
        raise BadUseError(f"{path.name}, line {i}: full and sparse rows are mixed; use one kind.")
    return _full_table(path, attributes, rows)


def _header(path: Path, lines: Iterator[tuple[int, str]]) -> list[_Attribute]:
    found = []
    for i, line in lines:
        word, _, rest = line.replace("\t", " ", 1).partition(" ")
        if word.lower() == "@attribute":
            found.append(_attribute(path, i, rest))
        elif word.lower() == "@data":
            if not found:
                raise BadUseError(f"{path.name} names no @attribute before @data.")
            return found
        elif word.lower() != "@relation":
            raise BadUseError(
                f"{path.name}, line {i}: expected @relation, @attribute or @data; got {word!r}."
            )
    raise BadUseError(f"{path.name} has no @data line; is it an ARFF file?")


def _attribute(path: Path, i: int, text: str) -> _Attribute:
    parts = _NAME.match(text)
    kind = parts[4].strip() if parts else ""
    if parts is None or not kind:
        raise BadUseError(f"{path.name}, line {i}: expected '@attribute NAME TYPE'; got {text!r}.")
    name = _value(parts)
    if kind.startswith("{") and kind.endswith("}"):
        levels = _cells(kind[1:-1])
        if levels is None:
            raise BadUseError(
                f"{path.name}, line {i}: the values of {name!r} cannot be told apart."
            )
        return _Attribute(name, tuple("?" if level is None else level for level in levels), False)
    word = kind.split()[0].lower()
    if word in ("numeric", "real", "integer"):
        return _Attribute(name, None, True)
    if word in ("string", "date"):
        return _Attribute(name, None, False)
    raise BadUseError(
        f"{path.name}, line {i}: the type of {name!r} must be numeric, real, integer, string, date "
        f"or {{values}}; got {kind!r}."
    )


def _value(found: re.Match[str], first: int = 1) -> str:
    """The text of three alternatives: in single quotes, in double quotes, bare."""
    quoted = found[first] if found[first] is not None else found[first + 1]
    if quoted is None:
        return str(found[first + 2])
    return re.sub(r"\\(.)", lambda mark: _ESCAPED.get(mark[1], mark[1]), quoted)


def _cells(line: str) -> list[str | None] | None:
    """Cells of a full row, None for '?'; None instead of a list if it cannot be read."""
    if "'" not in line and '"' not in line:
        return [None if (cell := each.strip()) == "?" else cell for each in line.split(",")]
    cells: list[str | None] = []
    at = 0
    while True:
        found = _CELL.match(line, at)
        if found is None:
            return None
        cells.append(None if found[3] == "?" else _value(found))
        if not found[4]:
            return cells
        at = found.end()


def _full_table(path: Path, attributes: list[_Attribute], rows: list[tuple[int, str]]) -> Content:
    read = []
    for i, line in rows:
        cells = _cells(line)
        if cells is None or len(cells) != len(attributes):
            got = "quotation marks that do not close" if cells is None else f"{len(cells)} values"
            raise BadUseError(
                f"{path.name}, line {i}: expected {len(attributes)} values, one an attribute; got "
                f"{got}."
            )
        read.append(cells)
    at = [i for i, _ in rows]
    columns = [
        _column(path, attribute, list(cells), at)
        for attribute, cells in zip(attributes, zip(*read, strict=True), strict=True)
    ]
    frame = pl.DataFrame(columns)
    return Content(frame, frame.columns)


def _column(path: Path, attribute: _Attribute, cells: list[str | None], at: list[int]) -> pl.Series:
    """Numbers or texts, judged by the attribute's type."""
    texts = pl.Series(attribute.name, cells, pl.String)
    known = texts.is_not_null()
    if attribute.numeric:
        numbers = texts.cast(pl.Float64, strict=False)
        bad = numbers.is_null() & known
        allowed = "a number"
    else:
        numbers = texts
        bad = known & ~texts.is_in(list(attribute.levels)) if attribute.levels else ~known & known
        allowed = "among its values"
    if bad.any():
        first = int(bad.arg_max() or 0)
        raise BadUseError(
            f"{path.name}, line {at[first]}: {cells[first]!r} is not {allowed}, but attribute "
            f"{attribute.name!r} says so; write '?' for a missing value."
        )
    return numbers


def _sparse_table(path: Path, attributes: list[_Attribute], rows: list[tuple[int, str]]) -> Content:
    numeric = [each.counts_as_number for each in attributes]
    place = np.cumsum(numeric) - 1
    data, indices, pointers = array("d"), array("q"), array("q", [0])
    texts: dict[int, list[str | None]] = {
        j: [each.levels[0] if each.levels else ""] * len(rows)
        for j, each in enumerate(attributes)
        if not numeric[j]
    }
    for row, (i, line) in enumerate(rows):
        for j, value in _entries(path, i, line, len(attributes)):
            if not numeric[j]:
                texts[j][row] = value
                continue
            if value is None or not _is_number(value):
                raise BadUseError(
                    f"{path.name}, line {i}: attribute {attributes[j].name!r} must be a number in "
                    f"a sparse row; got {'?' if value is None else repr(value[:40])}."
                )
            data.append(float(value))
            indices.append(int(place[j]))
        pointers.append(len(data))
    matrix = scipy.sparse.csr_array(
        (np.array(data), np.array(indices), np.array(pointers)), shape=(len(rows), sum(numeric))
    )
    at = [i for i, _ in rows]
    return Content(
        matrix,
        [each.name for each, number in zip(attributes, numeric, strict=True) if number],
        texts=pl.DataFrame([_column(path, attributes[j], cells, at) for j, cells in texts.items()]),
    )


def _entries(path: Path, i: int, line: str, width: int) -> Iterator[tuple[int, str | None]]:
    """Pairs of attribute and value of a sparse row."""
    inner, at, seen = line[1:].rstrip(), 0, -1
    inner = inner[:-1].rstrip() if inner.endswith("}") else inner + "}"
    while at < len(inner):
        found = _ENTRY.match(inner, at)
        if found is None or not seen < int(found[1]) < width:
            raise BadUseError(
                f"{path.name}, line {i}: a sparse row is '{{NUMBER VALUE, ...}}', numbers rising "
                f"from 0 to {width - 1}; got {inner[at : at + 40]!r}."
            )
        seen = int(found[1])
        yield seen, None if found[4] == "?" else _value(found, 2)
        at = found.end()


def _is_number(text: str) -> bool:
    try:
        return bool(np.isfinite(float(text)))
    except ValueError:
        return False
