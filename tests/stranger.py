"""What a stranger does first: paste the README's blocks, with the package as it is installed.

`python stranger.py README.md`, from an empty folder, in an environment that holds the wheel.
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

import bayesieve
from blocks import run_page

if __name__ == "__main__":
    where = Path(bayesieve.__file__)
    assert "site-packages" in where.parts, f"not the installed package: {where}"
    assert (where.parent / "py.typed").is_file()
    run_page(Path(sys.argv[1]).resolve())
    sys.stdout.write("the README does what it shows, from the wheel\n")
