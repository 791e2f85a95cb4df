"""Sparse tables with labels that several test modules use."""

from fractions import Fraction

import numpy as np

from reference import doubled_pairs


def incidents(seed=0, n_rows=120, n_columns=14, n_labels=3, density=0.2):
    """Sparse columns, some empty, full or copied; labels that some of them speak for."""
    rng = np.random.default_rng(seed)
    X = (rng.random((n_rows, n_columns)) < density * rng.random(n_columns) * 2).astype(np.uint8)
    X[:, 1] = 0
    X[:, 2] = 1
    X[:, 3] = X[:, 0]
    noise = rng.random((n_rows, n_labels)) < 0.1
    Y = (X[:, 4 : 4 + n_labels] ^ noise).astype(int)
    Y[:2] = [[0] * n_labels, [1] * n_labels]
    return X, Y


def mean_auc(Y, scores):
    """Mean over labels of the share of concordant pairs, as an exact fraction."""
    shares = []
    for y, s in zip(Y.T, scores.T, strict=True):
        pairs, total = doubled_pairs(y, s)
        shares.append(Fraction(pairs, total))
    return sum(shares) / len(shares)
