"""Settings of the documentation: built from the repository alone, without the network."""

import sys
from pathlib import Path
from typing import Any

import bayesieve

sys.path.insert(0, str(Path(__file__).parent / "_ext"))

project = "bayesieve"
author = "the bayesieve developers"
version = release = bayesieve.__version__

extensions = ["myst_parser", "sphinx.ext.autodoc", "numpydoc", "mathml", "offline"]
exclude_patterns = ["_build"]
default_role = "py:obj"

myst_enable_extensions = ["dollarmath", "colon_fence"]
myst_heading_anchors = 3

autodoc_member_order = "bysource"
autodoc_typehints = "none"
autodoc_default_options = {"members": True, "inherited-members": "object, tuple"}
numpydoc_show_class_members = False

html_theme = "furo"
html_title = f"bayesieve {version}"
html_static_path = ["_static"]
html_css_files = ["tables.css"]
html_copy_source = False
html_show_copyright = False


def _is_foreign(
    app: Any, what: str, name: str, member: Any, skip: bool, options: Any
) -> bool | None:
    """What classes inherit from scikit-learn is documented there."""
    return True if str(getattr(member, "__module__", "")).startswith("sklearn.") else None


def setup(app: Any) -> None:
    app.connect("autodoc-skip-member", _is_foreign)
