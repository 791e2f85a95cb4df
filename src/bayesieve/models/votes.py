"""Votes as a fitted value: a row's score is the number of its rare values (Ruta 2014)."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from ..checks import Array
from ..data.columns import ColumnSpec, encode
from ..data.sample import Sample, Targets
from ..data.storage import Moves
from ..data.tables import Table
from .base import Floats, Ints
from .columns import read_moves


@dataclass(frozen=True)
class FittedVotes:
    """Which value of each column votes, and what so many votes mean.

    Parameters
    ----------
    binary : the two classes of every problem.
    labels : names of the labels; empty for classes.
    specs : what each column is like.
    votes_for : the value of each column that votes for each label, labels x columns.
    share : share of positive rows by number of votes, labels x (columns + 1).
    """

    binary: Array
    labels: tuple[str, ...]
    specs: tuple[ColumnSpec, ...]
    votes_for: Ints
    share: Floats

    @property
    def labelled(self) -> bool:
        """Labels, rather than classes?"""
        return bool(self.labels)

    @property
    def classes(self) -> Array | list[Array]:
        """The classes; with labels, a list of them."""
        return [self.binary] * len(self.labels) if self.labelled else self.binary

    def votes(self, rows: Table) -> Ints:
        """Votes for each label, labels x rows."""
        votes = np.zeros((len(self.votes_for), rows.n_rows), np.int64)
        for j, spec in enumerate(self.specs):
            votes += encode(spec, rows.column(j)) == self.votes_for[:, [j]]
        return votes

    def decide(self, rows: Table) -> Ints:
        """Number of votes of each row; with labels, rows x labels."""
        votes = self.votes(rows)
        return votes.T if self.labelled else votes[0]

    def _shares(self, rows: Table) -> Floats:
        """What `share` says of each row, rows x labels."""
        return np.take_along_axis(self.share, self.votes(rows), axis=1).T

    def proba(self, rows: Table) -> Floats:
        """Share of positives among training rows with as many votes."""
        found = self._shares(rows)
        return found if self.labelled else np.column_stack([1 - found[:, 0], found[:, 0]])

    def log_proba(self, rows: Table) -> Floats:
        """The logarithm of `proba`."""
        return np.log(self.proba(rows))

    def best(self, rows: Table) -> Array:
        """The more frequent class (or value of each label) among rows with as many votes."""
        found = self._shares(rows) > 0.5
        if self.labelled:
            return found.astype(np.int64)
        return self.binary[found[:, 0].astype(np.int64)]

    def decided(self, rows: Table) -> Array:
        """The best class: votes have no rule of their own."""
        return self.best(rows)

    def restrict(self, columns: Sequence[int]) -> "FittedVotes":
        """Some columns only; what their votes mean is yet to be `counted`."""
        specs = tuple(self.specs[j] for j in columns)
        return replace(self, specs=specs, votes_for=self.votes_for[:, list(columns)])

    def counted(self, sample: Sample) -> "FittedVotes":
        """The model with the share of positives by number of votes."""
        n = len(self.specs) + 1
        shares = []
        for votes, classes in zip(self.votes(sample.table), sample.targets.classes.T, strict=True):
            every = np.bincount(votes, sample.weights, n)
            positive = np.bincount(votes, sample.weights * classes, n)
            shares.append((positive + 1) / (every + 2))
        return replace(self, share=np.stack(shares))


def fit_votes(sample: Sample, models: Sequence[str], rare: bool) -> FittedVotes:
    """Which values vote, as all rows show it; what votes mean is yet to be `counted`.

    Parameters
    ----------
    sample : the rows.
    models : the feature model of each column.
    rare : the rarer value votes, the same for all labels.
    """
    moves, specs, _ = read_moves(sample.table, models)
    every, targets = np.arange(sample.table.n_rows), sample.targets
    counts = [
        count_votes(moves, every, sample.weights, classes)
        for classes in voting_problems(targets, rare)
    ]
    labels = targets.names if targets.labelled else ()
    return votes_of(counts, rare, sample.classes, labels, specs)


def votes_of(
    counts: Sequence[Floats],
    rare: bool,
    classes: Array,
    labels: Sequence[str],
    specs: Sequence[ColumnSpec],
) -> FittedVotes:
    """Which values vote, from what was counted.

    Parameters
    ----------
    counts : of each problem that votes are counted for: columns x codes x 2.
    rare : the rarer value votes, the same for all labels.
    classes, labels : the two classes, and names of the labels; none for classes.
    specs : what each column is like.
    """
    found = np.stack([votes_for(each, rare) for each in counts])
    if rare:
        found = np.repeat(found, max(len(labels), 1), axis=0)
    return FittedVotes(classes, tuple(labels), tuple(specs), found, np.empty((0, 0)))


def voting_problems(targets: Targets, rare: bool) -> list[Ints]:
    """The problems that votes are counted for: all together, or each label for itself."""
    return [targets.positive.astype(np.int64)] if rare else list(targets.classes.T)


def count_votes(moves: Moves, rows: Ints, weights: Floats, classes: Ints) -> Floats:
    """Weight of some rows by column, code and class.

    Parameters
    ----------
    moves : all rows.
    rows, weights, classes : the rows that count, with weight and class.
    """
    entries = moves.of_rows(rows)
    columns = np.repeat(np.arange(moves.n_columns), np.diff(entries.pointers))
    codes = moves.codes[moves.first[columns] + entries.kinds]
    counts = np.zeros((moves.n_columns, 3, 2))
    np.add.at(counts, (columns, codes, classes[entries.lines]), weights[entries.lines])
    total = np.bincount(classes, weights, 2)
    counts[np.arange(moves.n_columns), moves.usual] += total - counts.sum(1)
    return counts


def votes_for(counts: Floats, rare: bool) -> Ints:
    """The value of each binary column that votes, as counts (columns x codes x 2) show it."""
    if rare:
        zeros, ones = counts[:, 0].sum(1), counts[:, 1].sum(1)
        tied = counts[:, 1, 1] >= counts[:, 0, 1]
        votes = np.where(ones == zeros, tied, ones < zeros)
    else:
        # Shares among positives and negatives compared without dividing: both may be empty.
        known = counts[:, :2].sum(1)
        votes = counts[:, 1, 1] * known[:, 0] >= counts[:, 1, 0] * known[:, 1]
    found: Ints = votes.astype(np.int64)
    return found
