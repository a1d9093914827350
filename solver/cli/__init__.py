"""The command line: each command reads its words, calls the API, renders, and exits."""

from __future__ import annotations

import io
import os
import sys
from pathlib import Path


def _prepared() -> None:
    """Let standard output take whatever was typed, also words that are no text here; where it is closed, let it go."""
    sys.stdout = sys.stdout or Path(os.devnull).open("w")  # noqa: SIM115 (open to the end)
    sys.stderr = sys.stderr or sys.stdout
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def main() -> None:
    """Console script ``preflight``."""
    from .app import run

    _prepared()
    sys.exit(run(sys.argv[1:]))


def recommend_main() -> None:
    """Console script ``recommend``: short for ``preflight recommend``."""
    from .app import run

    _prepared()
    sys.exit(run(["recommend", *sys.argv[1:]]))
