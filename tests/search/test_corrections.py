"""Corrections of tables: the minimum of the definition, and the same model wherever it is made."""

import json

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import minimize
from scipy.sparse import csr_matrix

from bayesieve import WeightedNaiveBayes, explain, explain_model, load_model, save_model
from bayesieve.explain.modelfile.check import check_model_data
from bayesieve.explain.modelfile.file import model_to_dict
from bayesieve.export import to_python
from bayesieve.models.base import CORRECTION_BITS, SCORE_BITS
from bayesieve.search.term_weights import Corrections, Form, held_to_rows, mid_ranks
from weighted import cut_journals, mixed, terms_of, weighing_of

ALWAYS = (0.64, 3.0)


def numbers(seed=0, n_rows=240, n_classes=3):
    """Numbers of which two tell only together, a category, zeros and ones, missing values."""
    rng = np.random.default_rng(seed)
    y = np.append(np.arange(n_classes), rng.integers(0, n_classes, n_rows - n_classes))
    one = rng.normal(size=n_rows)
    X = pd.DataFrame(
        {
            "one": one,
            "other": one + 0.7 * y + 0.3 * rng.normal(size=n_rows),
            "kind": np.array(["u", "v", "w"], object)[(y + rng.integers(0, 2, n_rows)) % 3],
            "flag": (rng.random(n_rows) < 0.3 + 0.2 * y).astype(int),
            "noise": np.round(rng.normal(size=n_rows), 1),
        }
    )
    X.loc[rng.random(n_rows) < 0.05, "other"] = np.nan
    return X, y


def penalty_of(form, freedom):
    """The matrix of the penalty, pair of codes by pair of codes."""
    paired = len(form.sizes) == 2
    spread = freedom * (0.25 if paired else 1)
    numbers = [ranks is not None for ranks in form.ranks]
    places = [np.unravel_index(c, form.sizes) for c in range(form.n_codes)]
    size = np.prod([n for n, number in zip(form.sizes, numbers, strict=True) if number])
    matrix = np.eye(form.n_codes) / spread / size
    weight = 1 / spread if paired else (form.n_codes - 1) / spread
    for a, at in enumerate(places):
        for b, to in enumerate(places[:a]):
            apart = [abs(int(p) - int(q)) for p, q in zip(at, to, strict=True)]
            if sum(apart) == 1 and numbers[apart.index(1)]:
                matrix[[a, b], [a, b]] += weight
                matrix[a, b] -= weight
                matrix[b, a] -= weight
    return matrix


@pytest.mark.parametrize("slope", [0.0, 3.0])
def test_corrections_are_the_minimum_of_the_definition(slope):
    rng = np.random.default_rng(1)
    y = rng.integers(0, 3, 90)
    X = np.column_stack(
        [rng.integers(0, 6, 90) + y, rng.integers(0, 3, 90), rng.integers(0, 2, 90)]
    )
    models = ["density", "categorical", "bernoulli"]
    weighing = weighing_of(X.astype(float), y, models, True)
    greedy = weighing.greedy(0.1)
    state = list(greedy.walk())[-1]
    terms, freedom = list(state.terms), 0.64
    assert any(t >= 3 for t in terms)
    (problem,) = greedy._problems
    forms = [weighing._form(0, t) for t in terms]
    (scored,) = problem._ledger.scores()
    scores = np.ldexp(scored.sums[0].astype(float), -SCORE_BITS)
    codes = [weighing._read.columns.columns[t] if t < 3 else None for t in terms]
    for i, t in enumerate(terms):
        if t >= 3:
            codes[i] = weighing.pairs[t - 3].codes(weighing._read.columns)
    codes = [each[scored.rows].astype(int) for each in codes]
    classes = scored.classes[0]
    penalties = [penalty_of(form, freedom) for form in forms]
    lines, seen = [], set()
    for t, form in sorted(enumerate(forms), key=lambda each: len(each[1].sizes)):
        for axis, (j, ranks) in enumerate(zip(form.columns, form.ranks, strict=True)):
            if ranks is not None and j not in seen and slope:
                seen.add(j)
                shape = [1] * len(form.sizes)
                shape[axis] = -1
                line = np.broadcast_to(ranks.reshape(shape), form.sizes).ravel()
                lines.append((t, line))

    def loss(flat):
        each, at, penalty = [], 0, 0.0
        for form, matrix in zip(forms, penalties, strict=True):
            table = flat[at : at + 3 * form.n_codes].reshape(-1, 3)
            at += table.size
            penalty += 0.5 * np.trace(table.T @ matrix @ table)
            each.append(table.copy())
        for t, line in lines:
            rise = flat[at : at + 3]
            at += 3
            penalty += 0.5 * rise @ rise / slope
            each[t] = each[t] + line[:, None] * rise
        found = scores.copy()
        for code, table in zip(codes, each, strict=True):
            found += np.vstack([table, np.zeros((1, 3))])[np.minimum(code, len(table))]
        found -= found.max(1, keepdims=True)
        return penalty + (np.log(np.exp(found).sum(1)) - found[np.arange(90), classes]).sum()

    size = 3 * sum(form.n_codes for form in forms) + 3 * len(lines)
    wanted = minimize(loss, np.zeros(size), method="L-BFGS-B", options={"maxiter": 500}).fun
    fitter = Corrections(problem._ledger, terms, forms, 1, 90.0)
    fitter.fit(freedom, slope)
    point = fitter._point
    found = loss(np.concatenate([point.tables.ravel(), point.slopes.ravel()]))
    assert loss(np.zeros(size)) - wanted > 1
    assert found - wanted < 90 * 2e-3


def test_ranks_have_mean_none_and_variance_one():
    counts = np.random.default_rng(0).integers(0, 9, 30).astype(float)
    ranks = mid_ranks(counts)
    assert (ranks * counts).sum() == pytest.approx(0, abs=1e-9)
    assert (ranks**2 * counts).sum() == pytest.approx(counts.sum())
    assert not mid_ranks(np.array([5.0])).any()


def test_a_form_lays_lines_along_its_axes():
    form = Form.of((0, 1), np.array([[1.0, 2.0, 1.0], [1.0, 2.0, 1.0]]), [True, True])
    assert form.line(0).tolist() == [-1, -1, -1, 1, 1, 1]
    assert form.line(1) == pytest.approx(np.array([-1, 0, 1, -1, 0, 1]) * 2**0.5)
    assert form.rows.tolist() == [6, 8, 6, 6, 8, 6]
    assert Form.of((0, 1), np.array([[1.0, 2.0], [3.0, 4.0]]), [False, True]).rows.tolist() == [
        *(3, 3),
        *(7, 7),
    ]


@pytest.mark.parametrize("given", [True, ALWAYS])
def test_what_tells_together_is_told(given):
    X, y = numbers(n_rows=900)
    plain = WeightedNaiveBayes(corrections=False).fit(X[:600], y[:600])
    model = WeightedNaiveBayes(corrections=given).fit(X[:600], y[:600])
    assert model.settings_["corrections"][0] > 0
    losses = [
        -np.log(each.predict_proba(X[600:])[np.arange(300), y[600:]]).mean()
        for each in (plain, model)
    ]
    assert losses[1] < losses[0] - 0.03


def test_terms_that_speak_only_together_come_late():
    """Three in a line: no square tells much alone, and the sum of them all tells nearly all."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.integers(0, 2, (800, 9)), columns=list("abcdefghi"))
    y = (X.sum(axis=1) >= 5).astype(int)
    X["a"] ^= rng.random(800) < 0.02
    model = WeightedNaiveBayes(pairs=False, price=1.0, corrections=True, max_terms=18).fit(X, y)
    assert len(model.terms_) == 9
    assert (model.predict(X) == y).mean() > 0.95


@pytest.mark.parametrize("n_classes", [2, 3])
def test_nothing_depends_on_threads_or_order(n_classes):
    X, y = numbers(n_classes=n_classes)
    model = WeightedNaiveBayes(corrections=ALWAYS, pairs=True, price=0.5).fit(X, y)
    assert any(len(term["columns"]) == 2 for term in model.terms_)
    proba = model.predict_proba(X)
    more = WeightedNaiveBayes(corrections=ALWAYS, pairs=True, price=0.5, n_jobs=2).fit(X, y)
    assert (more.predict_proba(X) == proba).all()
    order = np.random.default_rng(3).permutation(len(y))
    mixed_up = WeightedNaiveBayes(corrections=ALWAYS, pairs=True, price=0.5)
    assert (mixed_up.fit(X.iloc[order], y[order]).predict_proba(X) == proba).all()
    turned = WeightedNaiveBayes(corrections=ALWAYS, pairs=True, price=0.5)
    names = list(X)[::-1]
    np.testing.assert_allclose(turned.fit(X[names], y).predict_proba(X[names]), proba, atol=1e-9)


def test_a_row_of_weight_two_is_two_rows():
    X, y = numbers()
    weights = np.random.default_rng(0).integers(1, 4, len(y))
    one = WeightedNaiveBayes(corrections=ALWAYS, price=1.0).fit(X, y, sample_weight=weights)
    rows = np.repeat(np.arange(len(y)), weights)
    two = WeightedNaiveBayes(corrections=ALWAYS, price=1.0).fit(X.iloc[rows], y[rows])
    assert terms_of(one) == terms_of(two)
    assert (one.predict_proba(X) == two.predict_proba(X)).all()


@pytest.mark.parametrize(
    "more", [{}, {"class_weight": "balanced"}, {"missing": "evidence"}, {"priors": "uniform"}]
)
def test_files_exports_explanations_and_smaller_models_say_the_same(more, tmp_path):
    X, y = numbers(2)
    model = WeightedNaiveBayes(corrections=ALWAYS, pairs=True, price=0.5, **more).fit(X, y)
    assert any(step.corrections[0] for step in model.path_.states[1:])
    proba = model.predict_proba(X)
    check_model_data(json.loads(json.dumps(model_to_dict(model))))
    save_model(model, tmp_path / "model.json")
    read = X.iloc[:, np.flatnonzero(model.support_)]
    assert (load_model(tmp_path / "model.json").predict_proba(read) == proba).all()
    space = {}
    exec(to_python(model), space)
    rows = X.astype(object).where(X.notna(), None).to_dict("records")
    said = [space["predict"](row) for row in rows]
    assert said == model.predict(X).tolist()
    for i, each in enumerate(explain(model, X.iloc[:20])):
        total = sum(bar.log_ratio for bar in each.evidence)
        assert total == pytest.approx(each.log_odds, abs=1e-9)
        assert each.probability == pytest.approx(proba[i].max())
    for k in range(1, len(model.terms_) + 1):
        small = model.at(k)
        assert len(small.terms_) <= k
        assert small.path_.states[small.path_.chosen].corrections[0].keys() <= set(
            small.path_.states[small.path_.chosen].terms
        )


def test_terms_tell_counts_and_corrections():
    X, y = numbers()
    model = WeightedNaiveBayes(corrections=ALWAYS, pairs=True, price=0.5).fit(X, y)
    fitted = model.estimator_.fitted_.only
    for term in model.terms_:
        said = term["table"] * term["weights"] + term["correction"]
        if len(term["columns"]) == 2:
            names = [list(X).index(spec.name) for spec in fitted.specs]
            pair = next(
                p for p in fitted.pairs if {names[j] for j in p.columns} == {*term["columns"]}
            )
            np.testing.assert_allclose(np.ldexp(pair.said, -SCORE_BITS), said, atol=1e-9)
    # What counts say stands beside what is used, and is told apart only where something was added.
    whole = explain_model(model)
    for term in model.terms_:
        feature = next(each for each in whole.features if each.feature == term["name"])
        if feature.model == "pair":
            counted = (term["table"] * term["weights"]).reshape(-1, 3)
            wanted = counted[:, 2] - counted[:, 0]
            np.testing.assert_allclose(feature.counted(2, 0), wanted, atol=1e-9)
    assert "by counts" in whole.cells().to_columns()
    plain = WeightedNaiveBayes(corrections=False).fit(X, y)
    assert plain.terms_[0]["correction"] is None
    assert "by counts" not in explain_model(plain).cells().to_columns()


def test_readers_that_know_no_corrections_refuse_the_file():
    X, y = numbers()
    found = [WeightedNaiveBayes(corrections=given).fit(X, y) for given in (False, ALWAYS)]
    assert [model_to_dict(model)["version"] for model in found] == [4, 7]


def test_terms_of_labels_apart_say_whose_they_are():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.integers(0, 2, (300, 4)), columns=list("abcd"))
    Y = pd.DataFrame({"one": X["a"] ^ (rng.random(300) < 0.1), "two": X["b"] & X["c"]})
    apart = WeightedNaiveBayes(shared_terms=False).fit(X, Y)
    said = {}
    for term in apart.terms_:
        said.setdefault(term["label"], []).append(term["name"])
    assert [len(part) for part in apart.weights_] == [len(said["one"]), len(said["two"])]
    assert said["one"][0] == "a"
    assert "label" not in WeightedNaiveBayes().fit(X, Y).terms_[0]


def test_a_column_named_like_a_pair_tells_its_own_values():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.integers(0, 2, (400, 3)), columns=["a", "b", "a x b"])
    y = ((X["a"] ^ X["b"]) + X["a x b"] + (rng.random(400) < 0.1) > 1).astype(int)
    model = WeightedNaiveBayes(pairs=True, price=1.0).fit(X, y)
    names = [(term["name"], len(term["columns"])) for term in model.terms_]
    assert {("a x b", 1), ("a x b", 2)} <= set(names)
    lines = explain_model(model).to_text().splitlines()
    told = [lines[at + 1] for at, line in enumerate(lines) if line.endswith("  a x b")]
    assert sorted(" and " in each for each in told) == [False, True]


def test_a_monotone_column_is_not_corrected():
    X, y = numbers(n_classes=2)
    model = WeightedNaiveBayes(corrections=ALWAYS, monotone={"other": 1}, price=0.5).fit(X, y)
    place = list(X).index("other")
    assert (place,) in terms_of(model)
    assert place not in model.path_.states[-1].corrections[0]
    other = np.linspace(-3, 4, 60)
    rows = pd.concat([X.iloc[:1]] * 60, ignore_index=True).assign(other=other)
    assert (np.diff(model.predict_proba(rows)[:, 1]) >= -1e-12).all()


def test_labels_and_sparse_tables():
    rng = np.random.default_rng(0)
    X = (rng.random((400, 12)) < 0.3).astype(float)
    Y = np.column_stack([X[:, :5].sum(1) >= 2, X[:, 4:9].sum(1) >= 2]).astype(int)
    dense = WeightedNaiveBayes(corrections=ALWAYS, features="bernoulli", price=1.0).fit(X, Y)
    sparse = WeightedNaiveBayes(corrections=ALWAYS, price=1.0).fit(csr_matrix(X), Y)
    plain = WeightedNaiveBayes(features="bernoulli", price=1.0).fit(X, Y)
    one, two, three = (model.predict_proba(X) for model in (dense, sparse, plain))
    assert np.array_equal(one, two)
    hit = [((each > 0.5) == Y).mean() for each in (one, three)]
    assert hit[0] >= hit[1]
    assert len(dense.path_.states[-1].corrections) == 2


def test_a_stopped_path_goes_on_from_anywhere(tmp_path):
    X, y = mixed(n_rows=200)
    whole = tmp_path / "whole"
    model = WeightedNaiveBayes(corrections=True, pairs=True, checkpoint=whole).fit(X, y)
    for file, _ in cut_journals(whole, tmp_path):
        again = WeightedNaiveBayes(corrections=True, pairs=True, checkpoint=file).fit(X, y)
        assert again.path_.to_dict() == model.path_.to_dict()
        assert (again.predict_proba(X) == model.predict_proba(X)).all()


def test_corrections_are_whole_units_and_bounded():
    X, y = numbers()
    model = WeightedNaiveBayes(corrections=(40.0, 30.0), price=0.5).fit(X, y)
    for table in model.path_.states[-1].corrections[0].values():
        assert table.dtype == np.int64
        assert np.abs(table).max() <= 8 * 2**CORRECTION_BITS


def test_noise_stays_out():
    rng = np.random.default_rng(0)
    kept = 0
    for seed in range(10):
        X = pd.DataFrame(rng.normal(size=(150, 8)))
        y = np.random.default_rng(seed).integers(0, 2, 150)
        kept += len(WeightedNaiveBayes(corrections=True).fit(X.to_numpy(), y).terms_) > 0
    assert kept <= 1


@pytest.mark.parametrize("given", [1.0, (1.0,), "yes", (1.0, -1.0), (1, 2, 3)])
def test_what_corrections_cannot_be_is_refused(given):
    X, y = numbers()
    with pytest.raises((ValueError, TypeError), match="corrections must be"):
        WeightedNaiveBayes(corrections=given).fit(X, y)


def test_what_a_code_says_is_held_to_its_rows():
    """Beyond what it says without a correction, by the rule that holds for columns."""
    rng = np.random.default_rng(0)
    for n_classes, ordered in [(2, False), (2, True), (4, False), (4, True)]:
        counts = rng.integers(0, 7, 12).astype(float)
        form = Form.of((0,), counts, [ordered])
        said, table = rng.normal(0, 0.5, (12, n_classes)), rng.normal(0, 3, (12, n_classes))
        found = said + held_to_rows(table, said, form)
        for c in range(12):
            for k in range(n_classes):
                before, line = (
                    (each[:, 1] - each[:, 0] if n_classes == 2 else each[:, k])
                    for each in (said, said + table)
                )
                after = found[c, 1] - found[c, 0] if n_classes == 2 else found[c, k]
                sign = np.sign(line[c])
                least = abs(after) - 1e-9
                lo = hi = c
                while ordered and lo > 0 and sign * line[lo - 1] >= least:
                    lo -= 1
                while ordered and hi < 11 and sign * line[hi + 1] >= least:
                    hi += 1
                share = counts[lo : hi + 1].sum() / 5
                most = np.log(5) * max(share**0.5, share**3) / (1 if n_classes == 2 else 2)
                stands = sign * before[c] if sign * before[c] > 0 else 0.0
                assert sign * after >= -1e-9
                assert abs(after) <= max(most, stands) + 1e-9
                assert abs(after) >= min(most, abs(line[c])) - 1e-9 or abs(after) >= stands - 1e-9


def test_no_level_of_a_single_row_says_much():
    """A row that the other terms call wrong cannot make its own level speak of many times."""
    rng = np.random.default_rng(3)
    y = rng.integers(0, 2, 600)
    a = rng.integers(0, 2, 600)
    level = np.array([f"l{i}" for i in range(12)], object)[rng.integers(0, 12, 600)]
    level[:8] = [f"rare{i}" for i in range(8)]
    X = pd.DataFrame(
        {"a": a, "b": a ^ y ^ (rng.random(600) < 0.1), "level": level, "z": rng.normal(size=600)}
    )
    model = WeightedNaiveBayes(corrections=(40.0, 0.0), keep=["level"], pairs=True).fit(X, y)
    (term,) = [each for each in model.terms_ if each["name"] == "level"]
    said = term["table"] * term["weights"] + term["correction"]
    few = term["rows"].sum(1) == 1
    assert few.sum() == 8
    assert np.abs(np.diff(said[few])).max() < np.log(5) * 0.2**0.5 + 0.01
    assert np.abs(np.diff(said[~few])).max() > 0.1


def test_a_choice_among_options_may_miss_the_one_with_pairs():
    """What folds find best may be neither the best with pairs nor the best without."""
    rng = np.random.default_rng(18)
    failed = 0
    for seed in range(12):
        y = rng.integers(0, 2, 60)
        X = rng.normal(size=(60, 4)) + 0.4 * y[:, None]
        model = WeightedNaiveBayes(corrections=True, random_state=seed).fit(X, y)
        failed += not np.isfinite(model.predict_proba(X)).all()
    assert not failed


def test_groups_vouch_for_no_late_terms():
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2, (600, 9)).astype(float)
    y = (X[:, :3].sum(1) > 1).astype(int)
    groups = np.repeat(np.arange(60), 10)
    model = WeightedNaiveBayes(corrections=ALWAYS, pairs=False).fit(X, y, groups=groups)
    assert all(np.any(term["weights"]) for term in model.terms_)


@pytest.mark.parametrize("given", [(1e-9, 0.0), (0.0, 3.0), (5e-324, 0.0), (1.0, 1e-8)])
def test_freedoms_that_change_nothing_are_refused(given):
    X, y = numbers(n_rows=60)
    with pytest.raises(ValueError, match="corrections: each number must be 0 or at least 1e-06"):
        WeightedNaiveBayes(corrections=given).fit(X, y)


def test_truth_from_numpy_is_truth():
    X, y = numbers(n_rows=90)
    assert WeightedNaiveBayes(corrections=np.False_).fit(X, y).settings_["corrections"] == (0, 0)
