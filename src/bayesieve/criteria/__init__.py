"""Criteria: sums in, one number out."""

from .auc import AUC, SizePenalty
from .base import Criterion, Rule
from .rows import RowCriterion
from .standard_error import has_standard_error, paired_error, standard_error

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
