"""The verb look: what a file holds, before anything is learnt from it."""

import json

import numpy as np
import pandas as pd
from typer.testing import CliRunner

from bayesieve import look
from bayesieve.app import cli


def run(*words):
    return CliRunner().invoke(cli.app, ["look", *map(str, words)])


def test_a_file_is_looked_at_as_a_frame_is(tmp_path):
    draw = np.random.default_rng(0)
    X = pd.DataFrame(
        {
            "insulin": np.where(draw.random(300) < 0.3, 0, draw.integers(14, 300, 300)),
            "id": [f"p{i}" for i in range(300)],
            "land": draw.choice(["DE", "de ", "FR"], 300),
        }
    )
    X.assign(outcome=draw.choice(["ill", "well"], 300)).to_csv(tmp_path / "t.csv", index=False)
    done = run(tmp_path / "t.csv", "--target", "outcome")
    assert done.exit_code == 0, done.output
    assert "--forbid id" in done.output
    told = json.loads(run(tmp_path / "t.csv", "--json").stdout)
    assert {each["column"]: each["kind"] for each in told["odd"]} == {
        each.column: each.kind for each in look(X).odd
    }
    assert told["classes"] is None


def test_mistakes_are_answered_in_a_sentence(tmp_path):
    pd.DataFrame({"a": [1, 2]}).to_csv(tmp_path / "t.csv", index=False)
    refused = run(tmp_path / "t.csv", "--target", "b")
    assert "there is no column 'b'; the columns are 'a'" in str(refused.exception)
