"""Clusters of processes, and tables to try them with."""

import numpy as np
import pandas as pd

from bayesieve import NaiveBayesSelector


def table(n_rows=180, seed=0):
    """Columns of all kinds that can be divided: missing values, copies, few and many values."""
    rng = np.random.default_rng(seed)
    y = np.append(np.arange(3), rng.integers(0, 3, n_rows - 3))
    found = {
        f"b{j}": (rng.random(n_rows) < 0.3 + 0.3 * (j < 4) * (y == j % 3)).astype(float)
        for j in range(6)
    }
    found["b1"][rng.random(n_rows) < 0.05] = np.nan
    found["copy"] = found["b0"]
    found["letter"] = np.array(list("abcd"))[(rng.integers(0, 3, n_rows) + (y == 1)) % 4]
    found["number"] = rng.normal(size=n_rows) + y
    found["few"] = np.round(rng.normal(size=n_rows) + 0.5 * y, 1)
    found["noise"] = rng.normal(size=n_rows)
    frame = pd.DataFrame(found)
    frame.loc[rng.random(n_rows) < 0.05, "number"] = np.nan
    frame["target"] = np.array(["no", "maybe", "yes"])[y]
    return frame, rng.integers(0, 4, n_rows), rng.integers(0, 30, n_rows)


def cut(frame, n_parts):
    """A collection of parts of unequal sizes."""
    import dask.dataframe as dd
    from dask import delayed

    rng = np.random.default_rng(n_parts)
    ends = np.sort(rng.choice(np.arange(1, len(frame)), n_parts - 1, replace=False))
    parts = [frame.iloc[lo:hi] for lo, hi in zip([0, *ends], [*ends, len(frame)], strict=True)]
    return dd.from_delayed([delayed(part) for part in parts], meta=frame.iloc[:0])


def told(selector, X):
    """All that a fit found, as text: NaN is NaN."""
    fitted = selector.estimator_.fitted_
    return {
        "selected": selector.selected_.tolist(),
        "path": repr(selector.path_.steps),
        "chosen": selector.path_.chosen,
        "standard error": repr(selector.path_.standard_error),
        "tried": selector.n_tried_,
        "proof": repr(selector.proof_),
        "rows": (selector.guiding_rows_.tolist(), selector.validation_rows_.tolist()),
        "settings": repr(selector.settings_),
        "specs": repr([vars(spec) for spec in fitted.specs]),
        "probabilities": selector.predict_proba(X).tobytes(),
        "names": list(getattr(selector, "feature_names_in_", ())),
    }


def both(frame, n_parts, weights=None, groups=None, **settings):
    """What a fit here finds, and what one on a cluster does."""
    X, y = frame.drop(columns="target"), frame["target"]
    params = {"sample_weight": weights, "groups": groups}
    params = {name: value for name, value in params.items() if value is not None}
    here = NaiveBayesSelector(**settings).fit(X, y, **params)
    there = NaiveBayesSelector(**settings).fit(cut(frame, n_parts), "target", **params)
    return told(here, X), told(there, X)
