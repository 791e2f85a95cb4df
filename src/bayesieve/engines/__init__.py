"""Who runs the kernels."""

from .local import Engine, LocalEngine

__all__ = ["Engine", "LocalEngine"]
