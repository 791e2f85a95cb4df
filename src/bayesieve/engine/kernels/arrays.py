"""Arrays that kernels read together."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]


class LineArrays(NamedTuple):
    """Lines in pieces, pieces[p]:pieces[p + 1], that read one table set, sets[p].

    Pieces come in tiles, tiles[t]:tiles[t + 1], of at most BLOCK lines of one true class,
    classes[t].  Weights are empty where every line counts once.
    """

    pieces: Ints
    sets: Ints
    tiles: Ints
    classes: Ints
    weights: Ints


class TermArrays(NamedTuple):
    """A feature's terms: slot >= 0 is a column of codes, with a table of values x classes per set;
    slot < 0 is plane -slot - 1 of columns, classes x lines.

    Codes of slot s are row rows[s] of codes, a byte a line; or, below 0, row -1 - rows[s] of bits.
    """

    codes: NDArray[np.uint8]
    bits: NDArray[np.uint8]
    rows: Ints
    n_codes: Ints
    offsets: Ints
    table: Ints
    columns: Ints


class EntryArrays(NamedTuple):
    """Features by entries pointers[f]:pointers[f + 1], each a line and a kind.

    Entry e moves its line by delta[first[f] + kinds[e]] of the line's set; what the usual value
    says is base[f].  Sets are those of the lines.
    """

    pointers: Ints
    lines: NDArray[np.int32]
    kinds: NDArray[np.int32]
    first: Ints
    sets: Ints
    base: Ints
    delta: Ints


class UnitArrays(NamedTuple):
    """Columns of each unit: members[pointers[u]:pointers[u + 1]]."""

    pointers: Ints
    members: Ints


class StrataArrays(NamedTuple):
    """Lines of each problem and fold by score, as `tally` writes them."""

    ends: Ints
    weights: Ints
    distinct: Ints
    seats: NDArray[np.int32]
    n_distinct: Ints
    negatives: Ints
    positives: Ints
