"""A model as code that runs elsewhere: a SQL query, or a Python function without dependencies."""

from typing import Any

from .classifier import NaiveBayes
from .selector import NaiveBayesSelector
from .validation import plain_value


def to_sql(model: Any, table: str = "data") -> str:
    """The model as one SQL query that predicts every row of a table.

    Terms are the model's own integers, so that the predictions are the model's, ties included.  It
    runs in SQLite and DuckDB.

    Parameters
    ----------
    model : NaiveBayes or NaiveBayesSelector
        Fitted on binary or categorical columns.
    table : str, default="data"
        Name of the table, whose columns are named as the model's.

    Returns
    -------
    query : str
        Gives all columns of the table and ``prediction``; with labels, one column a label.

    Examples
    --------
    >>> import numpy as np
    >>> from bayesieve import NaiveBayes, to_sql
    >>> X, y = np.array([[0], [1]] * 5), np.array([0, 1] * 5)
    >>> print(to_sql(NaiveBayes().fit(X, y)))  # doctest: +ELLIPSIS
    SELECT *, CASE WHEN ... END AS "prediction"
    FROM "data"
    """
    model = _discrete(model)
    columns = [_identifier(spec.name) for spec in model._specs]
    parts = []
    for name, part in _problems(model):
        sums = [_sum(part, k, columns) for k in range(len(part.classes_))]
        parts.append(f"{_choice(part, sums)} AS {_identifier(name)}")
    return f"SELECT *, {', '.join(parts)}\nFROM {_identifier(table)}"


def to_python(model: Any, name: str = "predict") -> str:
    """The model as the source of a Python function that needs no library.

    Parameters
    ----------
    model : NaiveBayes or NaiveBayesSelector
        Fitted on binary or categorical columns.
    name : str, default="predict"
        Name of the function.

    Returns
    -------
    source : str
        A function of one row, a mapping of column names to values (None or absent: missing); it
        returns the class, or with labels a mapping of labels to 0 and 1.

    Examples
    --------
    >>> import numpy as np
    >>> from bayesieve import NaiveBayes, to_python
    >>> X, y = np.array([[0], [1]] * 5), np.array(["no", "yes"] * 5)
    >>> space = {}
    >>> exec(to_python(NaiveBayes().fit(X, y)), space)
    >>> space["predict"]({"x0": 1})
    'yes'
    """
    model = _discrete(model)
    if not name.isidentifier():
        raise ValueError(f"name must be a Python identifier; got {name!r}.")
    problems = []
    for label, part in _problems(model):
        prior = part._scale.fix(part._prior)[0].tolist()
        features = []
        for spec, fixed in zip(part._specs, part._fixed, strict=True):
            terms = [
                [level, row]
                for level, row in zip(spec.levels.tolist(), fixed.tolist(), strict=False)
            ]
            features.append([spec.name, spec.presence, terms])
        classes = [plain_value(value) for value in part.classes_]
        problems.append([label, classes, prior, features])
    return f'''def {name}(row):
    """Predict one row, a mapping of column names to values."""
    problems = {problems!r}
    found = {{}}
    for label, classes, sums, features in problems:
        sums = list(sums)
        for column, presence, terms in features:
            value = row.get(column)
            if value is None or value != value:
                continue
            if presence:
                value = 1.0 if value != 0 else 0.0
            for level, each in terms:
                if level == value and isinstance(level, str) == isinstance(value, str):
                    sums = [a + b for a, b in zip(sums, each)]
        found[label] = classes[max(range(len(sums)), key=lambda k: (sums[k], -k))]
    return found if {bool(model._parts)!r} else found["prediction"]
'''


def _discrete(model: Any) -> Any:
    if isinstance(model, NaiveBayesSelector):
        model = model.estimator_
    if not isinstance(model, NaiveBayes) or not hasattr(model, "_specs"):
        raise TypeError(
            f"model must be a fitted NaiveBayes or a selector of one; got {type(model).__name__}."
        )
    odd = [spec for spec in model._specs if spec.levels is None]
    if odd:
        raise ValueError(
            f"column {odd[0].name!r} is modelled as {odd[0].model!r}; only binary and categorical "
            "columns become tables of integers. Cut continuous columns into bins first."
        )
    return model


def _problems(model: Any) -> list[tuple[str, Any]]:
    if model._parts:
        return list(zip(model.label_names_, model._parts, strict=True))
    return [("prediction", model)]


def _sum(part: Any, k: int, columns: list[str]) -> str:
    """The score of class k as an expression of integers."""
    terms = [str(int(part._scale.fix(part._prior)[0, k]))]
    for column, spec, fixed in zip(columns, part._specs, part._fixed, strict=True):
        if spec.presence:
            zero, one = int(fixed[0, k]), int(fixed[1, k])
            terms.append(
                f"CASE WHEN {column} IS NULL THEN 0 WHEN {column} <> 0 THEN {one} ELSE {zero} END"
            )
            continue
        cases = " ".join(
            f"WHEN {_value(level)} THEN {int(fixed[c, k])}" for c, level in enumerate(spec.levels)
        )
        terms.append(f"CASE {column} {cases} ELSE 0 END" if cases else "0")
    return "(" + " + ".join(f"({term})" for term in terms) + ")"


def _choice(part: Any, sums: list[str]) -> str:
    """The class with the largest sum, the first of equals."""
    cases = []
    for k, mine in enumerate(sums[:-1]):
        ahead = [f"{mine} >= {other}" for other in sums[k + 1 :]]
        cases.append(f"WHEN {' AND '.join(ahead)} THEN {_value(part.classes_[k])}")
    return f"CASE {' '.join(cases)} ELSE {_value(part.classes_[-1])} END"


def _identifier(name: str) -> str:
    if "\0" in name:
        raise ValueError(f"a name with a zero character cannot be written in SQL; got {name!r}.")
    return '"' + name.replace('"', '""') + '"'


def _value(value: Any) -> str:
    value = plain_value(value)
    if isinstance(value, str):
        if "\0" in value:
            raise ValueError(
                f"a text with a zero character cannot be written in SQL; got {value!r}."
            )
        return "'" + value.replace("'", "''") + "'"
    if isinstance(value, bool):
        return "1" if value else "0"
    return repr(int(value) if isinstance(value, float) and value.is_integer() else value)
