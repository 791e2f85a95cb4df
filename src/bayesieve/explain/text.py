"""Numbers in words, names as short labels, and the interval of a share."""

import math
from collections.abc import Sequence
from typing import TypeAlias

from scipy.stats import beta

from ..data.kernels.options import FEW_ROWS
from ..evaluation._typing import Value


def interval(hits: float, rows: float, confidence: float = 0.95) -> tuple[float, float]:
    """The exact interval of a share (Clopper and Pearson 1934).

    Parameters
    ----------
    hits, rows : weights count as rows.
    confidence : of the interval.

    Examples
    --------
    >>> from bayesieve.explain.text import interval
    >>> [round(each, 3) for each in interval(0, 100)]
    [0.0, 0.036]
    """
    tail = (1 - confidence) / 2
    low = float(beta.ppf(tail, hits, rows - hits + 1)) if hits > 0 else 0.0
    high = float(beta.ppf(1 - tail, hits + 1, rows - hits)) if hits < rows else 1.0
    return low, high


# -- Numbers as people say them --------------------------------------------------------------------


#: Below this many nat evidence says nothing worth telling.
SILENT = 0.05

# What stands for any factor beyond ten thousand.
_MOST_SAID = "10 000+"


def odds_in_words(nat: float) -> str:
    """How many times as likely, of evidence in nat; its sign does not count.

    Parameters
    ----------
    nat : float
        A log-ratio.

    Examples
    --------
    >>> from bayesieve.explain.text import odds_in_words
    >>> odds_in_words(2.5), odds_in_words(0.01), odds_in_words(20.0)
    ('12 times', 'as', 'over 10 000 times')
    """
    size = abs(nat)
    if size == float("inf"):
        return "infinitely"
    if size < SILENT:
        return "as"
    if size >= math.log(10_000):
        return "over 10 000 times"
    return f"{few_digits(math.exp(size))} times"


def few_digits(value: float) -> str:
    """A factor in two digits, at most one behind the point; thousands apart.

    Examples
    --------
    >>> from bayesieve.explain.text import few_digits
    >>> few_digits(1.26), few_digits(12.4), few_digits(1234.0)
    ('1.3', '12', '1 200')
    """
    if value < 9.95:
        return f"{math.floor(10 * value + 0.5) / 10:.1f}"  # as pages round it, too
    unit = 10 ** (len(str(int(value))) - 2)
    return _apart(math.floor(value / unit + 0.5) * unit)


def _apart(whole: float) -> str:
    """A whole number, its thousands apart."""
    return f"{whole:,.0f}".replace(",", " ")


def factor_in_words(
    nat: float, rows: float | None = None, low: float | None = None, high: float | None = None
) -> str:
    """What evidence multiplies the odds by (x) or divides them by (/), and what stands behind it.

    All that shows evidence shows this: one number for one thing.

    Parameters
    ----------
    nat : float
        A log-ratio.
    rows : float, optional
        Training rows behind it.
    low, high : float, optional
        The ends of its interval, log-ratios.

    Examples
    --------
    >>> from bayesieve.explain.text import factor_in_words
    >>> factor_in_words(1.131), factor_in_words(-0.7, 3), factor_in_words(12.0, 0)
    ('x 3.1', '/ 2.0 (few rows: 3)', 'x 10 000+ (no rows)')
    >>> factor_in_words(1.131, 12, 0.3365, 1.946)
    'x 3.1 (1.4 to 7; 12 rows)'
    """
    number, within, behind = factor_parts(nat, rows, low, high)
    beside = "; ".join(each for each in (within, behind) if each)
    return number + (f" ({beside})" if beside else "")


def factor_parts(
    nat: float, rows: float | None = None, low: float | None = None, high: float | None = None
) -> tuple[str, str, str]:
    """The factor, between what it lies, and the rows behind it; empty where nobody knows.

    Parameters
    ----------
    nat, rows, low, high : see `factor_in_words`.

    Examples
    --------
    >>> from bayesieve.explain.text import factor_parts
    >>> factor_parts(1.131, 12, 0.3365, 1.946), factor_parts(-0.7)
    (('x 3.1', '1.4 to 7', '12 rows'), ('/ 2.0', '', ''))
    """
    size, within = abs(nat), ""
    number = few_digits(math.exp(size)) if size < math.log(10_000) else _MOST_SAID
    number = "infinity" if size == math.inf else number
    if low is not None and high is not None:
        within = " to ".join(map(_end, (low, high) if nat >= 0 else (-high, -low)))
    return f"{'x' if nat >= 0 else '/'} {number}", within, "" if rows is None else _behind(rows)


#: A log-ratio, the rows behind it, and the ends of its interval.
Said: TypeAlias = tuple[float, float | None, float | None, float | None]


def factors_in_columns(said: Sequence[Said], logs: bool = False) -> list[str]:
    """What `factor_in_words` says of several, numbers below each other; all are equally wide.

    Parameters
    ----------
    said : log-ratio, rows, and ends of the interval of each.
    logs : logarithms in place of factors.

    Examples
    --------
    >>> from bayesieve.explain.text import factors_in_columns
    >>> lines = [(1.131, 120, 0.3365, 1.946), (-3.1, 3, -4.0, -0.2), (2.3, 0, None, None)]
    >>> for line in factors_in_columns(lines):
    ...     print(line)
    x 3.1 (1.4 to  7;    120 rows)
    /  22 (1.2 to 55; few rows: 3)
    x  10                (no rows)
    """
    if not said:
        return []
    lines = []
    for nat, rows, low, high in said:
        number, within, behind = factor_parts(nat, rows, low, high)
        sign, number = number[:2], number[2:]
        if logs:
            sign, number = "", f"{nat:+.3f}"
            within = f"{low:+.3f} to {high:+.3f}" if within else ""
        lines.append((sign, number, *within.partition(" to ")[::2], behind))
    _, figures, lows, highs, rests = (max(map(len, part)) for part in zip(*lines, strict=True))
    beside = []
    for _, _, low_end, high_end, behind in lines:
        known = [f"{low_end:>{lows}} to {high_end:>{highs}}"] if low_end else []
        known += [f"{behind:>{rests if low_end else 0}}"] if behind else []
        beside.append(f"({'; '.join(known)})" if known else "")
    room = max(map(len, beside))
    found = []
    for (sign, number, low_end, *_), part in zip(lines, beside, strict=True):
        part = part.ljust(room) if low_end else part.rjust(room)
        found.append(f"{sign}{number:>{figures}}" + f" {part}" * (room > 0))
    return found


def _end(nat: float) -> str:
    """The end of an interval of a factor, in two digits."""
    value = math.exp(min(max(nat, -math.log(10_000)), 10.0))
    if value >= 10_000:
        return _MOST_SAID
    return few_digits(value) if value >= 99.5 else f"{value:.2g}"


def _behind(rows: float) -> str:
    """How many training rows stand behind evidence, and that they are few."""
    if rows < 0.05:  # what would be 0 in one digit
        return "no rows"
    if rows < FEW_ROWS:
        return f"few rows: {math.floor(10 * rows + 0.5) / 10:g}"
    return f"{_apart(math.floor(rows + 0.5))} rows"


def chance_in_words(p: float) -> str:
    """A probability in percent, without false precision at its ends.

    Examples
    --------
    >>> from bayesieve.explain.text import chance_in_words
    >>> chance_in_words(0.873), chance_in_words(1 - 1e-7), chance_in_words(0.0)
    ('87.3 %', '≥ 99.9 %', '≤ 0.1 %')
    """
    if p != p:
        return "–"
    if p >= 0.999:
        return "≥ 99.9 %"
    if p <= 0.001:
        return "≤ 0.1 %"
    return f"{100 * p:.1f} %"


def rate_in_words(rate: float) -> str:
    """A share of rows in percent; 0 is 0.

    Examples
    --------
    >>> from bayesieve.explain.text import rate_in_words
    >>> rate_in_words(0.0), rate_in_words(0.0004), rate_in_words(0.123)
    ('0 %', '0.04 %', '12.3 %')
    """
    if rate != rate:
        return "–"
    percent = 100 * rate
    if percent == 0:
        return "0 %"
    return f"{percent:.2g} %" if percent < 1 else f"{percent:.1f} %"


def value_in_words(value: Value | None) -> str:
    """A value as it is shown in a sentence; a question mark where it is missing.

    Examples
    --------
    >>> from bayesieve.explain.text import value_in_words
    >>> value_in_words(2.0), value_in_words("b"), value_in_words(None)
    ('2', 'b', '?')
    """
    if value is None:
        return "?"
    return f"{value:.10g}" if isinstance(value, float) else str(value)


def yes_or_no(value: Value) -> str:
    """A value of a binary column.

    Examples
    --------
    >>> from bayesieve.explain.text import yes_or_no
    >>> yes_or_no(1.0), yes_or_no(0.0), yes_or_no("b")
    ('yes', 'no', 'b')
    """
    if isinstance(value, str):
        return value
    return "yes" if value == 1 else "no" if value == 0 else f"{value:g}"


# Share of the way between two medians by which a cut may be off where people read it.
_OFF = 0.05


def short_cut(cut: float, below: float, above: float) -> str:
    """A cut in as few digits as keep it where it is, between two medians.

    Examples
    --------
    >>> from bayesieve.explain.text import short_cut
    >>> short_cut(14.973, 13.9, 16.1)
    '15'
    """
    room = _OFF * min(cut / 2 - below / 2, above / 2 - cut / 2)
    for digits in range(1, 17):
        near = float(f"{cut:.{digits}g}")
        if abs(near / 2 - cut / 2) <= room:
            plain = f"{near:.15g}"  # no exponent where digits will do
            return plain if float(plain) == near else repr(near)
    return repr(cut)


def nth(place: int) -> str:
    """A place in an order.

    Examples
    --------
    >>> from bayesieve.explain.text import nth
    >>> nth(1), nth(2), nth(11), nth(23)
    ('the first', 'the second', 'the 11th', 'the 23rd')
    """
    if place in (1, 2, 3):
        return f"the {('first', 'second', 'third')[place - 1]}"
    ending = "th" if 10 < place % 100 < 20 else {1: "st", 2: "nd", 3: "rd"}.get(place % 10, "th")
    return f"the {place}{ending}"


def many(count: float, what: str, plural: str | None = None) -> str:
    """A number of things.

    Examples
    --------
    >>> from bayesieve.explain.text import many
    >>> many(1, "row"), many(2, "row"), many(2, "class", "classes")
    ('1 row', '2 rows', '2 classes')
    """
    return f"{count:g} {what if count == 1 else plural or what + 's'}"


# -- Names as the labels of a chart ----------------------------------------------------------------


def short_names(names: Sequence[object], most: int) -> list[str]:
    """Names as the labels of one chart: each on one line, short, and no two alike.

    Of long names, words that all of them have go first.  A label is longer than asked for where
    the words that differ need the room, up to twice.

    Parameters
    ----------
    names : what the chart shows.
    most : letters that a label should have at most.

    Examples
    --------
    >>> from bayesieve.explain.text import short_names
    >>> where = "windows of thirty points each where the test rejects at"
    >>> short_names([f"share of {where} {level} > 0.1" for level in (0.001, 0.05)], 40)
    ['share of windows of thirty … 0.001 > 0.1', 'share of windows of thirty … 0.05 > 0.1']
    """
    lines = [" ".join(str(name).split()) for name in names]
    long = {line for line in lines if len(line) > most}
    common = set.intersection(*(set(line.split()) for line in long)) if len(long) > 1 else None
    found: dict[str, None] = {}
    for line in lines:
        label = line if len(line) <= most else _shorten(line, common, most)
        ways = [label, line] if len(line) <= 2 * most else [label]
        ways += [f"{label} ({i})" for i in range(2, len(lines) + 1)]
        found[next(way for way in ways if way not in found)] = None
    return list(found)


def _shorten(line: str, common: set[str] | None, most: int) -> str:
    """The words that are not common to all, and as many others as fit: the last, then the first."""
    words = line.split()
    keep = [common is not None and word not in common for word in words]
    for i in (len(words) - 1, *range(len(words) - 1)):
        if not keep[i]:
            keep[i] = True
            keep[i] = len(_joined(words, keep)) <= most
    label = _joined(words, keep)
    if not any(keep) or len(label) > 2 * most:
        half = most // 2
        label = f"{line[:half]}…{line[half + 1 - most :]}"
    return label


def _joined(words: list[str], keep: list[bool]) -> str:
    """The words kept, and a mark for each run of others."""
    found: list[str] = []
    for word, kept in zip(words, keep, strict=True):
        if kept:
            found.append(word)
        elif not found or found[-1] != "…":
            found.append("…")
    return " ".join(found)
