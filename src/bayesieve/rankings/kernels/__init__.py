"""Numba functions behind the rankings."""
