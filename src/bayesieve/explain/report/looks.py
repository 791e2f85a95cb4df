"""What a model looks at: each term in sentences, as odds, with what it is worth."""

import math
from itertools import pairwise
from typing import NamedTuple, cast

from ...evaluation.beside import Beside, Worth
from ...evaluation.given import Value
from ..plain import FeatureData, ModelData
from ..words import few_digits, odds_in_words, rate_in_words
from .pairs import classes_of, speaking
from .shape import Looked, Said

# Statements on one term, and evidence below which a stretch of values says nothing, in nat.
_MOST_SAID, _LITTLE = 4, math.log(1.15)


class Told(NamedTuple):
    """What is known of terms beside the model itself."""

    beside: Beside | None
    stories: dict[str, str]
    sentences: dict[str, str]


_KINDS = {
    "bernoulli": "yes/no",
    "categorical": "categories",
    "pair": "two columns together",
    "intervals": "number, in intervals",
}


def looked_at(model: ModelData, told: Told) -> list[Looked]:
    """The terms of a model, the strongest first.

    Parameters
    ----------
    model : what `explain_model` found, as plain data.
    told : worth, stories and sentences, by the names of the terms.
    """
    total = sum(model["class_count"]) or 1.0
    shares = [count / total for count in model["class_count"]]
    names = [each["feature"] for each in model["features"]]
    columns = [each["feature"] for each in model["features"] if each["model"] != "pair"]
    worths: dict[str, Worth] = {}
    if told.beside is not None:
        worths = {" x ".join(columns[j] for j in w.columns): w for w in told.beside.worth}
    terms = speaking(model)
    most = max((max(each["importance"]) for each in terms), default=1.0) or 1.0

    def strength(each: FeatureData) -> float:
        return sum(s * i for s, i in zip(shares, each["importance"], strict=True))

    found = []
    for each in sorted(terms, key=strength, reverse=True):
        name = each["feature"]
        found.append(
            Looked(
                name=name,
                kind=_kind(each),
                sentence=told.sentences.get(name, ""),
                said=said_of(each, model),
                strength=[_factor(nat / model["temperature"]) for nat in each["importance"]],
                shares=[min(nat / most, 1.0) for nat in each["importance"]],
                leaves=_leaves(worths.get(name)),
                substitute=_substitute(worths.get(name)),
                story=told.stories.get(name, ""),
                others=model["stands_for"].get(name, []),
                at=names.index(name),
            )
        )
    return found


def _kind(each: FeatureData) -> str:
    return _KINDS.get(each["model"], "number")


def _factor(nat: float) -> str:
    return f"× {few_digits(math.exp(min(nat, 30.0)))}" if nat < math.log(1e4) else "> × 10 000"


def _leaves(worth: Worth | None) -> str:
    """What would be lost without it."""
    if worth is None:
        return ""
    if worth.loss <= 0 and worth.error <= 0:
        return "nothing: the model is no worse without it"
    rows = f"{rate_in_words(abs(worth.error))} of the rows"
    told = f"another {rows} decided wrongly" if worth.error > 0 else f"{rows} fewer decided wrongly"
    if not worth.error:
        told = "as many rows decided wrongly"
    share = rate_in_words(abs(math.expm1(-worth.loss)))
    return f"{told}; the true class {share} {'less' if worth.loss > 0 else 'more'} probable"


def _substitute(worth: Worth | None) -> str:
    if worth is None:
        return ""
    if worth.substitute is None or worth.loss <= 0:
        return "none needed" if worth.loss <= 0 else "none"
    made_up = 1 - max(worth.substitute_loss, 0.0) / worth.loss
    return f"{worth.substitute} (makes up for {rate_in_words(min(made_up, 1.0))})"


def said_of(each: FeatureData, model: ModelData) -> list[Said]:
    """Stretches of values, each with the class it speaks for most; the weightiest ones.

    Parameters
    ----------
    each : a term.
    model : whose it is.
    """
    rows = [_ahead(terms, model) for terms in each["terms"]]
    counts = [sum(line) for line in each["counts"]] if each["counts"] else [1.0] * len(rows)
    leads = [max(range(len(row)), key=lambda k: row[k]) if row else 0 for row in rows]
    ordered = _ordered(each)
    stretches: list[tuple[int, int]] = []
    for i in range(len(rows)):
        joined = ordered and stretches and leads[stretches[-1][1]] == leads[i]
        if joined and (rows[i][leads[i]] > _LITTLE) == (rows[i - 1][leads[i - 1]] > _LITTLE):
            stretches[-1] = (stretches[-1][0], i)
        else:
            stretches.append((i, i))
    found: list[tuple[float, int, Said]] = []
    for first, last in stretches:
        inside = range(first, last + 1)
        weight = sum(counts[i] for i in inside)
        k = leads[first]
        finite = [(counts[i] or 1e-9, rows[i][k]) for i in inside]
        nat = sum(n * min(x, 40.0) for n, x in finite) / sum(n for n, _ in finite)
        if nat > _LITTLE and (weight or not each["counts"]):
            said = Said(
                when=_when(each, first, last), odds=odds_in_words(nat), position=k, size=nat
            )
            found.append((-nat * max(weight, 1.0) ** 0.5, first, said))
    kept = sorted(found, key=lambda line: line[:2])[:_MOST_SAID]
    return [said for _, _, said in sorted(kept, key=lambda line: line[1])]


def _ahead(terms: list[float], model: ModelData) -> list[float]:
    """How much likelier a value is in each class than in all others together, in nat."""
    counts, found = model["class_count"], []
    for k, mine in enumerate(terms):
        rest = [(counts[o], t) for o, t in enumerate(terms) if o != k]
        total = sum(n for n, _ in rest) or 1.0
        top = max((t for _, t in rest), default=0.0)
        if top == -math.inf:
            found.append(0.0 if mine == -math.inf else 40.0)
            continue
        mean = sum(n / total * math.exp(t - top) for n, t in rest)
        other = top + math.log(mean) if mean > 0 else top - 700
        found.append(max((mine - other) / model["temperature"], -40.0))
    return found


def _ordered(each: FeatureData) -> bool:
    """Do neighbouring values stand beside each other on a scale?"""
    return each["counts"] is None or "cuts" in each["source"]


def _when(each: FeatureData, first: int, last: int) -> str:
    values, n_values = each["values"], len(each["values"])
    if "cuts" in each["source"]:
        return _between(cast(list[float], each["source"]["cuts"]), first, last, n_values)
    if each["counts"] is None:
        points = [cast(float, value) for value in values]
        cuts = [(a + b) / 2 for a, b in pairwise(points)]
        return _between(cuts, first, last, n_values)
    if each["model"] == "bernoulli":
        return yes_or_no(values[first])
    return f"{values[first]:g}" if isinstance(values[first], float) else str(values[first])


def yes_or_no(value: Value) -> str:
    """A value of a binary column.

    Examples
    --------
    >>> from bayesieve.explain.report.looks import yes_or_no
    >>> yes_or_no(1.0), yes_or_no(0.0), yes_or_no("b")
    ('yes', 'no', 'b')
    """
    if isinstance(value, str):
        return value
    return "yes" if value == 1 else "no" if value == 0 else f"{value:g}"


def _between(cuts: list[float], first: int, last: int, n_values: int) -> str:
    if first == 0 and last == n_values - 1:
        return "any value"
    if first == 0:
        return f"up to {cuts[last]:.4g}"
    if last == n_values - 1:
        return f"above {cuts[first - 1]:.4g}"
    return f"{cuts[first - 1]:.4g} to {cuts[last]:.4g}"


def class_words(model: ModelData) -> list[str]:
    """Classes as they stand in sentences."""
    return [str(each) for each in classes_of(model)]
