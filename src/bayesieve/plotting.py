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
    sizes = [step.n_features for step in steps]
    scores = [step.score for step in steps]
    validated = bool(steps) and steps[0].validation_key is not None
    guide = {"error": "error", "probability": "error probability"}.get(path.criterion)
    # A score in other units than an error gets an axis of its own beside the validation error.
    guide_ax = ax.twinx() if guide is None and validated else ax
    guide = guide or path.criterion
    lines = guide_ax.plot(
        sizes, scores, color="#7a7a7a", linewidth=1.4, label=f"{guide} that guided the search"
    )
    chosen = steps[path.chosen] if path.chosen >= 0 else None
    heights = scores
    if validated:
        heights = [step.validation_error for step in steps]
        lines += ax.plot(sizes, heights, color="#1b6ca8", linewidth=1.8, label="validation error")
    if chosen is not None:
        height = heights[path.chosen]
        ax.plot(chosen.n_features, height, "o", color="#c0392b", markersize=8)
        _name_choice(ax, chosen.n_features, height)
    guide_ax.set_ylabel(guide)
    ax.set_ylabel("error" if validated else guide)
    ax.set_xlabel("number of features")
    ax.legend(lines, [line.get_label() for line in lines], frameon=False)
    for side in ("top",) if guide_ax is not ax else ("top", "right"):
        ax.spines[side].set_visible(False)
        guide_ax.spines[side].set_visible(False)
    return ax


def _name_choice(ax: Any, n_features: int, height: float) -> None:
    ax.annotate(
        f"chosen: {n_features} features, {height:.4g}",
        (n_features, height),
        xytext=(8, 10),
        textcoords="offset points",
        color="#c0392b",
    )
