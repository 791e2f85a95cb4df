"""What Dask runs where the rows are: look at a part, learn columns, encode a part, hold parts."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...checks import Foreign
from ...data.collection import read_part
from ...data.columns import ColumnSpec
from ...data.looks import Kind, Look, encode_from, learn_from, look
from ...models.cuts import mdl_borders
from ...models.registry import MODELS
from ..lines import fits_a_byte
from .channel import dial
from .holder import serve
from .part import CodedPart

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


class Looked(NamedTuple):
    """What a part told: its rows, the kinds of its columns, and what they hold, by blocks."""

    n_rows: int
    kinds: list[Kind]
    blocks: list[list[Look]]


def look_at(part: Foreign, columns: Columns, wanted: Wanted) -> Looked:
    """Look at all columns of a part."""
    table = read_part(part, columns, wanted.number)
    if table is not None and wanted.rows is not None:
        table = table.take(wanted.rows) if wanted.rows.size else None
    if table is None:
        nothing = Look(Kind(False, False, np.nan), np.empty(0), np.empty(0, np.int64))
        looks = [nothing] * len(columns[0])
    else:
        looks = [look(table, j, wanted.repeats) for j in range(len(columns[0]))]
    blocks = [looks[at : at + BLOCK] for at in range(0, len(looks), BLOCK)]
    return Looked(int(part.shape[0]), [each.kind for each in looks], blocks)


def kinds_of(looked: Looked) -> tuple[int, list[Kind]]:
    """Rows and kinds alone."""
    return looked.n_rows, looked.kinds


def block_of(looked: Looked, at: int) -> list[Look]:
    """One block of columns."""
    return looked.blocks[at]


def learn_block(
    names: Sequence[str], models: Sequence[str], parts: Sequence[Sequence[Look]]
) -> list[ColumnSpec]:
    """What the columns of a block are like, from all parts."""
    found = []
    for j, (name, model) in enumerate(zip(names, models, strict=True)):
        looks = [part[j] for part in parts]
        if any(each.kind.text for each in looks):
            looks = [each for each in looks if each.kind.text]
        known = MODELS[model]
        found.append(learn_from(name, model, looks, known.discrete, known.grid_codes))
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
    codes = (encode_from(specs[j], table, j) for j in coded)
    return CodedPart.of(codes, (encode_from(specs[j], table, j) for j in others), table.n_rows)


def hold(
    number: int, address: tuple[str, int], token: bytes, secure: bool, *parts: CodedPart
) -> int:
    """Hold parts and answer for them until nobody asks any more; how many questions there were."""
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
    return serve(line, parts, worker.state.nthreads)
