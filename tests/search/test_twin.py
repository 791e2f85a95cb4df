"""The selector against a twin that refits every subset from scratch."""

import math
import warnings

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bayesieve import NaiveBayes
from plain import plain_selector
from problems import MODELS, random_problem, walk

SEARCHES = ("forward", "backward", "forward-backward", "backward-forward", "sffs", "sbfs")
CRITERIA = ("error", "probability", "log-likelihood")
seeds = st.integers(0, 2**32 - 1)
quick = settings(
    max_examples=3, deadline=None, suppress_health_check=list(HealthCheck), derandomize=True
)


def compare(problem, X, y, criterion, cv, search, *, fit_params=None, class_weight=None, **options):
    """Every step and every score on the path must be the twin's."""
    n_columns = X.shape[1]
    estimator = NaiveBayes(
        features=dict(enumerate(problem["models"])),
        smoothing=problem["smoothing"],
        priors=problem["priors"],
        var_smoothing=options.pop("var_smoothing", None),
    )
    selector = plain_selector(
        estimator, search, criterion, cv, validation=None, class_weight=class_weight, **options
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # folds without some class are meant
        selector.fit(X, y, **(fit_params or {}))
        groups = options.get("feature_groups")
        units = None
        if groups:
            loose = [[j] for j in range(n_columns) if not any(j in g for g in groups)]
            units = sorted([sorted(g) for g in groups] + loose)
        keep = options.get("keep", ())
        kept = [
            u for u, unit in enumerate(units or [[j] for j in range(n_columns)])
            if set(unit) & set(keep)
        ]  # fmt: skip
        most = options.get("max_features") or options.get("n_features")
        visited = walk(problem, criterion, cv, search, units, kept, 1, most)
    steps = selector.path_.steps
    got = [(s.action, tuple(sorted(s.units)) if s.action == "start" else s.units[0]) for s in steps]
    assert got == [(action, what) for action, what, _ in visited]
    sign = -1 if criterion == "log-likelihood" else 1
    for step, (_, _, loss) in zip(steps, visited, strict=True):
        assert math.isclose(step.score, sign * float(loss), rel_tol=1e-12, abs_tol=1e-9)
    return selector, visited


# Every search with every criterion on every model; rows are judged in turns, so that each way meets
# every one of these.
TRIPLES = [
    (model, criterion, ("train", "loo", 3)[(i + j + k) % 3], search)
    for i, model in enumerate(MODELS)
    for j, criterion in enumerate(CRITERIA)
    for k, search in enumerate(SEARCHES)
]


@pytest.mark.parametrize(("model", "criterion", "cv", "search"), TRIPLES)
@quick
@given(seed=seeds)
def test_path_is_the_twins(model, criterion, cv, search, seed):
    if cv == "loo" and model == "gaussian-pooled":
        cv = 4
    problem, X, y = random_problem(seed, model)
    compare(problem, X, y, criterion, cv, search)


@pytest.mark.parametrize("cv", ["train", "loo", 3])
@pytest.mark.parametrize("criterion", CRITERIA)
@settings(quick, max_examples=15)
@given(
    seed=seeds,
    search=st.sampled_from(SEARCHES),
    model=st.sampled_from(MODELS),
    smoothing=st.sampled_from([0.0, 0.3, 1.0, "mean"]),
    priors=st.sampled_from([None, "uniform"]),
    weighted=st.booleans(),
    balanced=st.booleans(),
    var_smoothing=st.sampled_from([None, 1e-9, 0.1]),
)
def test_path_is_the_twins_whatever_the_settings(
    cv, criterion, seed, search, model, smoothing, priors, weighted, balanced, var_smoothing
):
    problem, X, y = random_problem(
        seed, model, smoothing=smoothing, priors=priors, weighted=weighted, balanced=balanced,
        var_smoothing=var_smoothing,
    )  # fmt: skip
    if cv == "loo" and (smoothing == "mean" or model == "gaussian-pooled"):
        cv = 4
    compare(
        problem, X, y, criterion, cv, search,
        var_smoothing=var_smoothing,
        class_weight="balanced" if balanced else None,
        fit_params={"sample_weight": problem["weights"]} if weighted else None,
    )  # fmt: skip


@pytest.mark.slow
@settings(quick, max_examples=3000, derandomize=False)
@given(
    seed=seeds,
    search=st.sampled_from(SEARCHES),
    criterion=st.sampled_from(CRITERIA),
    cv=st.sampled_from(["train", "loo", 2, 3, 5]),
    model=st.sampled_from(MODELS),
    smoothing=st.sampled_from([0.0, 1e-6, 0.3, 1.0, 10.0, "mean"]),
    weighted=st.booleans(),
    balanced=st.booleans(),
)
def test_path_is_the_twins_at_length(
    seed, search, criterion, cv, model, smoothing, weighted, balanced
):
    problem, X, y = random_problem(
        seed, model, smoothing=smoothing, weighted=weighted, balanced=balanced
    )
    if cv == "loo" and (smoothing == "mean" or model == "gaussian-pooled"):
        cv = 4
    compare(
        problem, X, y, criterion, cv, search,
        class_weight="balanced" if balanced else None,
        fit_params={"sample_weight": problem["weights"]} if weighted else None,
    )  # fmt: skip


@settings(quick, max_examples=30)
@given(
    seed=seeds,
    search=st.sampled_from(SEARCHES),
    criterion=st.sampled_from(CRITERIA),
    bound=st.sampled_from(["none", "max", "exact"]),
    keep=st.booleans(),
)
def test_groups_keep_and_bounds_are_the_twins(seed, search, criterion, bound, keep):
    problem, X, y = random_problem(seed, "mixed")
    rng = np.random.default_rng(seed)
    n_columns = X.shape[1]
    options = {}
    if n_columns > 2:
        options["feature_groups"] = [rng.permutation(n_columns)[:2].tolist()]
    if keep:
        options["keep"] = [int(rng.integers(n_columns))]
    kept = {c for g in options.get("feature_groups", []) if set(g) & set(options.get("keep", ()))
            for c in g} | set(options.get("keep", ()))  # fmt: skip
    if bound == "max":
        options["max_features"] = max(len(kept), 2)
    elif bound == "exact" and "feature_groups" not in options:
        options["n_features"] = max(len(kept), 1)
    selector, _ = compare(problem, X, y, criterion, 3, search, **options)
    assert kept <= set(selector.selected_.tolist())
    for group in options.get("feature_groups", []):
        assert len(set(group) & set(selector.selected_.tolist())) in (0, 2)
    if "max_features" in options:
        assert len(selector.selected_) <= options["max_features"]
    if "n_features" in options:
        assert len(selector.selected_) == options["n_features"]
