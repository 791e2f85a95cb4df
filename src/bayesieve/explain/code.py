"""A model as code that runs elsewhere: a SQL query, or a Python function without dependencies."""

import math
from typing import Any

from .portable import portable

_ROW = '"bayesieve_row"'

# What no decision needs.
_UNUSED = ("class_count", "impossible", "temperature")

_MOST = repr(1.7976931348623157e308)


def to_sql(model: Any, table: str = "data") -> str:
    """The model as one SQL query that predicts every row of a table.

    Terms of binary and categorical columns are the model's own integers, so that the predictions
    are the model's, ties included; terms of continuous columns are computed in the query (with
    ``exp`` and ``ln``) and rounded to the same integers.  It runs in SQLite and DuckDB.

    Parameters
    ----------
    model : NaiveBayes or NaiveBayesSelector
        Fitted.
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
    SELECT "bayesieve_row".*, (SELECT CASE WHEN s0 >= s1 THEN 0 ELSE 1 END FROM (...)) AS ...
    FROM "data" AS "bayesieve_row"
    """
    data = portable(model)
    answers = []
    for problem in data["problems"]:
        name = "prediction" if problem["name"] is None else problem["name"]
        answers.append(f"({_problem(data['features'], problem)}) AS {_identifier(name)}")
    return f"SELECT {_ROW}.*, {', '.join(answers)}\nFROM {_identifier(table)} AS {_ROW}"


def to_python(model: Any, name: str = "predict") -> str:
    """The model as the source of a Python function that needs no library.

    Parameters
    ----------
    model : NaiveBayes or NaiveBayesSelector
        Fitted.
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
    if not name.isidentifier():
        raise ValueError(f"name must be a Python identifier; got {name!r}.")
    data = portable(model)
    for part, unused in (("features", ["model", "range"]), ("problems", _UNUSED)):
        data[part] = [{k: v for k, v in each.items() if k not in unused} for each in data[part]]
    labelled = data["problems"][0]["name"] is not None
    answer = "found" if labelled else "found[None]"
    return _PYTHON.format(name=name, data=data, answer=answer)


_PYTHON = '''def {name}(row):
    """Predict one row, a mapping of column names to values."""
    from math import exp, inf, ldexp, log

    model = {data!r}

    def density(x, components, term):
        """Log-probability of x in one class."""
        if not components:
            return term["empty"]
        total = []
        for share, levels, offsets, mean, sd in components:
            apart = [(x - mean) / sd + offset for offset in offsets]
            logs = [a - z * z / 2 for a, z in zip(levels, apart)]
            top = max(logs)
            if top > -inf:
                top += log(sum(exp(each - top) for each in logs))
            if term["least"] is not None:
                top = max(top, term["least"])
            total.append(share + max(top, -1e300))
        top = max(total)
        return top + log(sum(exp(each - top) for each in total))

    def speak(x, feature, term, n_classes, bits):
        """What one value says about each class, in integers."""
        nothing = [0] * n_classes
        if x is None or x != x or x == "":
            return nothing
        if feature["levels"] is not None:
            if feature["presence"]:
                x = 1.0 if x != 0 else 0.0
            for level, each in zip(feature["levels"], term["table"]):
                if level == x and isinstance(level, str) == isinstance(x, str):
                    return each
            return nothing
        if feature["grid"] is not None:
            x = round(x / feature["grid"]) * feature["grid"]
        nats = [density(x, components, term) for components in term["classes"]]
        if term["least"] is None:
            bound = term["bound"]
            lift = max(-bound / 2 - max(nats), 0.0)
            nats = [min(max(each + lift, -bound), bound) for each in nats]
        return [round(ldexp(each, bits)) for each in nats]

    found = {{}}
    for problem in model["problems"]:
        sums = list(problem["prior"])
        for feature, term in zip(model["features"], problem["terms"]):
            said = speak(row.get(feature["name"]), feature, term, len(sums), problem["bits"])
            sums = [a + b for a, b in zip(sums, said)]
        best = max(range(len(sums)), key=lambda k: (sums[k], -k))
        found[problem["name"]] = problem["classes"][best]
    return {answer}
'''


def _problem(features: list[dict[str, Any]], problem: dict[str, Any]) -> str:
    """One problem as a query of one value: terms, their sums, the largest."""
    classes = range(len(problem["classes"]))
    raw, sums = [], [[str(prior)] for prior in problem["prior"]]
    for j, (feature, term) in enumerate(zip(features, problem["terms"], strict=True)):
        column = f"{_ROW}.{_identifier(feature['name'])}"
        for k in classes:
            if "table" in term:
                sums[k].append(_from_table(column, feature, [row[k] for row in term["table"]]))
            else:
                raw.append(f"{_density(_on_grid(column, feature), term, k)} AS t{j}_{k}")
                sums[k].append(_rounded(j, k, classes, term, problem["bits"], column))
    inner = f" FROM (SELECT {', '.join(raw)})" if raw else ""
    totals = ", ".join(f"{' + '.join(f'({t})' for t in sums[k])} AS s{k}" for k in classes)
    cases = [
        f"WHEN {' AND '.join(f's{k} >= s{other}' for other in classes[k + 1 :])} "
        f"THEN {_value(problem['classes'][k])}"
        for k in classes[:-1]
    ]
    last = _value(problem["classes"][-1])
    return f"SELECT CASE {' '.join(cases)} ELSE {last} END FROM (SELECT {totals}{inner})"


def _from_table(column: str, feature: dict[str, Any], terms: list[int]) -> str:
    """The term of a discrete column for one class."""
    if feature["presence"]:
        return (
            f"CASE WHEN {column} IS NULL THEN 0 WHEN {column} <> 0 THEN {terms[1]} "
            f"ELSE {terms[0]} END"
        )
    cases = " ".join(
        f"WHEN {_value(level)} THEN {term}"
        for level, term in zip(feature["levels"], terms, strict=True)
    )
    return f"CASE {column} {cases} ELSE 0 END" if cases else "0"


def _on_grid(column: str, feature: dict[str, Any]) -> str:
    """The number, rounded as the model rounds: a half goes to the even multiple."""
    grid = feature["grid"]
    if grid is None:
        return column
    steps = f"({column} / {grid!r})"
    # ROUND takes halves away from zero; the double of half the steps, rounded, is even.
    nearest = (
        f"CASE WHEN ABS({steps} - ROUND({steps})) = 0.5 THEN ROUND({steps} / 2) * 2 "
        f"ELSE ROUND({steps}) END"
    )
    return f"(({nearest}) * {grid!r})"


def _density(column: str, term: dict[str, Any], k: int) -> str:
    """Log-probability of a number in one class."""
    components = term["classes"][k]
    if not components:
        return repr(term["empty"])
    if term["least"] is None and len(components) == 1:
        share, (level,), (offset,), mean, sd = components[0]
        return _above(f"{share + level!r} - {_square(column, mean, sd, offset)}")
    parts = []
    for share, levels, offsets, mean, sd in components:
        bells = " + ".join(
            f"exp({share + level!r} - {_square(column, mean, sd, offset)})"
            for level, offset in zip(levels, offsets, strict=True)
        )
        if term["least"] is None:
            parts.append(bells)
            continue
        least = repr(math.exp(share + term["least"]))
        parts.append(f"CASE WHEN {bells} > {least} THEN {bells} ELSE {least} END")
    total = " + ".join(f"({part})" for part in parts)
    if term["least"] is not None:
        return f"ln({total})"
    # Far from every component all bells underflow; the nearest of them then speaks alone.
    far = [
        _above(f"{share + level!r} - {_square(column, mean, sd, offset)}")
        for share, levels, offsets, mean, sd in components
        for level, offset in zip(levels, offsets, strict=True)
    ]
    return f"CASE WHEN {total} > 1e-290 THEN ln({total}) ELSE {_largest(far)} END"


def _above(nat: str) -> str:
    """A square that overflowed is very much, as in the model: infinity less infinity is nothing."""
    return f"(CASE WHEN {nat} > -1e300 THEN {nat} ELSE -1e300 END)"


def _square(column: str, mean: float, sd: float, offset: float) -> str:
    apart = f"({column} - {mean!r}) / {sd!r} + {offset!r}"
    return f"({apart}) * ({apart}) / 2"


def _largest(values: list[str]) -> str:
    cases = [
        f"WHEN {' AND '.join(f'{mine} >= {other}' for other in values[i + 1 :])} THEN {mine}"
        for i, mine in enumerate(values[:-1])
    ]
    return f"CASE {' '.join(cases)} ELSE {values[-1]} END" if cases else values[0]


def _rounded(j: int, k: int, classes: range, term: dict[str, Any], bits: int, column: str) -> str:
    """A term in the model's integers; 0 where the value is missing or no number."""
    nat = f"t{j}_{k}"
    if term["least"] is None:
        # As in the model: where even the best class is far below, all move up together.
        best, bound = _largest([f"t{j}_{other}" for other in classes]), term["bound"]
        lifted = (
            f"({nat} + CASE WHEN {best} < {-bound / 2!r} THEN {-bound / 2!r} - ({best}) ELSE 0 END)"
        )
        nat = f"CASE WHEN {lifted} < {-bound!r} THEN {-bound!r} ELSE {lifted} END"
        nat = f"CASE WHEN {nat} > {bound!r} THEN {bound!r} ELSE {nat} END"
    return (
        f"CASE WHEN {column} BETWEEN -{_MOST} AND {_MOST} "
        f"THEN CAST(ROUND(({nat}) * {2.0**bits!r}) AS BIGINT) ELSE 0 END"
    )


def _identifier(name: str) -> str:
    if "\0" in name:
        raise ValueError(f"a name with a zero character cannot be written in SQL; got {name!r}.")
    return '"' + name.replace('"', '""') + '"'


def _value(value: Any) -> str:
    if isinstance(value, str):
        if "\0" in value:
            raise ValueError(
                f"a text with a zero character cannot be written in SQL; got {value!r}."
            )
        return "'" + value.replace("'", "''") + "'"
    if isinstance(value, bool):
        return "1" if value else "0"
    return repr(int(value) if isinstance(value, float) and value.is_integer() else value)
