"""A fitted model as plain data that any language can compute with.

Discrete columns are tables of the model's own integers; continuous ones sums of bells.  Whatever
speaks the model elsewhere (a page, a query, a function) is made from this form.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..checks import plain_value
from ..estimators.held import fitted_of
from ..models.fitted import FittedProblem
from ..models.gaussian import DENSITY_BOUND


def portable(model: Any) -> dict[str, Any]:
    """Features, and for each problem (one, or one a label) its classes, prior and terms.

    Returns
    -------
    data : dict
        ``features``: name, model, levels (None: a number), presence, grid.  ``problems``: name
        (None without labels), classes, bits and impossible (integers are in units of 2^-bits nat; a
        log 0 costs `impossible` of them), temperature (what is said is divided by it; decisions
        stay), prior, terms: a table of levels x classes, or the
        components of each class with what bounds them.
    """
    fitted = fitted_of(model)
    names = fitted.labels or (None,)
    return {
        "features": [_feature(spec) for spec in fitted.specs],
        "problems": [
            _problem(name, problem) for name, problem in zip(names, fitted.problems, strict=True)
        ],
    }


def _feature(spec: Any) -> dict[str, Any]:
    numbers = spec.levels is None
    ends = spec.distinct[[0, -1]].tolist() if numbers and spec.distinct.size else None
    return {
        "name": spec.name,
        "model": spec.model,
        "levels": None if numbers else [plain_value(level) for level in spec.levels],
        "presence": spec.presence,
        "grid": spec.grid,
        "range": ends,
    }


def plain_classes(classes: NDArray[Any]) -> list[Any]:
    """The classes as texts, numbers and booleans, the only ones that other languages have too."""
    if classes.dtype.kind in "mM":
        raise ValueError(
            f"y holds classes of the type {classes.dtype}, which cannot be written down; fit on "
            "texts or whole numbers, such as y.astype(str)."
        )
    return [plain_value(value) for value in classes]


def _problem(name: str | None, problem: FittedProblem) -> dict[str, Any]:
    return {
        "name": name,
        "classes": plain_classes(problem.classes),
        "class_count": problem.summary.class_count.tolist(),
        "bits": problem.scale.bits,
        "impossible": problem.scale.impossible,
        "temperature": problem.temperature,
        "prior": problem.fixed_prior.tolist(),
        "terms": [
            _bells(spec, column) if table is None else {"table": table[: spec.n_codes - 1].tolist()}
            for spec, column, table in zip(
                problem.specs, problem.columns, problem.tables, strict=True
            )
        ],
    }


def _bells(spec: Any, column: Any) -> dict[str, Any]:
    """One continuous column."""
    model, settings = column.model, column.settings
    if not hasattr(model, "bells"):
        raise ValueError(
            f"column {spec.name!r} is modelled as {spec.model!r}, which offers no `bells`: it "
            "cannot be written as a sum of bell curves, and speaks in Python only."
        )
    with np.errstate(all="ignore"):  # what is not finite is refused below
        found = model.bells(column.statistics, column.grid, settings)
    classes = [[bells.to_list() for bells in mine] for mine in found]
    bells = [b for mine in found for b in mine]
    numbers = [x for b in bells for x in (b.share, *b.levels, *b.offsets, b.mean, b.sd)]
    if not np.isfinite(numbers).all():
        raise ValueError(
            f"column {spec.name!r} has values too large to be written down; scale it first."
        )
    return {
        "classes": classes,
        "empty": model.empty_term(column.grid, settings),
        "least": model.least_term(settings),
        "bound": DENSITY_BOUND,
    }
