"""The papers behind bayesieve, one module each: their tables as data, ours beside them.

Every module offers ``reproduce(quick, seed, folder, tell, ...)``, which returns a `Reproduction`,
and is run by ``bayesieve reproduce NAME``.
"""

from .base import PAPERS, Record, Reproduction, run

__all__ = ["PAPERS", "Record", "Reproduction", "run"]
