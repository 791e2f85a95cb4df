"""Project files: a session with its table in one file, data only (no pickles)."""

import io
import json
import zipfile
import zlib
from os import PathLike
from types import UnionType
from typing import NotRequired, TypedDict, cast, get_args, get_origin, get_type_hints

import numpy as np
import scipy.sparse

from ..checks import Array, Foreign, check_file, plain_value
from ..data.files.output import whole_file
from ..data.sample import is_label_matrix, read_target
from ..data.tables import RawTable, SparseTable, Table, read_table
from ..estimators.naive_bayes import NaiveBayes
from ..estimators.selector import NaiveBayesSelector
from ..search.path import frame_of
from .queries import Point
from .session import PLAIN, Session
from .state import Entry, State

FORMAT, VERSION = "bayesieve-project", 1

# Settings that reach beyond the session: whoever wrote the file must not decide on them.
_OURS = ("checkpoint", "engine", "progress", "n_jobs")

# A table of this many bytes is refused: a small file may claim to hold a huge one.
_MOST_BYTES = 2**34

# What a file that is no project may lead to.
_NONSENSE = (
    *(zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RecursionError),
    *(KeyError, TypeError, IndexError, AttributeError, UnicodeError),
)


class ProjectData(TypedDict):
    """Data of a project, but for arrays."""

    format: str
    version: int
    names: list[str]
    named: bool
    raw: NotRequired[bool]  #: a table with names that is no frame, such as indicators
    sparse: list[int] | None
    texts: dict[str, list[str | None]]
    classes: list[Foreign] | None
    kind: str
    label_names: list[str] | None
    params: dict[str, list[Foreign]]
    settings: dict[str, Foreign]
    subset: list[int]
    pinned: list[int]
    struck: list[int]
    groups: list[list[int]]
    log: list[Entry]
    points: list[Point]
    about: dict[str, str]


def write_project(session: Session, path: str | PathLike[str]) -> None:
    """Write a session to a file, whole or not at all."""
    reader = NaiveBayes()
    table = read_table(reader, session.X, reset=True)
    arrays, texts = _table_arrays(table)
    y, state = session.y, session.state
    classes, kind, label_names = None, "", None
    if is_label_matrix(y):
        arrays["y"] = np.asarray(y).astype(np.int8)
        label_names = [str(name) for name in getattr(y, "columns", ())] or None
    else:
        found, labels = read_target(y, table.n_rows)
        arrays["y"] = labels.astype(np.int32)
        classes = [plain_value(value) for value in found.tolist()]
        kind = "O" if found.dtype == object else found.dtype.str
    data: ProjectData = {
        "format": FORMAT,
        "version": VERSION,
        "names": list(table.names),
        "named": hasattr(reader, "feature_names_in_"),
        "raw": isinstance(session.X, RawTable),
        "sparse": list(table.matrix.shape) if isinstance(table, SparseTable) else None,
        "texts": texts,
        "classes": classes,
        "kind": kind,
        "label_names": label_names,
        "params": {name: np.asarray(v).tolist() for name, v in session.params.items()},
        "settings": {name: _plain(name, value) for name, value in session.settings.items()},
        "subset": list(state.subset),
        "pinned": sorted(state.pinned),
        "struck": sorted(state.struck),
        "groups": [list(group) for group in state.groups],
        "log": session.log,
        "points": session.points,
        "about": session.about,
    }
    text = json.dumps(data)
    with whole_file(path) as file, zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as bundle:
        bundle.writestr("project.json", text)
        for name, array in arrays.items():
            held = io.BytesIO()
            np.save(held, array, allow_pickle=False)
            bundle.writestr(f"{name}.npy", held.getvalue())


def _table_arrays(table: Table) -> tuple[dict[str, Array], dict[str, list[str | None]]]:
    """Numbers in arrays, by how wide they are; texts by column."""
    if isinstance(table, SparseTable):
        matrix = table.matrix
        return {"indptr": matrix.indptr, "indices": matrix.indices, "data": matrix.data}, {}
    texts: dict[str, list[str | None]] = {}
    small, wide = [], []
    for j in range(len(table.names)):
        column = table.column(j)
        if column.dtype == object:
            texts[str(j)] = [None if v is None else str(v) for v in column.tolist()]
        elif np.isin(column, range(-128, 128)).all() and not np.signbit(column[column == 0]).any():
            small.append((j, column.astype(np.int8)))
        else:
            wide.append((j, column))
    found: dict[str, Array] = {}
    for name, columns in (("small", small), ("wide", wide)):
        found[f"{name}_at"] = np.array([j for j, _ in columns], np.int64)
        empty = np.empty((0, table.n_rows))
        found[name] = np.stack([column for _, column in columns]) if columns else empty
    return found, texts


def _plain(name: str, value: object) -> object:
    """A setting that a file can hold."""
    value = plain_value(value)
    if isinstance(value, PLAIN):
        return value
    if isinstance(value, list | tuple):
        return [_plain(name, each) for each in value]
    if name == "class_weight" and isinstance(value, dict):
        return {"pairs": [[plain_value(k), plain_value(v)] for k, v in value.items()]}
    if type(value) is NaiveBayes:
        params = value.get_params(deep=False)
        features = params["features"]
        if isinstance(features, dict):
            params["features"] = {"pairs": [[plain_value(k), v] for k, v in features.items()]}
        return {"NaiveBayes": params}
    raise ValueError(
        f"{name} cannot be kept in a project: it is a {type(value).__name__}. Give a name, a "
        "number or a list, or write the Python code in place of a project."
    )


def _unplain(value: Foreign) -> Foreign:
    if isinstance(value, dict) and "pairs" in value:
        return dict(value["pairs"])
    if isinstance(value, dict) and "NaiveBayes" in value:
        return NaiveBayes(**{k: _unplain(v) for k, v in value["NaiveBayes"].items()})
    return value


def read_project(path: str | PathLike[str]) -> Session:
    """A session as it was when it was written."""
    file = check_file("path", path)
    try:
        with zipfile.ZipFile(file) as bundle:
            if sum(each.file_size for each in bundle.infolist()) > _MOST_BYTES:
                raise ValueError(f"{file.name} is not a project: it claims to be too large.")
            data = cast(ProjectData, json.loads(bundle.read("project.json")))
            if data.get("format") != FORMAT or data.get("version") != VERSION:
                raise ValueError(
                    f"{file.name} is not a project of this bayesieve ({FORMAT}, version {VERSION})."
                )
            arrays = {
                each.removesuffix(".npy"): np.load(
                    io.BytesIO(bundle.read(each)), allow_pickle=False
                )
                for each in bundle.namelist()
                if each.endswith(".npy")
            }
        return _rebuilt(data, arrays)
    except _NONSENSE as error:
        raise ValueError(
            f"{file.name} is not a project of bayesieve: {type(error).__name__}: {error}."
        ) from error


def _rebuilt(data: ProjectData, arrays: dict[str, Array]) -> Session:
    settings = {name: _unplain(value) for name, value in data["settings"].items()}
    for name in _OURS:
        settings.pop(name, None)
    params = {name: np.array(values) for name, values in data["params"].items()}
    session = Session(
        _rows(data, arrays),
        _target(data, arrays),
        NaiveBayesSelector(**settings),
        sample_weight=params.get("sample_weight"),
        groups=params.get("groups"),
    )
    for point in data["points"]:
        _judge_shape("points", point, Point)
    lists = (*data["groups"], data["pinned"], data["struck"], data["subset"])
    every = [j for part in (*lists, *(point["columns"] for point in data["points"])) for j in part]
    if not all(isinstance(j, int) and 0 <= j < len(session.names) for j in every):
        raise ValueError("this is not a project: it names columns that are not there.")
    if any(len(set(part)) < len(part) for part in lists):
        raise ValueError("this is not a project: it names a column twice.")
    for entry in data["log"]:
        _judge_shape("log", entry, Entry)
    state = State(
        tuple(data["subset"]),
        frozenset(data["pinned"]),
        frozenset(data["struck"]),
        tuple(tuple(group) for group in data["groups"]),
    )
    session.about = {str(key): str(value) for key, value in data["about"].items()}
    return session.resume(state, data["log"], data["points"])


def _judge_shape(name: str, found: object, shape: type) -> None:
    """Validate a line of the log, or a step of a search, by the type that declares its fields."""
    wanted = get_type_hints(shape)
    if not isinstance(found, dict) or set(found) != set(wanted):
        raise ValueError(f"this is not a project: a part of its {name} is {found!r}.")
    for key, hint in wanted.items():
        kinds = get_args(hint) if isinstance(hint, UnionType) else (get_origin(hint) or hint,)
        if not isinstance(found[key], (*kinds, int) if float in kinds else kinds):
            raise ValueError(f"this is not a project: {key} in its {name} is {found[key]!r}.")


def _rows(data: ProjectData, arrays: dict[str, Array]) -> object:
    if data["sparse"] is not None:
        parts = arrays["data"], arrays["indices"], arrays["indptr"]
        return scipy.sparse.csc_array(parts, shape=tuple(data["sparse"]))
    columns: dict[int, Array] = {
        int(j): np.array(values, dtype=object) for j, values in data["texts"].items()
    }
    for name in ("small", "wide"):
        for j, column in zip(arrays[f"{name}_at"].tolist(), arrays[name], strict=True):
            columns[j] = column.astype(np.float64)
    order = [columns[j] for j in range(len(data["names"]))]
    if data.get("raw"):
        return RawTable(order, [str(name) for name in data["names"]], len(order[0]))
    if data["named"]:
        lists = (column.tolist() for column in order)
        return frame_of(dict(zip(data["names"], lists, strict=True)))
    if not data["texts"]:
        return np.stack(order, axis=1)
    return np.stack([column.astype(object) for column in order], axis=1)


def _target(data: ProjectData, arrays: dict[str, Array]) -> object:
    codes = arrays["y"]
    if data["classes"] is None:
        if data["label_names"] is None:
            return codes
        return frame_of({name: codes[:, k].tolist() for k, name in enumerate(data["label_names"])})
    return np.array(data["classes"], dtype=data["kind"])[codes]
