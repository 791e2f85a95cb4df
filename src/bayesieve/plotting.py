"""Pictures with matplotlib, which is imported only here and only when asked."""

from typing import Any


def plot_path(path: Any, ax: Any = None) -> Any:
    """Score and validation error of every subset visited, against its size; see `Path.plot`."""
    try:
        import matplotlib.pyplot as plt
    except ImportError as error:
        raise ImportError("plot needs matplotlib: pip install 'bayesieve[plot]'.") from error
    if ax is None:
        _, ax = plt.subplots(figsize=(7, 4.2), layout="constrained")
    steps = path.steps
    scores = [step.score for step in steps]
    validated = bool(steps) and steps[0].validation_key is not None
    guide = {"error": "error", "probability": "error probability"}.get(path.criterion)
    # A score in other units than an error gets an axis of its own beside the validation error.
    guide_ax = ax.twinx() if guide is None and validated else ax
    guide = guide or path.criterion
    lines = guide_ax.plot(
        *_by_phase(steps, scores),
        color="#7a7a7a",
        linewidth=1.4,
        label=f"{guide} that guided the search",
    )
    chosen = steps[path.chosen] if path.chosen >= 0 else None
    heights = scores
    if validated:
        heights = [step.validation_error for step in steps]
        lines += ax.plot(
            *_by_phase(steps, heights), color="#1b6ca8", linewidth=1.8, label="validation error"
        )
    if chosen is not None:
        height = heights[path.chosen]
        label = f"chosen: {chosen.n_features} features, {height:.4g}"
        lines += ax.plot(chosen.n_features, height, "o", color="#c0392b", ms=8, label=label)
    guide_ax.set_ylabel(guide)
    ax.set_ylabel("error" if validated else guide)
    ax.set_xlabel("number of features")
    # Above the axes, where no line can run under it.
    ax.legend(handles=lines, frameon=False, loc="lower left", bbox_to_anchor=(0, 1), borderpad=0)
    for side in ("top",) if guide_ax is not ax else ("top", "right"):
        ax.spines[side].set_visible(False)
        guide_ax.spines[side].set_visible(False)
    return ax


def _by_phase(steps: Any, heights: list[float]) -> tuple[list[float], list[float]]:
    """Sizes and heights with a gap where a new phase starts elsewhere."""
    x: list[float] = []
    y: list[float] = []
    for step, height in zip(steps, heights, strict=True):
        if step.action == "start" and x:
            x.append(float("nan"))
            y.append(float("nan"))
        x.append(step.n_features)
        y.append(height)
    return x, y


def plot_relevance(matrix: Any, ax: Any = None) -> Any:
    """A heat map: which features separate which class."""
    try:
        import matplotlib.pyplot as plt
    except ImportError as error:
        raise ImportError("plot needs matplotlib: pip install 'bayesieve[plot]'.") from error
    if ax is None:
        width = min(max(4.0, 0.35 * len(matrix.feature_names) + 2), 24)
        _, ax = plt.subplots(figsize=(width, 0.35 * len(matrix.class_names) + 2))
    shown = ax.imshow(matrix.normalised(), aspect="auto", cmap="Blues", vmin=0)
    ax.set_xticks(range(len(matrix.feature_names)), matrix.feature_names, rotation=90, fontsize=8)
    ax.set_yticks(range(len(matrix.class_names)), matrix.class_names, fontsize=8)
    ax.set_ylabel("class")
    ax.figure.colorbar(shown, ax=ax, label="share of the class's divergence")
    return ax
