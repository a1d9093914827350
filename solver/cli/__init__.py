"""The command line: each command reads its words, calls the API, renders, and exits."""

from __future__ import annotations

import sys


def main() -> None:
    """Console script ``preflight``."""
    from .app import run

    sys.exit(run(sys.argv[1:]))


def recommend_main() -> None:
    """Console script ``recommend``: short for ``preflight recommend``."""
    from .app import run

    sys.exit(run(["recommend", *sys.argv[1:]]))
