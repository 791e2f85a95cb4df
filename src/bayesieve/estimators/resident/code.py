"""The Python code and the command line that give what a session has come to."""

import inspect
import shlex
from collections.abc import Sequence
from numbers import Real

from sklearn.base import BaseEstimator

from ..naive_bayes import NaiveBayes
from ..selector import NaiveBayesSelector
from .state import Entry

_PLAIN = (type(None), bool, int, float, str)


def selector_code(
    selector: NaiveBayesSelector, log: Sequence[Entry] = (), given: Sequence[str] = ()
) -> str:
    """Python that fits a selector of these parameters to ``X`` and ``y``.

    Parameters
    ----------
    selector : its parameters must be plain values, ours, or scikit-learn's splitters.
    log : what was decided, told in comments.
    given : what `fit` takes beside, by name: "groups", "sample_weight".

    Examples
    --------
    >>> from bayesieve import NaiveBayesSelector
    >>> from bayesieve.estimators.resident.code import selector_code
    >>> print(selector_code(NaiveBayesSelector(search="forward", n_jobs=2)))
    from bayesieve import NaiveBayesSelector
    <BLANKLINE>
    selector = NaiveBayesSelector(
        search='forward',
        n_jobs=2,
    ).fit(X, y)
    """
    imports: dict[str, None] = {"from bayesieve import NaiveBayesSelector": None}
    lines = []
    for name, value in _changed(selector).items():
        lines.append(f"    {name}={_written(name, value, imports)},")
    told = [f"# {_line(entry)}" for entry in log]
    fit = "".join(f", {name}={name}" for name in given)
    body = ["selector = NaiveBayesSelector(", *lines, f").fit(X, y{fit})"]
    return "\n".join([*imports, "", *told, *body])


def _changed(estimator: BaseEstimator) -> dict[str, object]:
    """Parameters that are not as by default."""
    usual = {
        name: each.default
        for name, each in inspect.signature(type(estimator).__init__).parameters.items()
    }
    found = estimator.get_params(deep=False)
    return {
        name: found[name]
        for name in usual
        if name in found and repr(found[name]) != repr(usual[name])
    }


def _written(name: str, value: object, imports: dict[str, None]) -> str:
    """A value as code."""
    if isinstance(value, _PLAIN):
        return repr(value)
    if isinstance(value, list | tuple):
        parts = [_written(name, each, imports) for each in value]
        inside = ", ".join(parts) + ("," if isinstance(value, tuple) and len(parts) == 1 else "")
        return f"[{inside}]" if isinstance(value, list) else f"({inside})"
    if isinstance(value, dict):
        pairs = [(_written(name, k, imports), _written(name, v, imports)) for k, v in value.items()]
        return "{" + ", ".join(f"{k}: {v}" for k, v in pairs) + "}"
    if type(value) is NaiveBayes:
        imports["from bayesieve import NaiveBayes"] = None
        settings = [f"{k}={_written(k, v, imports)}" for k, v in _changed(value).items()]
        return f"NaiveBayes({', '.join(settings)})"
    if type(value).__module__.startswith("sklearn.model_selection"):
        imports[f"from sklearn.model_selection import {type(value).__name__}"] = None
        return " ".join(repr(value).split())
    raise ValueError(
        f"{name} cannot be written as code: it is a {type(value).__name__}. Give a name, a number, "
        "a list, or a splitter of scikit-learn."
    )


def _line(entry: Entry) -> str:
    """One entry of the log in one line."""
    names = ", ".join(repr(name) for name in entry["columns"])
    note = " ".join(entry["note"].split())
    parts = (entry["time"], entry["action"], names, note and f"({note!a})")
    # A log may come from a file that somebody else wrote: nothing of it may begin a line.
    return " ".join(" ".join(parts).split())


def command_of(
    selector: NaiveBayesSelector, names: list[str], data: str, target: str, out: str
) -> str:
    """The command line that selects the same columns of a file."""
    options = ["bayesieve", "select", data, f"--target={target}", f"--out={out}"]
    options += [f"--search={selector.search}", f"--n-features={selector.n_features}"]
    for key in selector.keep:
        options.append(f"--keep={key if isinstance(key, str) else names[key]}")
    if not isinstance(selector.random_state, int):
        raise ValueError("the command line takes whole numbers for random_state.")
    options.append(f"--seed={selector.random_state}")
    plain = {"criterion": selector.criterion, "cv": selector.cv}
    for name, value in plain.items():
        if not isinstance(value, str | int):
            raise ValueError(f"the command line takes {name} by name or number; got {value!r}.")
        if value != "auto":
            options.append(f"--{name}={value}")
    if isinstance(selector.validation, Real):
        options.append(f"--validation={selector.validation}")
    elif selector.validation not in (None, "auto"):
        raise ValueError("the command line takes a share of the rows for validation.")
    options += _model_options(selector)
    return " ".join(shlex.quote(option) for option in options)


def _model_options(selector: NaiveBayesSelector) -> list[str]:
    model = NaiveBayes() if selector.estimator is None else selector.estimator
    if type(model) is not NaiveBayes or set(_changed(model)) - {"features"}:
        raise ValueError("the command line has no options for this estimator; use the Python code.")
    if not isinstance(model.features, str):
        raise ValueError("the command line has one feature model for all columns; use the code.")
    found = [] if model.features == "auto" else [f"--model={model.features}"]
    weights = selector.class_weight
    if weights is not None and weights != "balanced":
        raise ValueError("the command line takes class_weight='balanced'; use the Python code.")
    if selector.reweigh != "auto":
        raise ValueError("the command line decides itself on reweigh; use the Python code.")
    return found + ([] if weights is None else ["--class-weight=balanced"])
