"""A card in print: text, a page, a PDF, and a sheet that computes."""

import math
from collections.abc import Iterable
from dataclasses import replace
from html import escape
from io import BytesIO
from textwrap import wrap
from typing import TYPE_CHECKING

from numpy.typing import ArrayLike

from ..checks import Foreign, plain_value
from ..data.result import text_table
from ..estimators.base import ChosenColumns
from ..evaluation.crossfit import Refits, out_of_fold
from .text import chance_in_words, interval, value_in_words

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from ..estimators.card import ScoreCard
    from ..estimators.card_parts import Card, CardFigures, CardLine, CardTotal, Span

# Lines of a page of the PDF.
_PAGE = 58

_STYLE = """
* { box-sizing: border-box }
body { font: 16px/1.35 system-ui, sans-serif; color: #000; background: #fff; margin: 1rem auto;
  max-width: 46rem; padding: 0 .8rem }
h1 { font-size: 1.5rem; margin: 0 0 .2rem } h2 { font-size: 1.1rem; margin: 1.1rem 0 .3rem }
p { margin: .3rem 0 } .wide { overflow-x: auto }
table { border-collapse: collapse; width: 100% }
th, td { text-align: left; padding: .16rem .5rem; border-bottom: 1px solid #999;
  vertical-align: top }
td.n, th.n { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap }
tr.first td { border-top: 2px solid #000 } td.c { font-weight: 600 }
td.p { font-weight: 700; font-size: 1.1rem } tr.none td:not(.c) { color: #444; font-weight: 400 }
td.box { width: 3.2rem; border-left: 1px solid #999 }
.act { border: 2px solid #000; padding: .35rem .6rem; font-weight: 600; margin: .5rem 0 }
.curve { width: 100%; max-width: 40rem; margin-top: .5rem; font-size: 12px }
figure { margin: 0 } figcaption { font-size: .8rem }
.foot { font-size: .82rem; color: #222; border-top: 1px solid #999; margin-top: 1rem }
@media (max-width: 30rem) { body { font-size: 15px } th, td { padding: .2rem .3rem } }
@media print { @page { margin: 10mm }
  body { font-size: 9pt; line-height: 1.22; margin: 0; max-width: none; padding: 0 }
  tr { break-inside: avoid } th, td { padding: .04rem .4rem } h2 { margin: .4rem 0 .1rem }
  td.p { font-size: inherit } .act { margin: .3rem 0; padding: .15rem .5rem }
  .below { display: flex; gap: 1.2rem; align-items: start } .below > div { flex: 1 1 0 }
  .below td { white-space: nowrap } .foot { margin-top: .3rem; border: 0 } }
"""


def signed(points: int) -> str:
    """Points as they are printed.

    Examples
    --------
    >>> from bayesieve.explain.card import signed
    >>> signed(3), signed(-2), signed(0)
    ('+3', '−2', '0')
    """
    return f"+{points}" if points > 0 else f"−{-points}" if points else "0"


def _whole(number: int) -> str:
    return str(number).replace("-", "−")


def _name(value: Foreign) -> str:
    """A class in a sentence: numbers alone are no names."""
    return value if isinstance(value, str) else f"class {value_in_words(value)}"


def _heads(card: "Card") -> list[str]:
    """Heads of the columns of points."""
    return ["points"] if len(card.classes) == 2 else list(map(value_in_words, card.classes))


def how_to(card: "Card") -> str:
    """How to read the card, in a sentence or two."""
    if not card.lines:
        return "Nothing in the table tells the classes apart: there are no lines."
    if len(card.classes) == 2:
        return (
            f"Of each box take the one line that holds, and add up its points for "
            f"{_name(card.classes[1])}."
        )
    return (
        "Of each box take the one line that holds, and add up the points of every class, from "
        "those it starts with. The class with the largest total is the most probable one, the "
        f"first of equals; each {math.log(2) / card.unit:.2g} points that it is ahead of another "
        "make it twice as probable as that one."
    )


def acting(card: "Card") -> str:
    """From which total on the second of two classes is decided."""
    if len(card.classes) > 2 or not card.lines:
        return ""
    first, second = map(_name, card.classes)
    if not card.ruled:
        return f"{second} is the more probable from {_points(card.act_from)} on."
    if card.ask_from is None:
        if card.act_from is None:
            return f"Decide {first}, whatever the total."
        return f"Decide {second} from {_points(card.act_from)} on; below, {first}."
    asked = f"Below {_points(card.ask_from)} decide {first}; from there on ask a person"
    if card.act_from is None:
        return f"{asked}."
    return f"{asked}, and from {_points(card.act_from)} on decide {second}."


def _points(total: int | None) -> str:
    assert total is not None
    return f"{_whole(total)} point{'s' * (abs(total) != 1)}"


def said_of(card: "Card") -> list[str]:
    """Where the card comes from, how good it is, and when not to use it."""
    found = [f"Learnt from {card.n_rows:,.0f} rows.".replace(",", " ")]
    if card.figures:
        found.append(
            "On rows left out, by models that had not seen them (95 %): "
            + "; ".join(map(_figures_in_words, card.figures))
            + "."
        )
    found.append(
        "Do not use it for rows of another kind than those: where the classes are more or less "
        "frequent, or values are measured differently, its probabilities do not hold."
    )
    return found


def _figures_in_words(each: "CardFigures") -> str:
    def span(figure: tuple[float, float, float], times: float = 1.0, places: int = 3) -> str:
        told = [f"{times * part:.{places}f}" for part in figure]
        return f"{told[0]} ({told[1]} to {told[2]})"

    told = [] if each.auc is None else [f"AUC {span(each.auc)}"]
    told.append(f"log-loss {span(each.log_loss)}")
    told.append(f"{100 * each.accuracy[0]:.1f} % decided rightly")
    return f"{each.name}: " + ", ".join(told)


def judged(
    model: "ScoreCard",
    X: object,
    y: ArrayLike,
    others: dict[str, ChosenColumns],
    groups: ArrayLike | None = None,
    progress: bool = False,
) -> "Card":
    """A card with figures of cards and others, each made anew for rows that it has not seen.

    Parameters
    ----------
    model : fitted.
    X, y, groups : what it was fitted on.
    others : unfitted models by name, to stand beside it.
    progress : tell how many fits are done?
    """
    from ..estimators.card_parts import CardFigures

    found = []
    for name, each in {"this card": model, **others}.items():
        refits = Refits(each, X, y, groups=groups)
        told = out_of_fold(refits, progress=progress, what=f"{name} in folds")
        if told is not None:
            read = refits.read
            found.append(CardFigures.of(name, told.proba, read.labels, read.weights))
    return replace(model.card_, figures=tuple(found)) if found else model.card_


def _totals(card: "Card") -> dict[str, list[str]]:
    """The table of totals in words."""
    if len(card.classes) == 2:
        first, second = "total", f"chance of {_name(card.classes[1])}"
    else:
        first, second = "ahead by", "chance of the class ahead, at least"

    def span(at: int, each: "CardTotal") -> str:
        low, high = _whole(each.low), _whole(each.high)
        if at == 0 and len(card.table) > 1 and len(card.classes) == 2:
            return f"{high} or less"
        if at == len(card.table) - 1 and at:
            return f"{low} or more"
        return low if low == high else f"{low} to {high}"

    def chance(each: "CardTotal") -> str:
        low, high = (chance_in_words(p) for p in each.chance)
        return low if low == high else f"{low} to {high}"

    def share(each: "CardTotal") -> str:
        if not each.rows:
            return "no rows"
        low, high = interval(each.hits, each.rows)
        return f"{each.hits:g} of {each.rows:g} ({100 * low:.0f} to {100 * high:.0f} %)"

    return {
        first: [span(at, each) for at, each in enumerate(card.table)],
        second: [chance(each) for each in card.table],
        "of rows left out (95 %)": [share(each) for each in card.table],
    }


def _unbroken(text: str) -> str:
    """A number and its per cent, or its end, stay on one line."""
    return text.replace(" %", "\u00a0%").replace(" or ", "\u00a0or\u00a0")


def card_text(card: "Card") -> str:
    """The card for a terminal."""
    heads, last = _heads(card), None
    columns: dict[str, list[object]] = {each: [] for each in ("", "condition", *heads)}
    for line in card.lines:
        told = wrap(line.condition, 60)
        for i, words in enumerate(told):
            columns[""].append(line.column if line.column != last and not i else "")
            columns["condition"].append(words if not i else f"  {words}")
            for head, points in zip(heads, line.points, strict=True):
                columns[head].append("" if i else signed(points).rjust(len(head)))
        last = line.column
    parts = [card.caption() + ".", how_to(card)]
    if len(card.classes) > 2:
        pairs = zip(_heads(card), card.start, strict=True)
        parts.append("Start: " + ", ".join(f"{name} {points}" for name, points in pairs) + ".")
    if card.lines:
        parts += ["", text_table(columns), ""]
    parts.append(acting(card))
    if card.table:
        parts += [text_table(_totals(card)), ""]
    return "\n".join([*(part for part in parts if part != "" or card.lines), *said_of(card)])


def _curve(card: "Card") -> str:
    """Chance by total: the card's as a line, rows left out as dots with what they are sure of."""
    low, high = (card.table[0].low, card.table[-1].high) if card.table else (0, 0)
    if low == high:
        return ""
    width, height, left, top = 640.0, 150.0, 48.0, 8.0

    def x(total: float) -> float:
        return left + (total - low) / (high - low) * (width - left - 8)

    def y(chance: float) -> float:
        return top + (1 - chance) * (height - top - 24)

    ends = [
        (t, p)
        for each in card.table
        for t, p in zip((each.low, each.high), each.chance, strict=True)
    ]
    line = " ".join(f"{x(t):.1f},{y(p):.1f}" for t, p in ends)
    marks = [
        f'<line x1="{left}" x2="{width - 8}" y1="{y(chance):.1f}" y2="{y(chance):.1f}" '
        f'stroke="#bbb"/><text x="{left - 5}" y="{y(chance) + 4:.1f}" text-anchor="end">'
        f"{100 * chance:.0f} %</text>"
        for chance in (0.0, 0.5, 1.0)
    ]
    for each in card.table:
        marks.append(
            f'<text x="{x(each.low):.1f}" y="{height - 6}" text-anchor="middle">'
            f"{_whole(each.low)}</text>"
        )
        if each.rows:
            least, most = interval(each.hits, each.rows)
            at = x((each.low + each.high) / 2)
            marks.append(
                f'<line x1="{at:.1f}" x2="{at:.1f}" y1="{y(least):.1f}" y2="{y(most):.1f}" '
                f'stroke="#000"/><circle cx="{at:.1f}" cy="{y(each.hits / each.rows):.1f}" r="3"/>'
            )
    what = "ahead by" if len(card.classes) > 2 else "total"
    return (
        f'<figure><svg viewBox="0 0 {width:.0f} {height:.0f}" role="img" '
        f'aria-label="chance by {what}" class="curve">{"".join(marks)}'
        f'<polyline points="{line}" fill="none" stroke="#000" '
        f'stroke-width="2"/></svg><figcaption>Line: the card. Dots: rows left out '
        "(95 %).</figcaption></figure>"
    )


def lines_html(card: "Card") -> str:
    """The lines of a card as a table, with room for one's own points."""
    heads, body, last = _heads(card), [], None
    two = len(card.classes) == 2
    for line in card.lines:
        first = line.column != last
        marks = " ".join(filter(None, ["first" * first, "none" * (not any(line.points))]))
        name = escape(line.column) if first else ""
        cells = "".join(f'<td class="n p">{signed(each)}</td>' for each in line.points)
        box = '<td class="box"></td>' if two else ""
        body.append(
            f'<tr class="{marks}"><td class="c">{name}</td><td>{escape(line.condition)}</td>'
            f"{cells}{box}</tr>"
        )
        last = line.column
    if not two and card.lines:
        cells = "".join(f'<td class="n p">{each}</td>' for each in card.start)
        body.insert(0, f'<tr class="first"><td class="c">start</td><td></td>{cells}</tr>')
    if two and card.lines:
        body.append(
            '<tr class="first"><td class="c">total</td><td></td><td></td><td class="box"></td></tr>'
        )
    told = "".join(f'<th class="n">{escape(head)}</th>' for head in heads)
    told += '<th class="n">mine</th>' if two else ""
    return (
        f'<table class="card"><tr><th></th><th></th>{told}</tr>{"".join(body)}</table>'
        if body
        else ""
    )


def card_html(card: "Card", title: str = "Score card") -> str:
    """The card as a page.

    Examples
    --------
    >>> from bayesieve.estimators.card_parts import Card
    >>> from bayesieve.explain.card import card_html
    >>> card = Card((), (0, 1), (0,), 0.25, -1.0, (), None, None, False, 10.0, ())
    >>> card_html(card).startswith("<!DOCTYPE html>")
    True
    """
    totals = ""
    if card.table:
        columns = _totals(card)
        head = "".join(f"<th>{escape(each)}</th>" for each in columns)
        rows = "".join(
            "<tr>" + "".join(f"<td>{escape(_unbroken(cell))}</td>" for cell in row) + "</tr>"
            for row in zip(*columns.values(), strict=True)
        )
        totals = f"<h2>What the total means</h2><table><tr>{head}</tr>{rows}</table>"
    act = f'<p class="act">{escape(acting(card))}</p>' if acting(card) else ""
    foot = "".join(f"<p>{escape(each)}</p>" for each in said_of(card))
    return (
        f'<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
        f'<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{escape(title)}</title><style>{_STYLE}</style></head><body>"
        f"<h1>{escape(title)}</h1><p>{escape(how_to(card))}</p>"
        f'<div class="wide">{lines_html(card)}</div>{act}'
        f'<div class="below"><div class="wide">{totals}</div>'
        f'<div>{_curve(card)}<div class="foot">{foot}</div></div></div></body></html>\n'
    )


# -- PDF -------------------------------------------------------------------------------------------


def card_pdf(card: "Card", title: str = "Score card") -> bytes:
    """The card as pages of A4.

    Parameters
    ----------
    card : of a fitted `ScoreCard`.
    title : str
        The headline.
    """
    import matplotlib as mpl
    from matplotlib.backends.backend_pdf import PdfPages
    from matplotlib.figure import Figure

    heads, last = _heads(card), None
    # What stands in a line of print: kind, and cells.
    page: list[tuple[str, list[str]]] = [("title", [title])]
    page += [("plain", [part]) for part in wrap(how_to(card), 95)]
    if card.lines:
        page += [("gap", []), ("head", ["", "", *heads])]
    if len(card.classes) > 2 and card.lines:
        page.append(("first", ["start", "", *map(str, card.start)]))
    for line in card.lines:
        kind, first = "first" if line.column != last else "line", line.column != last
        # A long condition goes on below.
        told = wrap(line.condition, 52) or [""]
        page.append((kind, [line.column * first, told[0], *map(signed, line.points)]))
        page += [("line", ["", more, *[""] * len(heads)]) for more in told[1:]]
        last = line.column
    if acting(card):
        page += [("gap", []), ("bold", [acting(card)])]
    if card.table:
        columns = _totals(card)
        page += [("gap", []), ("heads", list(columns))]
        page += [("cells", list(row)) for row in zip(*columns.values(), strict=True)]
    page.append(("gap", []))
    page += [("small", [part]) for told in said_of(card) for part in wrap(told, 115)]
    out = BytesIO()
    with (
        mpl.rc_context({"pdf.fonttype": 42, "font.family": "DejaVu Sans"}),
        PdfPages(out, metadata={"CreationDate": None, "Title": title}) as sheets,
    ):
        for at in range(0, len(page), _PAGE):
            figure = Figure(figsize=(8.27, 11.69))
            for i, (kind, cells) in enumerate(page[at : at + _PAGE]):
                _print_line(figure, 0.955 - i * 0.0158, kind, cells)
            sheets.savefig(figure)
    return out.getvalue()


def _print_line(figure: "Figure", y: float, kind: str, cells: list[str]) -> None:
    """One line of a page."""
    from matplotlib.lines import Line2D

    size = {"title": 15.0, "small": 7.5}.get(kind, 9.5)
    if kind in ("first", "head"):
        figure.add_artist(Line2D((0.07, 0.93), (y + 0.0125,) * 2, color="black", linewidth=0.6))
    if kind in ("first", "line", "head"):
        step = min(0.09, 0.36 / (len(cells) - 2))
        places = [0.07, 0.27, *(0.93 - step * k for k in range(len(cells) - 3, -1, -1))]
        room = [22, 99, *[int(step * 120)] * (len(cells) - 2)]
        for k, (cell, x) in enumerate(zip(cells, places, strict=True)):
            told = cell if len(cell) <= room[k] else cell[: room[k] - 1] + "…"
            heavy = kind == "head" or k != 1
            side, weight = "left" if k < 2 else "right", "bold" if heavy else "normal"
            figure.text(x, y, told, ha=side, size=size, weight=weight)
        return
    weight = "bold" if kind in ("title", "bold", "heads") else "normal"
    for cell, x in zip(cells, (0.07, 0.27, 0.62), strict=False):
        figure.text(x, y, cell, size=size, weight=weight)


# -- A sheet that computes -------------------------------------------------------------------------

# Rows into which one may type, where the first of them stands, and how long a formula may be.
_SHEET_ROWS, _TOP, _LONGEST = 200, 4, 8192


def card_sheet(card: "Card", title: str = "Score card", n_rows: int = _SHEET_ROWS) -> bytes:
    """The card as a workbook: a page to print, and rows to type whose totals it computes.

    Parameters
    ----------
    card : of a fitted `ScoreCard`.
    title : str
        The headline.
    n_rows : int
        Rows into which one may type.
    """
    try:
        from openpyxl import Workbook
        from openpyxl.styles import Alignment, Font
        from openpyxl.utils import get_column_letter as letter
    except ImportError as error:
        raise ImportError(
            "a sheet needs openpyxl, which is not installed; pip install 'bayesieve[sheet]'."
        ) from error
    book = Workbook()
    printed = book.active
    printed.title = "card"
    bold, heads = Font(bold=True), _heads(card)
    rows: list[list[object]] = [[title], [how_to(card)], [], ["", "condition", *heads]]
    if len(card.classes) > 2:
        rows.append(["start", "", *card.start])
    last = None
    for line in card.lines:
        rows.append([line.column if line.column != last else "", line.condition, *line.points])
        last = line.column
    rows += [[], [acting(card)], []]
    columns = _totals(card) if card.table else {}
    rows += [list(columns), *(list(row) for row in zip(*columns.values(), strict=True)), []]
    rows += [[each] for each in said_of(card)]
    for at, row in enumerate(rows, 1):
        for k, value in enumerate(row, 1):
            cell = printed.cell(at, k, value)
            if isinstance(value, str):
                cell.data_type = "s"  # a name that begins with = is no formula
            cell.font = bold if at in (1, 4) or k == 1 else Font()
            cell.alignment = Alignment(wrap_text=k == 2, vertical="top")
    printed.column_dimensions["A"].width, printed.column_dimensions["B"].width = 24, 48
    printed.page_setup.fitToHeight, printed.page_setup.fitToWidth = 1, 1
    printed.sheet_properties.pageSetUpPr.fitToPage = True

    names = list(
        dict.fromkeys(span.column for line in card.lines for box in line.where for span in box)
    )
    place = {name: letter(at) for at, name in enumerate(names, 1)}
    typed = book.create_sheet("rows")
    logits = len(card.start)
    totals = [letter(len(names) + 1 + k) for k in range(logits)]
    heads = ["total"] if logits == 1 else [f"points {value_in_words(k)}" for k in card.classes]
    ends = [f"chance of {_name(k)}" for k in (card.classes[1:] if logits == 1 else card.classes)]
    for at, value in enumerate([*names, *heads, *ends, "most probable"], 1):
        cell = typed.cell(_TOP - 1, at, value)
        cell.data_type, cell.font = "s", bold
        typed.column_dimensions[letter(at)].width = max(12, min(len(str(value)) + 2, 30))
    note = typed.cell(
        1, 1, "Type a row for each case below; leave a cell empty where the value is missing."
    )
    note.font = bold
    typed.freeze_panes = typed.cell(_TOP, 1)
    for r in range(_TOP, _TOP + n_rows):
        for k, total in enumerate(totals):
            speak = [line for line in card.lines if line.points[k]]
            told = [f"IF({_formula(line, place, r)},{line.points[k]},0)" for line in speak]
            formula = "=" + "+".join([str(card.start[k]), *told])
            if len(formula) > _LONGEST:
                raise ValueError(
                    f"the conditions of this card are longer than a sheet's formula can be "
                    f"({len(formula)} characters; {_LONGEST} are allowed): join rare levels."
                )
            typed[f"{total}{r}"] = formula
        chances = [letter(len(names) + logits + 1 + k) for k in range(len(ends))]
        span = f"{totals[0]}{r}:{totals[-1]}{r}"
        for k, chance in enumerate(chances):
            if logits == 1:
                odds = f"1/(1+EXP(-({card.constant!r}+{card.unit!r}*{totals[0]}{r})))"
            else:
                odds = f"1/SUMPRODUCT(EXP({card.unit!r}*({span}-{totals[k]}{r})))"
            typed[f"{chance}{r}"] = f"={odds}"
            typed[f"{chance}{r}"].number_format = "0.0%"
        verdict = f"{letter(len(names) + logits + len(ends) + 1)}{r}"
        words = [_text(value_in_words(k)) for k in card.classes]
        if logits == 1:
            typed[verdict] = f"=IF({chances[0]}{r}>0.5,{words[1]},{words[0]})"
        else:
            typed[verdict] = f"=CHOOSE(MATCH(MAX({span}),{span},0),{','.join(words)})"
    out = BytesIO()
    book.save(out)
    return out.getvalue()


def _text(value: str) -> str:
    """A text in a formula."""
    doubled = value.replace('"', '""')
    return f'"{doubled}"'


def _formula(line: "CardLine", place: dict[str, str], row: int) -> str:
    """A condition as a formula about a row."""
    return _any(
        _all(_spelled(span, f"{place[span.column]}{row}") for span in box) for box in line.where
    )


def _any(parts: Iterable[str]) -> str:
    told = list(parts)
    return told[0] if len(told) == 1 else f"OR({','.join(told)})"


def _all(parts: Iterable[str]) -> str:
    told = list(parts)
    return told[0] if len(told) == 1 else f"AND({','.join(told)})"


def _spelled(span: "Span", cell: str) -> str:
    """What a condition asks of a cell."""
    told = []
    if span.known and span.levels is not None:
        told.append(_any(_is_level(plain_value(each), cell) for each in span.levels))
    elif span.known:
        asked = [f"ISNUMBER({cell})"]
        asked += [f"{cell}>={span.low!r}"] if span.low is not None else []
        asked += [f"{cell}<{span.high!r}"] if span.high is not None else []
        told.append(_all(asked))
    if span.missing:
        told.append(f'{cell}=""')
    return _any(told)


def _is_level(level: Foreign, cell: str) -> str:
    """Is a cell a level?  Texts are compared letter by letter, numbers as numbers."""
    if isinstance(level, bool):
        return f"AND(ISLOGICAL({cell}),{cell}={str(level).upper()})"
    if isinstance(level, int | float):
        return f"AND(ISNUMBER({cell}),{cell}={level!r})"
    return f'AND({cell}<>"",EXACT({cell},{_text(str(level))}))'
