"""Weights for columns that a search has chosen."""

from collections.abc import Sequence
from typing import cast

import numpy as np

from ..data.sample import Sample
from ..engine.threads import Threads
from ..models.base import Floats, Ints
from ..models.fitted import FittedBayes
from ..search.coded import CodedRows, read_coded
from ..search.family import Family
from ..search.weighing import Weighing, WeightPlan
from .weighting import read_log_priors


def reweigh(
    sample: Sample,
    models: Sequence[str],
    columns: Sequence[int],
    family: Family,
    class_weight: Floats,
    threads: Threads,
    mates: Ints | None = None,
) -> FittedBayes:
    """Weights for columns that somebody chose: all of them stay, and nothing else enters.

    Parameters
    ----------
    sample : the rows that are learnt from.
    models : the feature model of each column.
    columns : positions, in the order in which they come.
    family : of the models: smoothing and priors.
    class_weight : factor on the counts of each class.
    threads : who runs the kernels.
    mates : the number of each row's group; None where rows are independent.
    """
    order = list(columns)
    weighing = weighing_of(sample, models, order, family, class_weight, threads, mates)
    kept = list(range(len(order)))
    *_, last = weighing.greedy(0.0).steps()
    place = np.argsort(order).tolist()
    book = weighing.book([last], kept)
    priors = read_log_priors(family.priors, len(sample.classes))
    found = tuple(book.fitted(last, g, kept, priors) for g in range(len(weighing.problems)))
    labels = tuple(sample.targets.names) if sample.targets.labelled else ()
    return FittedBayes(found, labels).restrict(place)


def weighing_of(
    sample: Sample,
    models: Sequence[str],
    columns: Sequence[int],
    family: Family,
    class_weight: Floats,
    threads: Threads,
    mates: Ints | None,
) -> Weighing:
    """The terms of some columns, all of which are in from the start; as in `reweigh`."""
    coded, every = read_coded(sample, models, list(columns)), np.arange(sample.labels.size)
    weights = sample.weights.astype(np.int64)
    problems = [
        CodedRows(coded, every, labels, weights, sample.classes, class_weight, mates)
        for labels in np.ascontiguousarray(sample.targets.classes.T)
    ]
    kept, pseudo = tuple(range(len(columns))), float(cast(float, family.smoothing))
    units = tuple((j,) for j in kept)
    plan = WeightPlan(pseudo, most=len(kept), units=units, kept=kept)
    return Weighing(problems, plan, 0, threads)
