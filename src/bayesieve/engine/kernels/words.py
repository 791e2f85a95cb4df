"""Columns of 0 and 1 as words of bits."""

import numpy as np
from numba import njit

from ...data.kernels.options import EXACT


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
