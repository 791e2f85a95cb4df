"""What weighted terms say, as people read it: columns, and pairs of columns cell by cell."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import product

import numpy as np

from ..checks import plain_value
from ..data.columns import ColumnSpec
from ..models.base import Ints
from ..models.fitted import FittedProblem
from ..models.pairs import PairTerms
from ..models.weighted import WEIGHT_STEPS
from .intervals import FeatureEvidence, average_evidence, words
from .plain import Source


def weighted_features(
    problem: FittedProblem, columns: Sequence[FeatureEvidence]
) -> list[FeatureEvidence]:
    """Columns with their weights, and pairs of columns behind them."""
    weighting = problem.weighting
    if weighting is None:
        return list(columns)
    found = []
    for each, line in zip(columns, weighting.weights, strict=True):
        source = {**each.source, "weights": (line / WEIGHT_STEPS).tolist()}
        found.append(replace(each, source=source))
    return [*found, *(pair_evidence(problem, pair) for pair in weighting.pairs)]


def speaks(source: Source) -> bool:
    """Does a feature say anything by itself?  Some columns speak in pairs only."""
    return any(source.get("weights", [1.0]))


def pair_evidence(problem: FittedProblem, pair: PairTerms) -> FeatureEvidence:
    """One pair of columns: what each cell says, and the rows in it."""
    n_classes = len(problem.classes)
    terms = problem.scale.release((pair.ratios * pair.weights).reshape(-1, n_classes))
    counts = pair.counts.reshape(-1, n_classes)
    specs = [problem.specs[j] for j in pair.columns]
    shown = [_group_names(spec, part) for spec, part in zip(specs, pair.groups, strict=True)]
    weight = problem.summary.class_count * problem.summary.class_weight
    missing = np.maximum(problem.summary.class_count - counts.sum(0), 0.0)
    return FeatureEvidence(
        " x ".join(spec.name for spec in specs),
        "pair",
        average_evidence(terms, counts, weight),
        [f"{a} and {b}" for a, b in product(*shown)],
        terms.tolist(),
        counts.tolist(),
        {
            "missing": missing.tolist(),
            "first": shown[0],
            "second": shown[1],
            "names": [spec.name for spec in specs],
            "weights": (pair.weights / WEIGHT_STEPS).tolist(),
        },
    )


def _group_names(spec: ColumnSpec, groups: Ints) -> list[str]:
    """Each group of a column's codes in words."""
    if spec.on_grid:
        return words(spec, np.flatnonzero(np.diff(groups[:-1], prepend=-1)))
    assert spec.levels is not None
    names = [plain_value(level) for level in spec.levels]
    return [f"{name:.10g}" if isinstance(name, float) else str(name) for name in names]
