"""Parameters of a search as users give them."""

from collections.abc import Iterable, Mapping
from numbers import Integral
from typing import Any

from ..checks import check_number, choose, column_indices
from ..criteria.base import Criterion
from ..criteria.standard_error import has_standard_error


def check_repeatable(random_state: Any, split: bool, search: Any) -> None:
    """A search can be resumed only if its draws can be repeated."""
    draws = split or getattr(search, "random_state", 0) is None
    if random_state is None and draws:
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


def check_search(search: Any, known: Mapping[str, Any], n_features: Any) -> Any:
    """A search by name, or an object with `steps`."""
    if not hasattr(search, "steps") or isinstance(search, type):
        search = known[choose("search", search, known)]
    for field in ("direction", "first"):
        if hasattr(search, field):
            choose(f"search.{field}", getattr(search, field), ["forward", "backward"])
    if hasattr(search, "begin"):
        if isinstance(search.begin, str):
            choose("search.begin", search.begin, ["empty", "best"])
        else:
            check_number("search.begin", search.begin, low=0, whole=True)
    if hasattr(search, "draws"):
        check_number("search.draws", search.draws, low=1, whole=True)
        if not isinstance(search.sizes, Iterable):
            raise TypeError(f"search.sizes must be a sequence of sizes; got {search.sizes!r}.")
        if not search.sizes or not all(
            isinstance(n, Integral) and int(n) >= 1 for n in search.sizes
        ):
            raise ValueError(
                f"search.sizes must hold whole numbers from 1 on; got {search.sizes!r}."
            )
    if hasattr(search, "most_subsets"):
        check_number("search.most_subsets", search.most_subsets, low=1, whole=True)
    if hasattr(search, "stop"):
        choose("search.stop", search.stop, ["end", "no-improvement"])
        if search.stop == "no-improvement" and n_features is not None:
            raise ValueError(
                "search.stop='no-improvement' may end before n_features is reached; use stop='end' "
                "or max_features."
            )
    return search
