"""svmlight files: sparse rows of numbered columns."""

import zlib
from dataclasses import dataclass
from pathlib import Path

import scipy.sparse

from .base import (
    BadUseError,
    Content,
    FileFormat,
    NumberedNames,
    check_unpacked,
    unreadable,
    whole_numbers,
)

_MOST_NUMBER = 2**31 - 1


# Bytes in memory for each byte of the file: an entry of four letters is two numbers, copied once.
_TIMES = 4


@dataclass(frozen=True)
class SvmlightFormat(FileFormat):
    """Sparse rows; columns go by the numbers that the file has for them: x1, x2, ..."""

    endings: tuple[str, ...]
    gzipped = True

    def read(self, path: Path) -> Content:
        """The whole table, as a sparse matrix."""
        from sklearn.datasets import load_svmlight_file

        check_unpacked(path, _TIMES)
        try:
            X, y = load_svmlight_file(str(path), zero_based=True)
        except OverflowError as error:
            raise BadUseError(
                f"{path.name} has a column number above {_MOST_NUMBER}, the largest that is read; "
                "number the columns from 1 on."
            ) from error
        except (ValueError, OSError, EOFError, zlib.error) as error:
            raise unreadable(path, error, "svmlight") from error
        X = scipy.sparse.csr_array(X)
        # Numbers count from 1, as the format asks for, unless there is a column 0.
        first = int(X.shape[1] > 0 and not (X.indices == 0).any())
        names = NumberedNames(range(first, X.shape[1]))
        return Content(X[:, first:], names, whole_numbers(y), open_ended=True)
