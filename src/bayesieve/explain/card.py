"""A card in print: text, and a page."""

from html import escape
from typing import TYPE_CHECKING

from ..checks import Foreign
from ..data.result import text_table
from .text import chance_in_words, interval, value_in_words

if TYPE_CHECKING:
    from ..estimators.card import Card, CardTotal

_STYLE = """
@page { size: A4; margin: 14mm }
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
.foot { font-size: .82rem; color: #222; border-top: 1px solid #999; margin-top: 1rem }
@media (max-width: 30rem) { body { font-size: 15px } th, td { padding: .2rem .3rem } }
@media print { body { font-size: 10.5pt; margin: 0; max-width: none; padding: 0 }
  tr { break-inside: avoid } }
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
        "first of equals; a class is exp(u x lead) times as probable as another behind it by that "
        f"many points, u = {card.unit:.4g}."
    )


def acting(card: "Card") -> str:
    """From which total on the second class is the more probable one."""
    if card.act_from is None:
        return ""
    points = f"{_whole(card.act_from)} point{'s' * (abs(card.act_from) != 1)}"
    return f"{_name(card.classes[1])} is the more probable from {points} on."


def said_of(card: "Card") -> list[str]:
    """Where the card comes from, how good it is, and when not to use it."""
    found = [f"Learnt from {card.n_rows:,.0f} rows.".replace(",", " ")]
    if card.log_loss is not None:
        told = [] if card.auc is None else [f"AUC {card.auc:.3f}"]
        told.append(f"log-loss {card.log_loss:.3f}")
        if card.accuracy is not None:
            told.append(f"{100 * card.accuracy:.1f} % decided rightly")
        found.append("Of rows left out, by cards that had not seen them: " + ", ".join(told) + ".")
    found.append(
        "Do not use it for rows of another kind than those: where the classes are more or less "
        "frequent, or values are measured differently, its probabilities do not hold."
    )
    return found


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
    names, last = [], None
    for line in card.lines:
        names.append(line.column if line.column != last else "")
        last = line.column
    columns: dict[str, list[object]] = {
        "": [*names],
        "condition": [line.condition for line in card.lines],
    }
    for at, head in enumerate(_heads(card)):
        told = [signed(line.points[at]).rjust(len(head)) for line in card.lines]
        columns[head] = [*told]
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


def card_html(card: "Card", title: str = "Score card") -> str:
    """The card as a page.

    Examples
    --------
    >>> from bayesieve.estimators.card import Card
    >>> from bayesieve.explain.card import card_html
    >>> card = Card((), (0, 1), (0,), 0.25, -1.0, (), None, 10.0, None, None, None)
    >>> card_html(card).startswith("<!DOCTYPE html>")
    True
    """
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
    lines = f"<table><tr><th></th><th></th>{told}</tr>{''.join(body)}</table>" if body else ""
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
        f'<div class="wide">{lines}</div>{act}<div class="wide">{totals}</div>'
        f'<div class="foot">{foot}</div></body></html>\n'
    )
