"""`WeightedNaiveBayes` with families, groups of rows, and a part of the rows that decides."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse
from sklearn.model_selection import TimeSeriesSplit

from bayesieve import WeightedNaiveBayes, explain_model, find_families, nested, stability
from bayesieve.engine.threads import Threads
from bayesieve.evaluation.performance import performance
from bayesieve.explain.report import make_report
from bayesieve.rankings.families import Families
from bayesieve.search import term_search as inner
from bayesieve.search.term_pool import WeightPlan
from bayesieve.search.term_search import choose_options, fold_weights, options_of
from weighted import MODELS_OF_MIXED, coded_rows, mixed, terms_of

NAMES = [f"{letter}{i}" for letter in "abcdef" for i in range(3)]


def twins(n_rows=400, seed=0):
    """Six columns, each three times, a few cells apart; the last two tell together only."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, n_rows)
    chance = rng.random((n_rows, 4)) < [0.2, 0.25, 0.3, 0.35]
    base = np.where(chance, 1 - y[:, None], y[:, None])
    one = rng.integers(0, 2, n_rows)
    other = one ^ y ^ (rng.random(n_rows) < 0.1)
    X = np.repeat(np.column_stack([base, one, other]), 3, axis=1)
    for j in range(18):
        X[j, j] ^= j % 3 > 0
    return pd.DataFrame(X, columns=NAMES), y


# -- families ----------------------------------------------------------------------------------


@pytest.mark.parametrize("sparse", [False, True])
def test_terms_and_pairs_take_one_of_a_family(sparse):
    X, y = twins()
    given = scipy.sparse.csr_array(X.to_numpy()) if sparse else X
    # How freely to correct is decided by folds, which are dealt by all columns.
    given_terms = {"pairs": True, "price": 1.0, "corrections": (0.64, 0.0)}
    found = WeightedNaiveBayes(**given_terms, families="auto").fit(given, y)
    leader = find_families(X).leader
    assert np.array_equal(found.families_.leader, leader)
    assert any(len(term) == 2 for term in terms_of(found))
    used = {j for term in terms_of(found) for j in term}
    assert used == set(np.flatnonzero(found.support_).tolist())
    assert all(leader[j] == j for j in used)
    # The same as a table of the leaders alone.
    leaders = np.unique(leader)
    alone = WeightedNaiveBayes(**given_terms).fit(
        given[:, leaders] if sparse else X.iloc[:, leaders], y
    )
    assert [tuple(leaders[j] for j in term) for term in terms_of(alone)] == terms_of(found)
    assert np.array_equal(alone.weights_, found.weights_)
    assert np.array_equal(
        found.predict_proba(given),
        alone.predict_proba(given[:, leaders] if sparse else X.iloc[:, leaders]),
    )
    assert WeightedNaiveBayes(pairs=False, price=1.0).fit(given, y).families_ is None


def test_families_are_columns_that_are_forbidden():
    X, y = twins()
    found = WeightedNaiveBayes(families="auto").fit(X, y)
    barred = [name for name in NAMES if not name.endswith("0")]
    same = WeightedNaiveBayes(forbid=barred).fit(X, y)
    assert terms_of(found) == terms_of(same)
    assert found.settings_ == {**same.settings_, "families": "auto"}
    assert np.array_equal(found.predict_proba(X), same.predict_proba(X))


def test_kept_columns_lead_and_forbidden_ones_do_not():
    X, y = twins()
    options = {"price": 1.0, "pairs": False, "families": "auto"}
    found = WeightedNaiveBayes(keep=["a1", "b1", "b2"], forbid=["c0"], **options).fit(X, y)
    assert found.families_.leader[:9].tolist() == [1, 1, 1, 4, 4, 5, 7, 7, 7]
    assert {(1,), (4,), (5,), (7,)} <= set(terms_of(found))
    grouped = WeightedNaiveBayes(feature_groups=[["a0", "b0"]], **options).fit(X, y)
    assert grouped.families_.leader[:6].tolist() == [0, 1, 1, 3, 4, 4]


@pytest.mark.parametrize(
    ("families", "words"),
    [
        ("all", "families must be 'auto' or lists of columns; got 'all'"),
        (3, "families must be None, 'auto', what find_families found, or a list of lists"),
        ([["a0", "zz"]], r"families\[0\]: 'zz' is not among the columns of X"),
        ([["a0", "a1"], ["a1", "b0"]], "families must not overlap; column 'a1' is named twice"),
        (Families(("u",), np.array([0])), "families must be of the columns of X, of which there"),
    ],
)
def test_bad_families_are_told(families, words):
    X, y = twins(60)
    with pytest.raises((TypeError, ValueError), match=words):
        WeightedNaiveBayes(families=families).fit(X, y)


def test_texts_and_stability_say_whom_a_column_stands_for():
    X, y = twins()
    model = WeightedNaiveBayes(pairs=True, price=1.0, families="auto")
    found = model.fit(X, y)
    text, page = explain_model(found).to_text(), make_report(found, X, y)
    for j in np.flatnonzero(found.support_):
        others = f"stands for 2 others: {NAMES[j + 1]}, {NAMES[j + 2]}"
        assert others in text
        assert others in page
        assert f"{NAMES[j]} stands for it" in page
    assert "stands for" not in explain_model(found.set_params().estimator_).to_text()
    free = WeightedNaiveBayes(max_terms=3, pairs=False, price=1.0)
    options = {"n_resamples": 5, "random_state": 0}
    plain = stability(free, X, y, **options)
    assert plain.family_jaccard > plain.jaccard
    one = stability(free.set_params(families="auto"), X, y, **options)
    assert one.jaccard == one.family_jaccard
    assert not one.selected[:, one.families.leader != np.arange(18)].any()


# -- groups ------------------------------------------------------------------------------------


def slow_folds(weights, strata, marks, groups, n_folds=3):
    """Groups, the largest first, each to the fold that has least of its classes."""
    total = {k: weights[strata == k].sum() for k in set(strata.tolist())}
    size = {g: weights[groups == g].sum() for g in set(groups.tolist())}
    product = [int(mark) * int(weight) for mark, weight in zip(marks, weights, strict=True)]
    mark = {g: sum(product[i] for i in np.flatnonzero(groups == g).tolist()) % 2**64 for g in size}
    share = {
        g: {k: weights[(groups == g) & (strata == k)].sum() / total[k] for k in total} for g in size
    }
    held = [dict.fromkeys(total, 0.0) for _ in range(n_folds)]
    fold = {}
    for g in sorted(size, key=lambda g: (-size[g], mark[g])):
        best = min(
            range(n_folds),
            key=lambda f: (
                round(sum(held[f][k] * share[g][k] for k in total), 9),
                round(sum(held[f].values()), 9),
            ),
        )
        fold[g] = best
        for k in total:
            held[best][k] += share[g][k]
    return np.array([fold[g] for g in groups.tolist()])


@pytest.mark.parametrize("seed", range(5))
def test_folds_of_groups(seed):
    X, y = mixed(seed, n_rows=120)
    rng = np.random.default_rng(seed)
    groups, times = rng.integers(0, 15, len(y)), rng.integers(1, 4, len(y))
    rows = coded_rows(X, y, MODELS_OF_MIXED, times)
    folds = fold_weights(rows, y, np.random.RandomState(seed), groups)
    assert (np.sum(folds, axis=0) == times).all()
    for held_out in folds:
        assert not set(groups[held_out > 0]) & set(groups[held_out < times])
        # About as much of each class.
        assert np.abs(np.bincount(y, held_out) / np.bincount(y, times) - 1 / 3).max() < 0.15
    marks = rows.marks(np.random.RandomState(seed))
    expected = slow_folds(times, y, marks, groups)
    assert np.array_equal(np.argmax(folds, axis=0), expected)
    # Neither the order of rows nor the names of groups count.
    order, names = rng.permutation(len(y)), rng.permutation(15)
    moved = coded_rows(X[order], y[order], MODELS_OF_MIXED, times[order])
    again = fold_weights(moved, y[order], np.random.RandomState(seed), names[groups[order]])
    assert np.array_equal([held_out[order] for held_out in folds], again)


def test_two_groups_make_two_folds():
    X, y = mixed(0)
    rows = coded_rows(X, y, MODELS_OF_MIXED)
    folds = fold_weights(rows, y, np.random.RandomState(0), np.arange(len(y)) % 2)
    assert len(folds) == 2
    assert all(held_out.any() for held_out in folds)


@pytest.fixture
def seen(monkeypatch):
    """Rows that train and rows that are held out, whenever options are judged."""
    found, original = [], inner.Weighing.judge

    def judge(self, held_out):
        found.append((self.problems[0].rows, held_out[0].rows))
        return original(self, held_out)

    monkeypatch.setattr(inner.Weighing, "judge", judge)
    return found


def test_no_group_is_on_both_sides(seen):
    X, y = twins(200)
    groups = np.array([f"patient {i // 5}" for i in range(200)], object)
    WeightedNaiveBayes().fit(X, y, groups=groups)
    held_out = {}
    for train, test in seen:
        assert not set(groups[train]) & set(groups[test])
        held_out.setdefault(tuple(train.tolist()), set()).update(test.tolist())
    # Batches of groups are judged apart; together they are all that did not train.
    assert len(held_out) >= 3
    for train, test in held_out.items():
        assert len(train) + len(test) == 200


def test_groups_tell_that_identities_do_not_help():
    """A column that names the group foretells nothing about other groups."""
    rng = np.random.default_rng(0)
    groups = np.arange(300) // 5
    y = rng.integers(0, 2, 60)[groups]
    X = pd.DataFrame({"who": groups.astype(str), "noise": rng.integers(0, 2, 300)})
    fooled = WeightedNaiveBayes(features={"who": "categorical"}).fit(X, y)
    assert fooled.support_[0]
    told = WeightedNaiveBayes(features={"who": "categorical"}).fit(X, y, groups=groups)
    assert terms_of(told) == []


def test_nested_and_stability_hand_on_groups(seen):
    X, y = twins(200)
    groups = np.arange(200) // 5
    nested(WeightedNaiveBayes(), X, y, cv=2, random_state=0, groups=groups)
    found = stability(WeightedNaiveBayes(), X, y, n_resamples=2, random_state=0, groups=groups)
    assert found.selected.shape == (2, 18)
    assert len(seen) >= 12
    # Rows are those of the part given to fit, groups of five in each.
    for train, test in seen:
        assert len(train) + len(test) <= 200


def test_bad_groups_are_told():
    X, y = twins(60)
    for groups, words in (
        (np.zeros(3), "groups has 3 values, but X has 60 rows"),
        ([None] * 60, r"groups is missing in 60 row\(s\)"),
        (np.zeros(60), "groups has one group only: whole groups are left out"),
    ):
        with pytest.raises(ValueError, match=words):
            WeightedNaiveBayes().fit(X, y, groups=groups)
    # Even where no fold decides: the only group would be left out of its own tables.
    with pytest.raises(ValueError, match="groups has one group only"):
        WeightedNaiveBayes(pairs=False, price=1.0).fit(X, y, groups=np.zeros(60))


# -- a part that decides -----------------------------------------------------------------------


def test_the_latest_rows_decide(seen):
    X, y = twins(200)
    late = np.arange(200) >= 140
    for validation in (late, np.flatnonzero(late).tolist()):
        seen.clear()
        found = WeightedNaiveBayes(validation=validation).fit(X, y)
        assert seen
        for train, test in seen:
            assert train.tolist() == list(range(140))
            assert test.tolist() == list(range(140, 200))
        # Terms and weights come from all rows.
        chosen = found.settings_
        same = WeightedNaiveBayes(pairs=chosen["pairs"], price=chosen["price"], random_state=0)
        if not chosen["pairs"]:
            assert terms_of(same.fit(X, y)) == terms_of(found)


def test_a_splitter_decides_by_its_last_split(seen):
    X, y = twins(200)
    WeightedNaiveBayes(validation=TimeSeriesSplit(3, max_train_size=60, gap=10)).fit(X, y)
    train, test = list(TimeSeriesSplit(3, max_train_size=60, gap=10).split(X))[-1]
    assert seen
    for mine, theirs in seen:
        assert np.array_equal(mine, train)
        assert np.array_equal(theirs, test)


def test_a_share_decides(seen):
    X, y = twins(200)
    groups = np.arange(200) // 5
    found = WeightedNaiveBayes(validation=0.4, random_state=3).fit(X, y, groups=groups)
    held_out = {}
    for train, test in seen:
        held_out.setdefault(tuple(train.tolist()), set()).update(test.tolist())
    assert {abs(len(test) - 80) <= 5 for test in held_out.values()} == {True}
    for train, test in seen:
        assert not set(groups[train]) & set(groups[test])
    again = WeightedNaiveBayes(validation=0.4, random_state=3).fit(X, y, groups=groups)
    assert found.settings_ == again.settings_
    for train, test in seen:
        held_out.setdefault(tuple(train.tolist()), set()).update(test.tolist())
    assert len(held_out) == 1


def test_the_part_decides_as_one_fold_would():
    X, y = mixed(1, n_rows=150)
    rows = coded_rows(X, y, MODELS_OF_MIXED)
    plan = WeightPlan(units=tuple((j,) for j in range(6)))
    held_out = (np.arange(150) >= 100).astype(np.int64)
    with Threads(1) as threads:
        expected = choose_options(
            [rows], plan, options_of("auto", "auto"), [held_out], threads, lambda: False
        )[0]
    frame = pd.DataFrame(X)
    named = dict(enumerate(MODELS_OF_MIXED))
    found = WeightedNaiveBayes(features=named, validation=held_out == 1).fit(frame.to_numpy(), y)
    assert found.settings_["pairs"] == expected.pairs


@pytest.mark.parametrize(
    ("validation", "words"),
    [
        (1.0, "validation must be None or strictly between 0 and 1; got 1.0"),
        ("late", "validation must be None, a number from 0 to 1, a splitter, or a mask"),
        ([True] * 3, "validation is a mask of 3 rows, but X has 60"),
        ([60], "validation names row 60"),
        ([True] * 60, "validation leaves no row to guide"),
    ],
)
def test_bad_parts_are_told(validation, words):
    X, y = twins(60)
    with pytest.raises((TypeError, ValueError), match=words):
        WeightedNaiveBayes(validation=validation).fit(X, y)


def test_a_checkpoint_knows_groups_and_families(tmp_path):
    X, y = twins(120)
    file = tmp_path / "path.json"
    groups = np.arange(120) // 4
    model = WeightedNaiveBayes(checkpoint=file, families="auto")
    first = model.fit(X, y, groups=groups)
    assert terms_of(model.fit(X, y, groups=groups)) == terms_of(first)
    with pytest.raises(ValueError, match="belongs to another fit: it differs in groups"):
        model.fit(X, y, groups=groups[::-1])
    with pytest.raises(ValueError, match="belongs to another fit: it differs in families"):
        model.set_params(families=None).fit(X, y, groups=groups)


# -- columns that belong together, or to an order ----------------------------------------------


def test_a_column_of_a_group_enters_no_pair_without_the_others():
    X, y = twins()
    options = {"pairs": True, "price": 1.0}
    free = WeightedNaiveBayes(**options).fit(X, y)
    assert any(len(term) == 2 and max(term) > 11 for term in terms_of(free))
    # The pair tells; with the rest of its group, each of its columns tells nothing alone.
    groups = [["e0", "a0"], ["e1", "a1"], ["e2", "a2"]]
    bound = WeightedNaiveBayes(feature_groups=groups, **options).fit(X, y)
    for term in terms_of(bound):
        assert len(term) == 1 or not {0, 1, 2, 12, 13, 14} & set(term)
    for first, second in ((0, 12), (1, 13), (2, 14)):
        assert bound.support_[first] == bound.support_[second]
    kept = WeightedNaiveBayes(feature_groups=groups[:1], keep=["e0"], **options).fit(X, y)
    assert any(len(term) == 2 and 12 in term for term in terms_of(kept))


@pytest.mark.parametrize(
    ("monotone", "words"),
    [
        ({"a0": np.array([1, 1])}, r"must be 1 \(rises\) or -1 \(falls\); got array"),
        ({"a0": 1, 0: -1}, "monotone names column 'a0' twice"),
    ],
)
def test_odd_orders_are_refused(monotone, words):
    X, y = twins(100)
    with pytest.raises(ValueError, match=words):
        WeightedNaiveBayes(monotone=monotone).fit(X, y)


# -- reports -----------------------------------------------------------------------------------


def test_a_report_knows_the_rows_that_decide():
    X, y = twins(150)
    late = np.arange(150) >= 100
    weights = np.where(np.arange(150) % 10 == 3, 0, 1)
    found = []
    for named in (late, np.flatnonzero(late).tolist()):
        model = WeightedNaiveBayes(pairs=False, validation=named)
        model.fit(X, y, sample_weight=weights)
        judged = performance(model, X, y, weights)
        assert judged.rows == "anew"
        found.append(judged.error)
        assert "<html" in make_report(model, X, y, sample_weight=weights)
    assert found[0] == found[1] < 0.3
    # No row of a class would be left in some fold: rows that were seen are judged then.
    rare = np.where(np.arange(150) % 30 == 0, 0, 1)
    first = WeightedNaiveBayes(validation=np.arange(150) >= 30).fit(X, rare)
    assert performance(first, X, rare).rows != "anew"
