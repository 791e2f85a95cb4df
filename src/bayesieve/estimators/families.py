"""Families of columns as a selector takes them: one column of each may be chosen."""

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from ..checks import choose, column_indices
from ..data.tables import Table
from ..engine.far.table import FarTable
from ..rankings.families import Families, Nearness, find_in_table
from ..rankings.far_families import find_far


def read_families(
    given: object,
    table: Table,
    units: list[list[int]],
    kept: Iterable[int] = (),
    forbidden: Iterable[int] = (),
) -> tuple[Families, list[list[int]]]:
    """The families of a table, and the units that may be chosen: those of the leaders.

    Parameters
    ----------
    given : ``"auto"``, a `Families`, or lists of columns, each led by its first.
    table : all rows; no class is looked at.
    units : columns that move together.  Those of units of several stand for themselves alone.
    kept : columns that stay in: they lead, each a family of its own where two are twins.
    forbidden : columns that must not be chosen, and are in no unit: the next of their family leads.
    """
    together = {j for members in units if len(members) > 1 for j in members}
    alone = [j for j in range(len(table.names)) if j not in together]
    if isinstance(given, str):
        choose("families", given, ["auto"], beside="lists of columns")
        found = _find(table, alone, kept, set(forbidden))
    else:
        found = _listed(given, table)
    leader = found.leader.copy()
    for j in together:
        others = np.flatnonzero((leader == j) & (np.arange(leader.size) != j))
        leader[others] = others[:1]
        leader[j] = j
    barred = set(forbidden)
    found = Families(found.names, leader).led_by(_heirs(leader, barred))
    found = found.led_by(sorted(set(kept) - together))
    leads = set(found.leaders.tolist())
    return found, [members for members in units if len(members) > 1 or members[0] in leads]


def _heirs(leader: NDArray[np.int64], barred: set[int]) -> list[int]:
    """The first column that may be chosen of each family whose leader may not."""
    heirs: dict[int, int] = {}
    for j, first in enumerate(leader.tolist()):
        if first in barred and j not in barred:
            heirs.setdefault(first, j)
    return list(heirs.values())


def _find(table: Table, alone: list[int], kept: Iterable[int], barred: set[int]) -> Families:
    """Near-twins among the columns that move alone; those that may be chosen lead."""
    leader = np.arange(len(table.names))
    order = [*sorted(kept), *(j for j in alone if j not in barred)]
    if alone and isinstance(table, FarTable):
        return find_far(table, alone, [j for j in order if j in set(alone)], Nearness())
    if alone:
        where = {j: at for at, j in enumerate(alone)}
        part = table if len(alone) == len(table.names) else table.pick(np.array(alone))
        found = find_in_table(part, [where[j] for j in order if j in where])
        leader[alone] = np.array(alone)[found.leader]
    return Families(tuple(table.names), leader)


def _listed(given: object, table: Table) -> Families:
    """Families that a user has: found before, or listed."""
    names = table.names
    if isinstance(given, Families):
        if given.leader.size != len(names):
            raise ValueError(
                f"families must be of the columns of X, of which there are {len(names)}; got those "
                f"of {given.leader.size} columns."
            )
        return Families(tuple(names), given.leader)
    if not isinstance(given, Iterable):
        raise TypeError(
            "families must be None, 'auto', what find_families found, or a list of lists of column "
            f"names or numbers; got {given!r}."
        )
    leader, seen = np.arange(len(names)), set()
    for g, members in enumerate(given):
        columns = column_indices(f"families[{g}]", members, names)
        twice = [j for j in columns if j in seen]
        if twice or len(set(columns)) < len(columns):
            name = names[(twice or columns)[0]]
            raise ValueError(f"families must not overlap; column {name!r} is named twice.")
        seen.update(columns)
        leader[columns] = columns[:1] * len(columns)
    return Families(tuple(names), leader)
