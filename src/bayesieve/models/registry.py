"""Every feature model by name."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from .base import FeatureModel, Grid, Settings, Spec, Terms
from .counts import CountModel, binary_mean
from .gaussian import GaussianModel
from .mixture import MOST_COMPONENTS, MixtureModel
from .tables import ColumnTerms

#: A new member is one entry here.
_MEMBERS: list[FeatureModel] = [
    CountModel("bernoulli"),
    CountModel("categorical", silent_unseen=True),
    GaussianModel("gaussian"),
    GaussianModel("gaussian-pooled", pooled=True),
    MixtureModel("mixture"),
    *(MixtureModel(f"mixture-{m}", components=m) for m in range(1, MOST_COMPONENTS + 1)),
    MixtureModel("mixture-printed", as_printed=True),
    *(
        MixtureModel(f"mixture-{m}-printed", components=m, as_printed=True)
        for m in range(1, MOST_COMPONENTS + 1)
    ),
]


MODELS: dict[str, FeatureModel] = {model.name: model for model in _MEMBERS}


def spoken_tables(specs: Sequence[Any], columns: Sequence[ColumnTerms]) -> list[Terms | None]:
    """Terms of all codes of each discrete column, None for others.

    Binary columns are handled together: there may be thousands.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> import numpy as np
    >>> from bayesieve.models import MODELS, Settings, build_columns, one_set, spoken_tables
    >>> spec = SimpleNamespace(model="bernoulli", n_distinct=2, resolution=1.0, n_codes=3)
    >>> sets = one_set(np.array([0, 0, 1, 1]), np.ones(4), np.ones(2))
    >>> counts = MODELS["bernoulli"].statistics(np.array([0, 1, 1, 1], np.uint8), 3, sets)
    >>> columns = build_columns([spec], [counts], Settings(1.0, None, np.ones(2)))
    >>> spoken_tables([spec], columns)[0].finite.shape  # sets x codes x classes
    (1, 3, 2)
    """
    tables: list[Terms | None] = [None] * len(columns)
    binary = [j for j, spec in enumerate(specs) if spec.model == "bernoulli"]
    if binary:
        stacked = np.stack([columns[j].statistics for j in binary])
        settings = columns[binary[0]].settings
        found = MODELS["bernoulli"].terms(stacked, np.arange(3), Grid(), settings)
        for i, j in enumerate(binary):
            odd = None if found.impossible is None else found.impossible[i]
            tables[j] = Terms(found.finite[i], odd if odd is not None and odd.any() else None)
    for j, column in enumerate(columns):
        if tables[j] is None and column.model.discrete:
            tables[j] = column.of(np.arange(specs[j].n_codes))
    return tables


def build_columns(
    specs: Sequence[Spec], statistics: Sequence[Any], settings: Settings, n_sets: int = 1
) -> list[ColumnTerms]:
    """Statistics and settings, ready to speak for each column.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> import numpy as np
    >>> from bayesieve.models import MODELS, Settings, build_columns, one_set
    >>> spec = SimpleNamespace(model="gaussian", n_distinct=4, resolution=1.0)
    >>> values, sets = np.arange(4.0), one_set(np.array([0, 0, 1, 1]), np.ones(4), np.ones(2))
    >>> moments = MODELS["gaussian"].statistics(values, 0, sets)
    >>> column = build_columns([spec], [moments], Settings(1.0, None, np.ones(2)))[0]
    >>> column.of(values).finite[0].argmax(1)  # which class each value speaks for
    array([0, 0, 1, 1])
    """
    if settings.smoothing == "mean":
        binary = [
            counts
            for spec, counts in zip(specs, statistics, strict=True)
            if spec.model == "bernoulli"
        ]
        means = binary_mean(binary, n_sets, settings.class_weight.size)
        settings = replace(settings, binary_mean=means)
    return [
        ColumnTerms(
            MODELS[spec.model], found, Grid(spec.resolution, max(spec.n_distinct, 1)), settings
        )
        for spec, found in zip(specs, statistics, strict=True)
    ]
