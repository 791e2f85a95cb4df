"""`to_sql`: a model, and its rule, as a SQL query."""

import math
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import TypeAlias, TypeVar

from ..evaluation._typing import Model, Value
from ..models.fitted import WEIGHT_BITS
from .portable import (
    BellTerms,
    PortableFeature,
    PortablePair,
    PortableProblem,
    PortableRule,
    TableTerms,
    portable,
)


def joined(parts: list[str], word: str) -> str:
    """Parts joined pairwise, in brackets: databases limit how deep an expression may be."""
    while len(parts) > 1:
        pairs = zip(parts[::2], parts[1::2], strict=False)
        parts = [f"({a} {word} {b})" for a, b in pairs] + parts[len(parts) // 2 * 2 :]
    return parts[0]


def first_best(values: list[str], answers: list[str]) -> str:
    """The answer that belongs to the largest value, the first of equals."""
    cases = [
        f"WHEN {joined([f'{mine} >= {other}' for other in values[i + 1 :]], 'AND')} "
        f"THEN {answers[i]}"
        for i, mine in enumerate(values[:-1])
    ]
    return f"CASE {' '.join(cases)} ELSE {answers[-1]} END" if cases else answers[0]


def decided(query: str, problem: PortableProblem, answers: list[str]) -> str:
    """The rule's decision, as a query of one value; NULL: ask a person.

    Each stage has a name of its own: no expression is written twice, and none is nested deeply,
    which SQLite would refuse.

    Parameters
    ----------
    query : gives d1, d2 ...: how far each class is ahead of the first, in whole units.
    problem : with a rule.
    answers : the classes as SQL writes them.
    """
    rule, n_classes = problem["rule"], len(answers)
    classes = range(n_classes)
    stages = [query, f"{_names('d', classes[1:])}, CAST(0 AS BIGINT) AS d0"]
    guarded = list(dict.fromkeys(position for position, *_ in rule["guards"]))
    n_decisions = n_classes if rule["costs"] is None else len(rule["costs"][0])
    kept, worth = _names("d", classes), "d"
    if rule["costs"] is not None:
        stages += _costs(problem, kept)
        kept, worth = f"{kept}, {_names('e', range(n_decisions))}", "e"
    if guarded:
        shifted = ", ".join(f"d{k} + {rule['shift'][k]} AS r{k}" for k in classes)
        leads = ", ".join(f"{_lead(c, n_classes)} AS m{c}" for c in guarded)
        stages += [f"{kept}, {shifted}", f"{kept}, {leads}"]
        stages.append(f"{kept}, {_allowed(rule, n_decisions, n_classes)}")
    stages.append(_choice(rule, n_decisions, worth, answers))
    # Materialized: SQLite would put every stage into the next, and compute all of it many times.
    named = [f"s0 AS MATERIALIZED ({query})"]
    named += [
        f"s{i} AS MATERIALIZED (SELECT {stage} FROM s{i - 1})"
        for i, stage in enumerate(stages[1:-1], 1)
    ]
    return f"WITH {', '.join(named)} SELECT {stages[-1]} FROM s{len(stages) - 2}"


def _float(number: float) -> str:
    """With an exponent: DuckDB takes other numbers for decimals, and rounds them twice."""
    text = repr(float(number))
    return text if "e" in text else f"{text}e0"


def _names(letter: str, numbers: Sequence[int]) -> str:
    return ", ".join(f"{letter}{k}" for k in numbers)


def _largest(values: list[str]) -> str:
    return first_best(values, values)


def _lead(c: int, n_classes: int) -> str:
    """How far a class is ahead of the best other."""
    return f"r{c} - ({_largest([f'r{k}' for k in range(n_classes) if k != c])})"


def _costs(problem: PortableProblem, kept: str) -> list[str]:
    """Stages to expected costs, e0, e1 ...: the model's steps, in the model's order."""
    costs, classes = problem["rule"]["costs"] or [], range(len(problem["classes"]))
    best = _largest([f"d{k}" for k in classes])
    unit, far = _float(2.0 ** -problem["bits"]), problem["impossible"] // 2
    weights = []
    for k in classes:
        nat = f"CAST(d{k} - top AS DOUBLE) * {unit} / {_float(problem['temperature'])}"
        weight = f"ROUND(EXP({nat}) * {_float(2.0**WEIGHT_BITS)})"
        if problem["impossible"]:
            weight = f"CASE WHEN top - d{k} >= {far} THEN 0.0 ELSE {weight} END"
        weights.append(f"{weight} AS w{k}")
    sums = []
    for d in range(len(costs[0])):
        # Floats are added from the left, here as in the model; brackets would be too many.
        parts = [f"w{k} * {_float(costs[k][d])}" for k in classes]
        sums.append(f"{' + '.join(['0e0', *parts])} AS e{d}")
    return [
        f"{kept}, {best} AS top",
        f"{kept}, {', '.join(weights)}",
        f"{kept}, {', '.join(sums)}",
    ]


def _allowed(rule: PortableRule, n_decisions: int, n_classes: int) -> str:
    """Whether each decision is allowed: a0, a1 ..., each 1 or 0."""
    found = []
    for d in range(n_decisions):
        against = []
        for position, low, high, or_ask in rule["guards"]:
            if low is not None and d == position:
                against.append(f"m{position} <= {low}")
            if high is not None and d != position and not (or_ask and d == n_classes):
                against.append(f"m{position} >= {high}")
        if against:
            found.append(f"CASE WHEN {joined(against, 'OR')} THEN 0 ELSE 1 END AS a{d}")
        else:
            found.append(f"1 AS a{d}")
    return ", ".join(found)


def _choice(rule: PortableRule, n_decisions: int, worth: str, answers: list[str]) -> str:
    """The least cost, or the largest sum, among the decisions allowed; the first of equals."""
    sign = "<=" if worth == "e" else ">="
    answers = [*answers, "NULL"]
    cases = []
    for d in range(n_decisions):
        beats = [f"{worth}{d} {sign} {worth}{o}" for o in range(n_decisions) if o > d]
        if rule["guards"]:
            beats = [
                f"(a{o} = 0 OR {worth}{d} {sign} {worth}{o})" for o in range(n_decisions) if o > d
            ]
            beats.insert(0, f"a{d} = 1")
        if beats:
            cases.append(f"WHEN {joined(beats, 'AND')} THEN {answers[d]}")
    last = answers[n_decisions - 1]
    return f"CASE {' '.join(cases)} ELSE {last} END"


# -- A model as a SQL query ------------------------------------------------------------------------


Item = TypeVar("Item")

#: What a term says for a class, less what it says for the first, as an expression.
Says: TypeAlias = Callable[[int], str]

_ROW = '"bayesieve_row"'

# The group of a value that says nothing: no cell has a number below 0.
_NOWHERE = -(10**6)

_MOST = repr(1.7976931348623157e308)

# Columns that one query adds up, discrete and continuous ones: DuckDB plans several small queries
# faster than a large one.
_COLUMNS, _NUMBERS = 250, 60

# Results of a query and queries in a union: SQLite allows 2000 and 500.  A table may have some
# columns that its model does not know.
_RESULTS, _UNIONS = 1900, 400


def to_sql(model: Model, table: str = "data", columns: Iterable[str] | None = None) -> str:
    """Export a model as one SQL query that predicts every row of a table.

    Terms of binary and categorical columns are the model's own integers, so that the predictions
    are the model's, ties included; terms of continuous columns are computed in the query (with
    ``exp`` and ``ln``) and rounded to the same integers.  It runs in SQLite and DuckDB, however
    many columns the model has; a table of SQLite itself has at most 2000 columns, as a rule, and so
    has the result of a query.

    Parameters
    ----------
    model : NaiveBayes or NaiveBayesSelector
        Fitted.
    table : str, default="data"
        Name of the table, whose columns are named as the model's.
    columns : list of str, optional
        Columns of the table that stand before the predictions, such as that which names a row; none
        of them: ``()``.  By default all, but where the model was learnt from so many (1900) that
        the result may be too wide for SQLite: then none.

    Returns
    -------
    query : str
        Gives the columns of the table and ``prediction``; with labels, one column a label.  After
        `decide`, the rule's decision: NULL where it asks a person.

    Examples
    --------
    >>> import numpy as np
    >>> from bayesieve import NaiveBayes
    >>> from bayesieve.export import to_sql
    >>> X, y = np.array([[0], [1]] * 5), np.array([0, 1] * 5)
    >>> print(to_sql(NaiveBayes().fit(X, y)))  # doctest: +ELLIPSIS
    SELECT "bayesieve_row".*, (CASE WHEN 0 >= (...) THEN 0 ELSE 1 END) AS "prediction"
    FROM "data" AS "bayesieve_row"
    """
    if not isinstance(table, str) or not table:
        raise ValueError(f"table must be the name of a table; got {table!r}.")
    data = portable(model)
    answers = []
    for problem in data["problems"]:
        name = "prediction" if problem["name"] is None else problem["name"]
        answers.append(f"({_problem(data['features'], problem)}) AS {_identifier(name)}")
    width = max(len(data["features"]), getattr(model, "n_features_in_", 0)) + len(answers)
    shown = ([] if width > _RESULTS else [f"{_ROW}.*"]) if columns is None else _named(columns)
    return f"SELECT {', '.join([*shown, *answers])}\nFROM {_identifier(table)} AS {_ROW}"


def _named(columns: Iterable[str]) -> list[str]:
    names = [columns] if isinstance(columns, str) else list(columns)
    odd = next((name for name in names if not isinstance(name, str) or not name), None)
    if isinstance(columns, str) or odd is not None:
        got = columns if odd is None else odd
        raise ValueError(
            f"columns must be None, or a list of names of the table's columns; got {got!r}. Give "
            "() for none of them."
        )
    return [f"{_ROW}.{_identifier(name)}" for name in names]


def _problem(features: list[PortableFeature], problem: PortableProblem) -> str:
    """One problem as a query of one value: how far each class is ahead of the first, the best."""
    n_classes = len(problem["classes"])
    prior, terms = problem["prior"], problem["terms"]
    columns = [f"{_ROW}.{_identifier(feature['name'])}" for feature in features]
    discrete: list[Says] = [
        partial(_from_table, columns[j], features[j], term)
        for j, term in enumerate(terms)
        if "table" in term
    ]
    discrete += [partial(_from_pair, columns, features, pair) for pair in problem["pairs"]]
    numbers = {j: term for j, term in enumerate(terms) if "table" not in term}
    # Two classes of discrete columns are one sum, which needs no query of its own.
    alone = n_classes == 2 and not numbers and "rule" not in problem
    queries: list[str] = []
    for some in _batches(discrete, max(len(discrete), 1) if alone else _COLUMNS) or [[]]:
        ahead = []
        for k in range(1, n_classes):
            sums = [says(k) for says in some]
            start = 0 if queries else prior[k] - prior[0]
            ahead.append(joined([_whole(start), *sums], "+"))
        queries.append(f"SELECT {', '.join(f'{d} AS d{k}' for k, d in enumerate(ahead, 1))}")
    answers = [_value(each) for each in problem["classes"]]
    if alone:
        return first_best(["0", *ahead], answers)
    for few in _batches(list(numbers), max(min(_NUMBERS, _RESULTS // (n_classes + 1)), 1)):
        parts = [(j, columns[j], features[j], numbers[j]) for j in few]
        queries.append(_numbers(parts, n_classes, problem["bits"]))
    if "rule" in problem:
        return decided(_added(queries, n_classes), problem, answers)
    best = first_best(["0", *(f"d{k}" for k in range(1, n_classes))], answers)
    return f"SELECT {best} FROM ({_added(queries, n_classes)})"


def _batches(items: list[Item], size: int) -> list[list[Item]]:
    return [items[at : at + size] for at in range(0, len(items), size)]


def _added(queries: list[str], n_classes: int) -> str:
    """One query of the sums of many, which have the same columns."""
    if len(queries) == 1:
        return queries[0]
    sums = ", ".join(f"SUM(d{k}) AS d{k}" for k in range(1, n_classes))
    while len(queries) > 1:
        queries = [
            f"SELECT {sums} FROM ({' UNION ALL '.join(some)})"
            for some in _batches(queries, _UNIONS)
        ]
    return queries[0]


def _whole(number: int) -> str:
    """An integer of 64 bits: DuckDB would add two small ones in 32, and overflow."""
    return f"CAST({number} AS BIGINT)"


def _numbers(
    parts: list[tuple[int, str, PortableFeature, BellTerms]], n_classes: int, bits: int
) -> str:
    """Continuous columns: log-probabilities, how far they are lifted, and what they add up to.

    Each stage is a query of its own, so that no expression is written twice.
    """
    classes = range(n_classes)
    names = [f"t{j}_{k}" for j, *_ in parts for k in classes]
    raw = [
        f"{_density(_on_grid(column, feature), term, k)} AS t{j}_{k}"
        for j, column, feature, term in parts
        for k in classes
    ]
    lifts = [
        f"{_lift([f't{j}_{k}' for k in classes], term['bound'])} AS l{j}"
        for j, _, _, term in parts
        if term["least"] is None
    ]
    sums = [
        f"{joined([_rounded(j, k, term, bits, column) for j, column, _, term in parts], '+')} "
        f"AS c{k}"
        for k in classes
    ]
    query = f"SELECT {', '.join(raw)}"
    if lifts:
        query = f"SELECT {', '.join([*names, *lifts])} FROM ({query})"
    ahead = ", ".join(f"c{k} - c0 AS d{k}" for k in classes[1:])
    return f"SELECT {ahead} FROM (SELECT {', '.join(sums)} FROM ({query}))"


def _from_table(column: str, feature: PortableFeature, term: TableTerms, k: int) -> str:
    """What a discrete column says for one class, less what it says for the first."""
    said = [row[k] - row[0] for row in term["table"]]
    missing = term["silent"][k] - term["silent"][0]
    if feature["cuts"] is not None:
        return _by_level(column, feature, said, missing)
    found = _by_level(column, feature, said, 0)
    if missing:
        return f"CASE WHEN {_is_missing(column, feature)} THEN {_whole(missing)} ELSE {found} END"
    return found


def _from_pair(
    columns: list[str], features: list[PortableFeature], pair: PortablePair, k: int
) -> str:
    """What an interaction says for one class: by the number of the cell of its two columns."""
    (a, b), (first, second) = pair["columns"], pair["groups"]
    one = _by_level(columns[a], features[a], first, _NOWHERE)
    two = _by_level(columns[b], features[b], second, _NOWHERE)
    cases = " ".join(
        f"WHEN {cell} THEN {row[k] - row[0]}"
        for cell, row in enumerate(pair["table"])
        if row[k] != row[0]
    )
    if not cases:
        return _whole(0)
    return f"CASE ({one}) * {max(second) + 1} + ({two}) {cases} ELSE {_whole(0)} END"


def _is_missing(column: str, feature: PortableFeature) -> str:
    """Is there no value?  The empty text is none, nor is what is not a number among numbers."""
    texts = isinstance((feature["levels"] or [""])[0], str)
    return f"({column} IS NULL OR LOWER(CAST({column} AS VARCHAR)) = '{'' if texts else 'nan'}')"


def _by_level(column: str, feature: PortableFeature, said: list[int], silent: int) -> str:
    """One number for each level, and one for missing values and others that nobody has seen."""
    other = _whole(silent)
    if feature["presence"]:
        return (
            f"CASE WHEN {column} IS NULL THEN {other} WHEN {column} <> 0 THEN {said[1]} "
            f"ELSE {said[0]} END"
        )
    if feature["cuts"] is not None:
        found = _between(column, feature["cuts"], said) if said else _whole(0)
        return f"CASE WHEN {_is_number(column)} THEN {found} ELSE {other} END"
    cases = " ".join(
        f"WHEN {_value(level)} THEN {each}"
        for level, each in zip(feature["levels"] or (), said, strict=True)
    )
    return f"CASE {column} {cases} ELSE {other} END" if cases else other


def _between(column: str, cuts: list[float], terms: list[int]) -> str:
    """What a number says by the cuts below it: halves of halves, so that few are compared."""
    inner = [i for i in range(len(cuts)) if terms[i] != terms[i + 1]]
    if not inner:
        return _whole(terms[0])
    at = inner[len(inner) // 2]
    low = _between(column, cuts[:at], terms[: at + 1])
    high = _between(column, cuts[at + 1 :], terms[at + 1 :])
    return f"CASE WHEN {column} <= {cuts[at]!r} THEN {low} ELSE {high} END"


def _is_number(column: str) -> str:
    return f"{column} BETWEEN -{_MOST} AND {_MOST}"


def _on_grid(column: str, feature: PortableFeature) -> str:
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


def _density(column: str, term: BellTerms, k: int) -> str:
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


def _lift(nats: list[str], bound: float) -> str:
    """How far all classes move up together where even the best is far below, as in the model."""
    best, low = _largest(nats), repr(-bound / 2)
    return f"CASE WHEN {best} < {low} THEN {low} - ({best}) ELSE 0 END"


def _rounded(j: int, k: int, term: BellTerms, bits: int, column: str) -> str:
    """A term in the model's integers; 0 where the value is missing or no number."""
    nat = f"t{j}_{k}"
    if term["least"] is None:
        lifted, bound = f"({nat} + l{j})", term["bound"]
        nat = (
            f"CASE WHEN {lifted} < {-bound!r} THEN {-bound!r} WHEN {lifted} > {bound!r} "
            f"THEN {bound!r} ELSE {lifted} END"
        )
    return (
        f"CASE WHEN {_is_number(column)} "
        f"THEN CAST(ROUND(({nat}) * {2.0**bits!r}) AS BIGINT) ELSE {_whole(0)} END"
    )


def _identifier(name: str) -> str:
    if "\0" in name:
        raise ValueError(f"a name with a zero character cannot be written in SQL; got {name!r}.")
    return '"' + name.replace('"', '""') + '"'


def _value(value: Value) -> str:
    if isinstance(value, str):
        if "\0" in value:
            raise ValueError(
                f"a text with a zero character cannot be written in SQL; got {value!r}."
            )
        return "'" + value.replace("'", "''") + "'"
    if isinstance(value, bool):
        return "1" if value else "0"
    return repr(int(value) if isinstance(value, float) and value.is_integer() else value)
