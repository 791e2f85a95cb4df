"""The only place that judges user input."""

import difflib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import (
    _check_sample_weight,
    _num_samples,
    column_or_1d,
    validate_data,
)

from .models import MODELS

_BINARY = (0.0, 1.0)
# Beyond as many repeated rows, exact sums would lose the ninth digit of a score.
_MOST_WEIGHT = 2**31
_CLASS_WEIGHTS = (1e-9, 1e9)


@dataclass(frozen=True)
class RawTable:
    """Columns of float64 (NaN is missing) or of texts (None is missing)."""

    columns: Sequence[NDArray[Any]] | NDArray[Any]
    names: list[str]
    n_rows: int

    def column(self, j: int) -> NDArray[Any]:
        """One column; numbers as float64."""
        column = self.columns[:, j] if isinstance(self.columns, np.ndarray) else self.columns[j]
        if column.dtype == object:
            return column
        return np.ascontiguousarray(column, dtype=np.float64)

    def pick(self, columns: NDArray[np.int64]) -> "RawTable":
        """Some columns only."""
        names = [self.names[j] for j in columns]
        if isinstance(self.columns, np.ndarray):
            return RawTable(self.columns[:, columns], names, self.n_rows)
        return RawTable([self.columns[j] for j in columns], names, self.n_rows)

    def take(self, rows: NDArray[np.int64]) -> "RawTable":
        """Some rows only."""
        if isinstance(self.columns, np.ndarray):
            return RawTable(self.columns[rows], self.names, rows.size)
        return RawTable([column[rows] for column in self.columns], self.names, rows.size)


def read_table(estimator: Any, X: Any, *, reset: bool) -> RawTable:
    """Check X as scikit-learn does (names, width, finiteness) and give its columns."""
    if is_frame(X):
        return _read_frame(estimator, X, reset)
    if isinstance(X, list | tuple) and np.asarray(X).dtype.kind in "US":
        # numpy would turn the numbers among texts into texts.
        X = np.array(X, dtype=object)
    X = validate_data(
        estimator,
        X,
        reset=reset,
        dtype=None,
        ensure_all_finite="allow-nan",
    )
    names = _names(estimator, X.shape[1])
    if X.dtype.kind in "fiub":
        return RawTable(X, names, X.shape[0])
    if X.dtype.kind not in "OUT":
        raise TypeError(f"X: allowed are numbers, booleans and text; got an array of {X.dtype}.")
    columns = [_object_column(name, X[:, j].astype(object)) for j, name in enumerate(names)]
    return RawTable(columns, names, X.shape[0])


def read_target(y: Any, n_rows: int) -> tuple[NDArray[Any], NDArray[np.int64]]:
    """Classes, and the class index of every row."""
    if y is None:
        raise ValueError(
            "y is needed (requires y to be passed, but the target y is None): give one class a row."
        )
    y = column_or_1d(y, warn=True)
    if len(y) != n_rows:
        raise ValueError(f"y has {len(y)} values, but X has {n_rows} rows; give one class a row.")
    if y.dtype.kind in "fc" and not np.isfinite(y).all():
        raise ValueError("Input y contains NaN or infinity; drop or repair these rows first.")
    if y.dtype == object and any(v is None or _is_nan(v) for v in y.tolist()):
        raise ValueError("Input y contains NaN (missing classes); drop these rows first.")
    try:
        check_classification_targets(y)
        classes, labels = np.unique(y, return_inverse=True)
    except TypeError as error:
        kinds = sorted({type(value).__name__ for value in y.tolist()})
        raise TypeError(
            f"y must hold classes of one kind, all text or all numbers; got {', '.join(kinds)}."
        ) from error
    return classes, labels.astype(np.int64).ravel()


def check_several_classes(classes: NDArray[Any]) -> None:
    """A classifier needs a choice."""
    if len(classes) < 2:
        raise ValueError(
            f"y must hold at least 2 classes; got 1 class ({classes[0]!r}) where "
            "sample_weight is positive. Nothing can be told apart."
        )


def read_weights(sample_weight: Any, X: RawTable, *, whole: bool = False) -> NDArray[np.float64]:
    """One weight a row, none negative, not all zero; integers where `whole`."""
    if sample_weight is not None and not np.any(np.asarray(sample_weight)):
        raise ValueError("sample_weight must not be all zero: no row is left.")
    weights = _check_sample_weight(
        sample_weight, np.empty((X.n_rows, 1)), dtype=np.float64, copy=True
    )
    if (weights < 0).any():
        raise ValueError(
            f"sample_weight must not be negative; got {weights.min():g} at row "
            f"{int(weights.argmin())}. A weight says how many rows a row stands for."
        )
    most = _MOST_WEIGHT if whole else np.finfo(float).max
    with np.errstate(over="ignore"):
        total = float(weights.sum())
    if total > most:
        raise ValueError(
            f"sample_weight must not add up to more than {most:g}; got {total:g}. Divide all "
            "weights by a common number."
        )
    if whole and (weights != np.rint(weights)).any():
        first = int(np.flatnonzero(weights != np.rint(weights))[0])
        raise ValueError(
            f"sample_weight must be whole numbers here (how often a row is repeated); got "
            f"{weights[first]:g} at row {first}. Use class_weight for the balance between classes."
        )
    return weights


def choose(name: str, value: Any, allowed: Iterable[str]) -> str:
    """A name among the allowed ones, or an error that names the nearest."""
    allowed = list(allowed)
    if isinstance(value, str) and value in allowed:
        return value
    listed = ", ".join(repr(option) for option in allowed)
    near = difflib.get_close_matches(value, allowed, 1, 0.4) if isinstance(value, str) else []
    hint = f" Did you mean {near[0]!r}?" if near else ""
    error = ValueError if isinstance(value, str) else TypeError
    raise error(f"{name} must be one of {listed}; got {value!r}.{hint}")


def check_number(
    name: str, value: Any, *, low: float, high: float = np.inf, whole: bool = False
) -> Any:
    """A number within bounds."""
    kind = Integral if whole else Real
    what = f"a{' whole' if whole else ''} number"
    span = f"from {low:g}" + ("" if high == np.inf else f" to {high:g}")
    if not isinstance(value, kind) or isinstance(value, bool):
        raise TypeError(f"{name} must be {what} {span}; got {value!r}.")
    number = float(value)
    if not low <= number <= high:
        raise ValueError(f"{name} must be {what} {span}; got {value!r}.")
    return value


def check_jobs(n_jobs: Any) -> None:
    """None, or a whole number that is not 0."""
    if n_jobs is not None and (not isinstance(n_jobs, Integral) or isinstance(n_jobs, bool)):
        raise TypeError(f"n_jobs must be None or a whole number; got {n_jobs!r}.")
    if n_jobs == 0:
        raise ValueError("n_jobs must not be 0; use a number of threads, or -1 for all cores.")


def check_flag(name: str, value: Any) -> bool:
    """True or False."""
    if not isinstance(value, bool | np.bool_):
        raise TypeError(f"{name} must be True or False; got {value!r}.")
    return bool(value)


def choose_models(features: Any, X: RawTable) -> list[str]:
    """The feature model of every column, from "auto", a name, or a mapping of columns to names."""
    n_columns = len(X.names)
    if isinstance(features, str):
        choose("features", features, ["auto", *MODELS])
        asked = [features] * n_columns
    elif isinstance(features, Mapping):
        asked = ["auto"] * n_columns
        for key, model in features.items():
            choose(f"features[{key!r}]", model, ["auto", *MODELS])
            for j in column_indices(f"features key {key!r}", [key], X.names):
                asked[j] = model
    else:
        raise TypeError(
            "features must be 'auto', the name of a feature model, or a mapping of column names or "
            f"numbers to such names; got {type(features).__name__}."
        )
    return [_model_of(X.column(j), X.names[j], asked[j]) for j in range(n_columns)]


def check_batch(model: str, raw: NDArray[Any], name: str, levels: Any = None) -> None:
    """A later batch must fit the model, and the kind of levels, its column got from the first."""
    _model_of(raw, name, model)
    if levels is not None and levels.size and (raw.dtype == object) != (levels.dtype == object):
        kinds = ("text", "numbers") if levels.dtype == object else ("numbers", "text")
        raise ValueError(f"column {name!r} held {kinds[0]} in the first batch; got {kinds[1]}.")


def column_indices(parameter: str, keys: Any, names: list[str]) -> list[int]:
    """Column numbers from names or numbers."""
    if isinstance(keys, str) or not isinstance(keys, Iterable):
        raise TypeError(
            f"{parameter} must be a list of column names or numbers; got {keys!r}. "
            "Wrap a single one in a list."
        )
    found = []
    for key in keys:
        if isinstance(key, str):
            if key not in names:
                near = difflib.get_close_matches(key, names, 1, 0.4)
                hint = f" Did you mean {near[0]!r}?" if near else ""
                raise ValueError(f"{parameter}: {key!r} is not among the columns of X.{hint}")
            found.append(names.index(key))
        elif isinstance(key, Integral) and not isinstance(key, bool):
            if not 0 <= int(key) < len(names):
                raise ValueError(
                    f"{parameter}: column {int(key)} is not among the columns of X; allowed are 0 "
                    f"to {len(names) - 1}."
                )
            found.append(int(key))
        else:
            raise TypeError(f"{parameter} must hold column names or numbers; got {key!r}.")
    return found


def read_groups(groups: Any, names: list[str]) -> list[list[int]]:
    """Columns that move together; every column not named is a group of its own."""
    if groups is None:
        return [[j] for j in range(len(names))]
    if isinstance(groups, str | Mapping) or not isinstance(groups, Iterable):
        raise TypeError(
            f"feature_groups must be a list of lists of column names or numbers; got {groups!r}."
        )
    owner: dict[int, int] = {}
    members = []
    for g, group in enumerate(groups):
        columns = sorted(column_indices(f"feature_groups[{g}]", group, names))
        if not columns:
            raise ValueError(f"feature_groups[{g}] is empty; leave it out.")
        for j in columns:
            if j in owner:
                raise ValueError(
                    f"feature_groups must not overlap; column {names[j]!r} is in group "
                    f"{owner[j]} and in group {g}."
                )
            owner[j] = g
        members.append(columns)
    members.extend([j] for j in range(len(names)) if j not in owner)
    return sorted(members)


def read_split_groups(groups: Any, X: Any) -> NDArray[Any] | None:
    """Groups for a splitter, one a row of X."""
    if groups is None:
        return None
    groups = column_or_1d(groups)
    n_rows = _num_samples(X)
    if len(groups) != n_rows:
        raise ValueError(f"groups has {len(groups)} values, but X has {n_rows} rows.")
    return groups


def check_class_weight(class_weight: Any, classes: NDArray[Any]) -> dict[int, float] | str | None:
    """None, "balanced", or a mapping of classes to positive numbers (as class indices)."""
    if class_weight is None or (isinstance(class_weight, str) and class_weight == "balanced"):
        return class_weight
    if isinstance(class_weight, str):
        choose("class_weight", class_weight, ["balanced"])
    if not isinstance(class_weight, Mapping):
        raise TypeError(
            "class_weight must be None, 'balanced' or a mapping of classes to weights; got "
            f"{type(class_weight).__name__}."
        )
    known = {value: k for k, value in enumerate(classes.tolist())}
    weights = {}
    for key, value in class_weight.items():
        if key not in known:
            raise ValueError(
                f"class_weight names class {key!r}; allowed are {', '.join(map(repr, known))}."
            )
        low, high = _CLASS_WEIGHTS
        if not isinstance(value, Real) or not low <= float(value) <= high:
            raise ValueError(
                f"class_weight[{key!r}] must be a positive number from {low:g} to {high:g}; got "
                f"{value!r}."
            )
        weights[known[key]] = float(value)
    return weights


def check_priors(priors: Any, n_classes: int) -> str | NDArray[np.float64] | None:
    """None, "uniform", or one probability a class."""
    if priors is None:
        return None
    if isinstance(priors, str):
        return choose("priors", priors, ["uniform"])
    try:
        given = np.asarray(priors, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise TypeError(
            f"priors must be None, 'uniform' or one number for each class; got {priors!r}."
        ) from error
    if given.shape != (n_classes,):
        raise ValueError(
            f"priors must hold one number for each of the {n_classes} classes; got shape "
            f"{given.shape}."
        )
    if not np.isfinite(given).all() or (given < 0).any() or not np.isclose(given.sum(), 1.0):
        raise ValueError(
            f"priors must be probabilities that sum to 1; got {given.tolist()}, sum "
            f"{given.sum():g}."
        )
    return given


def check_smoothing(smoothing: Any) -> float | str:
    """A pseudo-count >= 0, or "mean"."""
    if isinstance(smoothing, str):
        return choose("smoothing", smoothing, ["mean"])
    return float(check_number("smoothing", smoothing, low=0.0, high=1e12))


def check_reachable(size: int, units: list[list[int]], keep: list[int]) -> None:
    """Some of the groups must add up to the number of columns asked for."""
    sums = 1 << sum(len(units[u]) for u in keep)
    for u, members in enumerate(units):
        if u not in keep:
            sums |= sums << len(members)
    if not sums >> size & 1:
        raise ValueError(
            f"n_features={size} cannot be reached: no choice of feature_groups (with keep) adds up "
            "to it. Change n_features, or use max_features."
        )


def check_search(search: Any, known: Mapping[str, Any], n_features: Any) -> Any:
    """A search by name, or an object with `steps`."""
    if not hasattr(search, "steps") or isinstance(search, type):
        search = known[choose("search", search, known)]
    for field in ("direction", "first"):
        if hasattr(search, field):
            choose(f"search.{field}", getattr(search, field), ["forward", "backward"])
    if hasattr(search, "stop"):
        choose("search.stop", search.stop, ["end", "no-improvement"])
        if search.stop == "no-improvement" and n_features is not None:
            raise ValueError(
                "search.stop='no-improvement' may end before n_features is reached; use stop='end' "
                "or max_features."
            )
    return search


def _model_of(raw: NDArray[Any], name: str, asked: str) -> str:
    """The model asked for if the column allows it; for "auto", the one that suits it."""
    text = raw.dtype == object
    binary = not text and bool(((raw == 0) | (raw == 1) | np.isnan(raw)).all())
    if asked == "auto":
        return "categorical" if text else "bernoulli" if binary else "gaussian"
    if asked == "bernoulli" and not binary:
        odd = "text" if text else f"{raw[~np.isin(raw, _BINARY) & ~np.isnan(raw)][0]:g}"
        raise ValueError(
            f"column {name!r} is modelled as 'bernoulli', which allows 0, 1 and missing; got "
            f"{odd}. Use 'categorical' or 'gaussian', or binarise it first."
        )
    if text and not MODELS[asked].discrete:
        raise ValueError(
            f"column {name!r} is modelled as {asked!r}, which needs numbers; got text. "
            "Use 'categorical'."
        )
    return asked


def is_frame(X: Any) -> bool:
    """Is X a data frame that narwhals knows?"""
    return not isinstance(X, np.ndarray) and nw.dependencies.is_into_dataframe(X)


def _names(estimator: Any, n_columns: int) -> list[str]:
    known = getattr(estimator, "feature_names_in_", None)
    return [f"x{j}" for j in range(n_columns)] if known is None else [str(n) for n in known]


def _read_frame(estimator: Any, X: Any, reset: bool) -> RawTable:
    try:
        validate_data(estimator, X, reset=reset, skip_check_array=True)
        frame = nw.from_native(X, eager_only=True)
        series = list(frame.iter_columns())
    except nw.exceptions.DuplicateError as error:
        raise ValueError(f"X has columns of the same name; names must differ. {error}") from error
    if frame.shape[0] < 1 or frame.shape[1] < 1:
        raise ValueError(
            f"X is empty: {frame.shape[0]} sample(s) and {frame.shape[1]} feature(s) "
            f"(shape={frame.shape}) while a minimum of 1 is required."
        )
    columns = [_series(str(each.name), each) for each in series]
    return RawTable(columns, _names(estimator, len(columns)), frame.shape[0])


def _series(name: str, series: Any) -> NDArray[Any]:
    dtype = series.dtype
    if dtype.is_numeric() or dtype == nw.Boolean:
        values = series.cast(nw.Float64).to_numpy()
        return _no_infinity(name, np.asarray(values, dtype=np.float64))
    if dtype == nw.Categorical or dtype == nw.Enum:
        # Categories are names, whatever they are made of.
        names = [None if v is None or _is_nan(v) else str(v) for v in series.to_list()]
        return np.array(names, dtype=object)
    if dtype == nw.String or dtype == nw.Object or dtype == nw.Unknown:
        values = np.empty(len(series), dtype=object)
        values[:] = series.to_list()
        return _object_column(name, values)
    raise TypeError(
        f"X column {name!r}: allowed are numbers, booleans, text and categories; got {dtype}. "
        "Turn it into one of these first."
    )


def _object_column(name: str, raw: NDArray[Any]) -> NDArray[Any]:
    """Numbers if all values are numbers, texts if all are texts, otherwise an error."""
    missing = np.array([v is None or (not isinstance(v, str) and _is_nan(v)) for v in raw], bool)
    known = raw[~missing]
    if all(isinstance(v, str) for v in known):
        if known.size == 0:
            return np.full(raw.shape, np.nan)
        texts = raw.copy()
        texts[missing] = None
        return texts
    if all(isinstance(v, Real | np.bool_) for v in known):
        numbers = np.full(raw.shape, np.nan)
        numbers[~missing] = known.astype(np.float64)
        return _no_infinity(name, numbers)
    odd = next((v for v in known if not isinstance(v, str | Real | np.bool_)), None)
    if odd is None:
        got = "text and numbers mixed"
    else:
        got = f"{type(odd).__name__} ({odd!r})"
    raise TypeError(
        f"X column {name!r}: every argument must be text (a string) or every one a number; got "
        f"{got}. Turn the column into text, categories or numbers first."
    )


def _is_nan(value: Any) -> bool:
    try:
        return bool(value != value)
    except (TypeError, ValueError):
        # pandas.NA refuses to be compared: it is missing too.
        return type(value).__name__ == "NAType"


def _no_infinity(name: str, values: NDArray[np.float64]) -> NDArray[np.float64]:
    if np.isinf(values).any():
        raise ValueError(
            f"Input X contains infinity (column {name!r}, row {int(np.isinf(values).argmax())}); "
            "allowed are finite numbers, and NaN for missing values."
        )
    return values
