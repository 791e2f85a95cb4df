"""Named data sets: where each can be had, and what it must look like."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Entry:
    """A data set that `load` knows.

    Parameters
    ----------
    rows, columns : its size.
    classes : number of classes, or of labels.
    fingerprint : of size and class sizes, see `bayesieve.datasets.loading.fingerprint`.
    openml : number of its pinned version on OpenML, where it has one.
    nominal : columns of category codes that look like numbers.
    drop : columns that OpenML's copy has beyond ours.
    sparse : stored as a sparse matrix.
    labels : has a matrix of labels instead of classes.
    """

    rows: int
    columns: int
    classes: int
    fingerprint: str
    openml: int | None = None
    nominal: tuple[int, ...] = ()
    drop: tuple[str, ...] = ()
    sparse: bool = False
    labels: bool = False


#: Sets that come with scikit-learn.
BUNDLED = {"iris": "load_iris", "wine": "load_wine", "wdbc": "load_breast_cancer"}


#: Every set by name; a new one is one entry here.
REGISTRY = {
    "abalone": Entry(4177, 8, 28, "02cecbf8cf57b4a3", openml=183),
    "adult": Entry(48842, 14, 2, "0a4b053b12f305ae", openml=1590),
    "arcene": Entry(200, 10000, 2, "7dbd87c5f8a82dbc", openml=1458),
    "balance_scale": Entry(625, 4, 3, "635913c98533ab1e", openml=11),
    "basehock": Entry(1993, 4862, 2, "e566e94b85475c04", sparse=True),
    "breast_cancer_wisconsin": Entry(699, 9, 2, "155c27ba552cefb9", openml=15),
    "cmc": Entry(1473, 9, 3, "abd408b38f8d7f3d", openml=23, nominal=(1, 2, 4, 5, 6, 7, 8)),
    "dexter": Entry(600, 20000, 2, "11f4a00ff3e3aeca", sparse=True),
    "enron": Entry(1702, 1001, 53, "164e31b850b50fbe", sparse=True, labels=True),
    "genbase": Entry(662, 1185, 27, "69202582585b09c8", sparse=True, labels=True),
    "glass": Entry(214, 9, 6, "5d6359ed66761d2a", openml=41),
    "internet_ads_first998": Entry(998, 1558, 2, "e7b1fd73013690f8"),
    "ionosphere": Entry(351, 34, 2, "e08a3d6f9780ce7a", openml=59),
    "iris": Entry(150, 4, 3, "a076f4f684b3a69c", openml=61),
    "letter": Entry(20000, 16, 26, "6e58a5e6dd767091", openml=6),
    "madelon": Entry(2600, 500, 2, "69bc68896b607c15", openml=1485),
    "medical": Entry(978, 1449, 45, "b9f71803d6166d0a", sparse=True, labels=True),
    "ml20ng": Entry(19300, 1006, 20, "2ffc3aeda4c02962", sparse=True, labels=True),
    "mushroom": Entry(8124, 22, 2, "794a339dba83ac28", openml=24),
    "news20_binary": Entry(18821, 13997, 20, "31b1239275060bdf", sparse=True),
    "nursery": Entry(12960, 8, 5, "09690dedf51d94ed", openml=26),
    "optdigits": Entry(5620, 64, 10, "5989ee13fe011c6d", openml=28),
    "pendigits": Entry(10992, 16, 10, "db6aef1bbe87b865", openml=32),
    "pima_diabetes": Entry(768, 8, 2, "1c037f367bf6b322", openml=37),
    "segment": Entry(2310, 19, 7, "5dfecc3f7e05f0e4", openml=36),
    "sms_spam": Entry(5574, 4148, 2, "7f13dc5cbbea808c", sparse=True),
    "spambase": Entry(4601, 57, 2, "b7c1519b6bcf934b", openml=44),
    "splice": Entry(3190, 60, 3, "4b61511306c7dfb9", openml=46, drop=("Instance_name",)),
    "synthetic_control": Entry(600, 60, 6, "8b1ce4f280bab585"),
    "tae": Entry(151, 5, 3, "20d411ff7bb5bd2d", openml=48, nominal=(0, 1, 2, 3)),
    "texture": Entry(5500, 40, 11, "474cb11240766196", openml=40499),
    "tictactoe": Entry(958, 9, 2, "22a7b682b4e7ea76", openml=50),
    "tmc2007_500": Entry(28596, 500, 22, "52845a520bc90246", sparse=True, labels=True),
    "vehicle": Entry(846, 18, 4, "8d1f1565c0535be4", openml=54),
    "vowel528": Entry(528, 10, 11, "343eceb4600c20c9"),
    "vowel990": Entry(990, 10, 11, "20272fa26a360f9e", openml=307, drop=("Speaker_Number", "Sex")),
    "waveform21": Entry(5000, 21, 3, "bda106408802a517"),
    "waveform40": Entry(5000, 40, 3, "d11d5f2f1c2944f5", openml=60),
    "wdbc": Entry(569, 30, 2, "e483c444495893da", openml=1510),
    "wine": Entry(178, 13, 3, "5abdcfaa06a21454", openml=187),
    "yeast": Entry(1484, 8, 10, "72f68361790df4d9", openml=181),
}
