"""Data sets by name, and how their files are read."""

import csv
import gzip
import hashlib
import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

import numpy as np
import scipy.sparse
import sklearn.datasets

from ..checks import Array, Floats, choose
from ..data.files.columnar import BROKEN, feature_names, read_npz


@dataclass(frozen=True)
class DatasetEntry:
    """A data set that `load` knows."""

    rows: int  #: its size
    columns: int
    classes: int  #: number of classes, or of labels
    fingerprint: str  #: of size and class sizes, see `bayesieve.datasets.loading.fingerprint`
    openml: int | None = None  #: number of its pinned version on OpenML, where it has one
    nominal: tuple[int, ...] = ()  #: columns of category codes that look like numbers
    drop: tuple[str, ...] = ()  #: columns that OpenML's copy has beyond ours
    sparse: bool = False  #: stored as a sparse matrix
    labels: bool = False  #: has a matrix of labels instead of classes


#: Sets that come with scikit-learn.
BUNDLED = {"iris": "load_iris", "wine": "load_wine", "wdbc": "load_breast_cancer"}

#: Every set by name; a new one is one entry here.
REGISTRY = {
    "abalone": DatasetEntry(4177, 8, 28, "02cecbf8cf57b4a3", openml=183),
    "adult": DatasetEntry(48842, 14, 2, "0a4b053b12f305ae", openml=1590),
    "arcene": DatasetEntry(200, 10000, 2, "7dbd87c5f8a82dbc", openml=1458),
    "balance_scale": DatasetEntry(625, 4, 3, "635913c98533ab1e", openml=11),
    "basehock": DatasetEntry(1993, 4862, 2, "e566e94b85475c04", sparse=True),
    "breast_cancer_wisconsin": DatasetEntry(699, 9, 2, "155c27ba552cefb9", openml=15),
    "cmc": DatasetEntry(1473, 9, 3, "abd408b38f8d7f3d", openml=23, nominal=(1, 2, 4, 5, 6, 7, 8)),
    "dexter": DatasetEntry(600, 20000, 2, "11f4a00ff3e3aeca", sparse=True),
    "enron": DatasetEntry(1702, 1001, 53, "164e31b850b50fbe", sparse=True, labels=True),
    "genbase": DatasetEntry(662, 1185, 27, "69202582585b09c8", sparse=True, labels=True),
    "glass": DatasetEntry(214, 9, 6, "5d6359ed66761d2a", openml=41),
    "internet_ads_first998": DatasetEntry(998, 1558, 2, "e7b1fd73013690f8"),
    "ionosphere": DatasetEntry(351, 34, 2, "e08a3d6f9780ce7a", openml=59),
    "iris": DatasetEntry(150, 4, 3, "a076f4f684b3a69c", openml=61),
    "letter": DatasetEntry(20000, 16, 26, "6e58a5e6dd767091", openml=6),
    "madelon": DatasetEntry(2600, 500, 2, "69bc68896b607c15", openml=1485),
    "medical": DatasetEntry(978, 1449, 45, "b9f71803d6166d0a", sparse=True, labels=True),
    "ml20ng": DatasetEntry(19300, 1006, 20, "2ffc3aeda4c02962", sparse=True, labels=True),
    "mushroom": DatasetEntry(8124, 22, 2, "794a339dba83ac28", openml=24),
    "news20_binary": DatasetEntry(18821, 13997, 20, "31b1239275060bdf", sparse=True),
    "nursery": DatasetEntry(12960, 8, 5, "09690dedf51d94ed", openml=26),
    "optdigits": DatasetEntry(5620, 64, 10, "5989ee13fe011c6d", openml=28),
    "pendigits": DatasetEntry(10992, 16, 10, "db6aef1bbe87b865", openml=32),
    "pima_diabetes": DatasetEntry(768, 8, 2, "1c037f367bf6b322", openml=37),
    "segment": DatasetEntry(2310, 19, 7, "5dfecc3f7e05f0e4", openml=36),
    "sms_spam": DatasetEntry(5574, 4148, 2, "7f13dc5cbbea808c", sparse=True),
    "spambase": DatasetEntry(4601, 57, 2, "b7c1519b6bcf934b", openml=44),
    "splice": DatasetEntry(3190, 60, 3, "4b61511306c7dfb9", openml=46, drop=("Instance_name",)),
    "synthetic_control": DatasetEntry(600, 60, 6, "8b1ce4f280bab585"),
    "tae": DatasetEntry(151, 5, 3, "20d411ff7bb5bd2d", openml=48, nominal=(0, 1, 2, 3)),
    "texture": DatasetEntry(5500, 40, 11, "474cb11240766196", openml=40499),
    "tictactoe": DatasetEntry(958, 9, 2, "22a7b682b4e7ea76", openml=50),
    "tmc2007_500": DatasetEntry(28596, 500, 22, "52845a520bc90246", sparse=True, labels=True),
    "vehicle": DatasetEntry(846, 18, 4, "8d1f1565c0535be4", openml=54),
    "vowel528": DatasetEntry(528, 10, 11, "343eceb4600c20c9"),
    "vowel990": DatasetEntry(
        990, 10, 11, "20272fa26a360f9e", openml=307, drop=("Speaker_Number", "Sex")
    ),
    "waveform21": DatasetEntry(5000, 21, 3, "bda106408802a517"),
    "waveform40": DatasetEntry(5000, 40, 3, "d11d5f2f1c2944f5", openml=60),
    "wdbc": DatasetEntry(569, 30, 2, "e483c444495893da", openml=1510),
    "wine": DatasetEntry(178, 13, 3, "5abdcfaa06a21454", openml=187),
    "yeast": DatasetEntry(1484, 8, 10, "72f68361790df4d9", openml=181),
}


# -- load ------------------------------------------------------------------------------------------


#: Names a folder with data files.
FOLDER_VARIABLE = "BAYESIEVE_DATA"

#: What a field of a table holds; None is missing.
Cell: TypeAlias = str | float | None


@dataclass(frozen=True)
class Dataset:
    """A table, its classes or labels, and where they came from.

    Attributes
    ----------
    name : str
        Its name.
    X : ndarray or sparse matrix of shape (n_samples, n_features)
        Numbers; or objects where some columns hold text (None is missing there, NaN among numbers).
    y : ndarray
        The class of every row, as text; or a 0/1 matrix of labels.
    feature_names : list of str
        Names of the columns.
    label_names : list of str
        Names of the classes or labels.
    source : str
        Where it was read from.
    split : ndarray of str or None
        The published part ("train", "test", "valid") of every row.

    Examples
    --------
    >>> from bayesieve.datasets import load
    >>> data = load("wine")
    >>> data.X.shape, data.label_names, data.source
    ((178, 13), ['class_0', 'class_1', 'class_2'], 'scikit-learn')
    """

    name: str
    X: Array | scipy.sparse.sparray
    y: Array
    feature_names: list[str]
    label_names: list[str]
    source: str
    split: Array | None = None

    def coded(self) -> tuple[Floats, dict[int, str]]:
        """Numbers only, and the feature model of each column for `NaiveBayes(features=)`.

        Texts become codes 0, 1, 2, ... (a categorical column); all other columns are gaussian.
        Not for sparse matrices.
        """
        if scipy.sparse.issparse(self.X):
            raise TypeError(f"{self.name!r} is sparse: use its X as it is.")
        if self.X.dtype != object:
            return self.X, dict.fromkeys(range(self.X.shape[1]), "gaussian")
        numbers = np.empty(self.X.shape)
        models = {}
        for j, column in enumerate(self.X.T):
            text = any(isinstance(value, str) for value in column)
            models[j] = "categorical" if text else "gaussian"
            if text:
                levels = {v: i for i, v in enumerate(sorted({v for v in column if v is not None}))}
                numbers[:, j] = [np.nan if v is None else levels[v] for v in column]
            else:
                numbers[:, j] = column
        return numbers, models


def load(
    name: str, *, folder: str | os.PathLike[str] | None = None, codes: str = "nominal"
) -> Dataset:
    """A named data set.

    Read from `folder` where it is given; otherwise from scikit-learn where it is bundled there;
    otherwise from the folder named by the environment variable ``BAYESIEVE_DATA``; otherwise from
    OpenML, a pinned version, through scikit-learn and its cache.  What comes is checked against the
    size and the class sizes known for the set.  Names of columns and classes are those of the
    source (scikit-learn's iris says "setosa", UCI's "Iris-setosa"; three values differ too).

    A folder holds ``NAME.csv.gz`` (a header, the last column ``class``, an empty field for a
    missing value), ``NAME.npz`` (arrays X and y), or ``NAME_X.npz`` (a sparse matrix of scipy) with
    ``NAME_labels.npz`` (y, or a 0/1 matrix Y; perhaps label_names, feature_names and split).

    Parameters
    ----------
    name : str
        A key of `bayesieve.datasets.REGISTRY`.
    folder : path, optional
        Where the files are.
    codes : {"nominal", "numeric"}, default="nominal"
        How columns of category codes (in cmc and tae) are read: as texts or as numbers.

    Returns
    -------
    data : Dataset

    Examples
    --------
    >>> from bayesieve.datasets import load
    >>> wine = load("wine")
    >>> wine.X.shape, wine.label_names
    ((178, 13), ['class_0', 'class_1', 'class_2'])
    """
    entry = REGISTRY[choose("name", name, REGISTRY)]
    choose("codes", codes, ["nominal", "numeric"])
    nominal = entry.nominal if codes == "nominal" else ()
    if folder is not None and not isinstance(folder, str | os.PathLike):
        raise TypeError(f"folder must be a path; got {folder!r}.")
    data = None
    if folder is not None:
        data = _from_folder(name, entry, Path(folder), nominal)
        if data is None:
            raise FileNotFoundError(
                f"the data set {name!r} is not in folder={str(folder)!r}; expected "
                f"{_file_names(name, entry)}."
            )
    elif name in BUNDLED:
        found = getattr(sklearn.datasets, BUNDLED[name])()
        names, columns = list(map(str, found.target_names)), list(map(str, found.feature_names))
        y = np.array(names)[found.target]
        data = Dataset(name, found.data, y, columns, names, "scikit-learn")
    elif os.environ.get(FOLDER_VARIABLE):
        folder = Path(os.environ[FOLDER_VARIABLE])
        data = _from_folder(name, entry, folder, nominal, FOLDER_VARIABLE)
    if data is None:
        data = _from_openml(name, entry, nominal)
    _check(data, entry)
    return data


def fingerprint(shape: tuple[int, int], sizes: Iterable[int]) -> str:
    """A checksum of a table's size and its class sizes, in any order of rows and columns."""
    text = f"{shape[0]} x {shape[1]}: " + " ".join(str(size) for size in sorted(sizes))
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def _check(data: Dataset, entry: DatasetEntry) -> None:
    """Is this the set we know?"""
    sizes = data.y.sum(0) if data.y.ndim == 2 else np.unique(data.y, return_counts=True)[1]
    if fingerprint(data.X.shape, sizes.tolist()) != entry.fingerprint:
        raise ValueError(
            f"the data set {data.name!r} from {data.source} is not the one known by this name: "
            f"expected {entry.rows} rows x {entry.columns} columns, {entry.classes} classes of "
            f"known sizes; got {data.X.shape[0]} x {data.X.shape[1]}, class sizes {sizes.tolist()}."
        )


def _file_names(name: str, entry: DatasetEntry) -> str:
    if entry.sparse:
        return f"{name}_X.npz and {name}_labels.npz"
    return f"{name}.csv.gz or {name}.npz"


def _from_folder(
    name: str, entry: DatasetEntry, folder: Path, nominal: tuple[int, ...], by: str = "folder"
) -> Dataset | None:
    if not folder.is_dir():
        raise FileNotFoundError(f"{by}: {str(folder)!r} is not a folder.")
    table, dense = folder / f"{name}.csv.gz", folder / f"{name}.npz"
    sparse, labels = folder / f"{name}_X.npz", folder / f"{name}_labels.npz"
    path = table
    try:
        if table.is_file():
            return _read_csv(name, table, nominal)
        if dense.is_file():
            path = dense
            X, arrays = read_npz(dense)
            X = None if X is None else X.astype(np.float64)
            return _of_arrays(name, X, arrays, str(dense))
        if sparse.is_file() and labels.is_file():
            path = labels
            _, arrays = read_npz(labels)
            path = sparse
            return _of_arrays(name, read_npz(sparse)[0], arrays, str(sparse))
    except BROKEN as error:
        raise ValueError(f"{path} cannot be read: {error}. Fetch the file again.") from error
    return None


def _of_arrays(name: str, X: Array | None, arrays: dict[str, Array], source: str) -> Dataset:
    if X is None or X.ndim != 2 or not {"y", "Y"} & set(arrays):
        raise ValueError("it must hold a two-dimensional X and y (or a matrix of labels Y)")
    y = arrays["Y"] if "Y" in arrays else arrays["y"].astype(str)
    known = arrays.get("label_names", np.unique(y) if y.ndim == 1 else np.arange(y.shape[1]))
    return Dataset(
        name,
        X,
        y,
        feature_names(arrays, X.shape[1]),
        known.astype(str).tolist(),
        source,
        arrays.get("split"),
    )


def _read_csv(name: str, path: Path, nominal: tuple[int, ...]) -> Dataset:
    with gzip.open(path, "rt", encoding="utf-8-sig", newline="") as file:
        reader = csv.reader(file)
        header = next(reader, [])
        rows = [row for row in reader if row]
    if not rows or any(len(row) != len(header) for row in rows):
        raise ValueError("it must hold a header and rows of as many fields as the header")
    if header[-1] != "class":
        raise ValueError(f"its last column must be 'class'; got {header[-1]!r}")
    *columns, classes = zip(*rows, strict=True)
    return _of_columns(name, header[:-1], [list(c) for c in columns], classes, str(path), nominal)


def _of_columns(
    name: str,
    names: list[str],
    columns: Sequence[Sequence[Cell]],
    classes: Sequence[Cell],
    source: str,
    nominal: tuple[int, ...],
) -> Dataset:
    """Numbers where all values are numbers and none of the column's values is a mere code."""
    read = [
        _texts(column) if j in nominal else _numbers_or_texts(column)
        for j, column in enumerate(columns)
    ]
    mixed = any(column.dtype == object for column in read)
    X = np.empty((len(classes), len(read)), object if mixed else np.float64)
    for j, column in enumerate(read):
        X[:, j] = column
    y = np.array([str(value) for value in classes])
    return Dataset(name, X, y, names, np.unique(y).tolist(), source)


def _numbers_or_texts(column: Sequence[Cell]) -> Array:
    try:
        return np.array([float("nan") if value in ("", None) else float(value) for value in column])
    except ValueError:
        return _texts(column)


def _texts(column: Sequence[Cell]) -> Array:
    found = np.empty(len(column), object)
    found[:] = [None if v in ("", None) or v != v else _text(v) for v in column]
    return found


def _text(value: Cell) -> str:
    """A code reads the same from a file and from a table of numbers."""
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)


def _from_openml(name: str, entry: DatasetEntry, nominal: tuple[int, ...]) -> Dataset:
    if entry.openml is None:
        raise FileNotFoundError(
            f"the data set {name!r} is only read from files: put {_file_names(name, entry)} into a "
            f"folder and name it by folder= or by the environment variable {FOLDER_VARIABLE}."
        )
    try:
        found = sklearn.datasets.fetch_openml(
            data_id=entry.openml, as_frame=False, parser="liac-arff"
        )
    except (OSError, ValueError) as error:
        raise ConnectionError(
            f"the data set {name!r} could not be fetched from OpenML ({error}): go online and try "
            f"again, or put {_file_names(name, entry)} into a folder and name it by folder=, or by "
            f"the environment variable {FOLDER_VARIABLE}."
        ) from error
    keep = [j for j, column in enumerate(found.feature_names) if column not in entry.drop]
    categories = found.categories or {}
    columns = []
    for j in keep:
        values = found.data[:, j].tolist()
        levels = categories.get(found.feature_names[j])
        if levels:
            # Numbers there are positions in the list of categories.
            values = [levels[int(v)] if isinstance(v, float) and v == v else v for v in values]
        columns.append([None if value != value else value for value in values])
    names = [found.feature_names[j] for j in keep]
    source = f"OpenML ({entry.openml})"
    return _of_columns(name, names, columns, found.target.tolist(), source, nominal)
