"""Curves of a report as plain data: detection against false alarms, and calibration."""

from ...evaluation.performance import PerformanceData, VerdictData
from ..labels import short_names
from ..shares import interval
from .shape import Content, DecidedData

_MOST_LETTERS = 40

# Rows of a bin below which it is joined with the next: a number, and a share of all.
_FEW, _SHARE = 10, 0.02


def some_verdicts(performance: PerformanceData, most: int) -> list[tuple[int, VerdictData]]:
    """The most frequent classes (or labels) in their order, each with its place among all."""
    verdicts = performance["verdicts"]
    often = sorted(range(len(verdicts)), key=lambda at: -verdicts[at]["positives"])[:most]
    return [(at, verdicts[at]) for at in sorted(often)]


def detection_lines(content: Content, most: int) -> list[dict[str, object]]:
    """ROC curves, and the point at which each class is decided now.

    Parameters
    ----------
    content : the report.
    most : lines.
    """
    shown = some_verdicts(content["performance"], most)
    names = short_names([v["name"] for _, v in shown], _MOST_LETTERS)
    return [
        {
            "name": f"{name} (AUC {v['auc']:.2f})",
            "at": at,
            "points": v["roc"],
            "now": _now(content, v),
        }
        for name, (at, v) in zip(names, shown, strict=True)
        if v["roc"]
    ]


def _now(content: Content, verdict: VerdictData) -> list[float] | None:
    """False-alarm rate and detection rate of the decisions."""
    for table in content["decided"]:
        if table["label"] is not None:
            if table["label"] == verdict["name"]:
                return _rates(table, 1)
        elif verdict["name"] in table["classes"]:
            return _rates(table, table["classes"].index(verdict["name"]))
    return None


def _rates(table: DecidedData, k: int) -> list[float] | None:
    mine = sum(table["counts"][k])
    rest = sum(sum(line) for line in table["counts"]) - mine
    if not mine or not rest:
        return None
    alarms = sum(line[k] for i, line in enumerate(table["counts"]) if i != k)
    return [alarms / rest, table["counts"][k][k] / mine]


def _joined(bins: list[list[float]]) -> list[list[float]]:
    """Bins with few rows are read with their neighbours: alone they say nothing."""
    least = max(_FEW, _SHARE * sum(line[2] for line in bins))
    found: list[list[float]] = []
    for said, seen, rows in bins:
        if found and found[-1][2] < least:
            old = found[-1]
            both = old[2] + rows
            found[-1] = [
                (old[0] * old[2] + said * rows) / both,
                (old[1] * old[2] + seen * rows) / both,
                both,
            ]
        else:
            found.append([said, seen, rows])
    return found


def calibration_lines(content: Content, most: int) -> list[dict[str, object]]:
    """Bins of the probability: what was said, what was seen, rows, and an interval of 95 %.

    Parameters
    ----------
    content : the report.
    most : lines.
    """
    performance = content["performance"]
    shown = some_verdicts(performance, most)
    names = short_names([v["name"] for _, v in shown], _MOST_LETTERS)
    # Rows of a group err together: all of them count for as many as are independent.
    counted = performance["effective_rows"] / (performance["n_rows"] or 1)
    return [
        {
            "name": name,
            "at": at,
            "bins": [
                [said, seen, rows, *interval(min(seen, 1.0) * rows * counted, rows * counted)]
                for said, seen, rows in _joined(v["calibration"])
            ],
        }
        for name, (at, v) in zip(names, shown, strict=True)
    ]
