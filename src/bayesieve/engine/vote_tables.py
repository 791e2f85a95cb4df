"""Votes as integer terms of a sparse ledger."""

import numpy as np

from ..models.base import Scale
from ..models.votes import votes_for
from .sparse_tables import SparseProblem, SparseTables


def vote_tables(problem: SparseProblem, rare: bool) -> SparseTables:
    """All terms are 0 or 1; which value votes is learnt on the training rows of each set."""
    moves, training = problem.moves, problem.scoring.training
    votes = []
    for left_out in problem.scoring.left_out:
        rows = training[np.delete(np.arange(training.size), left_out)]
        targets = problem.targets.take(rows)
        votes.append(votes_for(moves, rows, problem.weights[rows], targets, rare).T)
    by_set = np.stack(votes, axis=1)  # columns x sets x labels
    owner = np.repeat(np.arange(moves.n_columns), np.diff(moves.first))
    base = (moves.usual[:, None, None] == by_set).astype(np.int64)
    delta = (moves.codes[:, None, None] == by_set[owner]) - base[owner]
    offset = np.zeros(by_set.shape[1:], np.int64)
    return SparseTables(offset, base, delta, Scale(0, 0, float(moves.n_columns)))
