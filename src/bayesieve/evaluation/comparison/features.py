"""How many features a fitted method reads, and which: asked of the method itself."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from sklearn.base import OneToOneFeatureMixin

Feature = int | str

# What speaks as one: a column, or a pair of columns.
_Term = tuple[Feature, ...]


class Told(NamedTuple):
    """What a fitted method tells of its features."""

    number: int  #: features read
    #: which ones, a pair that speaks as one by both names; None where nothing is selected
    selected: tuple[Feature, ...] | None
    terms: int | None  #: terms of its model, where it tells them


def told_features(method: object, n_columns: int) -> Told:
    """Features that a fitted method reads.

    The rule, in this order: ``selected_`` (column numbers or names; or terms, each a tuple of
    columns: a pair is one thing selected, and two features read), ``get_support()``; of a
    pipeline, the last step that has one of them, its columns followed back through the steps before
    it; of a search over parameters, its ``best_estimator_``.  A method that has none of these does
    not select: it reads ``n_features_in_`` columns, or all.

    Parameters
    ----------
    method : fitted.
    n_columns : columns of the table.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.feature_selection import SelectKBest
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from sklearn.pipeline import make_pipeline
    >>> from bayesieve.evaluation.comparison.features import told_features
    >>> X, y = load_iris(return_X_y=True)
    >>> told_features(make_pipeline(SelectKBest(k=2), GaussianNB()).fit(X, y), 4)
    Told(number=2, selected=(2, 3), terms=None)
    """
    method = getattr(method, "best_estimator_", method)
    steps = [step for _, step in getattr(method, "steps", [("", method)]) if _does(step)]
    selected, last = _of_steps(steps), steps[-1]
    terms = getattr(last, "terms_", None)
    n_terms = None if terms is None else len(terms)
    if selected is not None:
        columns = {column for term in selected for column in term}
        return Told(len(columns), tuple(_name(term) for term in selected), n_terms)
    read = getattr(method, "n_features_in_", n_columns)
    return Told(int(read), None, n_terms)


def _does(step: object) -> bool:
    """Is this step of a pipeline more than a place to fill?"""
    return step is not None and step != "passthrough"


def _name(term: _Term) -> Feature:
    """A column as it is, several by all their names."""
    return term[0] if len(term) == 1 else " x ".join(map(str, term))


def _own(step: object) -> list[_Term] | None:
    """The terms that a step tells itself, in the order of the table: mostly columns."""
    if hasattr(step, "best_estimator_"):
        step = step.best_estimator_
    if hasattr(step, "selected_"):
        if any(isinstance(term, tuple) for term in step.selected_):
            return sorted(tuple(int(j) for j in term) for term in step.selected_)
        found = np.asarray(step.selected_)
        if found.dtype == bool:
            found = np.flatnonzero(found)
        if found.dtype.kind in "iu":
            return [(int(j),) for j in np.sort(found)]
        return sorted((str(name),) for name in found)
    if hasattr(step, "get_support"):
        return [(int(j),) for j in np.flatnonzero(step.get_support())]
    return None


def _of_steps(steps: Sequence[object]) -> list[_Term] | None:
    """The terms of the last step that tells, in the words of the first."""
    told = [_own(step) for step in steps]
    last = max((i for i, each in enumerate(told) if each is not None), default=None)
    if last is None:
        return None
    chosen = told[last]
    assert chosen is not None
    for i in reversed(range(last)):
        numbers = sorted({each for term in chosen for each in term if isinstance(each, int)})
        if any(isinstance(each, str) for term in chosen for each in term):
            break  # they have names already
        known, before = told[i], steps[i]
        if known is not None:
            words = {j: known[j][0] for j in numbers}
        elif not isinstance(before, OneToOneFeatureMixin):
            words = dict(zip(numbers, _names_of(before, numbers), strict=True))
        else:
            continue
        chosen = [tuple(words[j] for j in term if isinstance(j, int)) for term in chosen]
    return chosen


def _names_of(step: object, columns: Sequence[int]) -> list[Feature]:
    """Columns that a step has made, by the names it gives them, so that fits can be compared."""
    if not hasattr(step, "get_feature_names_out"):
        return [f"column {j}" for j in columns]
    names = step.get_feature_names_out()
    return [str(names[j]) for j in columns]
