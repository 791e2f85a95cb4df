"""Models as JSON files: readable, versioned, and unable to run code."""

import json
import os
import re
from dataclasses import replace
from importlib.resources import files
from typing import TypedDict, cast

import numpy as np
from sklearn.pipeline import Pipeline

from ...checks import check_file, plain_value
from ...data.columns import ColumnSpec
from ...data.files.atomic import write_text
from ...estimators.base import ChosenColumns
from ...estimators.naive_bayes import NaiveBayes
from ...estimators.signals import SignalPipeline, follow, warn_of_steps
from ...evaluation._typing import Model
from ...models.base import ColumnTerms, Floats, Scale, Settings, Terms
from ...models.columns import Summary, grid_of, spoken_tables
from ...models.fitted import FittedBayes, FittedProblem
from ...models.gaussian import Mixtures, Moments, WideVariance, plain_squares, plain_variances
from ...models.registry import MODELS
from ..portable import plain_classes
from .check import (
    Feature,
    ModelFile,
    Parameters,
    ProblemData,
    Schema,
    StatisticsData,
    TermsData,
    check_model_data,
    rebuild_signals,
    rebuild_weighted,
    rule_data,
    signals_data,
    weighting_data,
    with_rules,
)

__all__ = ["load_model", "model_from_dict", "model_schema", "model_to_dict", "save_model"]


FORMAT, VERSION = "bayesieve-model", 1


# What readers of earlier versions would leave out: temperature, grids, weights and pairs, priors of
# a place, rules for decisions.
_CALIBRATED, _GRIDDED, _WEIGHTED, _PLACED, _DECIDED = 2, 3, 4, 5, 6


def save_model(model: Model | Pipeline, path: str | os.PathLike[str]) -> None:
    """Write a fitted model to a JSON file.

    Parameters
    ----------
    model : NaiveBayes, NaiveBayesSelector, WeightedNaiveBayes or what `signals` gives
        Fitted; of a selector, the model on the chosen columns is written; of `signals` also how
        these columns are made of series.
        Of a Pipeline that ends in one, the last step, its columns named as the steps before it name
        them; a warning says which steps are not in the file.
    path : path
        Written in one go: a failure leaves no half file.

    Examples
    --------
    >>> import tempfile, os
    >>> import numpy as np
    >>> from bayesieve import NaiveBayes, load_model, save_model
    >>> X, y = np.array([[0], [1]] * 5), np.array([0, 1] * 5)
    >>> model = NaiveBayes().fit(X, y)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save_model(model, os.path.join(folder, "model.json"))
    ...     again = load_model(os.path.join(folder, "model.json"))
    >>> (again.predict_proba(X) == model.predict_proba(X)).all()
    np.True_
    """
    warn_of_steps(model)
    data = model_to_dict(model)
    try:
        text = json.dumps(data, indent=1, allow_nan=False)
    except ValueError as error:
        raise ValueError(
            f"column {_beyond(data)!r} has values too large or too small to be written down; scale "
            "it first."
        ) from error
    # Numbers side by side: a file that people read.  Texts hold no line break in JSON.
    text = re.sub(r"\[\s+([-\d.eE+]+(?:,\s+[-\d.eE+]+)*)\s+\]", _one_line, text)
    write_text(path, text + "\n")


def _beyond(data: ModelFile) -> str:
    """The first column whose numbers overflowed."""
    for part in data["models"]:
        for feature, statistics in zip(data["features"], part["statistics"], strict=True):
            if not all(np.isfinite(np.array(each, float)).all() for each in statistics.values()):
                return str(feature["name"])
    return "?"


def _one_line(match: re.Match[str]) -> str:
    return "[" + ", ".join(part.strip() for part in match[1].split(",")) + "]"


def model_schema() -> Schema:
    """The JSON schema (draft 2020-12) of model files.

    Returns
    -------
    schema : dict

    Examples
    --------
    >>> from bayesieve.explain.modelfile.file import model_schema
    >>> model_schema()["properties"]["format"]
    {'const': 'bayesieve-model'}
    """
    text = (files(__package__) / "model.schema.json").read_text(encoding="utf-8")
    return cast(Schema, json.loads(text))


def load_model(path: str | os.PathLike[str]) -> NaiveBayes | SignalPipeline:
    """Read a model from a JSON file; it predicts to the bit as the one that was saved.

    Parameters
    ----------
    path : path

    Returns
    -------
    model : NaiveBayes or SignalPipeline
        The latter where what `signals` gives was saved.  Scores that somebody wrote must be
        registered again first.

    Examples
    --------
    >>> import os, tempfile
    >>> import numpy as np
    >>> from bayesieve import NaiveBayes, load_model, save_model
    >>> model = NaiveBayes().fit(np.array([[0], [1]] * 5), ["out", "in"] * 5)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save_model(model, os.path.join(folder, "model.json"))
    ...     again = load_model(os.path.join(folder, "model.json"))
    >>> again.predict([[1]])
    array(['in'], dtype='<U3')
    """
    text = check_file("path", path).read_text(encoding="utf-8")
    try:
        return model_from_dict(json.loads(text))
    except RecursionError as error:
        raise ValueError(f"{path} is not a model file: it is nested too deeply.") from error
    except (KeyError, IndexError, TypeError, AttributeError, ArithmeticError) as error:
        raise ValueError(f"{path} is not a model file: {type(error).__name__}: {error}.") from error
    except json.JSONDecodeError as error:
        raise ValueError(f"{path} is not a model file: {error}.") from error
    except ValueError as error:
        if "integer string conversion" in str(error):
            raise ValueError(f"{path} is not a model file: it has a huge number.") from error
        raise ValueError(f"{path}: {error}") from error


def model_to_dict(model: Model | Pipeline) -> ModelFile:
    """A fitted model as plain data.

    Examples
    --------
    >>> import numpy as np
    >>> from bayesieve import NaiveBayes
    >>> from bayesieve.explain.modelfile.file import model_to_dict
    >>> model_to_dict(NaiveBayes().fit(np.array([[0], [1]] * 5), [0, 1] * 5))["features"]
    [{'name': 'x0', 'model': 'bernoulli', 'levels': [0.0, 1.0], 'presence': False}]
    """
    if isinstance(model, SignalPipeline):
        return {**model_to_dict(model.estimator), "signals": signals_data(model)}
    model, _ = follow(model)
    if isinstance(model, ChosenColumns):
        model = model.estimator_
    if not isinstance(model, NaiveBayes):
        raise TypeError(
            f"model must be a NaiveBayes or a selector of one; got {type(model).__name__}."
        )
    if not hasattr(model, "fitted_"):
        raise ValueError("the model must be fitted before it is saved.")
    fitted = model.fitted_
    version = VERSION
    if any(problem.temperature != 1 for problem in fitted.problems):
        version = _CALIBRATED
    if any(spec.on_grid for spec in fitted.specs):
        version = _GRIDDED
    if any(problem.weighting is not None for problem in fitted.problems):
        version = _WEIGHTED
    if any(_knows_priors(problem) for problem in fitted.problems):
        version = _PLACED
    if fitted.usual is not None or any(problem.rule is not None for problem in fitted.problems):
        version = _DECIDED
    found: ModelFile = {
        "format": FORMAT,
        "version": version,
        "parameters": _parameters(model),
        "named": hasattr(model, "feature_names_in_"),
        "features": [_feature(spec) for spec in fitted.specs],
        "labels": list(fitted.labels),
        "models": [_problem(problem, model.var_smoothing) for problem in fitted.problems],
    }
    if fitted.usual is not None:
        found["usual"] = list(fitted.usual)
    if getattr(model, "log_", None):
        found["log"] = list(model.log_)  # what an expert decided in a session, and why
    return found


def model_from_dict(data: object) -> NaiveBayes | SignalPipeline:
    """A fitted model from plain data; nothing in it is run.

    Examples
    --------
    >>> import numpy as np
    >>> from bayesieve import NaiveBayes
    >>> from bayesieve.explain.modelfile.file import model_from_dict, model_to_dict
    >>> model = NaiveBayes().fit(np.array([[0], [1]] * 5), [0, 1] * 5)
    >>> model_from_dict(model_to_dict(model)).predict([[1], [0]])
    array([1, 0])
    """
    if not isinstance(data, dict) or data.get("format") != FORMAT:
        raise ValueError(f"expected a file whose 'format' is {FORMAT!r}; this is none of ours.")
    if data.get("version") not in range(VERSION, _DECIDED + 1):
        raise ValueError(
            f"the file has version {str(data.get('version'))[:20]}, this bayesieve reads version "
            f"{VERSION} ({_CALIBRATED}, of calibrated models; {_GRIDDED}, of numbers on a grid; "
            f"{_WEIGHTED}, of weighted ones; {_PLACED}, of those for a place of use; "
            f"{_DECIDED}, of those with a rule for decisions). Update bayesieve, or save the model "
            "again."
        )
    try:
        file = check_model_data(data, model_schema())
    except ValueError as error:
        raise ValueError(f"this is not a model file: {error}") from error
    parameters: dict[str, object] = dict(file["parameters"])
    if parameters["features"] is None:
        parameters["features"] = {j: f["model"] for j, f in enumerate(file["features"])}
    specs = [_spec(feature) for feature in file["features"]]
    model = NaiveBayes(**cast(_Named, parameters))
    # Numbers without sense must not become a model: no overflow, no NaN.
    with np.errstate(over="raise", invalid="raise"):
        problems = [
            _placed(_rebuild(model.smoothing, specs, part), part) for part in file["models"]
        ]
    model.hold(with_rules(FittedBayes(tuple(problems), tuple(file["labels"])), file))
    model.family().check()
    model.n_features_in_ = len(specs)
    if "log" in file:
        model.log_ = file["log"]
    if file["named"]:
        model.feature_names_in_ = np.array([spec.name for spec in specs], dtype=object)
    return rebuild_signals(model, file["signals"]) if "signals" in file else model


def _knows_priors(problem: FittedProblem) -> bool:
    weighting = problem.weighting
    return problem.place is not None or (weighting is not None and weighting.priors is not None)


class _Place(TypedDict, total=False):
    """What a file holds of a model that is used elsewhere."""

    deployment_priors: list[float]


class _Named(TypedDict):
    """Parameters of `NaiveBayes`, every feature model named."""

    features: str | dict[int, str]
    smoothing: float | str
    priors: str | list[float] | None
    var_smoothing: float | None
    rounded: bool


def _parameters(model: NaiveBayes) -> Parameters:
    """The constructor's parameters; a mapping of features is told by the features themselves."""
    found = dict(model.get_params())
    if not isinstance(found["features"], str):
        found["features"] = None
    if found["priors"] is not None and not isinstance(found["priors"], str):
        found["priors"] = np.asarray(found["priors"], float).tolist()
    return cast(Parameters, {key: plain_value(value) for key, value in found.items()})


def _feature(spec: ColumnSpec) -> Feature:
    ends = (
        [] if spec.distinct is None or not spec.distinct.size else spec.distinct[[0, -1]].tolist()
    )
    if spec.cuts is not None:
        assert spec.levels is not None
        return {
            "name": spec.name,
            "model": spec.model,
            "cuts": spec.cuts.tolist(),
            "medians": spec.levels.tolist(),
            "range": ends,
            "n_distinct": spec.n_distinct,
        }
    if spec.levels is not None:
        return {
            "name": spec.name,
            "model": spec.model,
            "levels": spec.levels.tolist(),
            "presence": spec.presence,
        }
    return {
        "name": spec.name,
        "model": spec.model,
        "range": ends,
        "n_distinct": spec.n_distinct,
        "grid": spec.grid,
    }


def _spec(feature: Feature) -> ColumnSpec:
    if feature["model"] not in MODELS:
        raise ValueError(f"unknown feature model {feature['model']!r} of {feature['name']!r}.")
    name, model = str(feature["name"]), feature["model"]
    if "levels" in feature:
        levels = feature["levels"]
        text = any(isinstance(level, str) for level in levels)
        array = np.array(levels, dtype=object if text else np.float64)
        return ColumnSpec(name, model, levels=array, presence=bool(feature["presence"]))
    distinct = np.array(feature["range"], dtype=np.float64)
    if "cuts" in feature:
        return ColumnSpec(
            name,
            model,
            levels=np.array(feature["medians"], np.float64),
            distinct=distinct,
            n_distinct=int(feature["n_distinct"]),
            cuts=np.array(feature["cuts"], np.float64),
        )
    return ColumnSpec(
        name, model, distinct=distinct, n_distinct=int(feature["n_distinct"]), grid=feature["grid"]
    )


def _problem(problem: FittedProblem, var_smoothing: float | None) -> ProblemData:
    """What one problem learnt: counts, moments, and the terms of discrete columns for readers."""
    summary, scale = problem.summary, problem.scale
    settings = problem.columns[0].settings if problem.columns else None
    means = None if settings is None or settings.binary_mean is None else settings.binary_mean
    if isinstance(problem.extra_variance, WideVariance):
        raise ValueError(
            f"var_smoothing={var_smoothing} of the largest variance is too large or too "
            "small to be written down; scale the columns first."
        )
    place: _Place = {} if problem.place is None else {"deployment_priors": [*problem.place]}
    found: ProblemData = {
        "classes": plain_classes(problem.classes),
        "class_count": summary.class_count.tolist(),
        "class_weight": summary.class_weight.tolist(),
        "prior": _terms(problem.prior),
        "extra_variance": problem.extra_variance,
        "temperature": problem.temperature,
        **place,
        "binary_mean": None if means is None else means.tolist(),
        "scale": {
            "bits": scale.bits,
            "impossible": str(scale.impossible),
            "bound": scale.bound,
        },
        "statistics": [_statistics(found) for found in summary.statistics],
        "terms": [
            None if table is None else np.ldexp(table.astype(float), -scale.bits).tolist()
            for table in problem.tables
        ],
    }
    if problem.weighting is not None:
        found["weighting"] = weighting_data(problem.weighting)
    if problem.rule is not None:
        found["rule"] = rule_data(problem.rule)
    return found


def _placed(problem: FittedProblem, data: ProblemData) -> FittedProblem:
    """The same where it is used."""
    there = data.get("deployment_priors")
    found = problem if there is None else replace(problem, place=tuple(there))
    found.scale.fix(found.spoken_prior)
    return found


def _rebuild(smoothing: float | str, specs: list[ColumnSpec], data: ProblemData) -> FittedProblem:
    classes, counts = np.array(data["classes"]), np.array(data["class_count"], float)
    class_weight = np.array(data["class_weight"], float)
    if len(classes) < 2 or counts.shape != (len(classes),):
        raise ValueError("a model needs at least two classes, and a count for each.")
    statistics = tuple(
        _statistics_of(spec, found, len(classes))
        for spec, found in zip(specs, data["statistics"], strict=True)
    )
    temperature = float(data.get("temperature", 1.0))  # older files have none
    if not 0 < temperature < np.inf:
        raise ValueError(f"a temperature must be positive; got {data['temperature']!r}.")
    odd = data["prior"]["impossible"]
    prior = Terms(
        np.array(data["prior"]["finite"], float), None if odd is None else np.array(odd, bool)
    )
    summary = Summary(classes, counts, class_weight, tuple(specs), statistics)
    if "weighting" in data:
        return rebuild_weighted(summary, smoothing, prior, temperature, data["weighting"])
    means, extra = data["binary_mean"], data["extra_variance"]
    given = data["scale"]
    scale = Scale(int(given["bits"]), int(given["impossible"]), float(given["bound"]))
    known = None if means is None else np.array(means, float)
    settings = Settings(smoothing, extra, class_weight, known, scale.bits)
    columns = [
        ColumnTerms(MODELS[spec.model], found, grid_of(spec), settings)
        for spec, found in zip(specs, statistics, strict=True)
    ]
    terms = spoken_tables(specs, columns)
    tables = tuple(None if table is None else scale.fix(table)[0] for table in terms)
    found = FittedProblem(summary, tuple(columns), tables, prior, scale, extra, temperature)
    scale.fix(prior)
    return found


def _terms(terms: Terms) -> TermsData:
    odd = terms.impossible
    return {"finite": terms.finite.tolist(), "impossible": None if odd is None else odd.tolist()}


def _statistics(found: object) -> StatisticsData:
    if isinstance(found, Moments | Mixtures):
        plain = found._replace(squares=plain_squares(found))
        if isinstance(plain, Mixtures):
            plain = plain._replace(variance=plain_variances(plain))
        names = [name for name in found._fields if not name.endswith("power")]
        return {name: getattr(plain, name).tolist() for name in names}
    if not isinstance(found, np.ndarray):
        raise ValueError(
            "a model file holds counts, moments and mixtures; got statistics of the type "
            f"{type(found).__name__}."
        )
    return {"counts": found.tolist()}


def _statistics_of(
    spec: ColumnSpec, data: StatisticsData, n_classes: int
) -> Floats | Moments | Mixtures:
    kind: type[Mixtures] | type[Moments] = Mixtures if "share" in data else Moments
    if "counts" in data:
        counts: Floats = np.array(data["counts"], float)
        if counts.shape != (1, spec.n_codes, n_classes):
            raise ValueError(f"the counts of {spec.name!r} do not fit its levels and classes.")
        return counts
    found = kind(*(np.array(data[name], float) for name in kind._fields if name in data))
    if found.weight.shape != (1, n_classes):
        raise ValueError(f"the moments of {spec.name!r} do not fit the classes.")
    return found
