"""Tiles of lines: their cells as bits, and runs of those that kernels take whole."""

import numpy as np
from numba import njit

from ...data.kernels.options import BLOCK, BYTES, EXACT

#: Tiles that candidates are scanned on in turn: what is known of their lines stays in the caches.
TOGETHER = 8


@njit(**EXACT)
def pack_bits(column, lines, out):
    """Cells of 0 and 1 as bits: those of tile t in the BYTES bytes from t x BYTES on.

    Bit g of byte i is line g x BYTES + i of its tile, so that a mask and a vector of bytes give as
    many lines in their order.
    """
    pieces, tiles = lines.pieces, lines.tiles
    for t in range(tiles.size - 1):
        cells = column[pieces[tiles[t]] : pieces[tiles[t + 1]]]
        packed = out[t * BYTES : (t + 1) * BYTES]
        packed[:] = 0
        for g in range((cells.size + BYTES - 1) // BYTES):
            some, bit = cells[g * BYTES : (g + 1) * BYTES], np.uint8(1 << g)
            for i in range(some.size):
                packed[i] |= bit if some[i] != 0 else np.uint8(0)


@njit(**EXACT)
def unpack_bits(bits, t, cells):
    """Cells of tile t as bytes, each 0 or not 0; without slices, whose counting takes longer."""
    packed = bits[t * BYTES : (t + 1) * BYTES]
    for i in range(BYTES):
        byte = packed[i]
        cells[i] = byte & np.uint8(1)
        cells[BYTES + i] = byte & np.uint8(2)
        cells[2 * BYTES + i] = byte & np.uint8(4)
        cells[3 * BYTES + i] = byte & np.uint8(8)
        cells[4 * BYTES + i] = byte & np.uint8(16)
        cells[5 * BYTES + i] = byte & np.uint8(32)
        cells[6 * BYTES + i] = byte & np.uint8(64)
        cells[7 * BYTES + i] = byte & np.uint8(128)


@njit(**EXACT)
def whole_runs(lines, top, n_tiles, out):
    """Ends of the runs of whole tiles from each of n_tiles on: of one class and one table set.

    A tile is whole that has as many lines as it may; where one is not, its run ends before it.
    """
    pieces, sets, tiles, classes = lines.pieces, lines.sets, lines.tiles, lines.classes
    for at in range(n_tiles - 1, -1, -1):
        t = top + at
        whole = tiles[t + 1] - tiles[t] == 1 and pieces[tiles[t + 1]] - pieces[tiles[t]] == BLOCK
        out[at] = t + 1 if whole else t
        if whole and at + 1 < n_tiles and out[at + 1] > t + 1 and classes[t] == classes[t + 1]:
            out[at] = out[at + 1] if sets[tiles[t]] == sets[tiles[t + 1]] else t + 1
