"""Votes as integer terms of a sparse ledger."""

import numpy as np

from ..models.base import Scale
from ..models.votes import votes_for, voting_problems
from .sparse_tables import SparseProblem, SparseTables


def vote_tables(problem: SparseProblem, rare: bool) -> SparseTables:
    """All terms are 0 or 1; which value votes is learnt on the training rows of each set."""
    moves, trained = problem.moves, problem.trained
    votes = [
        [votes_for(counts, rare) for counts in problem.vote_counts(classes)]
        for classes in voting_problems(trained, rare)
    ]
    # Problems x sets x columns, to columns x sets x labels.
    by_set = np.array(votes, np.int64).transpose(2, 1, 0)
    if rare:
        by_set = np.repeat(by_set, trained.n_groups, axis=2)
    owner = np.repeat(np.arange(moves.n_columns), np.diff(moves.first))
    base = (moves.usual[:, None, None] == by_set).astype(np.int64)
    delta = (moves.codes[:, None, None] == by_set[owner]) - base[owner]
    offset = np.zeros(by_set.shape[1:], np.int64)
    return SparseTables(offset, base, delta, Scale(0, 0, float(moves.n_columns)))
