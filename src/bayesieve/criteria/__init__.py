"""Criteria that score a subset: error, error probability, log-likelihood, AUC."""

from .auc import AUC, SizePenalty
from .base import (
    Criterion,
    RowCriterion,
    Rule,
    has_standard_error,
    paired_error,
    standard_error,
)

#: Every criterion by name; a new member is one entry here.
CRITERIA: dict[str, Criterion] = {
    criterion.name: criterion
    for criterion in (
        RowCriterion("error"),
        RowCriterion("probability"),
        RowCriterion("log-likelihood"),
        AUC(),
        AUC(SizePenalty()),
    )
}

__all__ = [
    "AUC",
    "CRITERIA",
    "Criterion",
    "RowCriterion",
    "Rule",
    "SizePenalty",
    "has_standard_error",
    "paired_error",
    "standard_error",
]
