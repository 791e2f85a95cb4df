"""How much memory a ledger needs on a GPU, and what is said where there is less."""

import numpy as np
from numpy.typing import NDArray

from .words import Words

# What a scan holds beside, as a share of the bits: a number for every column and 8192 lines.
_SCAN_SHARE = 1 / 64

_GIGA = 1e9


def needed_bytes(n_lines: int, n_classes: int, two: NDArray[np.bool_], weighted: bool) -> int:
    """Bytes of a ledger: cells, sums, and what scans read of them.

    Parameters
    ----------
    n_lines, n_classes : how many.
    two : which columns have two codes, a bit a line; others need a byte.
    weighted : do lines have weights?

    Examples
    --------
    >>> import numpy as np
    >>> from bayesieve.engine.gpu.memory import needed_bytes
    >>> needed_bytes(2**20, 2, np.ones(10**4, bool), False) < 1.1 * (2**20 * 10**4 / 8 + 2**20 * 20)
    True
    """
    cells = n_lines * (int(two.sum()) / 8 + int((~two).sum()))
    lines = n_lines * (12 * n_classes + (8 if weighted else 0))
    return int(cells * (1 + _SCAN_SHARE)) + lines


def check_fits(
    words: Words, n_classes: int, two: NDArray[np.bool_], weighted: bool, free: int
) -> None:
    """Refuse lines for which there is too little memory; see `needed_bytes`."""
    needed = needed_bytes(words.n_padded, n_classes, two, weighted)
    if needed > free:
        raise MemoryError(
            f"engine='gpu': {words.starts[-1]} rows of {two.size} columns need "
            f"{needed / _GIGA:.3g} GB on the GPU, of which {free / _GIGA:.3g} GB are free; use "
            "several GPUs (GpuEngine([0, 1])), fewer rows or columns, or engine=None."
        )
