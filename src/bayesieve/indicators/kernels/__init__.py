"""Numba functions behind the window tests."""
