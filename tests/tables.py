"""Tables that several test modules use."""

import numpy as np
import pandas as pd


def binary_table(n_rows=200, n_columns=12, seed=0, n_classes=3):
    """Binary columns, every second one of which reacts to a class."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, n_classes, n_rows)
    X = (rng.random((n_rows, n_columns)) < 0.3).astype(np.uint8)
    for j in range(0, n_columns, 2):
        X[:, j] ^= ((y == j % n_classes) & (rng.random(n_rows) < 0.6)).astype(np.uint8)
    return X, y


def noisy_frame(rng, n, share=0.3):
    """Two classes, "calm" and "gust", which overlap."""
    y = np.where(rng.random(n) < share, "gust", "calm")
    return pd.DataFrame(rng.normal(size=(n, 3)) + (y == "gust")[:, None], columns=list("abc")), y
