"""The only place that judges user input."""

from .parameters import (
    check_batch,
    check_class_weight,
    check_flag,
    check_jobs,
    check_number,
    check_priors,
    check_reachable,
    check_search,
    check_smoothing,
    choose,
    choose_models,
    column_indices,
    read_groups,
)
from .tables import (
    RawTable,
    check_several_classes,
    is_frame,
    read_split_groups,
    read_table,
    read_target,
    read_weights,
)

__all__ = [
    "RawTable",
    "check_batch",
    "check_class_weight",
    "check_flag",
    "check_jobs",
    "check_number",
    "check_priors",
    "check_reachable",
    "check_search",
    "check_several_classes",
    "check_smoothing",
    "choose",
    "choose_models",
    "column_indices",
    "is_frame",
    "read_groups",
    "read_split_groups",
    "read_table",
    "read_target",
    "read_weights",
]
