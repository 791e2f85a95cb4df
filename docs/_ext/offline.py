"""Refuse a site that needs the network: whatever a page loads must lie beside it."""

import re
from pathlib import Path
from typing import Any

from sphinx.errors import ExtensionError

# Links to follow (<a href>) may lead anywhere; what a browser loads by itself may not.
_LOADED = re.compile(
    r"<(?:script|link|img|iframe|source|object)\b[^>]*?(?:src|href|data)=[\"']?((?:https?:)?//[^\"'\s>]+)"
)
_IN_STYLE = re.compile(r"(?:@import\s+|url\()[\"']?((?:https?:)?//[^\"')\s]+)")


def _check(app: Any, exception: Exception | None) -> None:
    if exception is not None:
        return
    for path in sorted(Path(app.outdir).rglob("*")):
        pattern = {".html": _LOADED, ".css": _IN_STYLE}.get(path.suffix)
        found = pattern.search(path.read_text(encoding="utf-8")) if pattern else None
        if found:
            raise ExtensionError(f"{path.name} loads {found[1]} from the network")


def setup(app: Any) -> dict[str, bool]:
    """Look at the pages once they are written."""
    app.connect("build-finished", _check)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
