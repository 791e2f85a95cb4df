"""Compilation options of kernels and their numeric codes; needs no numba."""

from typing import Any

# No fast-math: the order and the rounding of every operation are part of the result.
EXACT: dict[str, Any] = {"nogil": True, "cache": True, "error_model": "numpy"}

# Scans only shortlist candidates, within an error bound that holds for any order of summation.
SCAN: dict[str, Any] = {**EXACT, "fastmath": True}

# The same without the promise that no number on the way is infinite.
SCAN_ANY: dict[str, Any] = {**EXACT, "fastmath": {"reassoc", "nsz", "arcp", "contract", "afn"}}

# Rows handled together: the scratch of a block stays in the first-level cache.
BLOCK = 512

# Scans round pieces of lines up to this many, so that vectors have no remainder.  What they find
# for the lines beyond is overwritten or not read; arrays of lines are padded by as many.
LANES = 16

# Bytes that hold a bit of each of BLOCK rows.
BYTES = BLOCK // 8

# The two-sample tests that the kernels know.
U_TEST, KS_TEST, F_TEST = 0, 1, 2

# The criteria that the kernels know.
ERROR, PROBABILITY, LOG_LIKELIHOOD = 0, 1, 2

ROW_KINDS = {"error": ERROR, "probability": PROBABILITY, "log-likelihood": LOG_LIKELIHOOD}

# Posteriors that are added up are whole multiples of 2^-POSTERIOR_BITS.
POSTERIOR_BITS = 22

# Tables of more cells than this are counted faster by codes than by bits: bits take a popcount of
# all rows a cell, codes a visit of every row.
MANY = 96

# What counts of two variables tell; FREE: degrees of freedom of their chi-square, by the values
# that rows have.
INFORMATION, CHI2, UNCERTAINTY, FREE = 0, 1, 2, 3

# What counts of a column x, a column s already taken, and the class c tell: I(x; c | s);
# I(x, s; c); the same as a share of H(x, s, c); and what x repeats of s, max(0, I(x; s) -
# I(x; s | c)).
CONDITIONAL, JOINT, JOINT_SHARE, REPEATED = 0, 1, 2, 3

# Fewer rows than this say little: at most that many times as likely, ever less with fewer.
FEW_ROWS = 5.0
