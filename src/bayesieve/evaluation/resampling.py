"""Bootstrap samples as whole weights: how often each row, or each group of rows, was drawn."""

import numpy as np
from numpy.typing import NDArray

from ..checks import Array
from ..data.parts import group_numbers

# Draws of one sample before we say that the rows do not suit.
_PATIENCE = 100


def draw_samples(
    repeats: NDArray[np.int64],
    labels: NDArray[np.int64],
    n_samples: int,
    least: int,
    random_state: np.random.RandomState,
    groups: Array | None = None,
) -> NDArray[np.int64]:
    """How often each row is drawn, one line a sample; no sample has fewer than `least` classes.

    Parameters
    ----------
    repeats : how often each row stands in the table.
    labels : the class of each row.
    n_samples, least : how many samples, of how many classes at least.
    random_state : draws.
    groups : where they are given, whole groups are drawn, as many as there are.
    """
    drawn = None if groups is None else group_numbers(groups)
    total = int(repeats.sum()) if drawn is None else int(drawn.max()) + 1
    shares = repeats / total if drawn is None else np.full(total, 1 / total)
    samples = np.empty((n_samples, repeats.size), np.int64)
    for i in range(n_samples):
        for _ in range(_PATIENCE):
            counts = random_state.multinomial(total, shares)
            samples[i] = counts if drawn is None else counts[drawn] * repeats
            if np.unique(labels[samples[i] > 0]).size >= least:
                break
        else:
            raise ValueError(
                f"{_PATIENCE} bootstrap samples in a row held fewer than {least} classes of y: "
                "some class is too rare for resampling. Give more rows of it."
            )
    return samples
