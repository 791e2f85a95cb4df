"""Columns of 0 and 1 as words of bits, and out of the bits of tiles."""

import numpy as np
from numba import njit

from ...data.kernels.options import BYTES, EXACT


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
