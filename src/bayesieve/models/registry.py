"""Every feature model by name."""

from .base import FeatureModel
from .counts import FEWEST_INTERVALS, MOST_INTERVALS, CountModel, IntervalModel
from .density import DENSITIES, DensityModel
from .gaussian import GaussianModel
from .mixture import MOST_COMPONENTS, MixtureModel

#: A new member is one entry here.
_MEMBERS: list[FeatureModel] = [
    CountModel("bernoulli"),
    CountModel("categorical", silent_unseen=True),
    GaussianModel("gaussian"),
    GaussianModel("gaussian-pooled", pooled=True),
    DensityModel("density"),
    DensityModel("curve", held=True),
    DensityModel("levels", members=("levels",), grid_codes=0, held=True),
    *(DensityModel(name, members=(name,)) for name in DENSITIES),
    IntervalModel("intervals"),
    *(
        CountModel(f"intervals-{n}", silent_unseen=True, grid_codes=n)
        for n in range(FEWEST_INTERVALS, MOST_INTERVALS + 1)
    ),
    MixtureModel("mixture"),
    *(MixtureModel(f"mixture-{m}", components=m) for m in range(1, MOST_COMPONENTS + 1)),
    MixtureModel("mixture-printed", as_printed=True),
    *(
        MixtureModel(f"mixture-{m}-printed", components=m, as_printed=True)
        for m in range(1, MOST_COMPONENTS + 1)
    ),
]

MODELS: dict[str, FeatureModel] = {model.name: model for model in _MEMBERS}


def is_category(model: str) -> bool:
    """Are a column's values names, of any number?

    Examples
    --------
    >>> from bayesieve.models.registry import is_category
    >>> is_category("levels"), is_category("bernoulli"), is_category("curve")
    (True, False, False)
    """
    return MODELS[model].nominal and model != "bernoulli"
