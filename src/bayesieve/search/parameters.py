"""Parameters of a search as users give them."""

from collections.abc import Iterable, Mapping
from typing import Any

from ..checks import choose, column_indices
from ..criteria.base import Criterion
from ..criteria.standard_error import has_standard_error
from .strategies.base import OwnSearch, Search


def check_repeatable(random_state: Any, split: bool, search: Search) -> None:
    """A search can be resumed only if its draws can be repeated."""
    if random_state is None and (split or search.draws_without_seed):
        raise ValueError(
            "checkpoint needs random_state, since rows (or the search's steps) are drawn and a "
            "search that goes on must draw the same; got random_state=None. Give a whole number."
        )


def read_groups(groups: Any, names: list[str]) -> list[list[int]]:
    """Columns that move together; every column not named is a group of its own."""
    if groups is None:
        return [[j] for j in range(len(names))]
    if isinstance(groups, str | Mapping) or not isinstance(groups, Iterable):
        raise TypeError(
            f"feature_groups must be a list of lists of column names or numbers; got {groups!r}."
        )
    owner: dict[int, int] = {}
    members = []
    for g, group in enumerate(groups):
        columns = sorted(column_indices(f"feature_groups[{g}]", group, names))
        if not columns:
            raise ValueError(f"feature_groups[{g}] is empty; leave it out.")
        for j in columns:
            if j in owner:
                raise ValueError(
                    f"feature_groups must not overlap; column {names[j]!r} is in group "
                    f"{owner[j]} and in group {g}."
                )
            owner[j] = g
        members.append(columns)
    members.extend([j] for j in range(len(names)) if j not in owner)
    return sorted(members)


def check_reachable(size: int, units: list[list[int]], keep: list[int]) -> None:
    """Some of the groups must add up to the number of columns asked for."""
    sums = 1 << sum(len(units[u]) for u in keep)
    for u, members in enumerate(units):
        if u not in keep:
            sums |= sums << len(members)
    if not sums >> size & 1:
        raise ValueError(
            f"n_features={size} cannot be reached: no choice of feature_groups (with keep) adds up "
            "to it. Change n_features, or use max_features."
        )


def check_choice(choice: Any, chooser: Criterion) -> None:
    """The best subset, or a smaller one within the standard error of the criterion that chooses."""
    choose("choice", choice, ["best", "one-se"])
    if choice == "one-se" and not has_standard_error(chooser):
        raise ValueError(
            f"choice='one-se' needs a standard error, which criterion {chooser.name!r} does not "
            "have; use choice='best', a criterion known by name, or a validation part."
        )


def check_search(search: Any, known: Mapping[str, Search], n_features: Any) -> Search:
    """A search by name, or an object with `steps`, whose parameters it judges itself."""
    if isinstance(search, type) or not callable(getattr(search, "steps", None)):
        search = known[choose("search", search, known)]
    if not isinstance(search, Search):
        search = OwnSearch(search)
    search.check()
    if search.may_end_early and n_features is not None:
        raise ValueError(
            "search.stop='no-improvement' may end before n_features is reached; use stop='end' "
            "or max_features."
        )
    return search
