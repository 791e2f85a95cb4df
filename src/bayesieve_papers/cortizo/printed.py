"""The tables of Cortizo and Giraldez as printed."""

#: Rows of Table 2: the paper's name of a set and ours.
SETS = {
    "Abalone": "abalone",
    "Adult": "adult",
    "Cmc": "cmc",
    "Glass": "glass",
    "Ionosphere": "ionosphere",
    "Iris": "iris",
    "Nursery": "nursery",
    "OpDigits": "optdigits",
    "PenDigits": "pendigits",
    "Spam": "spambase",
    "TAE": "tae",
    "TicTacToe": "tictactoe",
    "WdbCancer": "wdbc",
    "Wine": "wine",
    "Yeast": "yeast",
}


METHODS = ("NB", "Best", "FBL", "IG", "Chi2", "PCA", "LF", "LB")


#: Table 2, accuracies in the order of `METHODS`; None where the paper has none.
TABLE_2: dict[str, tuple[float | None, ...]] = {
    "Abalone": (0.240, 0.266, 0.266, 0.266, 0.266, 0.245, 0.265, 0.265),
    "Adult": (0.827, 0.835, 0.835, 0.752, 0.752, None, 0.791, 0.835),
    "Cmc": (0.508, 0.554, 0.554, 0.508, 0.508, 0.453, 0.553, 0.537),
    "Glass": (0.495, 0.603, 0.579, 0.556, 0.556, 0.542, 0.598, 0.598),
    "Ionosphere": (0.826, 0.984, 0.915, 0.863, 0.872, 0.920, 0.984, 0.900),
    "Iris": (0.960, 0.967, 0.967, 0.967, 0.967, 0.933, 0.960, 0.953),
    "Nursery": (0.903, 0.903, 0.903, 0.876, 0.903, 0.883, 0.903, 0.903),
    "OpDigits": (0.913, 0.939, 0.913, 0.865, 0.881, 0.939, 0.925, 0.918),
    "PenDigits": (0.857, 0.865, 0.865, 0.615, 0.836, 0.886, 0.864, 0.864),
    "Spam": (0.793, 0.908, 0.908, 0.793, 0.793, 0.737, 0.837, 0.902),
    "TAE": (0.503, 0.510, 0.510, 0.470, 0.510, 0.470, 0.503, 0.509),
    "TicTacToe": (0.696, 0.724, 0.718, 0.699, 0.699, 0.742, 0.718, 0.728),
    "WdbCancer": (0.929, 0.959, 0.956, 0.924, 0.923, 0.937, 0.959, 0.945),
    "Wine": (0.966, 0.989, 0.977, 0.792, 0.977, 0.983, 0.989, 0.977),
    "Yeast": (0.577, 0.577, 0.577, 0.577, 0.577, 0.558, 0.577, 0.577),
}


#: Attributes in the best subset (the B of O/B); sets left out have "?" there.
BEST_SIZE = {
    "Abalone": 2,
    "Adult": 13,
    "Cmc": 4,
    "Glass": 3,
    "Iris": 2,
    "Nursery": 9,
    "PenDigits": 13,
    "TAE": 5,
    "TicTacToe": 5,
    "Wine": 10,
    "Yeast": 7,
}


#: Table 3: average accuracy, share of the error removed, times best.
SUMMARY = ("Avg. accuracy", "Trim", "Times best")


TABLE_3: dict[str, tuple[float | None, ...]] = {
    "NB": (0.7331, 0.0, None),
    "FBL": (0.7629, 0.1117, 8),
    "PCA": (0.7327, -0.0015, 3),
    "LF": (0.7619, 0.1078, 6),
    "LB": (0.7610, 0.1045, 4),
    "IG": (0.7016, -0.1179, 3),
    "Chi2": (0.7346, 0.0057, 3),
}


#: Base sets of Table 1: the paper's short name, ours, and how many domains were made of each.
BASES = {
    "CM": ("cmc", 3),
    "BC": ("breast_cancer_wisconsin", 4),
    "BS": ("balance_scale", 3),
    "GI": ("glass", 1),
    "WR": ("wine", 1),
    "TAE": ("tae", 1),
}


DOMAINS = (
    "CM1",
    "CM2",
    "CM3",
    "BC1",
    "BC2",
    "BC3",
    "BC4",
    "BS1",
    "BS2",
    "BS3",
    "GI1",
    "WR1",
    "TAE",
)


#: Table 1, change of the accuracy in points, in the order of `DOMAINS`.
TABLE_1: dict[str, tuple[float, ...]] = {
    "Naive Bayes": (
        -1.15,
        -2.45,
        -1.02,
        -0.14,
        -0.14,
        -0.14,
        -0.14,
        -9.11,
        -5.23,
        -0.68,
        -0.08,
        -0.07,
        -0.04,
    ),
    "C4.5": (-0.61, 1.77, 0.68, 1.72, 3.72, 2.72, 0.14, 0.00, 0.45, 0.68, 0.13, 0.01, 0.89),
    "C4.5 rules": (
        0.34,
        0.81,
        1.08,
        0.72,
        1.58,
        0.29,
        0.86,
        -2.74,
        -1.60,
        -0.91,
        0.72,
        1.58,
        -0.29,
    ),
    "KNN(N=1)": (
        -1.29,
        -0.61,
        -1.29,
        0.04,
        0.28,
        0.28,
        -0.15,
        -0.23,
        0.91,
        1.14,
        -0.13,
        -0.28,
        0.23,
    ),
    "KNN(N=4)": (
        -0.81,
        -0.88,
        -0.88,
        0.15,
        0.72,
        0.72,
        -0.43,
        -1.14,
        -0.91,
        -2.50,
        -1.16,
        -0.72,
        0.01,
    ),
    "SMO": (0.06, 0.06, 0.00, -0.14, -0.14, -0.14, 0.00, 0.22, -0.23, -0.46, 0.00, -0.04, 0.54),
}
