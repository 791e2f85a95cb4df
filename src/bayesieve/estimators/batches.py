"""Rows that come in batches, for `partial_fit`."""

from typing import TYPE_CHECKING

import numpy as np

from ..checks import Array
from ..data.sample import Sample, is_label_matrix, read_sample
from ..models.columns import Summary
from ..models.fitted import FittedBayes

if TYPE_CHECKING:
    from .naive_bayes import NaiveBayes


def read_batch(
    model: "NaiveBayes", X: object, y: object, classes: object, sample_weight: object
) -> tuple[Sample, list[Summary] | None]:
    """A batch, judged; and what was counted up to now with its rows, None for the first batch."""
    family = model.family()
    family.check()
    if model.rounded:
        raise ValueError(
            "rounded=True needs all rows at once, since the resolution of a column changes "
            "with every batch; use fit, or rounded=False."
        )
    old = getattr(model, "fitted_", None)
    _check_target(y, classes, old)
    known = None
    if not is_label_matrix(y):
        known = old.only.classes if old is not None else _distinct(classes)
    sample = read_sample(model, X, y, sample_weight, known, reset=old is None)
    if old is not None and sample.targets.labelled and sample.targets.names != old.labels:
        raise ValueError(
            f"y has the labels {list(sample.targets.names)}, but the first call had "
            f"{list(old.labels)}; they must be the same, in the same order."
        )
    family.check_sample(sample)
    if old is None:
        return sample, None
    if any(problem.weighting is not None for problem in old.problems):
        raise ValueError("weights are fitted on all rows at once; use fit, not partial_fit.")
    # All columns are judged before any of them changes.
    for problem in old.problems:
        problem.summary.check_batch(sample.table)
    summaries = [
        problem.summary.with_rows(sample.table, labels, sample.weights)
        for problem, labels in zip(old.problems, sample.targets.classes.T, strict=True)
    ]
    return sample, summaries


def _check_target(y: object, classes: object, old: FittedBayes | None) -> None:
    """Classes or labels, as in the first batch."""
    if is_label_matrix(y):
        if old is not None and not old.labelled:
            raise ValueError(
                "y is a matrix of labels, but the first call to partial_fit had classes."
            )
        return
    if old is not None and old.labelled:
        raise ValueError(
            f"y must be a matrix of {len(old.labels)} labels, as in the first call to fit or "
            "partial_fit; got one class a row."
        )
    if old is None and classes is None:
        raise ValueError("classes must be passed on the first call to partial_fit.")
    if classes is not None and old is not None:
        given = _distinct(classes)
        if not np.array_equal(given, old.only.classes):
            raise ValueError(
                f"classes={given.tolist()} is not the same as on last call to partial_fit, "
                f"which was {old.only.classes.tolist()}."
            )


def _distinct(classes: object) -> Array:
    """The classes that will ever come, sorted."""
    try:
        return np.unique(np.asarray(classes))
    except TypeError as error:
        raise TypeError(
            f"classes must be of one kind, all text or all numbers; got {classes!r}."
        ) from error
