"""Which feature model a column gets."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..checks import choose, column_indices
from ..data.tables import SparseTable, Table
from .columns import SharedSparse, SharedTable
from .registry import MODELS

_BINARY = (0.0, 1.0)


def choose_models(features: Any, X: Table) -> list[str]:
    """The feature model of every column, from "auto", a name, or a mapping of columns to names."""
    if isinstance(X, SharedTable | SharedSparse):
        return list(X.known.models)
    n_columns = len(X.names)
    if isinstance(features, str):
        choose("features", features, ["auto", *MODELS])
        asked = [features] * n_columns
    elif isinstance(features, Mapping):
        asked = ["auto"] * n_columns
        for key, model in features.items():
            choose(f"features[{key!r}]", model, ["auto", *MODELS])
            for j in column_indices(f"features key {key!r}", [key], X.names):
                asked[j] = model
    else:
        raise TypeError(
            "features must be 'auto', the name of a feature model, or a mapping of column names or "
            f"numbers to such names; got {type(features).__name__}."
        )
    if isinstance(X, SparseTable):
        # Presence, unless something else is asked for: any value may stand in a sparse column.
        return ["bernoulli" if model == "auto" else model for model in asked]
    return [_model_of(X.coded(j)[0], X.names[j], asked[j]) for j in range(n_columns)]


def check_batch(model: str, raw: NDArray[Any], name: str, levels: Any = None) -> None:
    """A later batch must fit the model, and the kind of levels, its column got from the first."""
    _model_of(raw, name, model)
    if levels is not None and levels.size and (raw.dtype == object) != (levels.dtype == object):
        kinds = ("text", "numbers") if levels.dtype == object else ("numbers", "text")
        raise ValueError(f"column {name!r} held {kinds[0]} in the first batch; got {kinds[1]}.")


def _model_of(raw: NDArray[Any], name: str, asked: str) -> str:
    """The model asked for if the column allows it; for "auto", the one that suits it."""
    text = raw.dtype == object
    binary = not text and bool(((raw == 0) | (raw == 1) | np.isnan(raw)).all())
    if asked == "auto":
        return "categorical" if text else "bernoulli" if binary else "gaussian"
    if asked == "bernoulli" and not binary:
        odd = "text" if text else f"{raw[~np.isin(raw, _BINARY) & ~np.isnan(raw)][0]:g}"
        raise ValueError(
            f"column {name!r} is modelled as 'bernoulli', which allows 0, 1 and missing; got "
            f"{odd}. Use 'categorical' or 'gaussian', or binarise it first."
        )
    if text and not MODELS[asked].discrete:
        raise ValueError(
            f"column {name!r} is modelled as {asked!r}, which needs numbers; got text. "
            "Use 'categorical'."
        )
    return asked
