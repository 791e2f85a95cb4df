"""A small table of results, written as CSV, LaTeX, HTML or text."""

import csv
import io
import re
from dataclasses import dataclass, field

from ...data.html import html_table

Value = str | float | int | None

_LATEX = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    **{letter: "\\" + letter for letter in "&%$#_{}"},
}


@dataclass(frozen=True)
class Grid:
    """Rows under a head; None is a value that there is not.

    Parameters
    ----------
    head : names of the columns.
    rows : values.
    forms : how numbers of each column are written for people; ``""``: as they are.
    best : (row, column) of values to be set in bold.
    caption : what the table shows.

    Examples
    --------
    >>> from bayesieve.evaluation.comparison.grid import Grid
    >>> grid = Grid(("method", "accuracy"), (("a_b", 0.91234), ("c", None)), ("", ".3f"))
    >>> print(grid.to_text())
    method  accuracy
    a_b        0.912
    c              -
    >>> print(grid.to_csv(), end="")
    method,accuracy
    a_b,0.91234
    c,
    """

    head: tuple[str, ...]
    rows: tuple[tuple[Value, ...], ...]
    forms: tuple[str, ...] = ()
    best: frozenset[tuple[int, int]] = field(default_factory=frozenset)
    caption: str = ""

    def shown(self, row: int, column: int) -> str:
        """A value as people read it."""
        value = self.rows[row][column]
        if value is None:
            return "-"
        form = self.forms[column] if column < len(self.forms) else ""
        return str(value) if isinstance(value, str) or not form else format(value, form)

    def turned(self) -> "Grid":
        """Rows as columns; all columns but the first must be written alike."""
        rows = tuple(
            (name, *(row[j] for row in self.rows)) for j, name in enumerate(self.head) if j > 0
        )
        head = (self.head[0], *(str(row[0]) for row in self.rows))
        forms = ("", *self.forms[1:2] * len(self.rows))
        best = frozenset((j - 1, i + 1) for i, j in self.best)
        return Grid(head, rows, forms, best, self.caption)

    def to_csv(self) -> str:
        """All digits; an empty field where there is no value."""
        text = io.StringIO(newline="")
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(self.head)
        writer.writerows(["" if value is None else value for value in row] for row in self.rows)
        return text.getvalue()

    def to_text(self) -> str:
        """Columns of equal width, names to the left, numbers to the right."""
        cells = [[self.shown(i, j) for j in range(len(self.head))] for i in range(len(self.rows))]
        wide = [
            max(len(row[j]) for row in [list(self.head), *cells]) for j in range(len(self.head))
        ]
        lines = []
        for row in [list(self.head), *cells]:
            parts = [
                f"{text:<{width}}" if j == 0 else f"{text:>{width}}"
                for j, (text, width) in enumerate(zip(row, wide, strict=True))
            ]
            lines.append("  ".join(parts).rstrip())
        return "\n".join(lines)

    def to_html(self) -> str:
        """A table for notebooks."""
        columns: dict[str, list[Value]] = {
            name: [self.shown(i, j) for i in range(len(self.rows))]
            for j, name in enumerate(self.head)
        }
        return html_table(columns, self.caption, figures=self.head[1:])

    def to_latex(self) -> str:
        r"""A tabular in the manner of booktabs."""
        lines = [rf"\begin{{tabular}}{{l{'r' * (len(self.head) - 1)}}}", r"\toprule"]
        lines.append(" & ".join(latex(name) for name in self.head) + r" \\")
        lines.append(r"\midrule")
        for i in range(len(self.rows)):
            cells = []
            for j in range(len(self.head)):
                text = "--" if self.rows[i][j] is None else latex(self.shown(i, j))
                cells.append(rf"\textbf{{{text}}}" if (i, j) in self.best else text)
            lines.append(" & ".join(cells) + r" \\")
        lines += [r"\bottomrule", r"\end{tabular}"]
        lines.insert(0, "% needs the package booktabs")
        if self.caption:
            lines.insert(0, "% " + " ".join(self.caption.split()))
        return "\n".join(lines) + "\n"


def latex(text: str) -> str:
    r"""A text that LaTeX sets as it is.

    Examples
    --------
    >>> from bayesieve.evaluation.comparison.grid import latex
    >>> print(latex("50% of a_b"))
    50\% of a\_b
    """
    return re.sub(r"[\\~^&%$#_{}]", lambda found: _LATEX[found[0]], " ".join(text.split()))
