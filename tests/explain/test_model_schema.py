"""The published schema is what model files are validated by."""

import copy
import json
import subprocess
import sys

import jsonschema
import numpy as np
import pytest

from bayesieve import NaiveBayes, WeightedNaiveBayes
from bayesieve.explain.modelfile.file import model_from_dict, model_schema, model_to_dict


@pytest.fixture(scope="module")
def stored():
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2, (200, 3)).astype(float)
    y = np.where(rng.random(200) < 0.9, X[:, 0] != X[:, 1], X[:, 2])
    model = WeightedNaiveBayes(pairs=True, price=1.0).fit(X, y)
    assert model.estimator_.fitted_.only.pairs
    return json.loads(json.dumps(model_to_dict(model)))


def test_importing_imports_no_validator():
    code = "import sys, bayesieve; sys.exit('jsonschema' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_the_schema_is_one():
    jsonschema.Draft202012Validator.check_schema(model_schema())


@pytest.mark.parametrize(
    ("place", "value", "words"),
    [
        (
            ("models", 0, "weighting", "weights", 0, 0),
            17,
            r"weights\[0\]\[0\] must be at most 16; got 17",
        ),
        (("models", 0, "weighting", "weights", 0, 0), 1.5, "must be integer; got 1.5"),
        (("models", 0, "weighting", "pairs", 0, "columns"), [0], "must have at least 2 elements"),
        (("models", 0, "weighting", "monotone"), [[0, 2]], r"must be one of \[1, -1\]; got 2"),
        (("models", 0, "scale", "bits"), 63, r"models\[0\].scale.bits must be at most 62; got 63"),
        (("models", 0, "scale", "more"), 1, r"models\[0\].scale has 'more', which is unknown"),
        (("models", 0, "statistics", 0, "mean"), [[0.0]], "must have at most 1 fields"),
        (("features", 0, "grid"), 1.0, "lacks|at most"),
        (("parameters", "surprise"), 1, "parameters has 'surprise', which is unknown"),
        pytest.param(("parameters", "smoothing"), 10**5000, "got a huge number", id="huge"),
        (("named",), "yes", "named must be boolean; got 'yes'"),
    ],
)
def test_what_the_schema_refuses_is_said(stored, place, value, words):
    data = copy.deepcopy(stored)
    part = data
    for name in place[:-1]:
        part = part[name]
    part[place[-1]] = value
    with pytest.raises(ValueError, match=f"this is not a model file: .*{words}"):
        model_from_dict(data)


def test_whole_numbers_and_numbers_are_as_python_has_them(stored):
    """A schema takes 1.0 for whole and reads infinity; a position is neither."""
    standard = jsonschema.Draft202012Validator(model_schema())
    for change, words in (
        (lambda d: d["features"][0].update(n_distinct=2.0), "n_distinct must be integer"),
        (lambda d: d["models"][0]["class_count"].__setitem__(0, np.inf), "must be number; got inf"),
    ):
        data = json.loads(
            json.dumps(
                model_to_dict(
                    NaiveBayes("gaussian").fit([[0.0], [1.0], [2.0], [3.0]], [0, 1, 0, 1])
                )
            )
        )
        change(data)
        assert standard.is_valid(data)
        with pytest.raises(ValueError, match=words):
            model_from_dict(data)
