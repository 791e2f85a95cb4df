"""Files written in one go."""

import os
import secrets
from pathlib import Path
from typing import Any


def write_text(path: Any, text: str) -> None:
    """Write a file whole or not at all: a failure leaves no half file, and what was there stays."""
    path = Path(path)
    part = path.with_name(f".{path.name[:100]}.{secrets.token_hex(4)}")
    try:
        with part.open("x", encoding="utf-8") as file:
            file.write(text)
        os.replace(part, path)
    except BaseException:
        part.unlink(missing_ok=True)
        raise
