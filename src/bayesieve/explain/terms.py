"""`terms_`: the terms of a model as a value that reads itself."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from html import escape
from typing import SupportsIndex, TypeAlias, overload

import numpy as np

from ..checks import Foreign, plain_value
from ..data.result import Columns, Fields, Result, html_table, plain, text_table
from ..evaluation._typing import Value
from ..models.fitted import FittedBayes
from ..models.registry import is_category
from .model import CellEvidence, ModelExplanation, explain_model
from .shapes import TermShape
from .text import (
    Said,
    factor_parts,
    factors_in_columns,
    rate_in_words,
    value_in_words,
)

# Columns of the table of terms that are numbers; heads of what is said of each value.
_NUMBERS = "share", "rows"
_HEADS = "times as likely", "at 90 % between", "rows behind it"

# Weights of a term that are written one by one, and lines of one that are shown.
_MOST_WEIGHTS, _MOST_CELLS = 3, 20

#: What a term is for each problem: known, or worked out when somebody asks.
Parts: TypeAlias = "Sequence[Foreign] | Callable[[], Sequence[Foreign]]"


@dataclass(eq=False)
class Spoken:
    """A fitted model, and what it says: worked out once for all its terms, when somebody asks.

    Parameters
    ----------
    fitted : None of models without probabilities, such as votes.
    labelled : labels, rather than classes?
    """

    fitted: FittedBayes | None
    labelled: bool = False

    @cached_property
    def explanations(self) -> list[ModelExplanation]:
        """What the model says of every problem."""
        fitted = self.fitted
        names = () if fitted is None else fitted.labels or (None,)
        return [explain_model(fitted, label=name) for name in names]

    def position(self, problem: int, places: Sequence[int]) -> int:
        """Position of a column, or of a pair of columns, among the features of an explanation."""
        if len(places) == 1:
            return places[0]
        assert self.fitted is not None
        found = self.fitted.problems[problem]
        return len(found.specs) + [{*pair.columns} for pair in found.pairs].index({*places})


@dataclass(eq=False, repr=False)
class Term(Mapping[str, Foreign], Result):
    """One term: a mapping of its facts, of which tables are made when they are asked for.

    With labels, what differs by label is a list.

    Parameters
    ----------
    name, columns : of the term; one column, or two.
    parts : ``weights``, ``table``, ``rows`` and ``correction`` for each problem.
    spoken : the model.
    problems, places : that it speaks in; its columns there.
    label : whose it is, where labels have terms of their own.

    Examples
    --------
    >>> import numpy as np
    >>> from bayesieve import WeightedNaiveBayes
    >>> X, y = np.array([[1], [1], [0], [0]] * 5), np.array(["a", "a", "b", "b"] * 5)
    >>> term = WeightedNaiveBayes(price=0.0, corrections=False).fit(X, y).terms_[0]
    >>> term["name"], term["columns"], term["table"].shape
    ('x0', (0,), (2, 2))
    >>> print(term.to_text())
    x0: yes/no, weight 0.75, 20 rows, 100.0 % of the decision
      b rather than a, and between what that lies at 90 %
      0  x 6.0 (2.5 to 41; 10 rows)
      1  / 6.0 (2.5 to 41; 10 rows)
    """

    name: str
    columns: tuple[int, ...]
    parts: dict[str, Parts]
    spoken: Spoken
    problems: tuple[int, ...]
    places: tuple[int, ...]
    label: str | None = None

    _texts = ("value",)

    def __iter__(self) -> Iterator[str]:
        yield from ("name", "kind", "columns", *self.parts, "share", "interval")
        if self.label is not None:
            yield "label"

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def __getitem__(self, key: str) -> Foreign:
        if key in self.parts:
            found = self.parts[key]
            if callable(found):
                found = self.parts[key] = found()
            return self._by_problem(found)
        if key == "share":
            return self._by_problem([each.shares[at] for each, at in self._said])
        if key == "interval":
            cells = [self.cells(label=each.label) for each, _ in self._said]
            ends = [zip(each.low, each.high, strict=True) for each in cells]
            return self._by_problem([[None if None in pair else pair for pair in e] for e in ends])
        if key not in iter(self):
            raise KeyError(key)
        return getattr(self, key)

    def __eq__(self, other: object) -> bool:
        return self._facts() == other._facts() if isinstance(other, Term) else NotImplemented

    def _facts(self) -> str:
        """All that was fitted, number by number."""
        return repr([plain(self[key]) for key in ("name", "columns", *self.parts)] + [self.label])

    def _by_problem(self, found: Sequence[Foreign]) -> Foreign:
        return list(found) if self.spoken.labelled else next(iter(found), None)

    @property
    def _said(self) -> list[tuple[ModelExplanation, int]]:
        """What is said of each problem, and where the term stands in it."""
        said, at = self.spoken.explanations, self.spoken.position
        return [(said[g], at(g, self.places)) for g in self.problems if said]

    @property
    def kind(self) -> str:
        """What it is about: a number, a category, yes/no, or a pair of columns."""
        if len(self.columns) == 2:
            return "pair"
        if self.spoken.fitted is None:
            return "vote"
        model = self.spoken.fitted.problems[0].specs[self.places[0]].model
        return "yes/no" if model == "bernoulli" else "category" if is_category(model) else "number"

    @property
    def n_rows(self) -> int | None:
        """Training rows in which it has a value; None of votes."""
        for each, at in self._said[:1]:
            missing = np.array(each.features[at].source.get("missing", 0.0), float)
            return round(sum(each.class_count) - float(missing.sum()))
        return None

    @property
    def share(self) -> float | None:
        """Its share of the decision, see `ModelExplanation.shares`; of labels, the mean."""
        found = [each.shares[at] for each, at in self._said]
        return float(np.mean(found)) if found else None

    def cells(
        self,
        target: Value | None = None,
        against: Value | None = None,
        *,
        label: str | None = None,
    ) -> CellEvidence:
        """What every value says, within what, and the rows behind it; as `explain_model` has it.

        Parameters
        ----------
        target, against : classes, optional
            The second and the first class by default.
        label : str, optional
            With labels: which one; the first of the term by default.
        """
        each, at = self._of(label)
        return replace(each, features=[each.features[at]]).cells(target, against)

    def plot(
        self,
        target: Value | None = None,
        against: Value | None = None,
        *,
        label: str | None = None,
        row: Foreign = None,
    ) -> TermShape:
        """What it says over its values, as a picture: see `ModelExplanation.plot`.

        Parameters
        ----------
        target, against, label : optional
            As in `cells`; of several classes, one small picture each by default.
        row : optional
            Marked with a dot: a mapping (a row of a data frame, say), or the values of all columns.
        """
        each, at = self._of(label)
        feature = each.features[at]
        if row is not None and not hasattr(row, "keys"):
            names = feature.source.get("names", [feature.feature])
            values = np.ravel(np.array(row, object)).tolist()
            row = {name: values[j] for name, j in zip(names, self.columns, strict=True)}
        return replace(each, features=[feature]).plot(feature.feature, target, against, row=row)

    def _of(self, label: str | None) -> tuple[ModelExplanation, int]:
        """What is said of a label, or of the classes; and where the term stands in it."""
        known = {each.label: (each, at) for each, at in self._said}
        if not known:
            raise ValueError("votes have no log-ratios, and so no cells of evidence.")
        name = next(iter(known)) if label is None else label
        if name not in known:
            raise ValueError(f"label must be one of {[*known]}; got {label!r}.")
        return known[name]

    def _told(self, *classes: Value | None) -> Iterator[tuple[str, list[str], list[Said]]]:
        """Of each label: which classes are compared, values in words, and what they say in nat."""
        for each, at in self._said:
            cells = self.cells(*classes, label=each.label)
            pair = (each.classes.index(name) for name in (cells.target, cells.against))
            whose = f"{each.label}: " if each.label is not None else ""
            values = [value_in_words(value) for value in cells.value]
            yield whose + cells.caption(), values, each.said(each.features[at], *pair)

    def caption(self) -> str:
        """Name, kind, weights, rows, and share of the decision."""
        whose = "" if self.label is None else f" ({self.label})"
        weights = " and ".join(self.weights_in_words().rsplit(", ", 1))
        said = [self.kind, f"weight{'s' * (' ' in weights)} {weights}" if weights else ""]
        if self.share is not None:
            said += [f"{self.n_rows} rows", f"{rate_in_words(self.share)} of the decision"]
        return f"{self.name}{whose}: {', '.join(filter(None, said))}"

    def weights_in_words(self) -> str:
        """Weights in words: one where all are equal, or a few, or from the least to the largest."""
        found = np.ravel([] if self["weights"] is None else self["weights"]).tolist()
        shown = [f"{each:.4g}" for each in found]
        if len(found) > _MOST_WEIGHTS and len({*shown}) > 1:
            return f"{min(found):.4g} to {max(found):.4g}"
        if found and not any(found):
            return "0 (correction)"
        return shown[0] if len({*shown}) == 1 else ", ".join(shown)

    def to_dict(self) -> Fields:
        """All its facts as plain data."""
        return {key: plain(self[key]) for key in self}

    def to_columns(self) -> Columns:
        """The columns of `cells`."""
        return self.cells().to_columns()

    def to_text(
        self, target: Value | None = None, against: Value | None = None, most: int = _MOST_CELLS
    ) -> str:
        """What it is, and what its values say: factors, between what they lie, and rows behind.

        Parameters
        ----------
        target, against : classes, optional
            As in `cells`.
        most : int, default=20
            Values shown.
        """
        found = [self.caption()]
        for head, values, said in self._told(target, against):
            # The ends of a number tell most.
            left, kept = len(values) - most, [*range(len(values))]
            kept = kept[: most // 2] + kept[-(most // 2) :] if left > 0 else kept
            room = max((len(values[i]) for i in kept), default=0)
            both = zip(kept, factors_in_columns([said[i] for i in kept]), strict=True)
            lines = [f"  {values[i]:{room}}  {factor}".rstrip() for i, factor in both]
            if left > 0:
                lines.insert(most // 2, f"  ... {left} more, which to_frame() has, too")
            found += [f"  {head}", *lines]
        return "\n".join(found)

    def _repr_html_(self) -> str:
        found = f"<details open><summary>{escape(self.caption())}</summary>"
        for each, (head, values, said) in zip(self._said, self._told(), strict=True):
            found += self.plot(label=each[0].label)
            words = zip(*(factor_parts(*each) for each in said), strict=True)
            shown = dict(zip(_HEADS, map(list, words), strict=False))
            table = html_table({"value": values, **shown}, head, self._html_rows, _HEADS)
            found += f"<details><summary>its values</summary>{table}</details>"
        return f"{found}</details>"


class ModelTerms(list[Term], Result):
    """The terms of a model in the order in which they came: a list that shows a line each.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from bayesieve import WeightedNaiveBayes
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> terms = WeightedNaiveBayes(pairs=False, max_terms=2).fit(X, y).terms_
    >>> terms
    <2 terms of WeightedNaiveBayes; weights for 0, 1, 2>
     share  rows  kind    weights                term
    59.6 %   150  number  0.75, 0.8125, 0.75     petal width (cm)
    40.4 %   150  number  0.3125, 0.625, 0.4375  petal length (cm)
    >>> terms.to_frame("pandas").shape[0] == len(terms)
    True
    """

    def __init__(self, terms: Iterable[Term] = (), of: str = "model"):
        super().__init__(terms)
        self.of = of

    @overload
    def __getitem__(self, which: SupportsIndex, /) -> Term: ...

    @overload
    def __getitem__(self, which: slice, /) -> "ModelTerms": ...

    def __getitem__(self, which: SupportsIndex | slice, /) -> "Term | ModelTerms":
        found = super().__getitem__(which)
        return ModelTerms(found, self.of) if isinstance(found, list) else found

    def __repr__(self) -> str:
        lines = text_table(self._lines(), _NUMBERS).split("\n") if self else []
        most, left = self._html_rows, len(self) - self._html_rows
        more = [f"... and {left} more; to_frame() has all"] if left > 0 else []
        return "\n".join([f"<{self.caption()}>", *lines[: most + 1], *more])

    def caption(self) -> str:
        """How many terms, of what, and for which classes weights are told."""
        names = self._classes()
        whose = f"; weights for {', '.join(names)}" if 0 < len(names) <= _MOST_WEIGHTS else ""
        return f"{len(self)} term{'s' * (len(self) != 1)} of {self.of}{whose}"

    def _classes(self) -> list[str]:
        """The classes that have weights; none with labels."""
        spoken = self[0].spoken if self else Spoken(None)
        if spoken.labelled or spoken.fitted is None:
            return []
        return [f"{plain_value(name)}" for name in spoken.fitted.only.classes]

    def _lines(self) -> Columns:
        """A line each, in words; names last, since they may be long."""
        found = self.to_columns()
        found["share"] = ["" if each is None else rate_in_words(each) for each in found["share"]]
        found["weights"] = [each.weights_in_words() for each in self]
        shown = ("share", "rows", "kind", "weights", "label", "term")
        return {name: found[name] for name in shown if name in found}

    def to_columns(self) -> Columns:
        """One row a term: name, kind, rows, share of the decision, and weights of the classes."""
        names = ("kind", "n_rows", "share", "label")
        kinds, rows, shares, labels = ([getattr(each, name) for each in self] for name in names)
        found: Columns = {"term": [each.name for each in self], "kind": kinds, "rows": rows}
        found["share"] = shares
        if any(label is not None for label in labels):
            found["label"] = labels
        for k, name in enumerate(self._classes()):
            found[f"weight for {name}"] = [plain_value(each["weights"][k]) for each in self]
        if not self._classes():
            found["weights"] = [each.weights_in_words() for each in self]
        return found

    def to_text(self) -> str:
        """Every term with its values: what each says, between what that lies, and rows behind."""
        return "\n\n".join([self.caption(), *(each.to_text() for each in self)])

    def _repr_html_(self) -> str:
        """A line each; its picture and its values, when a term is opened."""
        found = html_table(self._lines(), self.caption(), self._html_rows, _NUMBERS)
        for each in self[: self._html_rows]:
            if each.spoken.fitted is not None:
                found += each.to_html().replace("<details open>", "<details>", 1)
        return found
