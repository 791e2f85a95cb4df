"""Models as code: SQL, and Python without dependencies."""

import re
import sqlite3

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from hypothesis import example, given, settings
from hypothesis import strategies as st

from bayesieve import NaiveBayes, WeightedNaiveBayes, explain, load_model, save_model
from bayesieve.engine import pack
from bayesieve.export import to_python, to_sql
from bayesieve.models.gaussian import density_bells, interval_bells
from plain import plain_selector

ODD = ["a\"b'c", "<script>", "naïve 🎲", "x" * 500 + "\n"]


def run_sqlite(query, table, name):
    connection = sqlite3.connect(":memory:")
    table.to_sql(name, connection, index=False)
    return pd.read_sql_query(query, connection)


def run_duckdb(query, table, name):
    connection = duckdb.connect()
    connection.register("given", table)
    connection.execute(f'CREATE TABLE "{name}" AS SELECT * FROM given')
    return connection.execute(query).df()


@pytest.mark.parametrize("run", [run_sqlite, run_duckdb])
@pytest.mark.parametrize("smoothing", [1.0, 0])
def test_sql_predicts_the_same(run, smoothing):
    rng = np.random.default_rng(0)
    table = pd.DataFrame(
        {
            ODD[0]: rng.integers(0, 2, 200).astype(float),
            ODD[3]: rng.choice([*ODD[:3], None], 200),
            "dose": rng.choice([0.5, 1.0, 2.0, np.nan], 200),
        }
    )
    y = rng.choice(["no", "yes", "it's"], 200)
    model = NaiveBayes({"dose": "categorical"}, smoothing=smoothing).fit(table[:150], y[:150])
    found = run(to_sql(model, "my table"), table, "my table")
    assert found["prediction"].tolist() == model.predict(table).tolist()
    space = {}
    exec(to_python(model, "decide"), space)
    rows = table.astype(object).where(table.notna(), None).to_dict("records")
    assert [space["decide"](row) for row in rows] == model.predict(table).tolist()


def test_sql_of_labels_and_of_selectors():
    rng = np.random.default_rng(1)
    X = (rng.random((120, 6)) < 0.3).astype(int)
    Y = pd.DataFrame(rng.integers(0, 2, (120, 2)), columns=["fire", "it's"])
    selector = plain_selector(criterion="auc", validation=None, n_features=3).fit(
        sp.csr_array(X), Y
    )
    table = pd.DataFrame(X, columns=[f"x{j}" for j in range(6)])
    renamed = {f"x{i}": f"x{j}" for i, j in enumerate(np.sort(selector.selected_))}
    names = [spec.name for spec in selector.estimator_.fitted_.specs]
    assert names == list(renamed.values())
    found = run_sqlite(to_sql(selector), table, "data")
    np.testing.assert_array_equal(found[["fire", "it's"]].to_numpy(), selector.predict(X))
    space = {}
    exec(to_python(selector), space)
    assert space["predict"](table.iloc[0].to_dict()) == dict(
        zip(["fire", "it's"], selector.predict(X[:1])[0].tolist(), strict=True)
    )


@pytest.mark.parametrize("labelled", [False, True])
def test_a_model_of_no_term_predicts_any_table_wherever_it_is(labelled, tmp_path):
    rng = np.random.default_rng(3)
    table = pd.DataFrame({"size": rng.random(60), "kind": rng.choice(["p", "q"], 60)})
    one = np.repeat(["no", "yes"], [20, 40])
    y = pd.DataFrame({"fire": (one == "yes") * 1, "ice": (one == "no") * 1}) if labelled else one
    learnt = WeightedNaiveBayes(price=1e9, pairs=False).fit(table, y)
    assert len(learnt.selected_) == 0
    save_model(learnt, tmp_path / "model.json")
    loaded = load_model(tmp_path / "model.json")
    answer = [1, 0] if labelled else "yes"
    proba = learnt.predict_proba(table)[:1]
    others = pd.DataFrame({"other": [1, 2, 3], "text": ["x", None, "z"]})
    for X in (
        table[:3], others, others[["other"]], others[[]], pl.DataFrame(others), np.zeros((3, 7)),
        sp.csr_array(np.eye(3)), [[1, "a"], [2, "b"], [3, "c"]], pack(pl.DataFrame(others)),
    ):  # fmt: skip
        for model in (loaded, learnt.estimator_):
            assert model.predict(X).tolist() == [answer] * 3
            np.testing.assert_array_equal(model.predict_proba(X), proba.repeat(3, axis=0))
            assert model.terms(X).shape == (3, 0, 2)
        told = explain(loaded, X)
        statuses = [[bar.status for bar in each.evidence] for each in told]
        assert statuses == [["prior"]] * (6 if labelled else 3)
    for X in (np.zeros(3), np.zeros((0, 2)), others["other"]):
        with pytest.raises(
            ValueError, match="X must be a table of at least one row; got the shape"
        ):
            loaded.predict(X)
    for model in (loaded, learnt):
        for run in (run_sqlite, run_duckdb):
            found = run(to_sql(model), others, "data").iloc[:, 2:].to_numpy().tolist()
            assert found == [answer if labelled else [answer]] * 3
        space = {}
        exec(to_python(model), space)
        assert space["predict"]({"anything": 1}) == ({"fire": 1, "ice": 0} if labelled else answer)


def test_what_cannot_be_exported():
    with pytest.raises(TypeError, match="model must be a fitted NaiveBayes"):
        to_python(NaiveBayes())
    discrete = NaiveBayes().fit([[0], [1]], [0, 1])
    with pytest.raises(ValueError, match="name must be a Python identifier"):
        to_python(discrete, "not a name")


def continuous(seed):
    """Numbers of every kind: narrow, wide, constant in a class, far away, missing."""
    rng = np.random.default_rng(seed)
    y = rng.choice(["a", "b", "c"], 90)
    table = pd.DataFrame(
        {
            "fine": rng.normal((y == "a") * 2.0, 1.0),
            "coarse": np.round(rng.normal((y == "b") * 3.0, 1.5)),
            "still": np.where(y == "c", 7.0, rng.normal(6, 2, 90)),
            "shifted": 1e6 + rng.exponential(1.0, 90),
        }
    )
    table.iloc[::7, 0] = np.nan
    far = pd.DataFrame(np.repeat([[-1e3], [1e5], [3e40]], 4, 1), columns=table.columns)
    return table, y, pd.concat([table, far]).reset_index(drop=True)


@pytest.mark.parametrize("run", [run_sqlite, run_duckdb])
def test_halves_are_rounded_to_even(run):
    table = pd.DataFrame({"x": np.arange(40.0) % 4})
    model = NaiveBayes("mixture-2", rounded=True).fit(table, np.array(["even", "odd"] * 20))
    asked = pd.DataFrame({"x": np.arange(-0.5, 3.0, 0.25)})
    wanted = model.predict(asked)
    assert (wanted[asked["x"] % 1 == 0.5] == "even").all()
    assert (wanted == "odd").any()
    assert run(to_sql(model), asked, "data")["prediction"].tolist() == wanted.tolist()


@pytest.mark.filterwarnings("ignore:column 'still' has 1 distinct value")
@pytest.mark.parametrize("run", [run_sqlite, run_duckdb])
@pytest.mark.parametrize("features", ["gaussian", "gaussian-pooled", "mixture-3"])
def test_squares_that_overflow_tell_nothing(run, features):
    table, y, _ = continuous(3)
    model = NaiveBayes(features, var_smoothing=1e-9).fit(table, y)
    asked = table[:30].copy()
    asked.iloc[:, 0] = np.where(np.arange(30) % 2, 1e300, -1e250)
    wanted = model.predict(asked).tolist()
    assert len(set(wanted)) > 1
    assert run(to_sql(model), asked, "data")["prediction"].tolist() == wanted


@pytest.mark.filterwarnings("ignore:column 'still' has 1 distinct value")
@pytest.mark.parametrize("features", ["gaussian", "gaussian-pooled", "mixture", "mixture-3"])
@pytest.mark.parametrize("options", [{}, {"var_smoothing": 1e-9}, {"rounded": True}])
def test_numbers_are_predicted_the_same(features, options):
    table, y, asked = continuous(0)
    model = NaiveBayes(features, **options).fit(table, y)
    wanted = model.predict(asked).tolist()
    assert len(set(wanted)) > 1
    assert run_sqlite(to_sql(model), asked, "data")["prediction"].tolist() == wanted
    assert run_duckdb(to_sql(model), asked, "data")["prediction"].tolist() == wanted
    space = {}
    exec(to_python(model), space)
    assert [space["predict"](row) for row in asked.to_dict("records")] == wanted


@settings(deadline=None, max_examples=200)
@given(st.floats(-40, 40), st.floats(1e-3, 1e3), st.floats(1e-6, 6), st.floats(-1e6, 1e6))
@example(13.0, 0.001953125, 1.0, 256.0)
def test_bells_are_the_interval(z, sd, share_of_sd, mean):
    """Log of a normal integral over an interval, from a sum of bells."""
    from bayesieve.models.gaussian import LEAST_LOG, log_interval

    width = share_of_sd * sd
    bells = interval_bells(0.0, mean, sd, width)
    x = mean + z * sd
    with np.errstate(divide="ignore"):
        wanted = max(
            float(log_interval(np.array(x), np.array(mean), np.array(sd), width)), LEAST_LOG
        )
    logs = np.array(bells.levels) - ((x - mean) / sd + np.array(bells.offsets)) ** 2 / 2
    found = max(float(np.logaddexp.reduce(logs)), LEAST_LOG)
    assert found == pytest.approx(wanted, abs=1e-10)
    assert len(bells.levels) <= 40


def test_one_bell_is_the_density():
    bells = density_bells(0.0, 1.0, 2.0)
    assert bells.levels[0] == pytest.approx(-0.5 * np.log(2 * np.pi * 4))
    assert bells.to_list() == [0.0, [bells.levels[0]], [0.0], 1.0, 2.0]


def test_numbers_beyond_the_pale_are_refused_by_name():
    X = np.array([[-1e308], [1e308], [-1e308], [1e308]])
    model = NaiveBayes("gaussian").fit(X, [0, 0, 1, 1])
    with pytest.raises(ValueError, match="column 'x0' has values too large"):
        to_sql(model)


def wide(n_columns, n_classes, n_rows=60):
    """Rare zeros and ones: their terms are small integers, which add up beyond 32 bits."""
    rng = np.random.default_rng(n_columns)
    X = (rng.random((n_rows, n_columns)) < 0.02).astype(int)
    y = np.arange(n_rows) % n_classes
    X[:, :50] = rng.random((n_rows, 50)) < 0.2 + 0.1 * (y[:, None] == 1)
    return pd.DataFrame(X, columns=[f"x{j}" for j in range(n_columns)]), y


@pytest.mark.parametrize("n_classes", [pytest.param(2, marks=pytest.mark.slow), 3])
def test_five_thousand_columns_in_duckdb(n_classes):
    table, y = wide(5000 if n_classes == 2 else 1200, n_classes)
    model = NaiveBayes(smoothing=0.001).fit(table, y)
    wanted = model.predict(table).tolist()
    assert set(wanted) == set(range(n_classes))
    assert run_duckdb(to_sql(model), table, "data")["prediction"].tolist() == wanted


@pytest.mark.parametrize("n_classes", [2, pytest.param(3, marks=pytest.mark.slow), 7])
def test_five_thousand_columns_in_sqlite(n_classes):
    """A table of SQLite ends at 2000 columns: the query reads each of 1250 columns four times."""
    stored, y = wide(1250, n_classes)
    table = pd.concat([stored] * 4, axis=1)
    table.columns = [f"x{j}" for j in range(5000)]
    model = NaiveBayes().fit(table, y)
    wanted = model.predict(table).tolist()
    assert set(wanted) == set(range(n_classes))
    query = re.sub(r'"x(\d+)"', lambda name: f'"x{int(name[1]) % 1250}"', to_sql(model))
    connection = sqlite3.connect(":memory:")
    connection.execute(f"CREATE TABLE data ({', '.join(stored.columns)})")
    marks = ", ".join("?" * 1250)
    connection.executemany(f"INSERT INTO data VALUES ({marks})", stored.to_numpy().tolist())
    assert [row[-1] for row in connection.execute(query)] == wanted


def in_sqlite(table):
    """A table of any width; pandas would give SQLite more names than it takes."""
    connection = sqlite3.connect(":memory:")
    connection.execute(f"CREATE TABLE data ({', '.join(table.columns)})")
    marks = ", ".join("?" * table.shape[1])
    connection.executemany(f"INSERT INTO data VALUES ({marks})", table.to_numpy().tolist())
    return connection


@pytest.mark.parametrize(
    "n_columns", [1900, *(pytest.param(n, marks=pytest.mark.slow) for n in (1899, 1999)), 2000]
)
def test_a_table_as_wide_as_sqlite_allows(n_columns):
    """The result has as many columns at most as the table: with a prediction, one too many."""
    table, y = wide(n_columns, 2)
    connection = in_sqlite(table)
    model = NaiveBayes().fit(table, y)
    few = plain_selector(search="forward", validation=None, n_features=2).fit(table, y)
    for each in (model, few):
        wanted = each.predict(table).tolist()
        found = connection.execute(to_sql(each)).fetchall()
        assert [row[-1] for row in found] == wanted
        assert len(found[0]) == (1900 if n_columns == 1899 else 1)
        duck = run_duckdb(to_sql(each), table, "data")
        assert duck["prediction"].tolist() == wanted
        named = connection.execute(to_sql(each, columns=["x7", "x0"])).fetchall()
        assert [row[2] for row in named] == wanted
        assert [row[:2] for row in named] == list(zip(table["x7"], table["x0"], strict=True))
    # A model of few columns does not know how wide the table is.
    saved = to_sql(few.estimator_)
    if n_columns == 2000:
        with pytest.raises(sqlite3.OperationalError, match="too many columns"):
            connection.execute(saved)
    found = connection.execute(to_sql(few.estimator_, columns=())).fetchall()
    assert found == [(each,) for each in few.predict(table).tolist()]


def test_columns_beside_the_prediction_are_names():
    table = pd.DataFrame({"a": [0, 1] * 4, 'odd "name"': list("uvuvuvuv")})
    model = NaiveBayes().fit(table[["a"]], table["a"])
    for run in (run_sqlite, run_duckdb):
        found = run(to_sql(model, columns=['odd "name"']), table, "data")
        assert found.columns.tolist() == ['odd "name"', "prediction"]
        assert found['odd "name"'].tolist() == table['odd "name"'].tolist()
    for wrong, shown in (("a", "'a'"), ([1], "1"), ([""], "''")):
        with pytest.raises(ValueError, match=f"columns must be None, or a list .*; got {shown}"):
            to_sql(model, columns=wrong)


@pytest.mark.parametrize(("n", "options"), [(1000, {"var_smoothing": 1e-9}), (130, {})])
def test_many_numbers_and_a_text_in_sqlite(n, options):
    rng = np.random.default_rng(0)
    y = np.arange(12) % 3
    table = pd.DataFrame(rng.normal(0.05 * y[:, None], 1, (12, n)).round(1))
    table.columns = [f"n{j}" for j in range(n)]
    table["text"] = rng.choice(["a", "b"], 12)
    model = NaiveBayes({"text": "categorical"}, **options).fit(table, y)
    asked = table.sample(frac=1, random_state=0)
    asked.iloc[0, :10] = np.nan
    asked.iloc[1] = np.nan
    connection = sqlite3.connect(":memory:")
    connection.execute(f"CREATE TABLE data ({', '.join(table.columns)})")
    rows = asked.astype(object).where(asked.notna(), None).to_numpy().tolist()
    connection.executemany(f"INSERT INTO data VALUES ({', '.join('?' * (n + 1))})", rows)
    found = [row[-1] for row in connection.execute(to_sql(model))]
    assert found == model.predict(asked).tolist()


@pytest.mark.filterwarnings("ignore:The number of unique classes")
def test_many_classes_in_sqlite():
    """An expression as deep as the classes are many would be too deep."""
    at = np.arange(1100)
    names = np.array([f"c{k:04d}" for k in at])
    table = pd.DataFrame({"tens": at // 34, "rest": at % 34}).astype(str)
    model = NaiveBayes("categorical", smoothing=0.5).fit(table, names)
    few = [0, 7, 1099]
    found = run_sqlite(to_sql(model), table.iloc[few], "data")
    assert found["prediction"].tolist() == names[few].tolist()


def test_small_integers_do_not_overflow_in_duckdb():
    """Two terms of 32 bits add up to more."""
    n = 1000
    X = np.zeros((2 * n, 6), int)
    X[0], X[n : n + 2] = 1, 1
    table = pd.DataFrame(X, columns=list("abcdef"))
    y = np.repeat([0, 1], n)
    model = NaiveBayes(smoothing=0.001).fit(table, y)
    assert run_duckdb(to_sql(model), table, "data")["prediction"].tolist() == (
        model.predict(table).tolist()
    )
