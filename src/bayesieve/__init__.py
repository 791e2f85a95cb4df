"""bayesieve: feature selection for naive Bayes, exact and fast.

What most people need is here.  `bayesieve.export` writes models in other languages,
`bayesieve.plot` draws, `bayesieve.engine` has what keeps rows elsewhere, `bayesieve.rankings`,
`bayesieve.search` and `bayesieve.criteria` their members.

A name is imported when it is first asked for: the command line answers in a moment, and whoever
needs one estimator waits for that one.
"""

import sys
from importlib import import_module
from importlib.util import find_spec
from types import ModuleType
from typing import TYPE_CHECKING

# For type checkers and editors; `_HOMES` says the same to Python.
if TYPE_CHECKING:
    from .app.studio.launch import studio
    from .data.look import look
    from .estimators.card import ScoreCard
    from .estimators.ensemble import GreedyEnsemble, SubsetEnsemble
    from .estimators.naive_bayes import NaiveBayes, deploy
    from .estimators.selector import NaiveBayesSelector
    from .estimators.signals import signals
    from .estimators.votes import FeatureVotes
    from .estimators.weighted import WeightedNaiveBayes
    from .evaluation.calibration import calibrate
    from .evaluation.compare import compare
    from .evaluation.decide import decide, novelty
    from .evaluation.drift import drift
    from .evaluation.nested import nested
    from .evaluation.performance import performance
    from .evaluation.stability import stability
    from .explain.evidence import explain
    from .explain.model import explain_model
    from .explain.modelfile.file import load_model, save_model
    from .explain.report import write_report
    from .rankings.families import find_families
    from .rankings.rank import rank
    from .session.session import Session

__version__ = "0.1.0"

__all__ = [
    "FeatureVotes",
    "GreedyEnsemble",
    "NaiveBayes",
    "NaiveBayesSelector",
    "ScoreCard",
    "Session",
    "SubsetEnsemble",
    "WeightedNaiveBayes",
    "calibrate",
    "compare",
    "decide",
    "deploy",
    "drift",
    "explain",
    "explain_model",
    "find_families",
    "load_model",
    "look",
    "nested",
    "novelty",
    "performance",
    "rank",
    "save_model",
    "signals",
    "stability",
    "studio",
    "write_report",
]

# The module that each name comes from.
_HOMES = {
    "studio": "app.studio.launch",
    "look": "data.look",
    "ScoreCard": "estimators.card",
    "GreedyEnsemble": "estimators.ensemble",
    "SubsetEnsemble": "estimators.ensemble",
    "NaiveBayes": "estimators.naive_bayes",
    "deploy": "estimators.naive_bayes",
    "NaiveBayesSelector": "estimators.selector",
    "signals": "estimators.signals",
    "FeatureVotes": "estimators.votes",
    "WeightedNaiveBayes": "estimators.weighted",
    "calibrate": "evaluation.calibration",
    "compare": "evaluation.compare",
    "decide": "evaluation.decide",
    "novelty": "evaluation.decide",
    "drift": "evaluation.drift",
    "nested": "evaluation.nested",
    "performance": "evaluation.performance",
    "stability": "evaluation.stability",
    "explain": "explain.evidence",
    "explain_model": "explain.model",
    "load_model": "explain.modelfile.file",
    "save_model": "explain.modelfile.file",
    "write_report": "explain.report",
    "find_families": "rankings.families",
    "rank": "rankings.rank",
    "Session": "session.session",
}


class _Face(ModuleType):
    """The package as a module that imports its names late.

    `explain` is a function, and a room as well: importing the room must not put it in the
    function's place, which a module's own `__getattr__` could not prevent.
    """

    def __getattr__(self, name: str) -> object:
        home = _HOMES.get(name)
        if home is not None:
            found = getattr(import_module(f".{home}", __name__), name)
            super().__setattr__(name, found)
            return found
        if not name.startswith("_") and find_spec(f"{__name__}.{name}") is not None:
            return import_module(f".{name}", __name__)
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}", name=name, obj=self)

    def __setattr__(self, name: str, value: object) -> None:
        if name not in _HOMES or not isinstance(value, ModuleType):
            super().__setattr__(name, value)

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), *__all__})


sys.modules[__name__].__class__ = _Face
