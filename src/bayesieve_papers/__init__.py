"""The papers behind bayesieve, one module each: their tables as data, ours beside them.

Every module offers ``reproduce(run, ...)``, which takes a `PaperRun`, returns a `Reproduction`, and
is run by ``bayesieve reproduce NAME``.
"""

from .base import PAPERS, PaperRun, Record, Reproduction, run

__all__ = ["PAPERS", "PaperRun", "Record", "Reproduction", "run"]
