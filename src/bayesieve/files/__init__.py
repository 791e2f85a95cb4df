"""Tables from files, whole or in batches, and files that are written whole or not at all."""

from .base import BadUseError, Content, OutputError, some, whole_numbers
from .batches import Column, read_batches
from .reading import COLUMNAR, SEPARATORS, format_of, read_data
from .text import TextTable
from .writing import check_file, check_folder, whole_file, whole_folder

__all__ = [
    "COLUMNAR",
    "SEPARATORS",
    "BadUseError",
    "Column",
    "Content",
    "OutputError",
    "TextTable",
    "check_file",
    "check_folder",
    "format_of",
    "read_batches",
    "read_data",
    "some",
    "whole_file",
    "whole_folder",
    "whole_numbers",
]
