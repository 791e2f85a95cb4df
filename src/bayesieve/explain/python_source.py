"""A model as a Python function without dependencies."""

import keyword
from collections.abc import Collection, Mapping

from ..evaluation._typing import Model
from .portable import portable

# What no decision needs, but for those of a rule.
_UNUSED = ("class_count", "impossible", "temperature")


def to_python(model: Model, name: str = "predict") -> str:
    """Export a model as the source of a Python function without dependencies.

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
        returns the class, or with labels a mapping of labels to 0 and 1.  After `decide`, what its
        rule decides: None where it asks a person.

    Examples
    --------
    >>> import numpy as np
    >>> from bayesieve import NaiveBayes
    >>> from bayesieve.export import to_python
    >>> X, y = np.array([[0], [1]] * 5), np.array(["no", "yes"] * 5)
    >>> space = {}
    >>> exec(to_python(NaiveBayes().fit(X, y)), space)
    >>> space["predict"]({"x0": 1})
    'yes'
    """
    if not isinstance(name, str) or not name.isidentifier() or keyword.iskeyword(name):
        raise ValueError(f"name must be a Python identifier, and no keyword; got {name!r}.")
    data = portable(model)
    needed = {
        "features": [_without(("model", "range"), feature) for feature in data["features"]],
        "problems": [
            _without(("class_count",) if "rule" in problem else _UNUSED, problem)
            for problem in data["problems"]
        ],
    }
    labelled = data["problems"][0]["name"] is not None
    answer = "found" if labelled else "found[None]"
    ruled = any("rule" in problem for problem in data["problems"])
    choice = "by_rule(sums, problem)" if ruled else _MOST_PROBABLE
    return _PYTHON.format(
        name=name, data=needed, answer=answer, rule=_RULE if ruled else "", choice=choice
    )


def _without(unused: Collection[str], data: Mapping[str, object]) -> dict[str, object]:
    return {key: value for key, value in data.items() if key not in unused}


_MOST_PROBABLE = "max(range(len(sums)), key=lambda k: (sums[k], -k))"

_RULE = '''    def by_rule(sums, problem):
        """What the rule decides: a class, or one more, to ask a person."""
        rule, classes = problem["rule"], range(len(sums))
        read = [a + b for a, b in zip(sums, rule["shift"])]
        lead = [read[k] - max(read[o] for o in classes if o != k) for k in classes]
        worth, top = list(sums), max(sums)
        if rule["costs"] is not None:
            worth = [0.0] * len(rule["costs"][0])
            for k in classes:
                ahead = ldexp(float(sums[k] - top), -problem["bits"]) / problem["temperature"]
                far = problem["impossible"] and top - sums[k] >= problem["impossible"] // 2
                weight = 0.0 if far else float(round(ldexp(exp(ahead), 40)))
                worth = [a - weight * cost for a, cost in zip(worth, rule["costs"][k])]
        allowed = set(range(len(worth)))
        for k, low, high, or_ask in rule["guards"]:
            if low is not None and lead[k] <= low:
                allowed.discard(k)
        for k, low, high, or_ask in rule["guards"]:
            if high is not None and lead[k] >= high:
                allowed &= {k, len(sums)} if or_ask else {k}
        return max(sorted(allowed), key=lambda d: worth[d])

'''

_PYTHON = '''def {name}(row):
    """Predict one row, a mapping of column names to values."""
    from bisect import bisect_left
    from math import exp, inf, ldexp, log
    from operator import index

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

    def plain(text):
        """The number that a text is the plain writing of, or None."""
        if text in ("True", "False"):
            return int(text == "True")
        try:
            number = int(text) if text.lstrip("-").isdecimal() else float(text)
            return number if str(number) == text and abs(number) < inf else None
        except (ValueError, OverflowError):
            return None

    def place(x, levels):
        """Where a value is among levels, texts or numbers; None: nowhere."""
        if isinstance(x, str) and levels and not isinstance(levels[0], str):
            x = plain(x)
        elif not isinstance(x, str):
            try:
                x = index(x)  # whole numbers stay exact
            except TypeError:
                x = float(x)
            if levels and isinstance(levels[0], str):
                same = [at for at, level in enumerate(levels) if plain(level) == x]
                return same[0] if len(same) == 1 else None
        return levels.index(x) if x in levels else None

    def position(x, feature):
        """Which level, or interval between cuts, a value is; None: missing, or never seen."""
        if x is None or x != x or x == "":
            return None
        if feature["levels"] is None:
            return bisect_left(feature["cuts"], x)
        if feature["presence"]:
            x = 1.0 if x != 0 else 0.0
        return place(x, feature["levels"])

    def speak(x, feature, term, n_classes, bits):
        """What one value says about each class, in integers."""
        if "table" in term:
            if x is None or x != x or x == "":
                return term["silent"]
            at = position(x, feature)
            return [0] * n_classes if at is None or not term["table"] else term["table"][at]
        if x is None or x != x or x == "":
            return [0] * n_classes
        if feature["grid"] is not None:
            x = round(x / feature["grid"]) * feature["grid"]
        nats = [density(x, components, term) for components in term["classes"]]
        if term["least"] is None:
            bound = term["bound"]
            lift = max(-bound / 2 - max(nats), 0.0)
            nats = [min(max(each + lift, -bound), bound) for each in nats]
        return [round(ldexp(each, bits)) for each in nats]

{rule}    found = {{}}
    for problem in model["problems"]:
        sums = list(problem["prior"])
        for feature, term in zip(model["features"], problem["terms"]):
            said = speak(row.get(feature["name"]), feature, term, len(sums), problem["bits"])
            sums = [a + b for a, b in zip(sums, said)]
        for pair in problem["pairs"]:
            shown = [model["features"][j] for j in pair["columns"]]
            at = [position(row.get(feature["name"]), feature) for feature in shown]
            if None not in at:
                one, two = (groups[i] for groups, i in zip(pair["groups"], at))
                said = pair["table"][one * (max(pair["groups"][1]) + 1) + two]
                sums = [a + b for a, b in zip(sums, said)]
        best = {choice}
        found[problem["name"]] = (problem["classes"] + [None])[best]
    return {answer}
'''
