"""Tables from files, whole or in batches, and files that are written whole or not at all."""

from .base import BadUseError, Content, OutputError, some, whole_numbers
from .batches import Column, read_batches
from .reading import read_data
from .writing import check_file, check_folder, whole_file, whole_folder

__all__ = [
    "BadUseError",
    "Column",
    "Content",
    "OutputError",
    "check_file",
    "check_folder",
    "read_batches",
    "read_data",
    "some",
    "whole_file",
    "whole_folder",
    "whole_numbers",
]
