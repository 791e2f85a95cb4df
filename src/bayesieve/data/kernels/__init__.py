"""Numba functions on arrays, and nothing else.

Every kernel works on a range of candidates, rows or columns, holds no state, and releases the
GIL, so that an engine may run it on as many threads as it likes.  Importing this package imports
numba; the rooms above do so on first use.
"""
