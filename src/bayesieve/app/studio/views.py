"""What a page shows of a model: what it says, how it was judged, where two subsets differ."""

from collections.abc import Sequence
from typing import cast

import numpy as np

from ...checks import Foreign
from ...data.files.base import BadUseError
from ...data.sample import Sample
from ...data.tables import Table, read_table
from ...estimators.naive_bayes import NaiveBayes
from ...estimators.resident.session import Session
from ...estimators.selector import NaiveBayesSelector
from ...evaluation.decision import Decision
from ...evaluation.performance import performance
from ...explain.model import ModelData
from ...explain.report.content import Extras
from ...explain.report.explored import explorer_data
from .table import Chosen

# Rows that two subsets decide otherwise.
_ROWS = 200


def whole_table(session: Session, sample: Sample) -> Table:
    """All rows, also those that are left out."""
    if sample.table.n_rows == len(np.asarray(session.y)):
        return sample.table
    return read_table(NaiveBayes(), session.X, reset=True)


def model_view(
    model: NaiveBayesSelector, rows: Table, y: object, table: Chosen, wanted: Sequence[int]
) -> dict[str, object]:
    """All that a page needs to explore the decisions of a model.

    Parameters
    ----------
    model : of the present subset, with its rule.
    rows, y : all rows, and their classes.
    table : where they come from.
    wanted : rows to look at.
    """
    for row in wanted:
        if not 0 <= row < rows.n_rows:
            raise BadUseError(f"there is no row {row}; the last one is {rows.n_rows - 1}.")
    extras = Extras(
        include_rows=True,
        signals=table.signals,
        indicators=table.indicators,
        wanted=tuple(wanted),
    )
    found = explorer_data(model, rows, cast(Foreign, y), extras)
    told = cast("list[ModelData]", found.pop("told"))[0]
    decision = getattr(model, "decision_", None)
    return found | {
        "decision": _decision(decision) if isinstance(decision, Decision) else None,
        "classes": told["classes"],
        "features": [
            {name: each[name] for name in ("feature", "model", "importance")}
            for each in cast("list[dict[str, object]]", told["features"])
        ],
    }


def _decision(found: Decision) -> dict[str, object]:
    """A rule in words, and what it decided on the rows kept aside."""
    return {"words": found.to_text(), **found.to_dict()}


def decisions_view(model: NaiveBayesSelector, session: Session) -> dict[str, object]:
    """Detections and false alarms at every threshold, on rows that tables have not seen."""
    given: Foreign = session.params
    return {**performance(model, session.X, cast(Foreign, session.y), **given).to_dict()}


def compared_view(session: Session, sample: Sample, other: Sequence[int]) -> dict[str, object]:
    """Rows that the present subset decides otherwise than another one."""
    classes, labels = sample.classes.tolist(), sample.labels.tolist()
    rows, mine = session.held_out()
    _, theirs = session.held_out(list(other))
    one, two = mine.argmax(1), theirs.argmax(1)
    apart = np.flatnonzero(one != two)
    return {
        "n_rows": len(rows),
        "n_apart": len(apart),
        "error": list(session.error()),
        "other_error": list(session.error(list(other))),
        "other": [session.names[j] for j in other],
        "rows": [
            {
                "row": int(sample.rows[rows[i]]),
                "truth": str(classes[labels[rows[i]]]),
                "now": str(classes[one[i]]),
                "before": str(classes[two[i]]),
            }
            for i in apart[:_ROWS]
        ],
    }
