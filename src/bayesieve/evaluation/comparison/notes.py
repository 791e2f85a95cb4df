"""The cells of a comparison in a file: each is there in full, or not at all."""

from collections.abc import Mapping
from pathlib import Path

from ...search.checkpoint.journal import Journal
from .cell import Cell


class CellJournal(Journal):
    """A journal with one record a cell.

    Every record bears the fingerprints of its method and its data, so that a comparison may grow:
    methods, sets and seeds can be added, and only what has changed under its name is refused.

    Parameters
    ----------
    path, release, parts : as for `Journal`.
    methods, sets : fingerprints by name.

    Attributes
    ----------
    cells : the cells of these methods and sets that the file holds.
    """

    work = "comparison"

    def __init__(
        self,
        path: Path,
        release: str,
        parts: Mapping[str, str],
        methods: Mapping[str, str],
        sets: Mapping[str, str],
    ):
        super().__init__(path, release, parts)
        self._prints = {"method": dict(methods), "data set": dict(sets)}
        try:
            self.cells = self._known()
        except BaseException:
            self.close()
            raise

    def _known(self) -> dict[tuple[str, str, int, int], Cell]:
        found = {}
        for method_print, set_print, plain in self.records:
            cell = Cell.of_dict(plain)
            named = (("method", cell.method, method_print), ("data set", cell.data, set_print))
            for kind, name, print_ in named:
                if self._prints[kind].get(name, print_) != print_:
                    raise ValueError(
                        f"checkpoint={str(self.path)!r}: the {kind} {name!r} is not what it was "
                        "when the file was written. Give the same one, give it another name, "
                        "remove the file, or give another path."
                    )
            found[cell.method, cell.data, cell.seed, cell.fold] = cell
        return found

    def note(self, cell: Cell) -> None:
        """Write a cell down; one that failed is tried again another time."""
        if not cell.failure:
            prints = self._prints["method"][cell.method], self._prints["data set"][cell.data]
            self.append([*prints, cell.to_dict()])
