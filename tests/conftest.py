"""Let test modules import their helpers."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

# They hold no doctests, and four modules of one name cannot be collected as such.
collect_ignore_glob = ["*/conftest.py"]
