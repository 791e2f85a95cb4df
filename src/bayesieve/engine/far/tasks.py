"""What Dask runs where the rows are: look at a part, learn columns, encode a part, hold parts."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...checks import Array, Foreign
from ...data.collection import read_part
from ...data.columns import ColumnSpec
from ...data.looks import Kind, Look, encode_from, learn_from, look
from ...data.tables import RawTable, SparseTable
from ...models.cuts import mdl_borders
from ...models.registry import MODELS
from ..lines import fits_a_byte
from .channel import dial
from .column_holder import ColumnHolder
from .holder import Answering, Holder, serve
from .part import CodedPart, Piece, RareCodes

#: Names of the columns of a table, and of those beside them.
Columns = tuple[Sequence[Foreign], Sequence[str]]

#: Columns that are learnt together.
BLOCK = 32


class Wanted(NamedTuple):
    """Which rows of a part count, and how often; None: all of them, once."""

    number: int  #: of the part
    rows: NDArray[np.int64] | None = None
    repeats: NDArray[np.float64] | None = None


class Seen(NamedTuple):
    """Rows of a part as a ranking sees them: which, their classes and weights."""

    rows: NDArray[np.int64]
    labels: NDArray[np.int64]
    weights: NDArray[np.float64]
    n_classes: int


def rows_in(part: Foreign) -> int:
    """How many rows a part has."""
    return int(part.shape[0])


class Looked(NamedTuple):
    """What a part told: its rows, the kinds of its columns, and what they hold, by blocks."""

    n_rows: int
    kinds: list[Kind]
    blocks: list[list[Look]]
    sparse: bool | None  #: None where there are no rows to tell


class Told(NamedTuple):
    """What a part told, but for the values of its columns."""

    n_rows: int
    kinds: list[Kind]
    sparse: bool | None


_NOTHING = Look(Kind(False, False, np.nan), np.empty(0), np.empty(0, np.int64))


def look_at(part: Foreign, columns: Columns, wanted: Wanted, valued: Sequence[int]) -> Looked:
    """Look at all columns of a part; of a sparse one at those whose values count."""
    table = read_part(part, columns, wanted.number)
    sparse = None if table is None else isinstance(table, SparseTable)
    if table is not None and wanted.rows is not None:
        table = table.take(wanted.rows) if wanted.rows.size else None
    looks = [_NOTHING] * len(columns[0])
    if table is not None:
        for j in valued if sparse else range(len(looks)):
            looks[j] = look(table, j, wanted.repeats)
    blocks = [looks[at : at + BLOCK] for at in range(0, len(looks), BLOCK)]
    return Looked(rows_in(part), [each.kind for each in looks], blocks, sparse)


def told_of(looked: Looked) -> Told:
    """Rows and kinds alone."""
    return Told(looked.n_rows, looked.kinds, looked.sparse)


def block_of(looked: Looked, at: int) -> list[Look]:
    """One block of columns."""
    return looked.blocks[at]


def learn_block(
    names: Sequence[str], models: Sequence[str], parts: Sequence[Sequence[Look]], sparse: bool
) -> list[ColumnSpec]:
    """What the columns of a block are like, from all parts."""
    found = []
    for j, (name, model) in enumerate(zip(names, models, strict=True)):
        looks = [part[j] for part in parts]
        if any(each.kind.text for each in looks):
            looks = [each for each in looks if each.kind.text]
        known = MODELS[model]
        found.append(learn_from(name, model, looks, known.discrete, known.grid_codes, sparse))
    return found


def comparable_block(
    names: Sequence[str], parts: Sequence[Sequence[Look]], n_whole: int, n_parts: int
) -> list[ColumnSpec]:
    """The columns of a block as they are compared: texts, small whole numbers, or in parts."""
    found = []
    for j, name in enumerate(names):
        looks = [part[j] for part in parts]
        text = any(each.kind.text for each in looks)
        whole = not text and not any(each.below_zero for each in looks)
        if whole and all(np.isin(each.values, np.arange(n_whole)).all() for each in looks):
            found.append(ColumnSpec(name, "", levels=np.arange(float(n_whole))))
        else:
            found.append(learn_from(name, "", looks, True, 0 if text else n_parts))
    return found


def count_classes(
    part: Foreign, columns: Columns, wanted: Wanted, which: Sequence[int], seen: Seen
) -> list[list[tuple[NDArray[np.float64], NDArray[np.float64]]]]:
    """Each number of some columns with its weight by class, in blocks of columns."""
    table = read_part(part, columns, wanted.number)
    if table is None or not seen.rows.size:
        found = [(np.empty(0), np.empty((0, seen.n_classes))) for _ in which]
    else:
        table, found = table.take(seen.rows), []
        for j in which:
            column = np.asarray(table.column(j), np.float64)
            known = ~np.isnan(column)
            values, at = np.unique(column[known], return_inverse=True)
            counts = np.zeros((values.size, seen.n_classes))
            np.add.at(counts, (at.ravel(), seen.labels[known]), seen.weights[known])
            found.append((values, counts))
    return [found[at : at + BLOCK] for at in range(0, len(found), BLOCK)]


def item_of(blocks: Sequence[Foreign], at: int) -> Foreign:
    """One block of columns."""
    return blocks[at]


def cut_block(
    parts: Sequence[Sequence[tuple[NDArray[np.float64], NDArray[np.float64]]]],
) -> list[NDArray[np.float64]]:
    """Where the columns of a block are cut by minimum description length, from all parts."""
    found = []
    for j in range(len(parts[0])):
        values = np.concatenate([part[j][0] for part in parts])
        distinct, at = np.unique(values, return_inverse=True)
        counts = np.zeros((distinct.size, parts[0][j][1].shape[1]))
        np.add.at(counts, at.ravel(), np.concatenate([part[j][1] for part in parts]))
        borders = mdl_borders(counts)
        found.append(distinct[borders - 1] / 2 + distinct[borders] / 2)
    return found


def encode_part(
    part: Foreign, columns: Columns, wanted: Wanted, specs: Sequence[ColumnSpec]
) -> CodedPart:
    """The rows of a part as codes."""
    table = read_part(part, columns, wanted.number)
    if table is not None and wanted.rows is not None:
        table = table.take(wanted.rows) if wanted.rows.size else None
    coded = [j for j, spec in enumerate(specs) if fits_a_byte(spec)]
    others = [j for j, spec in enumerate(specs) if not fits_a_byte(spec)]
    if table is None:
        nothing = np.empty(0, np.uint8)
        return CodedPart.of([nothing for _ in coded], [nothing for _ in others], 0)
    codes = (_codes_of(specs[j], table, j) for j in coded)
    return CodedPart.of(codes, (encode_from(specs[j], table, j) for j in others), table.n_rows)


def _codes_of(spec: ColumnSpec, table: RawTable | SparseTable, j: int) -> Array | RareCodes:
    """Codes of one column; of a sparse one those that are rare."""
    if isinstance(table, RawTable):
        return encode_from(spec, table, j)
    if spec.presence:
        matrix = table.matrix
        rows = matrix.indices[matrix.indptr[j] : matrix.indptr[j + 1]].astype(np.int32)
        return RareCodes(0, rows, np.ones(rows.size, np.uint8))
    codes = encode_from(spec, table, j)
    usual = int(np.bincount(codes).argmax())
    rows = np.flatnonzero(codes != usual).astype(np.int32)
    return RareCodes(usual, rows, codes[rows].astype(np.uint8))


def hold_rows(
    number: int, address: tuple[str, int], token: bytes, secure: bool, *parts: CodedPart
) -> int:
    """Hold parts of the rows until nobody asks any more; how many questions there were."""
    return _hold(lambda n_threads: Holder(parts, n_threads), number, address, token, secure)


def hold_pieces(
    number: int, address: tuple[str, int], token: bytes, secure: bool, *pieces: Piece
) -> int:
    """The same for columns, with all their rows."""
    return _hold(lambda n_threads: ColumnHolder(pieces, n_threads), number, address, token, secure)


def _hold(
    holder: Callable[[int], Answering],
    number: int,
    address: tuple[str, int],
    token: bytes,
    secure: bool,
) -> int:
    from distributed import get_worker, secede

    worker = get_worker()
    context = worker.security.get_connection_args("worker")["ssl_context"] if secure else None
    try:
        line = dial(address, token, number, context)
    except OSError as error:
        raise ConnectionError(
            f"the worker {worker.address} cannot reach the search at {address[0]}:{address[1]} "
            f"({error}). Run it on a machine that the workers can reach."
        ) from error
    # A long wait: the worker's other work gets another thread.
    secede()
    return serve(line, holder(worker.state.nthreads))
