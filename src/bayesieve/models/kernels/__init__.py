"""Numba functions behind the feature models."""
