"""Models as JSON files: readable, versioned, and unable to run code."""

import json
import os
import re
from dataclasses import replace

import numpy as np
from sklearn.pipeline import Pipeline

from ...checks import check_file, plain_value
from ...data.columns import ColumnSpec
from ...data.files.output import write_text
from ...data.result import plain
from ...data.series import SeriesForm
from ...estimators.base import ChosenColumns
from ...estimators.naive_bayes import BayesFamily, NaiveBayes
from ...estimators.signals import SignalPipeline, follow, warn_of_steps
from ...evaluation._typing import Model
from ...indicators.transformer import Indicators
from ...models.base import (
    SCORE_BITS,
    ColumnTerms,
    Floats,
    Ints,
    ModelSettings,
    PairTerms,
    Scale,
    Terms,
    Weighting,
)
from ...models.columns import Summary, grid_of, spoken_tables
from ...models.counts import check_smoothing, log_shares_of
from ...models.fitted import DecisionRule, FittedBayes, FittedProblem, Guard, Promise
from ...models.gaussian import Mixtures, Moments, WideVariance, plain_squares, plain_variances
from ...models.log_ratios import (
    CONSTANT_STEP,
    column_ratios,
    pair_ratios,
    rising,
    weigh,
)
from ...models.registry import MODELS
from ..portable import plain_classes
from .check import FileData, check_model_data, model_schema

__all__ = ["load_model", "model_from_dict", "model_schema", "model_to_dict", "save_model"]

FORMAT, VERSION = "bayesieve-model", 1

# What readers of earlier versions would leave out: temperature, grids, weights and pairs, priors of
# a place, rules for decisions, corrections.
_CALIBRATED, _GRIDDED, _WEIGHTED, _PLACED, _DECIDED, _CORRECTED = 2, 3, 4, 5, 6, 7


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
    numbers = r"\[\s+([-\d.eE+]+(?:,\s+[-\d.eE+]+)*)\s+\]"
    text = re.sub(numbers, lambda found: f"[{' '.join(found[1].split())}]", text)
    write_text(path, text + "\n")


def _beyond(data: FileData) -> str:
    """The first column whose numbers overflowed."""
    for part in data["models"]:
        for feature, statistics in zip(data["features"], part["statistics"], strict=True):
            if not all(np.isfinite(np.array(each, float)).all() for each in statistics.values()):
                return str(feature["name"])
    return "?"


def load_model(path: str | os.PathLike[str]) -> NaiveBayes | SignalPipeline:
    """Load a model from a JSON file; predictions are bit-identical to the saved model's.

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


def model_to_dict(model: Model | Pipeline) -> FileData:
    """A fitted model as plain data, which the schema describes.

    Examples
    --------
    >>> import numpy as np
    >>> from bayesieve import NaiveBayes
    >>> from bayesieve.explain.modelfile.file import model_to_dict
    >>> model_to_dict(NaiveBayes().fit(np.array([[0], [1]] * 5), [0, 1] * 5))["features"]
    [{'name': 'x0', 'model': 'bernoulli', 'levels': [0.0, 1.0], 'presence': False}]
    """
    if isinstance(model, SignalPipeline):
        signals = {"recipe": model.recipe(), "form": model.form_}
        return {**model_to_dict(model.estimator), "signals": signals}
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
    weightings = [each.weighting for each in fitted.problems if each.weighting is not None]
    asked = {
        VERSION: True,
        _CALIBRATED: any(problem.temperature != 1 for problem in fitted.problems),
        _GRIDDED: any(spec.on_grid for spec in fitted.specs),
        _WEIGHTED: bool(weightings),
        _PLACED: any(problem.place is not None for problem in fitted.problems)
        or any(weighting.priors is not None for weighting in weightings),
        _DECIDED: fitted.usual is not None
        or any(each.rule is not None for each in fitted.problems),
        _CORRECTED: any(
            each.corrections or any(pair.correction is not None for pair in each.pairs)
            for each in weightings
        ),
    }
    found: FileData = {
        "format": FORMAT,
        "version": max(version for version, needed in asked.items() if needed),
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
    if data.get("version") not in range(VERSION, _CORRECTED + 1):
        raise ValueError(
            f"the file has version {str(data.get('version'))[:20]}, this bayesieve reads version "
            f"{VERSION} ({_CALIBRATED}, of calibrated models; {_GRIDDED}, of numbers on a grid; "
            f"{_WEIGHTED}, of weighted ones; {_PLACED}, of those for a place of use; "
            f"{_DECIDED}, of those with a rule for decisions; {_CORRECTED}, of corrected terms). "
            "Update bayesieve, or save the model again."
        )
    try:
        file = check_model_data(data)
    except ValueError as error:
        raise ValueError(f"this is not a model file: {error}") from error
    parameters = dict(file["parameters"])
    if parameters["features"] is None:
        parameters["features"] = {j: f["model"] for j, f in enumerate(file["features"])}
    specs = [_spec(feature) for feature in file["features"]]
    model = NaiveBayes(**parameters)
    # Numbers without sense must not become a model: no overflow, no NaN.
    with np.errstate(over="raise", invalid="raise"):
        problems = [_with_choices(_rebuild(model.family(), specs, p), p) for p in file["models"]]
    usual = tuple(file["usual"]) if "usual" in file else None
    model.hold(FittedBayes(tuple(problems), tuple(file["labels"]), usual))
    model.family().check()
    model.n_features_in_ = len(specs)
    if "log" in file:
        model.log_ = file["log"]
    if file["named"]:
        model.feature_names_in_ = np.array([spec.name for spec in specs], dtype=object)
    if "signals" not in file:
        return model
    recipe, form = file["signals"]["recipe"], file["signals"]["form"]
    steps = [("indicators", Indicators.from_recipe(recipe)), ("estimator", model)]
    found = SignalPipeline(steps)
    found.form_ = None if form is None else SeriesForm.from_dict(form).to_dict()
    return found


def _parameters(model: NaiveBayes) -> FileData:
    """The constructor's parameters; a mapping of features is told by the features themselves."""
    found = dict(model.get_params())
    if not isinstance(found["features"], str):
        found["features"] = None
    if found["priors"] is not None and not isinstance(found["priors"], str):
        found["priors"] = np.asarray(found["priors"], float).tolist()
    return {key: plain_value(value) for key, value in found.items()}


def _feature(spec: ColumnSpec) -> FileData:
    found: FileData = {"name": spec.name, "model": spec.model}
    levels = None if spec.levels is None else spec.levels.tolist()
    if levels is not None and spec.cuts is None:
        return {**found, "levels": levels, "presence": spec.presence}
    if spec.cuts is not None:
        found |= {"cuts": spec.cuts.tolist(), "medians": levels}
    values = [] if spec.distinct is None else spec.distinct.tolist()
    found |= {"range": values[:1] + values[-1:], "n_distinct": spec.n_distinct}
    return found if spec.cuts is not None else {**found, "grid": spec.grid}


def _spec(feature: FileData) -> ColumnSpec:
    name, model = feature["name"], feature["model"]
    if "levels" in feature:
        text = any(isinstance(level, str) for level in feature["levels"])
        levels = np.array(feature["levels"], dtype=object if text else np.float64)
        return ColumnSpec(name, model, levels=levels, presence=feature["presence"])
    return ColumnSpec(
        name,
        model,
        levels=np.array(feature["medians"], np.float64) if "medians" in feature else None,
        distinct=np.array(feature["range"], dtype=np.float64),
        n_distinct=feature["n_distinct"],
        grid=feature.get("grid"),
        cuts=np.array(feature["cuts"], np.float64) if "cuts" in feature else None,
    )


def _problem(problem: FittedProblem, var_smoothing: float | None) -> FileData:
    """What one problem learnt: counts, moments, and the terms of discrete columns for readers."""
    summary, scale, odd = problem.summary, problem.scale, problem.prior.impossible
    settings = problem.columns[0].settings if problem.columns else None
    means = None if settings is None or settings.binary_mean is None else settings.binary_mean
    if isinstance(problem.extra_variance, WideVariance):
        raise ValueError(
            f"var_smoothing={var_smoothing} of the largest variance is too large or too "
            "small to be written down; scale the columns first."
        )
    place = {} if problem.place is None else {"deployment_priors": [*problem.place]}
    found: FileData = {
        "classes": plain_classes(problem.classes),
        "class_count": summary.class_count.tolist(),
        "class_weight": summary.class_weight.tolist(),
        "prior": {
            "finite": problem.prior.finite.tolist(),
            "impossible": None if odd is None else odd.tolist(),
        },
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
        found["weighting"] = _weighting(problem.weighting)
    if problem.rule is not None:
        found["rule"] = plain(problem.rule)
    return found


def _weighting(weighting: Weighting) -> FileData:
    more: FileData = {} if weighting.priors is None else {"priors": [*weighting.priors]}
    if weighting.corrections:
        tables = [None if each is None else each.tolist() for each in weighting.corrections]
        more["corrections"] = tables
    return {
        "weights": weighting.weights.tolist(),
        "pairs": [
            {
                "columns": list(pair.columns),
                "groups": [part.tolist() for part in pair.groups],
                "counts": pair.counts.tolist(),
                "weights": pair.weights.tolist(),
                **({} if pair.correction is None else {"correction": pair.correction.tolist()}),
            }
            for pair in weighting.pairs
        ],
        "missing": weighting.speaks,
        "monotone": [[j, sign] for j, sign in weighting.monotone],
        **more,
    }


def _with_choices(problem: FittedProblem, data: FileData) -> FittedProblem:
    """The problem with the priors of its place of use, and its rule for decisions."""
    if "deployment_priors" in data:
        problem = replace(problem, place=tuple(data["deployment_priors"]))
    problem.scale.fix(problem.spoken_prior)
    if "rule" not in data:
        return problem
    given = data["rule"]
    costs = given["costs"]
    rule = DecisionRule(
        None if costs is None else tuple(map(tuple, costs)),
        tuple(Guard(**guard) for guard in given["guards"]),
        tuple(given["prior"]),
        tuple(Promise(**promise) for promise in given["promises"]),
        given["rows"],
    )
    return replace(problem, rule=rule)


def _rebuild(family: BayesFamily, specs: list[ColumnSpec], data: FileData) -> FittedProblem:
    smoothing = check_smoothing(family.smoothing)
    classes, counts = np.array(data["classes"]), np.array(data["class_count"], float)
    class_weight = np.array(data["class_weight"], float)
    statistics = tuple(_statistics_of(found) for found in data["statistics"])
    temperature = float(data.get("temperature", 1.0))  # older files have none
    odd = data["prior"]["impossible"]
    prior = Terms(
        np.array(data["prior"]["finite"], float), None if odd is None else np.array(odd, bool)
    )
    summary = Summary(classes, counts, class_weight, tuple(specs), statistics)
    if "weighting" in data:
        return _rebuild_weighted(summary, smoothing, prior, temperature, data["weighting"])
    means, extra = data["binary_mean"], data["extra_variance"]
    given = data["scale"]
    scale = Scale(int(given["bits"]), int(given["impossible"]), float(given["bound"]))
    known = None if means is None else np.array(means, float)
    settings = ModelSettings(
        smoothing, extra, class_weight, known, scale.bits, family.silent_constants
    )
    columns = [
        ColumnTerms(MODELS[spec.model], found, grid_of(spec), settings)
        for spec, found in zip(specs, statistics, strict=True)
    ]
    terms = spoken_tables(specs, columns)
    tables = tuple(None if table is None else scale.fix(table)[0] for table in terms)
    found = FittedProblem(summary, tuple(columns), tables, prior, scale, extra, temperature)
    scale.fix(prior)
    return found


def _rebuild_weighted(
    summary: Summary,
    smoothing: float | str,
    prior: Terms,
    temperature: float,
    data: FileData,
) -> FittedProblem:
    """The weighted model of what was counted."""
    ratios = column_ratios(summary, smoothing, None, data["missing"])
    shares = log_shares_of(summary.class_count * summary.class_weight)
    signs = tuple((j, sign) for j, sign in data["monotone"])
    for j, sign in signs:
        ratios[j] = rising(ratios[j], summary.statistics[j][0], shares, sign)
    pairs = []
    for pair in data["pairs"]:
        counts = np.array(pair["counts"], float)
        first, second = pair["columns"]
        cells = pair_ratios(counts, summary, (first, second)).table[:-1].reshape(counts.shape)
        one, two = (np.array(part, np.int64) for part in pair["groups"])
        line, correction = np.array(pair["weights"], np.int64), _table(pair.get("correction"))
        pairs.append(PairTerms((first, second), (one, two), counts, cells, line, correction))
    weights = np.array(data["weights"], np.int64).reshape(-1, summary.class_count.size)
    priors = tuple(data["priors"]) if "priors" in data else None
    corrections = tuple(map(_table, data.get("corrections", ())))
    weighting = Weighting(weights, tuple(pairs), data["missing"], signs, priors, corrections)
    steps = np.ldexp(prior.finite[0], SCORE_BITS) / CONSTANT_STEP
    constants = np.rint(steps).astype(np.int64)
    found = weigh(summary, ratios, constants, weighting, smoothing, temperature)
    # The constants of a card are whole points, and no steps.
    return replace(found, prior=prior)


def _table(numbers: object) -> Ints | None:
    return None if numbers is None else np.array(numbers, np.int64)


def _statistics(found: object) -> FileData:
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


def _statistics_of(data: FileData) -> Floats | Moments | Mixtures:
    if "counts" in data:
        return np.array(data["counts"], float)
    kind: type[Mixtures] | type[Moments] = Mixtures if "share" in data else Moments
    return kind(*(np.array(data[name], float) for name in kind._fields if name in data))
