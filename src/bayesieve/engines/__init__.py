"""Who runs the kernels."""

from .local import Engine, LocalEngine
from .threads import count_threads

__all__ = ["Engine", "LocalEngine", "count_threads"]
