"""Columns of 0 and 1 as words of bits, whole or in tiles."""

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


# -- Columns of 0 and 1 as words of bits, and out of the bits of tiles -----------------------------


@njit(**EXACT)
def pack_words(codes, starts, ends, first, lo, hi, out):
    """Bits of the rows lo..hi of codes: runs of lines, each from a word of its own on.

    Parameters
    ----------
    codes : columns x lines, 0 or 1.
    starts, ends : lines of each run.
    first : its first word.
    out : columns x words; overwritten.
    """
    for j in range(lo, hi):
        for run in range(starts.size):
            column = codes[j, starts[run] : ends[run]]
            words = out[j, first[run] :]
            n_whole = column.size // 32
            for w in range(n_whole):
                part = column[w * 32 : w * 32 + 32]
                word = np.uint32(0)
                for i in range(32):
                    word |= np.uint32(part[i]) << np.uint32(i)
                words[w] = word
            if n_whole * 32 < column.size:
                word = np.uint32(0)
                for i in range(n_whole * 32, column.size):
                    word |= np.uint32(column[i]) << np.uint32(i - n_whole * 32)
                words[n_whole] = word


@njit(**EXACT)
def unpack_column(bits, lines, out):
    """Cells of all lines, 0 or 1, out of the bits of their tiles; see `pack_bits`.

    Parameters
    ----------
    bits : BYTES bytes a tile.
    lines : where tiles begin.
    out : a cell a line; overwritten.
    """
    pieces, tiles = lines.pieces, lines.tiles
    for t in range(tiles.size - 1):
        packed = bits[t * BYTES : (t + 1) * BYTES]
        end = pieces[tiles[t + 1]]
        for g in range(8):
            begin = pieces[tiles[t]] + g * BYTES
            cells = out[begin : max(min(begin + BYTES, end), begin)]
            for i in range(cells.size):
                cells[i] = packed[i] >> np.uint8(g) & np.uint8(1)
