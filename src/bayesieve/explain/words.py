"""Numbers as people say them: odds, probabilities, counts."""

import math

#: Below this many nat evidence says nothing worth telling.
SILENT = 0.05


def odds_in_words(nat: float) -> str:
    """How many times as likely, of evidence in nat; its sign does not count.

    Parameters
    ----------
    nat : float
        A log-ratio.

    Examples
    --------
    >>> from bayesieve.explain.words import odds_in_words
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
    >>> from bayesieve.explain.words import few_digits
    >>> few_digits(1.26), few_digits(12.4), few_digits(1234.0)
    ('1.3', '12', '1 200')
    """
    if value < 9.95:
        return f"{value:.1f}"
    digits = len(str(int(value))) - 2
    return f"{int(round(value, -digits)):,}".replace(",", " ")


def chance_in_words(p: float) -> str:
    """A probability in percent, without false precision at its ends.

    Examples
    --------
    >>> from bayesieve.explain.words import chance_in_words
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
    >>> from bayesieve.explain.words import rate_in_words
    >>> rate_in_words(0.0), rate_in_words(0.0004), rate_in_words(0.123)
    ('0 %', '0.04 %', '12.3 %')
    """
    if rate != rate:
        return "–"
    percent = 100 * rate
    if percent == 0:
        return "0 %"
    return f"{percent:.2g} %" if percent < 1 else f"{percent:.1f} %"


def nth(place: int) -> str:
    """A place in an order.

    Examples
    --------
    >>> from bayesieve.explain.words import nth
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
    >>> from bayesieve.explain.words import many
    >>> many(1, "row"), many(2, "row"), many(2, "class", "classes")
    ('1 row', '2 rows', '2 classes')
    """
    return f"{count:g} {what if count == 1 else plural or what + 's'}"
