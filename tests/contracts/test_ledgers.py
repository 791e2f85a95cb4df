"""Every ledger answers alike: whole, in parts, with workers; though every word travels."""

import numpy as np
import pytest

import reference
from bayesieve.criteria import AUC, CRITERIA, Criterion
from bayesieve.engine.contract import AS_IT_IS, WHOLE, Measure, Partitioned, Units
from bayesieve.engine.threads import Threads
from bayesieve.engine.weighted import PRESENT, Folded
from bayesieve.search import SEARCHES, Limits
from bayesieve.search.objective import SubsetScorer
from bayesieve.search.term_pool import CodedColumns, CodedRows, Weighing, WeightPlan
from bayesieve.search.term_weights import TermObjective, WeightedProblem
from ledgers import (
    Travelling,
    check_alike,
    columns_of,
    dense_ledger,
    lines_of,
    log_loss,
    objective_of,
    single,
    sparse_ledger,
)
from weighted import MODELS_OF_MIXED, coded_rows, mixed
from workers import DEALT_UNITS, ColumnWorkers, RowWorkers

ROW_CRITERIA = ["error", "probability", "log-likelihood"]
PARTS = [2, 7]


def table(seed=0, n_rows=61, n_classes=3):
    """Columns of several kinds, missing values and an exact copy among them."""
    rng = np.random.default_rng(seed)
    y = np.append(np.arange(n_classes), rng.integers(0, n_classes, n_rows - n_classes))
    X = rng.integers(0, 2, (n_rows, 7)).astype(float)
    X[:, 1] = rng.integers(0, 4, n_rows)
    X[:, 2] = np.round(rng.normal(size=n_rows) + y, 1)
    X[:, 3] = (rng.random(n_rows) < 0.2 + 0.5 * (y == 1)).astype(float)
    X[rng.random(X.shape) < 0.04] = np.nan
    X[:, 4] = X[:, 3]
    return X, y, rng.integers(1, 4, n_rows)


MIXED = ["bernoulli", "categorical", "gaussian", *["bernoulli"] * 4]
FOLDS = [(np.arange(20, 61), np.arange(20)), (np.arange(40), np.arange(40, 61))]


def dense(cv, weighted):
    X, y, weights = table()
    return dense_ledger(X, y, MIXED, cv, weights=weights if weighted else None, balanced=weighted)


def sparse(form, weighted):
    X, y, weights = table()
    Y = np.column_stack([y > 0, y > 1]).astype(int) if form == "labels" else y
    folds = FOLDS if form == "folds" else None
    return sparse_ledger(X, Y, MIXED, folds, weights=weights if weighted else None)


def term_rows(form, weighted):
    """Rows of weighted terms: dense columns, or sparse ones."""
    X, y = mixed(3, 90)
    weights = np.random.default_rng(0).integers(1, 4, len(y)) if weighted else None
    if form != "sparse":
        return coded_rows(X, y, MODELS_OF_MIXED, weights)
    X = np.nan_to_num(X[:, [0, 2, 3, 4]])
    dense = coded_rows(X, y, ["bernoulli"] * 4, weights)
    entries = tuple(np.flatnonzero(X[:, j]) for j in range(4))
    columns = CodedColumns(dense.columns.specs, np.full(4, PRESENT), entries, len(y))
    return CodedRows(columns, dense.rows, y, dense.weights, dense.classes, dense.class_weight)


def weighing_of(rows, paired):
    plan = WeightPlan(units=tuple((j,) for j in range(len(rows.columns.specs))))
    return Weighing([rows], plan, paired, Threads(1))


def terms(form, weighted):
    """A ledger of weighted terms, pairs of columns among them."""
    rows = term_rows(form, weighted)
    weighing = weighing_of(rows, form != "sparse")
    return weighing._ledger(0, rows, left_out=True)


CASES = {
    f"{build.__name__} {form}{' weighted' if weighted else ''}": (build, form, weighted)
    for build, forms in (
        (dense, ("train", "loo", 3)),
        (sparse, ("classes", "folds", "labels")),
        (terms, ("columns", "sparse")),
    )
    for form in forms
    for weighted in (False, True)
}
WHOLE_COLUMNS = [case for case in CASES if not case.startswith("terms")]


def make(case):
    build, form, weighted = CASES[case]
    return build(form, weighted)


def cut(case, n_parts):
    return Partitioned([Travelling(part) for part in make(case).cut(n_parts)])


def units_of(ledger):
    """Terms alone, and some together."""
    tables = ledger.offers.tables
    n_terms = 7 if tables is None else tables.n_terms
    return single(n_terms), Units(((0, 2), (1,), *((j,) for j in range(3, n_terms))))


SINGLE = Units(tuple((j,) for j in range(7)))


@pytest.mark.parametrize("n_parts", PARTS)
@pytest.mark.parametrize("case", CASES)
def test_answers_add_up_over_parts(case, n_parts):
    whole, parts = make(case), cut(case, n_parts)
    for name in ROW_CRITERIA:
        assert CRITERIA[name].rule(parts) == CRITERIA[name].rule(whole)
    for units in units_of(whole):
        check_alike(whole, parts, units)


@pytest.mark.parametrize(
    ("cv", "weighted", "n_workers"),  # all pairs
    [("train", False, 1), ("train", True, 3), ("loo", False, 3), ("loo", True, 1), (3, False, 1),
     (3, True, 3)],
)  # fmt: skip
def test_rows_with_workers(cv, weighted, n_workers):
    X, y, weights = table()
    X, models = X[:, [0, 1, 3, 4, 5, 6]], ["bernoulli", "categorical", *["bernoulli"] * 4]
    given = {"weights": weights if weighted else None, "balanced": weighted}
    near = dense_ledger(X, y, models, cv, **given)
    workers = RowWorkers(*columns_of(X, models)[::-1], n_workers)
    try:
        check_alike(near, workers.dense(near), Units(((0, 2), (1,), (3,), (4, 5))))
    finally:
        workers.channel.close()


@pytest.mark.parametrize("weighted", [False, True])
def test_weighted_rows_with_workers(weighted):
    rows = term_rows("columns", weighted)
    workers = RowWorkers(rows.columns.columns, rows.columns.specs, 3)
    try:
        near, remote = (weighing_of(each, True) for each in (rows, workers.coded(rows)))
        ledgers = [each._ledger(0, each.problems[0], left_out=True) for each in (near, remote)]
        check_alike(*ledgers, units_of(ledgers[0])[1])
    finally:
        workers.channel.close()


@pytest.mark.parametrize(("n_classes", "n_labels"), [(2, 3), (4, 1)])
def test_columns_with_workers(n_classes, n_labels):
    workers = ColumnWorkers(2, n_classes, n_labels)
    try:
        check_alike(*workers.ledgers, DEALT_UNITS)
    finally:
        workers.channel.close()


def test_a_worker_without_lines():
    """Lines of some of the rows may all be with the others."""
    X, y, _ = table()
    X, models = X[:, [0, 3, 4]], ["bernoulli"] * 3
    near = dense_ledger(X, y, models)
    at = np.flatnonzero(near._rows.lines.rows < 20)
    few = type(near)(near._tables, near._rows.take(at), near.outline.factors, Threads(1))
    workers = RowWorkers(*columns_of(X, models)[::-1], 3)
    try:
        check_alike(few, workers.dense(few), single(3))
    finally:
        workers.channel.close()


@pytest.mark.parametrize("remote", [False, True])
def test_folds_have_tables_of_their_own(remote):
    """Losses and slopes of folds are those of their ledgers, each in units of its own."""
    rows = term_rows("columns", True)
    workers = RowWorkers(rows.columns.columns, rows.columns.specs, 2)
    try:
        some = workers.coded(rows) if remote else rows
        weighing = weighing_of(some, 5)
        parts = [
            weighing._ledger(0, some.weighted(some.weights * (np.arange(90) % 3 == fold)), False)
            for fold in range(3)
        ]
        folded = Folded(parts)
        bits = folded.offers.bits
        for _ in range(2):
            total = sum(log_loss(each) * 2 ** (bits - each.offers.bits) for each in parts)
            assert log_loss(folded) == total
            found = folded.slopes([2, 0])
            of_two = found.sums[: found.at[1]].reshape(3, -1)
            for mine, each in zip(of_two, parts, strict=True):
                np.testing.assert_array_equal(mine, each.slopes([2]).sums)
            np.testing.assert_array_equal(folded.balance(), sum(e.balance() for e in parts))
            assert folded.totals().sum() == rows.weights.sum()
            folded.apply([2, 5], np.array([[3, 0, 16], [1, 2, 3]]))
        of_one = parts[0].offers.tables.n_codes
        np.testing.assert_array_equal(folded.offers.tables.n_codes, 3 * of_one)
    finally:
        workers.channel.close()


def test_what_a_ledger_does_not_offer_is_refused():
    whole, weighted = make("dense train"), make("terms columns")
    for steps in (5, np.array([[16, 16, 0]])):
        with pytest.raises(ValueError, match="whole columns join and leave, by 16 and -16"):
            whole.apply([0], steps)
    whole.apply([0], np.full((1, 3), WHOLE))
    for measure in (Measure("error"), Measure("log-likelihood", 3)):
        with pytest.raises(ValueError, match=r"answers Measure\(kind='log-likelihood'"):
            weighted.losses(measure, single(3), np.array([0]), WHOLE)


@pytest.mark.parametrize("case", ["terms columns", "terms sparse"])
def test_what_joined_leaves_without_a_trace(case):
    ledger = make(case)
    before, lines = log_loss(ledger), lines_of(ledger)
    every = range(ledger.offers.tables.n_terms)
    steps = np.tile([7, 1, 16], (len(every), 1))
    ledger.apply(every, steps)
    assert log_loss(ledger) != before
    for term in every:
        ledger.apply([term], -steps[:1])
    assert log_loss(ledger) == before
    assert (lines_of(ledger) == lines).all()


def tables_to_add(ledger):
    """A table for each term, in units of scores."""
    rng, tables = np.random.default_rng(0), ledger.offers.tables
    size = (1 << 40, tables.n_classes)
    return [rng.integers(-size[0], size[0], (int(n), size[1])) for n in tables.n_codes]


@pytest.mark.parametrize("n_parts", PARTS)
@pytest.mark.parametrize("case", ["terms columns", "terms columns weighted", "terms sparse"])
def test_what_is_added_to_tables_is_added_to_every_part(case, n_parts):
    whole, parts = make(case), cut(case, n_parts)
    before, tables = lines_of(whole), tables_to_add(whole)
    every = list(range(len(tables)))
    whole.add(every, tables)
    assert (lines_of(whole) != before).any()
    parts.add(every, tables)
    check_alike(whole, parts, units_of(whole)[1])
    whole.add(every, [-table for table in tables])
    assert (lines_of(whole) == before).all()


def test_what_is_added_to_tables_reaches_workers():
    rows = term_rows("columns", True)
    workers = RowWorkers(rows.columns.columns, rows.columns.specs, 3)
    try:
        near, remote = (weighing_of(each, True) for each in (rows, workers.coded(rows)))
        ledgers = [each._ledger(0, each.problems[0], left_out=True) for each in (near, remote)]
        for ledger in ledgers:
            ledger.add(range(ledger.offers.tables.n_terms), tables_to_add(ledger))
        check_alike(*ledgers, units_of(ledgers[0])[1])
    finally:
        workers.channel.close()


@pytest.mark.parametrize("n_parts", PARTS)
def test_a_path_over_parts_is_the_path(n_parts):
    rows = term_rows("columns", False)
    weighing = weighing_of(rows, 5)
    whole = weighing.greedy(0.5)
    rules = whole._rules
    parts = Partitioned(weighing._ledger(0, rows, left_out=True).cut(n_parts))
    problem = WeightedProblem(parts, weighing._constants(weighing.problems[0]), rules)
    for one, two in zip(whole.walk(), TermObjective([problem], rules).walk(), strict=True):
        assert (one.terms, one.gain, one.loss) == (two.terms, two.gain, two.loss)
        assert (one.weights[0] == two.weights[0]).all()


def test_sparse_terms_answer_as_dense_ones():
    sparse_terms, rows = make("terms sparse"), term_rows("sparse", False)
    X = np.stack([rows.codes(j) for j in range(4)], axis=1).astype(float)
    dense_rows = coded_rows(X, rows.labels, ["bernoulli"] * 4)
    dense_terms = weighing_of(dense_rows, 0)._ledger(0, dense_rows, left_out=True)
    check_alike(sparse_terms, dense_terms, single(4))


def test_a_ledger_is_cut_into_no_more_parts_than_lines():
    ledger = make("terms columns")
    n_lines = len(lines_of(ledger))
    parts = ledger.cut(n_lines + 9)
    assert len(parts) == n_lines
    assert sum(map(log_loss, parts)) == log_loss(ledger)


@pytest.mark.parametrize("case", WHOLE_COLUMNS)
def test_walks_and_scores(case):
    """A walk is its steps; the scores of a subset are those of the ledger that went there."""
    whole, parts, plain = make(case), cut(case, 3), make(case)
    rule = CRITERIA["probability"].rule(whole)
    which, signs = np.array([0, 3, 5, 3, 1]), np.array([1, 1, 1, -1, 1])
    before = [list(ledger.scores((0, 1, 5), ())) for ledger in (whole, parts)]
    found = whole.walk(rule, SINGLE, which, WHOLE * signs)
    np.testing.assert_array_equal(found, parts.walk(rule, SINGLE, which, WHOLE * signs))
    for step, (unit, sign) in enumerate(zip(which, signs, strict=True)):
        plain.apply(SINGLE.members[unit], WHOLE * int(sign))
        now = plain.losses(rule, SINGLE, np.array([AS_IT_IS]), WHOLE)[0]
        np.testing.assert_array_equal(found[step], now)
    for ledger, seen in zip((whole, parts), before, strict=True):
        for one, other in zip(seen, ledger.scores((), ()), strict=True):
            for part, same in zip(one, other, strict=True):
                np.testing.assert_array_equal(part, same)
    rows = np.concatenate([part.rows for part in before[1]])
    assert sorted(rows.tolist()) == sorted(before[0][0].rows.tolist())


@pytest.mark.parametrize("search", SEARCHES)
@pytest.mark.parametrize("criterion", ROW_CRITERIA)
@pytest.mark.parametrize("case", ["dense 3 weighted", "sparse labels", "sparse folds weighted"])
def test_searches_take_the_same_steps(case, criterion, search):
    walked = []
    for ledger in (make(case), cut(case, 2), cut(case, 7)):
        objective = objective_of(ledger, criterion, SINGLE.members, keep=[5])
        steps = []
        objective.listeners.append(
            lambda action, units, o, steps=steps: steps.append((action, units, o.score()))
        )
        for _ in given(SEARCHES[search]).steps(objective, Limits(1, 6)):
            pass
        walked.append((steps, objective.n_tried))
    assert len(walked[0][0]) > 1
    assert walked[1:] == walked[:1] * 2


def given(search):
    """With what the selector would hand over."""

    class Hints:
        seed = 3

        def order(self, ranking):
            return (3, 0, 1, 2, 4, 5, 6)

        def pairs(self, measure):
            return ((3, 4), (0, 1))

    return search.given(Hints())


class Farthest(Criterion):
    """A criterion of a user's: the mean distance to the true class, negated."""

    name = "farthest"

    def loss(self, scores, classes, weights):
        own = scores[np.arange(len(classes)), classes]
        return float(np.round(weights @ (scores.max(axis=1) - own), 6))


@pytest.mark.parametrize("case", ["dense 3 weighted", "dense train"])
def test_criteria_of_users_read_scores(case):
    found = []
    for ledger in (make(case), cut(case, 2)):
        settler = SubsetScorer(ledger, Farthest(), SINGLE)
        settler.apply((3,), 1)
        found.append((settler.now(), settler.keys([0, 1, 4], 1), settler.best([4, 1, 0], 1)))
    assert found[0] == found[1]


def test_equals_are_decided_for_the_lowest_unit():
    for criterion in [*map(CRITERIA.get, ROW_CRITERIA), Farthest()]:
        settler = SubsetScorer(make("dense train"), criterion, SINGLE)
        assert settler.keys([3], 1) == settler.keys([4], 1)
        assert settler.best([4, 3], 1)[0] == settler.best([3, 4], 1)[0] == 3


@pytest.mark.parametrize("ask", ["losses", "bounds", "walk"])
def test_what_does_not_add_up_is_refused_by_name(ask):
    parts = cut("sparse labels", 2)
    last = np.array([1]) if ask == "walk" else 1
    with pytest.raises(ValueError, match=r"AUC.*does not add up.*criterion='error'"):
        getattr(parts, ask)(AUC().rule(parts), SINGLE, np.array([0]), last)


@pytest.mark.parametrize("n_parts", [1, *PARTS])
@pytest.mark.parametrize("criterion", ROW_CRITERIA)
def test_values_are_those_of_a_refit(criterion, n_parts):
    """The twin knows nothing of ledgers: it refits the model for every line."""
    X, y, weights = table(1, 31)
    X, models = X[:, [0, 1, 3, 4]], ["bernoulli", "categorical", "bernoulli", "bernoulli"]
    whole = dense_ledger(X, y, models, "loo", weights=weights)
    ledger = whole if n_parts == 1 else Partitioned(whole.cut(n_parts))
    problem = {
        "X": [list(column) for column in X.T], "labels": y.tolist(), "weights": weights.tolist(),
        "n_classes": 3, "models": models, "smoothing": 1.0, "priors": None, "factors": [1, 1, 1],
        "levels": [
            [0.0, 1.0] if kind == "bernoulli" else sorted({v for v in column if v == v})
            for column, kind in zip(X.T, models, strict=True)
        ],
        "extra_variance": None,
    }  # fmt: skip
    lines = [(i, [int(w) - (j == i) for j, w in enumerate(weights)]) for i in range(len(y))]
    twin = reference.Twin(problem, criterion, lines)
    units = Units(tuple((j,) for j in range(4)))
    settler = SubsetScorer(ledger, CRITERIA[criterion], units)
    for subset in ((), (1,), (0, 2), (0, 1, 2, 3)):
        settler.apply(subset, 1)
        sign = -1 if CRITERIA[criterion].greater_is_better else 1
        loss = sign * settler.value(settler.now())
        assert loss == pytest.approx(float(twin.score(subset)), abs=1e-9)
        settler.apply(subset, -1)
