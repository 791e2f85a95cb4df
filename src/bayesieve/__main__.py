"""`python -m bayesieve` is the command line."""

from .cli import main

main()
