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
    labels = {
        "error": "error that guided the search",
        "probability": "error probability that guided the search",
    }
    likelihood = path.criterion == "log-likelihood"
    left = ax.twinx() if likelihood else ax
    chosen = steps[path.chosen] if path.chosen >= 0 else None
    lines = left.plot(
        sizes,
        [step.score for step in steps],
        color="#7a7a7a",
        linewidth=1.4,
        label=labels.get(path.criterion, f"{path.criterion} that guided the search"),
    )
    if likelihood:
        left.set_ylabel("mean log-likelihood")
    if steps and steps[0].validation_key is not None:
        errors = [step.validation_error for step in steps]
        lines += ax.plot(sizes, errors, color="#1b6ca8", linewidth=1.8, label="validation error")
        if chosen is not None:
            ax.plot(chosen.n_features, chosen.validation_error, "o", color="#c0392b", markersize=8)
            _name_choice(ax, chosen.n_features, chosen.validation_error)
    elif chosen is not None:
        left.plot(chosen.n_features, chosen.score, "o", color="#c0392b", markersize=8)
        _name_choice(left, chosen.n_features, chosen.score)
    ax.set_xlabel("number of features")
    ax.set_ylabel("error")
    ax.legend(lines, [line.get_label() for line in lines], frameon=False)
    for side in ("top", "right"):
        ax.spines[side].set_visible(False)
    return ax


def _name_choice(ax: Any, n_features: int, height: float) -> None:
    ax.annotate(
        f"chosen: {n_features} features, {height:.4g}",
        (n_features, height),
        xytext=(8, 10),
        textcoords="offset points",
        color="#c0392b",
    )
