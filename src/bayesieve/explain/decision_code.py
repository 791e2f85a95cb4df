"""A rule for decisions as SQL."""

from collections.abc import Sequence

from ..models.decisions import WEIGHT_BITS
from .portable import PortableProblem, PortableRule


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
