"""Families: groups of nearly identical columns, each represented by one of them."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from sklearn.base import BaseEstimator

from ..checks import Array, Ints, as_fraction, check_number, column_indices
from ..data.columns import MOST_CODES, encode, is_missing, learn
from ..data.result import Result
from ..data.storage import SILENT
from ..data.tables import RawTable, Table, read_table

#: What two columns may agree in: small whole numbers, texts, or where they stand among the rows.
WHOLE, TEXT, PLACE = 0, 1, 2

#: Numbers that are not small and whole agree where their ranks, on a grid of so many values, are
#: at most an eighth of the rows apart.
PARTS = MOST_CODES

# Ranks are whole numbers up to this one; what is missing is far from all of them.
_ALL, _NOWHERE = 1 << 24, -(1 << 30)

#: How far apart the ranks of numbers may be that agree.
REACH = _ALL // 8

#: The code of a missing value beside small whole numbers and parts.
MISSING = 255

# Columns of a table that are unpacked together.
_BLOCK = 64


@dataclass(frozen=True, eq=False, repr=False)
class Families(Result):
    """Which column stands for which.

    Attributes
    ----------
    names : tuple of str
        Names of the columns.
    leader : ndarray of int
        For each column the one that stands for it: itself, where it leads or has no twin.

    Examples
    --------
    >>> import numpy as np
    >>> from bayesieve.rankings.families import Families
    >>> found = Families(("a", "b", "c"), np.array([0, 0, 2]))
    >>> found.leaders, found.others(0), found.shared
    (array([0, 2]), ['b'], [['a', 'b']])
    """

    names: tuple[str, ...]
    leader: Ints

    @property
    def leaders(self) -> Ints:
        """One column of each family, those without a twin included."""
        return np.unique(self.leader)

    @property
    def members(self) -> dict[int, list[int]]:
        """The columns of each family of more than one, its leader first."""
        found: dict[int, list[int]] = {}
        for column in np.flatnonzero(self.leader != np.arange(self.leader.size)).tolist():
            first = int(self.leader[column])
            found.setdefault(first, [first]).append(column)
        return dict(sorted(found.items()))

    @property
    def shared(self) -> list[list[str]]:
        """Names of the columns of each family of more than one, its leader first."""
        return [[self.names[j] for j in columns] for columns in self.members.values()]

    def others(self, column: int) -> list[str]:
        """Names of the columns that a column stands for."""
        return [self.names[j] for j in np.flatnonzero(self.leader == column) if j != column]

    def led_by(self, columns: Iterable[int]) -> "Families":
        """Families led by these columns; two of one family part."""
        leader, leading = self.leader.copy(), list(columns)
        for column in leading:
            first = leader[column]
            if first in leading:
                leader[column] = column
            else:
                leader[leader == first] = column
        return Families(self.names, leader)

    def to_columns(self) -> dict[str, list[object]]:
        """One row a family of more than one: who leads, and for whom."""
        return {
            "feature": [leader for leader, *_ in self.shared],
            "stands for": [", ".join(others) for _, *others in self.shared],
        }

    def caption(self) -> str:
        """How many families there are."""
        n, shared = len(self.names), len(self.shared)
        kind = f"{shared} of them of several columns" if shared else "each column for itself"
        return f"{n} columns in {self.leaders.size} families, {kind}"

    def to_text(self) -> str:
        """One line a family."""
        return "\n".join(
            f"{name} stands for {count_others(others)}" for name, *others in self.shared
        )


@dataclass(frozen=True)
class Nearness:
    """What near-twins are.

    Examples
    --------
    >>> Nearness().most(1000), Nearness().rare
    (20, Fraction(1, 10))
    """

    agreement: float = 0.98  #: as in `find_families`
    jaccard: float = 0.9

    def most(self, n_rows: int) -> int:
        """On how many rows they may disagree."""
        return int((1 - _exact(self.agreement)) * n_rows)

    @property
    def rare(self) -> Fraction:
        """On which share of the rows in which either departs they may."""
        return 1 - _exact(self.jaccard)


def count_others(others: list[str]) -> str:
    """The columns that one stands for, counted and named.

    Examples
    --------
    >>> count_others(["b"]), count_others(["b", "c"])
    ('1 other: b', '2 others: b, c')
    """
    return f"{len(others)} other{'s' * (len(others) != 1)}: {', '.join(others)}"


def find_families(
    X: object, *, agreement: float = 0.98, jaccard: float = 0.9, first: Iterable[str | int] = ()
) -> Families:
    """Find groups of nearly identical columns, without using the classes.

    Two columns are near-twins when they agree on at least 98 % of the rows *and* on at least 90 %
    of the rows in which either departs from its most frequent value: of rare binary columns, that
    is the Jaccard index of their ones.

    Columns are taken in their order.  Each joins the first leader that it is a near-twin of, and
    leads a family of its own where there is none: all members are near-twins of their leader, so
    that a family never drifts.  The order is that of the table, since an order by relevance would
    depend on the rows that happened to be drawn, and the names of leaders with it.

    Parameters
    ----------
    X : array-like, data frame, sparse matrix or packed table of shape (n_samples, n_features)
        Whole numbers from 0 to 254 and texts agree where they are equal.  Other numbers agree where
        their ranks are at most an eighth of the rows apart, whatever their units: radius and area
        of a circle are one thing.  A missing value agrees with a missing one.
    agreement : float, default=0.98
        Least share of the rows on which near-twins agree.
    jaccard : float, default=0.9
        Least share of the rows where either departs from its most frequent value.
    first : list, default=()
        Columns (names or positions) that may lead before all others.

    Returns
    -------
    families : Families

    Examples
    --------
    >>> import numpy as np
    >>> from bayesieve import find_families
    >>> rng = np.random.default_rng(0)
    >>> X = rng.integers(0, 2, (1000, 3))
    >>> X[:, 2] = X[:, 0]
    >>> X[:5, 2] ^= 1
    >>> print(find_families(X).to_text())
    x0 stands for 1 other: x2
    """
    check_number("agreement", agreement, low=0.0, high=1.0)
    check_number("jaccard", jaccard, low=0.0, high=1.0)
    table = read_table(BaseEstimator(), X, reset=True)
    leading = column_indices("first", first, table.names)
    return find_in_table(table, leading, Nearness(float(agreement), float(jaccard)))


def find_in_table(
    table: Table, first: Iterable[int] = (), nearness: Nearness | None = None
) -> Families:
    """Find near-twins among the columns of a table that was read."""
    from .kernels.families import lead, lead_by_rank, pack_codes

    n_columns, n_words = len(table.names), -(-table.n_rows // 64)
    kinds, usual, departs, n_planes = np.zeros((4, n_columns), np.int64)
    bits, places, ranks = [], {}, np.empty((n_columns, MISSING + 1), np.int64)
    for j, (kind, codes) in enumerate(_coded_columns(table)):
        kinds[j] = kind
        if kind == PLACE:
            counts = np.bincount(codes, minlength=MISSING + 1)
            usual[j], ranks[j], places[j] = counts.argmax(), ranks_of(counts), codes
            continue
        n_codes = int(codes.max(initial=0)) + 1
        words = np.zeros((1 + (n_codes - 1).bit_length(), n_words), np.uint64)
        n_planes[j] = len(words)
        usual[j], departs[j] = pack_codes(codes, n_codes, words)
        bits.append(words.ravel())
    nearness = Nearness() if nearness is None else nearness
    most, rare = nearness.most(table.n_rows), nearness.rare
    share = np.array([rare.numerator, rare.denominator])
    order = np.array(list(dict.fromkeys([*first, *range(n_columns)])), np.int64)
    leader = np.arange(n_columns)
    packed = order[kinds[order] != PLACE]
    if packed.size:
        sizes, found = n_planes * n_words, np.empty(packed.size, np.int64)
        lead(
            np.concatenate(bits),
            (np.cumsum(sizes) - sizes)[packed],
            n_planes[packed],
            n_words,
            kinds[packed],
            usual[packed],
            departs[packed],
            np.arange(packed.size),
            table.n_rows,
            most,
            share,
            found,
        )
        leader[packed] = packed[found]
    numbers = order[kinds[order] == PLACE]
    if numbers.size:
        codes = np.stack([places[j] for j in numbers.tolist()])
        found = np.empty(numbers.size, np.int64)
        lead_by_rank(codes, ranks[numbers], usual[numbers], REACH, most, share, found)
        leader[numbers] = numbers[found]
    return Families(tuple(table.names), leader)


def ranks_of(counts: Ints) -> Ints:
    """Mid-ranks of codes, as whole numbers; the last code is that of missing values.

    Parameters
    ----------
    counts : rows of each code.

    Examples
    --------
    >>> import numpy as np
    >>> from bayesieve.rankings.families import REACH, ranks_of
    >>> (ranks_of(np.array([5, 1, 4, 2]))[:-1] / REACH).round(1).tolist()
    [2.0, 4.4, 6.4]
    """
    known = counts[:-1]
    ranks = (2 * np.cumsum(known) - known) * _ALL // max(2 * int(known.sum()), 1)
    return np.append(ranks, _NOWHERE)


def _exact(share: float) -> Fraction:
    """0.98 is 49 / 50, not the float beside it; the denominator stays small."""
    return as_fraction(share) or Fraction(share).limit_denominator(2**20)


def _coded_columns(table: Table) -> Iterator[tuple[int, Array]]:
    """The kind and the codes of every column."""
    texts: dict[str, int] = {}
    for part in _parts(table):
        narrow = part.narrow
        for j, slot in enumerate(narrow.slots.tolist()):
            if slot < 0:
                raw = part.column(j)
                if raw.dtype == object:
                    # Numbered from 1 over all columns; 0 where they are missing.
                    numbers, here = np.zeros(raw.size, np.int64), ~is_missing(raw)
                    known = map(str, raw[here].tolist())
                    numbers[here] = [texts.setdefault(text, len(texts) + 1) for text in known]
                    yield TEXT, numbers
                else:
                    places = encode(learn("", "", raw, discrete=True, grid_codes=PARTS), raw)
                    yield PLACE, np.where(np.isnan(raw), np.uint8(MISSING), places)
                continue
            codes = narrow.cells[slot]
            if narrow.missing[slot] and narrow.most[slot] <= 1:
                codes = np.where(codes == SILENT, np.uint8(MISSING), codes)
            yield WHOLE, codes


def _parts(table: Table) -> Iterator[RawTable]:
    """The table itself, or some of its columns at a time."""
    if type(table) is RawTable:
        yield table
        return
    for at in range(0, len(table.names), _BLOCK):
        columns = range(at, min(at + _BLOCK, len(table.names)))
        names = [table.names[j] for j in columns]
        yield RawTable([table.column(j) for j in columns], names, table.n_rows)
