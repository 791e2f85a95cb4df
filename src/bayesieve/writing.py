"""Files written in one go."""

import os
import tempfile
from pathlib import Path
from typing import Any


def write_text(path: Any, text: str) -> None:
    """Write a file whole or not at all: a failure leaves no half file, and what was there stays."""
    path = Path(path)
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name[:100]}.")
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(text)
        os.replace(name, path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
