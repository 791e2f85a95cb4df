"""Charts as Vega-Lite specifications, made with Altair; the page draws them.

Columns and classes stand in a chart by their position: Vega keeps what it groups in JavaScript
objects, where names such as "constructor" are taken.  Their names are values, which label the
axes and legends.
"""

from collections.abc import Sequence
from typing import TypedDict

import altair as alt

from ...evaluation.performance import PerformanceData, VerdictData
from ..labels import short_names
from ..plain import FeatureData, ModelData, Plain
from .pairs import classes_of, scaled, speaking
from .shape import AgreementData, Content, Marks, PathData, Spec, StepData

_MOST_FEATURES = 40  # bars or scales in one chart


_FAR = 10.0  # nat: scales of a nomogram end here


_MOST_LETTERS = 60


_TEXTS_ACROSS = 16  # values that fit side by side on the scales


#: Labels with charts of their own, and classes or labels in one chart.
MOST_LABELS, MOST_LINES = 8, 12


_HEIGHT = 300


_ENDS: Marks = [{"a": 0, "b": 0}, {"a": 1, "b": 1}]  # of the diagonal


_MOST_STEPS = 1500  # of a path in its chart


_COLOURS = 8  # of the page


_NARROW = 420  # pixels


_NEVER = -1e6  # nat: stands for log 0 in a chart; finite terms are far above


# Readable on light and on dark paper.
_MAIN, _LOUD, _QUIET = "#3b8fd4", "#d9534f", "#8a939c"


def charts(content: Content) -> dict[str, Spec]:
    """All charts that the content allows, by the name of their place in the page."""
    found: dict[str, Spec | None] = {
        "roc": _roc(_some_verdicts(content["performance"])),
        "calibration": _calibration(_some_verdicts(content["performance"])),
    }
    for i, model in enumerate(content["model"][:MOST_LABELS]):
        found[f"nomogram-{i}"] = _nomogram(model)
        found[f"relevance-{i}"] = _relevance(model)
    if content["path"] is not None:
        found["path"] = _path(content["path"])
    if content["stability"] is not None:
        found["stability"] = _stability(content["stability"])
    return {name: spec for name, spec in found.items() if spec is not None}


def _named(name: str) -> alt.Chart:
    """A chart of data by name: Altair would check every row of inline data against its schema."""
    return alt.Chart(alt.NamedData(name=name))


def _spec(chart: alt.Chart | alt.LayerChart, words: str, height: int, **data: Marks) -> Spec:
    """A chart as plain data, with its rows; `words` describe it to those who cannot see it."""
    spec = chart.properties(width="container", height=height, description=words).to_dict()
    spec.pop("config", None)
    spec.pop("$schema", None)
    spec["autosize"] = {"type": "fit", "contains": "padding"}
    spec["datasets"] = data
    return spec


def _tall(n_lines: int, line: int = 18) -> int:
    """Height of a chart with so many lines, an axis and a legend."""
    return line * n_lines + 80


def _path(path: PathData) -> Spec:
    steps = path["steps"]
    validated = any(step[5] is not None for step in steps)
    guide = {"error": "error", "probability": "error probability"}.get(
        path["criterion"], path["criterion"]
    )
    judged = path["validation_name"].replace("_", " ")
    rows: Marks = []
    phases = {phase: i for i, phase in enumerate(dict.fromkeys(step[2] for step in steps))}
    for i in _some_steps(steps, path["chosen"]):
        phase, (size, score, verdict) = phases[steps[i][2]], steps[i][3:]
        rows.append(
            {"step": i, "phase": phase, "size": size, "y": score, "what": f"{guide} that guided"}
        )
        if verdict is not None:
            rows.append({"step": i, "phase": phase, "size": size, "y": verdict, "what": judged})
    chosen = steps[path["chosen"]]
    mark: dict[str, Plain] = {
        "step": path["chosen"],
        "size": chosen[3],
        "y": chosen[5] if validated else chosen[4],
        "what": "chosen",
    }
    names = [f"{guide} that guided", *([judged] if validated else []), "chosen"]
    scale = alt.Scale(domain=names, range=[_QUIET, *([_MAIN] if validated else []), _LOUD])
    colour = alt.Color("what:N", title=None, scale=scale)
    x = alt.X(
        "size:Q",
        title="number of features",
        scale=alt.Scale(nice=False, zero=False),
        axis=alt.Axis(tickMinStep=1),
    )
    y = alt.Y("y:Q", title=None, scale=alt.Scale(zero=False))
    # One line a phase and kind, in the order of the steps: a search may come back to a size.
    base = _named("rows").encode(x=x, y=y, color=colour, detail="phase:N", order="step:Q")
    # Wide invisible points make hovering easy; the page's tooltip lists the subset.
    hover = base.mark_point(size=60, opacity=0, filled=True).encode(tooltip=["step:Q"])
    best = (
        _named("mark")
        .mark_point(size=140, filled=True, opacity=1)
        .encode(x=x, y=y, color=colour, tooltip=["step:Q"])
    )
    words = f"{guide} against the number of features, subsets: {len(steps)}; chosen: {chosen[3]}"
    chart = base.mark_line(strokeWidth=1.5) + hover + best
    return _spec(chart, words, _HEIGHT, rows=rows, mark=[mark])


def _some_steps(steps: list[StepData], chosen: int) -> list[int]:
    """All steps, or of a long path so many that the line looks the same; phases keep their ends."""
    every = -(-len(steps) // _MOST_STEPS)
    ends = {i for i, step in enumerate(steps) if step[0] == "s"}
    ends |= {i - 1 for i in ends if i} | {chosen, len(steps) - 1}
    return sorted(ends | set(range(0, len(steps), every)))


def _some_verdicts(performance: PerformanceData) -> list[VerdictData]:
    """The most frequent classes (or labels) in their order: more lines nobody tells apart."""
    verdicts = performance["verdicts"]
    often = sorted(verdicts, key=lambda v: -v["positives"])[:MOST_LINES]
    return [v for v in verdicts if any(v is each for each in often)]


def _roc(verdicts: list[VerdictData]) -> Spec | None:
    names = _labels([v["name"] for v in verdicts])
    rows: Marks = [
        {"k": k, "class": name, "false alarms": x, "detection": y, "i": i}
        for k, (name, v) in enumerate(zip(names, verdicts, strict=True))
        for i, (x, y) in enumerate(v["roc"])
    ]
    if not rows:
        return None
    chart = (
        _named("rows")
        .mark_line()
        .encode(
            x=alt.X("false alarms:Q", title="false-alarm rate"),
            y=alt.Y("detection:Q", title="detection rate"),
            **_told_apart(names),
            order="i:Q",
            tooltip=[
                "class:N",
                alt.Tooltip("false alarms:Q", format=".3f"),
                alt.Tooltip("detection:Q", format=".3f"),
            ],
        )
    )
    areas = ", ".join(
        f"{name} {v['auc']:.3f}" for name, v in zip(names, verdicts, strict=True) if v["roc"]
    )
    words = f"ROC curves; areas: {areas}"
    chart = (_diagonal() + chart).add_params(_named_places("classes", names))
    return _spec(chart, words, _room(len(names)), rows=rows, ends=_ENDS)


def _calibration(verdicts: list[VerdictData]) -> Spec:
    names = _labels([v["name"] for v in verdicts])
    rows: Marks = [
        {"k": k, "class": name, "said": said, "seen": seen, "rows": n}
        for k, (name, v) in enumerate(zip(names, verdicts, strict=True))
        for said, seen, n in v["calibration"]
    ]
    chart = (
        _named("rows")
        .mark_line(point=True)
        .encode(
            x=alt.X("said:Q", title="probability the model gives", scale=alt.Scale(domain=[0, 1])),
            y=alt.Y("seen:Q", title="share of rows", scale=alt.Scale(domain=[0, 1])),
            **_told_apart(names),
            tooltip=[
                "class:N",
                alt.Tooltip("said:Q", format=".3f"),
                alt.Tooltip("seen:Q", format=".3f"),
                "rows:Q",
            ],
        )
    )
    words = "calibration curves: share of rows against the probability"
    chart = (_diagonal() + chart).add_params(_named_places("classes", names))
    return _spec(chart, words, _room(len(names)), rows=rows, ends=_ENDS)


class _Channels(TypedDict, total=False):
    """How a chart tells classes apart."""

    color: alt.Color
    description: str
    strokeDash: alt.StrokeDash


def _told_apart(names: list[str]) -> _Channels:
    """Classes by colour, in their order; by dashes too, where the colours begin again."""
    legend = alt.Legend(labelExpr="classes[datum.value]", aria=False)  # lines say their names
    found: _Channels = {
        "color": alt.Color("k:N", title=None, sort=None, legend=legend),
        "description": "class:N",
    }
    if len(names) > _COLOURS:
        found["strokeDash"] = alt.StrokeDash("k:N", title=None, sort=None, legend=legend)
    return found


def _named_places(what: str, names: list[str]) -> alt.Parameter:
    """The names behind positions, for the labels of axes and legends."""
    return alt.param(what, value=names)


def _feature_axis(grid: bool = False) -> alt.Y:
    """One line a feature, by position."""
    # Read aloud, an axis would tell positions; the marks tell names.
    lines = grid or alt.Undefined
    axis = alt.Axis(labelLimit=260, labelExpr="features[datum.value]", aria=False, grid=lines)
    return alt.Y("j:O", title=None, axis=axis)


def _room(n_classes: int) -> int:
    """Height of a chart under a legend of three columns."""
    return _HEIGHT + 14 * max(-(-n_classes // 3) - 3, 0)


def _diagonal() -> alt.Chart:
    return (
        _named("ends")
        .mark_line(strokeDash=[4, 4], opacity=0.5, color="gray")
        .encode(x="a:Q", y="b:Q")
    )


def _relevance(model: ModelData) -> Spec | None:
    ranked = sorted(speaking(model), key=lambda f: -sum(f["importance"]))[:_MOST_FEATURES]
    labels, names = _labels([f["feature"] for f in ranked]), _class_names(model)
    rows: Marks = [
        {"feature": labels[j], "class": names[k], "nat": value, "j": j, "k": k}
        for j, f in enumerate(ranked)
        for k, value in enumerate(f["importance"])
    ]
    if not rows:
        return None
    tip = [alt.Tooltip("nat:Q", format=".4f")]
    chart = (
        _named("rows")
        .mark_rect()
        .encode(
            x=alt.X(
                "k:O",
                title=None,
                axis=alt.Axis(labelAngle=0, labelExpr="classes[datum.value]", aria=False),
            ),
            y=_feature_axis(),
            color=alt.Color("nat:Q", title="nat", scale=alt.Scale(scheme="blues", domainMin=0)),
            tooltip=["feature:N", "class:N", *tip],
            description="words:N",
        )
        .transform_calculate(
            words="datum.feature + ', ' + datum['class'] + ': ' + format(datum.nat, '.4f')"
        )
    )
    chart = chart.add_params(_named_places("features", labels), _named_places("classes", names))
    words = "what each feature says on average for each class, in nat"
    return _spec(chart, words, _tall(len(ranked)), rows=rows)


def _nomogram(model: ModelData) -> Spec | None:
    """Scales between two classes that the reader picks."""
    names = _class_names(model)
    rows: Marks = []
    features: list[FeatureData] = [{**f, "terms": _finite(f)} for f in scaled(model)]
    longest = sorted(features, key=lambda f: -_length(f["terms"]))[:_MOST_FEATURES]
    labels = _labels([f["feature"] for f in longest])
    first = 1 if len(names) > 1 else 0
    gap = _gap(longest, first)
    for j, each in enumerate(longest):
        spoken = _spoken(each, first, gap)
        rows += [
            {
                "feature": labels[j],
                "j": j,
                "value": _value(each, i),
                "said": _value(each, i) if i in spoken else "",
                "t": [*each["terms"][i]],
            }
            for i in _shown(each)
        ]
    if not rows:
        return None
    options, heat = list(range(len(names))), repr(model["temperature"])
    target = alt.param(
        "target",
        value=min(1, len(names) - 1),
        bind=alt.binding_select(options=options, labels=names, name="for "),
    )
    against = alt.param(
        "against", value=0, bind=alt.binding_select(options=options, labels=names, name="against ")
    )
    base = (
        _named("rows")
        .transform_calculate(whole=f"(datum.t[target] - datum.t[against]) / {heat}")
        .transform_calculate(ratio=f"clamp(datum.whole, -{_FAR}, {_FAR})")
        .transform_calculate(
            shown=f"abs(datum.whole * {heat}) < {-_NEVER / 2} ? format(datum.whole, '+.3f') : "
            "datum.whole > 0 ? '+∞' : '−∞'"
        )
        # On a phone the texts would lie on each other; the tooltips remain.
        .transform_calculate(text=f"width < {_NARROW} ? '' : datum.said")
        .transform_calculate(words="datum.feature + ' = ' + datum.value + ': ' + datum.shown")
        .encode(y=_feature_axis(grid=True), description="words:N")
    )
    x = alt.X("ratio:Q", title="log-ratio (nat)")
    tip = ["feature:N", "value:N", alt.Tooltip("shown:N", title="log-ratio")]
    ticks = base.mark_tick(thickness=2, size=11).encode(x=x, tooltip=tip)
    texts = base.mark_text(dy=-11, fontSize=9).encode(x=x, text="text:N", tooltip=tip)
    words = "nomogram: where each value of each feature speaks, between two classes"
    chart = (ticks + texts).add_params(target, against, _named_places("features", labels))
    return _spec(chart, words, _tall(len(longest), 34), rows=rows)


def _shown(each: FeatureData) -> range:
    """All levels of a discrete feature; some points of a continuous one."""
    return range(0, len(each["values"]), 1 if each["counts"] is not None else 4)


def _ratio(row: list[float], first: int) -> float:
    return min(max(row[first] - row[0], -_FAR), _FAR)


def _gap(features: list[FeatureData], first: int) -> float:
    """How far apart two values must be to be written both."""
    ratios = [_ratio(f["terms"][i], first) for f in features for i in _shown(f)]
    return (max(ratios, default=0.0) - min(ratios, default=0.0)) / _TEXTS_ACROSS


def _spoken(each: FeatureData, first: int, gap: float) -> set[int]:
    """Values far enough apart to be written, outermost first; beyond the end, only one."""
    found: dict[int, float] = {}
    order = sorted(_shown(each), key=lambda i: (-abs(_ratio(each["terms"][i], first)), i))
    for i in order:
        ratio = _ratio(each["terms"][i], first)
        if all(abs(ratio - other) > gap for other in found.values()):
            found[i] = ratio
    return set(found)


def _stability(found: AgreementData) -> Spec:
    labels = _labels([f["name"] for f in found["features"][:_MOST_FEATURES]])
    rows: Marks = [
        {
            "feature": labels[j],
            "share": f["frequency"],
            "j": j,
            "what": "selected" if f["selected"] else "not selected",
        }
        for j, f in enumerate(found["features"][:_MOST_FEATURES])
    ]
    chart = (
        _named("rows")
        .mark_bar()
        .encode(
            x=alt.X(
                "share:Q", title="share of resamples that select it", scale=alt.Scale(domain=[0, 1])
            ),
            y=_feature_axis(),
            color=alt.Color("what:N", title=None),
            tooltip=["feature:N", alt.Tooltip("share:Q", format=".2f")],
            description="words:N",
        )
        .transform_calculate(
            words="datum.feature + ', ' + datum.what + ': ' + format(datum.share, '.2f')"
        )
        .add_params(_named_places("features", labels))
    )
    words = "how often each feature is selected over resamples"
    return _spec(chart, words, _tall(len(rows)), rows=rows)


def _class_names(model: ModelData) -> list[str]:
    return _labels(classes_of(model))


def _length(terms: list[list[float]]) -> float:
    spans = [max(row) - min(row) for row in terms]
    return max(spans, default=0.0)


def _finite(each: FeatureData) -> list[list[float]]:
    """Terms as numbers: what is impossible in two classes is compared by what remains beside it."""
    if each["beside"] is None:
        return each["terms"]
    return [
        [t if t > _NEVER else _NEVER + beside for t, beside in zip(*both, strict=True)]
        for both in zip(each["terms"], each["beside"], strict=True)
    ]


def _value(each: FeatureData, i: int) -> str:
    """A level as it is; a point of a number's scale in a few digits."""
    value = each["values"][i]
    if isinstance(value, float):
        return f"{value:.4g}" if each["counts"] is None else f"{value:.12g}"
    return _short(value)


def _labels(names: Sequence[object]) -> list[str]:
    """Names as they are written in a chart, which takes equal ones for one and the same."""
    return short_names(names, _MOST_LETTERS)


def _short(name: object) -> str:
    line = " ".join(str(name).split())
    return line if len(line) <= _MOST_LETTERS else line[: _MOST_LETTERS - 1] + "…"
