"""What the kernels can tell from counts; without numba, so that naming one compiles nothing."""

# Tables of more cells than this are counted faster by codes than by bits: bits take a popcount of
# all rows a cell, codes a visit of every row.
MANY = 96

# Of two variables; FREE: degrees of freedom of their chi-square, by the values that rows have.
INFORMATION, CHI2, UNCERTAINTY, FREE = 0, 1, 2, 3

# Of a column x, a column s already taken, and the class c: I(x; c | s); I(x, s; c); the same as a
# share of H(x, s, c); and what x repeats of s, max(0, I(x; s) - I(x; s | c)).
CONDITIONAL, JOINT, JOINT_SHARE, REPEATED = 0, 1, 2, 3
