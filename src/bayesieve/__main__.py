"""The command `bayesieve`, also as `python -m bayesieve`."""

import sys


def main() -> None:
    """Run the command line, or say what it needs."""
    try:
        from .app.cli import run
    except ModuleNotFoundError as error:
        sys.exit(f"bayesieve: the command line needs {error.name}: pip install 'bayesieve[cli]'.")
    except KeyboardInterrupt:
        sys.exit(130)
    run()


if __name__ == "__main__":
    main()
