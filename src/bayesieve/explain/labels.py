"""Names that fit a chart: what tells them apart is never cut."""

from collections.abc import Sequence


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
    >>> from bayesieve.explain.labels import short_names
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
