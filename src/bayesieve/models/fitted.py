"""`FittedBayes`: the fitted model as a value; its rule, linear form and priors."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeAlias, TypeVar, cast

import numpy as np
from numpy.typing import ArrayLike

from ..checks import Array, Bools, plain_value
from ..data.columns import ColumnSpec, encode, is_missing
from ..data.storage import NarrowColumns
from ..data.tables import RawTable, SparseTable, Table
from .base import (
    MOST_BITS,
    ColumnTerms,
    Floats,
    Ints,
    ModelSettings,
    PairTerms,
    Run,
    Scale,
    Terms,
    Weighting,
    choose_scale,
    in_units_of_scale,
    run_alone,
)
from .columns import (
    BinarySpecs,
    BinaryTerms,
    Summary,
    build_columns,
    check_batch,
    fixed_tables,
    presence_of,
    scale_of,
    spoken_tables,
)
from .counts import check_priors, log_shares_of, prior_terms
from .gaussian import GaussianModel, size, times, total_variance
from .registry import MODELS

#: What asking a person is called wherever decisions have names.
ASK = "ask a person"

# Posteriors, in units of the largest, are whole numbers of 2^-40: sums of them are exact, so that
# equal costs are equal, here and in code that speaks the rule elsewhere.
WEIGHT_BITS = 40


@dataclass(frozen=True)
class Guard:
    """Where a class must not be decided, and where it must be.

    Both bounds are about its lead: the sum of the class less the largest sum of the others, in
    whole units, under the priors for which the rule was made.

    Parameters
    ----------
    position : of the class.
    low : it is not decided where it leads by this or less; None: it always may be.
    high : it is decided where it leads by this or more; None: it never must be.
    or_ask : where it must be decided, a person may be asked instead.
    """

    position: int
    low: int | None = None
    high: int | None = None
    or_ask: bool = False


@dataclass(frozen=True)
class Promise:
    """A rate that a guard keeps, and what that rests on.

    Parameters
    ----------
    kind : "alarms" (rows of the class are taken for any other), "false alarms" (rows of others are
        taken for the class) or "detections" (rows of the class are taken for it).
    position : of the class.
    bound : the rate that is not exceeded; of detections, the rate that is reached.
    confidence : with which it holds.
    rows : held-out rows that it rests on.
    beyond : how many of them may be on the wrong side of the threshold.
    unit : "rows", or "groups" where one row of each held-out group was looked at.
    """

    kind: str
    position: int
    bound: float
    confidence: float
    rows: int
    beyond: int
    unit: str = "rows"


@dataclass(frozen=True)
class DecisionRule:
    """What to decide, given the sums of a row.

    The decision of least expected cost among those that the guards allow; without costs, the most
    probable class among them.  The first of equals is taken, a person is asked last.

    Parameters
    ----------
    costs : classes x decisions; one decision more than classes: asking a person.  None: no costs.
    guards : each is obeyed.
    prior : the model's prior in whole units, when the guards were made.
    promises : what the guards keep.
    rows : held-out rows that the rule was made on.

    Examples
    --------
    >>> from bayesieve.models.fitted import DecisionRule
    >>> rule = DecisionRule(((0.0, 1.0, 0.1), (1.0, 0.0, 0.1)), (), (0, 0), (), 100)
    >>> rule.asks, rule.n_decisions
    (True, 3)
    """

    costs: tuple[tuple[float, ...], ...] | None
    guards: tuple[Guard, ...]
    prior: tuple[int, ...]
    promises: tuple[Promise, ...] = ()
    rows: int = 0

    @property
    def n_decisions(self) -> int:
        """The classes, and asking."""
        return len(self.prior) if self.costs is None else len(self.costs[0])

    @property
    def asks(self) -> bool:
        """May it ask a person?"""
        return self.n_decisions > len(self.prior)

    def leads(self, sums: Ints, prior: Ints) -> Ints:
        """How far each class is ahead of the best other, in whole units, as the guards read it.

        Parameters
        ----------
        sums : rows x classes.
        prior : the part of them that is the prior.
        """
        return leads_of(sums - prior + np.array(self.prior, np.int64))

    def allowed(self, leads: Ints) -> Bools:
        """The decisions that no guard forbids: rows x decisions."""
        n_classes, n_decisions = leads.shape[1], self.n_decisions
        found = np.ones((len(leads), n_decisions), bool)
        for guard in self.guards:
            if guard.low is not None:
                found[leads[:, guard.position] <= guard.low, guard.position] = False
        for guard in self.guards:
            if guard.high is not None:
                others = np.ones(n_decisions, bool)
                others[guard.position] = False
                others[n_classes:] = not guard.or_ask
                must = leads[:, guard.position] >= guard.high
                found[np.ix_(must, others)] = False
        return found

    def expected(self, ahead: Floats) -> Floats:
        """The expected cost of each decision, times the sum of the row's weights.

        Parameters
        ----------
        ahead : how far each class is from the best, in nat: rows x classes.
        """
        assert self.costs is not None
        weights = weights_of(ahead)
        costs = np.array(self.costs)
        found = np.zeros((len(ahead), costs.shape[1]))
        for k, line in enumerate(costs):  # one by one: the order of the sum is part of the rule
            found += weights[:, k, None] * line
        return found

    def decide(self, sums: Ints, prior: Ints, ahead: Floats) -> Ints:
        """The position of each row's decision; the number of classes: ask a person."""
        allowed = self.allowed(self.leads(sums, prior)) if self.guards else None
        if self.costs is None:
            least = np.iinfo(np.int64).min
            return (sums if allowed is None else np.where(allowed, sums, least)).argmax(1)
        costs = self.expected(ahead)
        return (costs if allowed is None else np.where(allowed, costs, np.inf)).argmin(1)


def leads_of(sums: Ints) -> Ints:
    """The sum of each class less the largest of the others: rows x classes."""
    ordered = np.sort(sums, axis=1)
    first, second = ordered[:, -1:], ordered[:, -2:-1]
    # Where two classes are first together, each is level with the other.
    return sums - np.where(sums == first, second, first)


def weights_of(ahead: Floats) -> Floats:
    """Posteriors in units of the largest, rounded to 2^-40 and told in such units."""
    return np.rint(np.ldexp(np.exp(ahead), WEIGHT_BITS))


# -- Naive Bayes for two classes as a linear discriminant (Guyon 2005) -----------------------------


def linear_form(
    columns: Sequence[ColumnTerms], fixed: Sequence[Ints | None], prior: Terms, scale: Scale
) -> tuple[Floats, Floats]:
    """Weights (1 x columns) and constant of the log-odds of class 1 against class 0.

    Parameters
    ----------
    columns : bernoulli and gaussian-pooled columns.
    fixed : the table of each bernoulli column, values x classes.
    prior : log-priors, 1 x classes.
    """
    weights = np.empty(len(columns))
    start = scale.fix(prior)[0]
    with np.errstate(invalid="ignore"):
        constant = scale.release(start[1:] - start[:1])[0]
        for j, (column, table) in enumerate(zip(columns, fixed, strict=True)):
            if table is not None:
                zero, one = scale.release(table[:2, 1] - table[:2, 0])
                weights[j], part = one - zero, zero
            else:
                weights[j], part = _pooled_line(column)
            constant = constant + part
    return weights[None], np.array([constant])


def _pooled_line(column: ColumnTerms) -> tuple[float, float]:
    """Weight (mu1 - mu0) / s^2 and constant (mu0^2 - mu1^2) / (2 s^2) of a pooled column.

    The paper prints the weight with a factor 0.5, which belongs to the constant only.
    """
    model, moments = column.model, column.statistics
    assert isinstance(model, GaussianModel)
    pooled, powers = model.pooled_variance(moments, column.grid.resolution, column.settings)
    variance, power = pooled[0], int(powers[0])
    zero, one = np.ldexp(moments.mean[0], -power)
    weight = np.ldexp((one - zero) / variance, -power)
    return weight, (zero**2 - one**2) / (2 * variance)


# -- A fitted naive Bayes model as a value ---------------------------------------------------------


@dataclass(frozen=True)
class FittedProblem:
    """One problem: which of several classes, or whether a label is there.

    Parameters
    ----------
    summary : what was counted.
    columns : statistics and settings, ready to speak for each column.
    tables : integer terms of every value of each discrete column, None for the others.
    prior : log-priors as learnt, 1 x classes.
    scale : of the integers.
    extra_variance : added to every variance, where there is one.
    temperature : what all that is said in nat is divided by.
    weighting : weights of the terms, and pairs of columns, where there are any.
    place : probabilities of the classes where the model is used; None: as learnt.
    rule : what to decide; None: the most probable class.
    """

    summary: Summary
    columns: Sequence[ColumnTerms]
    tables: Sequence[Ints | None] | Ints
    prior: Terms
    scale: Scale
    extra_variance: float | None = None
    temperature: float = 1.0
    weighting: Weighting | None = None
    place: tuple[float, ...] | None = None
    rule: DecisionRule | None = None

    @property
    def pairs(self) -> tuple[PairTerms, ...]:
        """Pairs of columns that speak together."""
        return () if self.weighting is None else self.weighting.pairs

    @property
    def classes(self) -> Array:
        """The classes, sorted."""
        return self.summary.classes

    @property
    def specs(self) -> Sequence[ColumnSpec]:
        """What each column is like."""
        return self.summary.specs

    @property
    def spoken_prior(self) -> Terms:
        """Log-priors of the place where the model is used, before the temperature: 1 x classes."""
        if self.place is None:
            return self.prior
        summary, bits = self.summary, min(max(self.scale.bits, 0), MOST_BITS)
        counts, given = summary.class_count[None], np.array(self.place)
        there = prior_terms(counts, given, summary.class_weight, bits).finite
        t, learnt = self.temperature, self.prior.finite
        if self.weighting is None:
            # The temperature divides what was learnt, and not the odds between two places.
            return self.prior._replace(finite=t * there + (1 - t) * learnt)
        # A weighted model's constants are more than its prior: they move by the odds alone.
        return self.prior._replace(finite=learnt + t * (there - self._log_home))

    @property
    def _log_home(self) -> Floats:
        """Log-probabilities of the classes for which a weighted model's constants were learnt."""
        assert self.weighting is not None
        if self.weighting.priors is not None:
            return np.log(self.weighting.priors)
        return log_shares_of(self.summary.class_count * self.summary.class_weight)

    @property
    def shares(self) -> Floats:
        """Probabilities of the classes for which the model speaks, before any evidence."""
        if self.place is not None:
            return np.array(self.place)
        if self.weighting is not None:
            return np.exp(self._log_home)
        return replace(self, temperature=1.0).proba(self.fixed_prior[None])[0]

    @property
    def fixed_prior(self) -> Ints:
        """Log-priors in whole units."""
        return self.scale.fix(self.spoken_prior)[0]

    # -- what it says --------------------------------------------------------------------------

    def speak(self, column: int, raw: Array) -> Ints:
        """Terms of the values of one column, in whole units: values x classes."""
        spec, table = self.specs[column], self.tables[column]
        if raw.dtype == object and (table is None or spec.on_grid):
            check_batch(spec.model, raw, spec.name)
        if table is None:
            return self.scale.fix(self.columns[column].of(encode(spec, raw), 0))
        codes = encode(spec, raw)
        terms = table[codes]
        if self.weighting is not None and self.weighting.speaks:
            # What a missing value says is not said by one that nobody has seen.
            terms[(codes == spec.n_codes - 1) & ~is_missing(raw)] = 0
        return terms

    def column_terms(self, rows: Table, column: int) -> Ints:
        """Terms of one column of a table; of equal values, made once where they are known."""
        values, codes = rows.coded(column)
        terms = self.speak(column, values)
        return terms if codes is None else terms[codes]

    def pair_terms(self, rows: Table, pair: PairTerms) -> Ints:
        """Terms of one pair of columns of a table: rows x classes."""
        codes = []
        for column in pair.columns:
            values, at = rows.coded(column)
            found = encode(self.specs[column], values)
            codes.append(found if at is None else found[at])
        return pair.terms_of(codes[0], codes[1])

    def sums(self, rows: Table) -> Ints:
        """Exact integer sums of log-prior and terms: rows x classes."""
        sums = np.repeat(self.fixed_prior[None], rows.n_rows, axis=0)
        together = np.zeros(len(self.specs), bool)
        if isinstance(rows, SparseTable):
            together = presence_of(self.specs)
            self._add_present(rows, np.flatnonzero(together), sums)
        elif isinstance(self.specs, BinarySpecs) and isinstance(rows, RawTable):
            together = rows.narrow.binary
            self._add_binary(rows.narrow, np.flatnonzero(together), sums)
        for j in np.flatnonzero(~together).tolist():
            sums += self.column_terms(rows, j)
        for pair in self.pairs:
            sums += self.pair_terms(rows, pair)
        return sums

    def _add_present(self, rows: SparseTable, columns: Ints, sums: Ints) -> None:
        """Terms of presence columns, from their non-zeros."""
        from ..data.kernels.exact import add_present

        if columns.size:
            fixed = fixed_tables(self.tables, columns)
            sums += fixed[:, 0].sum(0)
            part = rows.pick(columns).matrix
            pointers, lines = part.indptr.astype(np.int64), part.indices.astype(np.int64)
            add_present(pointers, lines, fixed[:, 1] - fixed[:, 0], sums)

    def _add_binary(self, narrow: NarrowColumns, columns: Ints, sums: Ints) -> None:
        """Terms of binary columns, whose bytes are codes."""
        from ..data.kernels.exact import add_codes

        if columns.size:
            add_codes(narrow.cells, narrow.slots[columns], fixed_tables(self.tables, columns), sums)

    def nat(self, fixed: Ints) -> Floats:
        """Whole units as what the model says, in nat."""
        return self.scale.release(fixed) / self.temperature

    def ahead(self, sums: Ints) -> Floats:
        """How far each class is from the best, in nat; -inf where it is impossible beside it."""
        return self.nat(sums - sums.max(1, keepdims=True))

    def proba(self, sums: Ints) -> Floats:
        """P(class | x) from sums: rows x classes."""
        odds = np.exp(self.ahead(sums))
        return odds / odds.sum(1, keepdims=True)

    def log_proba(self, sums: Ints) -> Floats:
        """Log P(class | x) from sums: rows x classes."""
        ahead = self.ahead(sums)
        return ahead - np.log(np.exp(ahead).sum(1, keepdims=True))

    def best(self, sums: Ints) -> Array:
        """The most probable class; the first of equals."""
        return self.classes[sums.argmax(1)]

    def decided(self, sums: Ints) -> Array:
        """What the rule decides, None where it asks a person; the best class without a rule."""
        if self.rule is None:
            return self.best(sums)
        at = self.rule.decide(sums, self.fixed_prior, self.ahead(sums))
        if not self.rule.asks:
            return self.classes[at]
        return np.array([*self.classes.tolist(), None], dtype=object)[at]

    def decide(self, sums: Ints) -> Floats:
        """Log-odds of the second of two classes; else the scores of all."""
        return self.nat(sums[:, 1] - sums[:, 0] if len(self.classes) == 2 else sums)

    def linear(self) -> tuple[Floats, Floats]:
        """F(x) = sum w x + b with log-odds of the second of two classes."""
        if self.weighting is not None:
            raise AttributeError("coef_ and intercept_ exist for models without weights.")
        odd = {spec.model for spec in self.specs} - {"bernoulli", "gaussian-pooled"}
        if len(self.classes) != 2 or odd:
            raise AttributeError(
                "coef_ and intercept_ exist for two classes and 'bernoulli' or "
                "'gaussian-pooled' columns; got "
                f"{len(self.classes)} classes and {sorted({spec.model for spec in self.specs})}."
            )
        tables = list(self.tables)
        weights, constant = linear_form(self.columns, tables, self.spoken_prior, self.scale)
        return weights / self.temperature, constant / self.temperature

    # -- other values --------------------------------------------------------------------------

    def restrict(self, columns: Sequence[int]) -> "FittedProblem":
        """Some columns only; tables, scale and frozen means stay what they are."""
        return replace(
            self,
            summary=self.summary.restrict(columns),
            columns=tuple(self.columns[j] for j in columns),
            tables=tuple(self.tables[j] for j in columns),
            weighting=None if self.weighting is None else self.weighting.restrict(columns),
            rule=None,
        )


@dataclass(frozen=True)
class FittedBayes:
    """A fitted model: one problem for classes, one for each label.

    Estimators hold one; explanations, files, exports, reports and judgements take one.

    Parameters
    ----------
    problems : in the order of the labels.
    labels : names of the labels; empty for classes.
    usual : how surprising held-out rows were, ascending: what novelty is judged by.

    Examples
    --------
    >>> import numpy as np
    >>> from bayesieve import NaiveBayes
    >>> fitted = NaiveBayes().fit(np.array([[0], [0], [1], [1]]), ["a", "a", "b", "b"]).fitted_
    >>> fitted.labelled, fitted.feature_models, fitted.only.classes.tolist()
    (False, ['bernoulli'], ['a', 'b'])
    """

    problems: tuple[FittedProblem, ...]
    labels: tuple[str, ...] = field(default=())
    usual: tuple[float, ...] | None = None

    @property
    def labelled(self) -> bool:
        """Labels, rather than classes?"""
        return bool(self.labels)

    @property
    def only(self) -> FittedProblem:
        """The problem, where rows belong to classes."""
        return self.problems[0]

    @property
    def specs(self) -> Sequence[ColumnSpec]:
        """What each column is like."""
        return self.problems[0].specs

    @property
    def feature_models(self) -> list[str]:
        """The feature model of each column."""
        return [spec.model for spec in self.specs]

    @property
    def classes(self) -> Array | list[Array]:
        """The classes; with labels, a list of them."""
        found = [problem.classes for problem in self.problems]
        return found if self.labelled else found[0]

    @property
    def class_count(self) -> Floats:
        """Weight of each class; with labels, one row a label."""
        counts = [problem.summary.class_count for problem in self.problems]
        return np.stack(counts) if self.labelled else counts[0]

    @property
    def temperature(self) -> float | Floats:
        """What log-probabilities are divided by; with labels, one each."""
        found = np.array([problem.temperature for problem in self.problems])
        return found if self.labelled else float(found[0])

    def sums(self, rows: Table) -> list[Ints]:
        """Exact integer sums of each problem: rows x classes."""
        return [problem.sums(rows) for problem in self.problems]

    def _answers(self, rows: Table, answer: Callable[[FittedProblem, Ints], Array]) -> Array:
        """What each problem answers for its sums; with labels, one column each."""
        found = [answer(*each) for each in zip(self.problems, self.sums(rows), strict=True)]
        return np.column_stack(found) if self.labelled else found[0]

    def best(self, rows: Table) -> Array:
        """The most probable class of each row; with labels, 0 or 1 each."""
        return self._answers(rows, FittedProblem.best)

    def decided(self, rows: Table) -> Array:
        """What the rule decides for each row, None: ask a person; without one, as `best`."""
        return self._answers(rows, FittedProblem.decided)

    def proba(self, rows: Table) -> Floats:
        """P(class | x), rows x classes; with labels, P(label = 1 | x), rows x labels."""
        return self.best_and_proba(rows)[1]

    def best_and_proba(self, rows: Table) -> tuple[Array, Floats]:
        """What `best` and `proba` answer, from one sum over the columns."""
        found = [
            (problem.best(sums), problem.proba(sums))
            for problem, sums in zip(self.problems, self.sums(rows), strict=True)
        ]
        if not self.labelled:
            return found[0]
        best = np.column_stack([each for each, _ in found])
        return best, np.column_stack([proba[:, 1] for _, proba in found])

    def log_proba(self, rows: Table) -> Floats:
        """The logarithm of `proba`."""
        own = slice(1, None) if self.labelled else slice(None)
        return self._answers(rows, lambda problem, sums: problem.log_proba(sums)[:, own])

    def decide(self, rows: Table) -> Floats:
        """Log-odds (two classes; rows x labels), or the scores of the classes."""
        return self._answers(rows, FittedProblem.decide)

    def linear(self) -> tuple[Floats, Floats]:
        """Weights and constants of the linear form, one row a label."""
        found = [problem.linear() for problem in self.problems]
        return np.vstack([w for w, _ in found]), np.concatenate([b for _, b in found])

    def restrict(self, columns: Sequence[int]) -> "FittedBayes":
        """Some columns only; a rule was made for all of them, and is left out."""
        problems = tuple(each.restrict(columns) for each in self.problems)
        return replace(self, problems=problems, usual=None)

    def calibrated(self, temperatures: Sequence[float]) -> "FittedBayes":
        """The model with other temperatures, one a problem."""
        return replace(
            self,
            problems=tuple(
                replace(problem, temperature=float(temperature))
                for problem, temperature in zip(self.problems, temperatures, strict=True)
            ),
        )

    @property
    def place(self) -> Floats | None:
        """Probabilities of the classes (of labels: P(label = 1)) where the model is used."""
        found = [problem.place for problem in self.problems]
        if found[0] is None:
            return None
        places = np.array(found)
        return places[:, 1] if self.labelled else places[0]

    def deployed(self, places: Sequence[tuple[float, ...] | None] | None) -> "FittedBayes":
        """The model where classes have other probabilities, a tuple a problem; None: as learnt."""
        pairs = zip(self.problems, places or [None] * len(self.problems), strict=True)
        return replace(self, problems=tuple(replace(one, place=place) for one, place in pairs))

    def renamed(self, names: Sequence[str]) -> "FittedBayes":
        """The model with other names of the columns."""
        problems = []
        for problem in self.problems:
            pairs = zip(problem.specs, names, strict=True)
            specs = tuple(replace(spec, name=name) for spec, name in pairs)
            problems.append(replace(problem, summary=replace(problem.summary, specs=specs)))
        return replace(self, problems=tuple(problems))


def fit_problem(
    summary: Summary,
    smoothing: float | str,
    priors: str | Floats | None,
    var_smoothing: float | None,
    run: Run = run_alone,
    silent_constants: bool = False,
) -> FittedProblem:
    """Turn what was counted into tables of integers.

    Parameters
    ----------
    summary : what was counted.
    smoothing, priors, var_smoothing : the model's settings, judged.
    run : runs a task over a range of columns, in parts where it has threads.
    silent_constants : see `ModelSettings`.
    """
    extra = None
    alike = isinstance(summary.specs, BinarySpecs)
    if var_smoothing is not None:
        pairs = [] if alike else zip(summary.specs, summary.statistics, strict=True)
        largest = [
            total_variance(statistics)
            for spec, statistics in pairs
            if not MODELS[spec.model].discrete
        ]
        most = max(largest, default=(0.0, 0), key=lambda found: size(*found))
        extra = times(float(var_smoothing), *most)

    def prior_and_settings(bits: int) -> tuple[Terms, ModelSettings]:
        weight = summary.class_weight
        prior = prior_terms(summary.class_count[None], priors, weight, bits)
        return prior, ModelSettings(smoothing, extra, weight, None, bits, silent_constants)

    def make(bits: int) -> tuple[tuple[Terms, list[ColumnTerms], list[Terms | None]], Scale]:
        prior, settings = prior_and_settings(bits)
        columns = build_columns(summary.specs, list(summary.statistics), settings)
        tables = spoken_tables(summary.specs, columns, run)
        return (prior, columns, tables), choose_scale(columns, tables, prior)

    def make_together(bits: int) -> tuple[tuple[Terms, BinaryTerms, Terms], Scale]:
        prior, settings = prior_and_settings(bits)
        columns = BinaryTerms.of(np.asarray(summary.statistics), settings)
        terms = columns.terms()
        return (prior, columns, terms), scale_of(terms, prior)

    if alike:
        (prior, together, terms), scale = in_units_of_scale(make_together)
        return FittedProblem(summary, together, scale.fix(terms)[:, 0], prior, scale, extra)
    (prior, columns, tables), scale = in_units_of_scale(make)
    fixed = tuple(None if table is None else scale.fix(table)[0] for table in tables)
    return FittedProblem(summary, tuple(columns), fixed, prior, scale, extra)


# -- Deployment priors -----------------------------------------------------------------------------


#: Probabilities of the classes (of each label, where there are labels), by order or by name.
Priors: TypeAlias = "str | ArrayLike | Mapping[str, float] | Mapping[int, float] | None"

Spoken = TypeVar("Spoken")


def at_place(fitted: Spoken, priors: Priors) -> Spoken:
    """The model where the classes are as frequent as `priors` says; None: as it is.

    By Bayes' rule: P(class | x) times the prior of the place, by the prior the model has learnt.

    Parameters
    ----------
    fitted : a `FittedBayes`; models without probabilities are refused.
    priors : one probability a class in the order of the classes, a mapping of classes to
        probabilities, or ``"uniform"``; with labels, P(label = 1) of each, or a mapping of labels.
    """
    if priors is None:
        return fitted
    if not isinstance(fitted, FittedBayes):
        raise TypeError("priors must be None for votes, which know no prior; use a NaiveBayes.")
    return cast(Spoken, fitted.deployed(read_places(fitted, priors)))


def read_places(fitted: FittedBayes, priors: Priors) -> list[tuple[float, ...]]:
    """The probabilities of the classes of each problem."""
    if fitted.labelled:
        return shares_of_labels(priors, fitted.labels)
    return [shares_of_classes(priors, fitted.only.classes)]


def shares_of_classes(priors: Priors, classes: Array) -> tuple[float, ...]:
    """The probabilities of classes, in their order.

    Parameters
    ----------
    priors : what came; see `at_place`.
    classes : those that a model knows, or will know.
    """
    names = [plain_value(value) for value in classes]
    given = check_priors(_in_order("class", priors, names), len(names))
    if isinstance(given, str):
        given = np.full(len(names), 1 / len(names))
    return _positive(given, "of every class")


def shares_of_labels(priors: Priors, labels: Sequence[str]) -> list[tuple[float, ...]]:
    """P(label = 0) and P(label = 1) of each label.

    Parameters
    ----------
    priors : what came; see `at_place`.
    labels : their names.
    """
    if isinstance(priors, str):
        check_priors(priors, 2)
        return [(0.5, 0.5)] * len(labels)
    try:
        shares = np.asarray(_in_order("label", priors, list(labels)), np.float64)
    except (TypeError, ValueError) as error:
        raise TypeError(f"priors must be one number for each label; got {priors!r}.") from error
    if shares.shape != (len(labels),):
        raise ValueError(
            f"priors must hold one number, P(label = 1), for each of the {len(labels)} "
            f"labels; got shape {shares.shape}."
        )
    both = np.column_stack([1 - shares, shares])
    return [_positive(pair, "of every label and below 1") for pair in both]


def _positive(shares: Floats | None, whose: str) -> tuple[float, ...]:
    if shares is None or not (shares > 0).all():
        raise ValueError(
            f"priors must be above 0 {whose}: what cannot be, no evidence makes likely; got "
            f"{None if shares is None else shares.tolist()}."
        )
    return tuple(shares.tolist())


def _in_order(kind: str, priors: object, names: list[object] | list[str]) -> object:
    """Values of a mapping in the order of the classes; all else as it is."""
    if not isinstance(priors, Mapping):
        return priors
    # Command lines know texts only.
    known = {str(name): name for name in names}
    given = {known.get(str(plain_value(key)), key): value for key, value in priors.items()}
    odd = [key for key in given if key not in names]
    lost = [name for name in names if name not in given]
    if odd or lost:
        what = f"{odd[0]!r} is none of them" if odd else f"{lost[0]!r} is missing"
        listed = ", ".join(map(repr, names))
        raise ValueError(f"priors must name every {kind} ({listed}); {what}.")
    return [given[name] for name in names]
