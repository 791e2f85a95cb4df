"""Numba functions on the running sums: scans that shortlist, integers that decide."""
