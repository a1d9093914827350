"""A bar on standard error for what takes longer than a second; nothing where nobody looks."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

SECONDS, COLUMNS = 1.0, 40


@contextmanager
def progress() -> Iterator[Callable[[int, int], None]]:
    """A function to call with (done, all); the bar is wiped at the end."""
    begun = time.monotonic()
    drawn = False

    def show(done: int, whole: int) -> None:
        nonlocal drawn
        if not sys.stderr.isatty() or time.monotonic() - begun < SECONDS:
            return
        drawn = True
        filled = COLUMNS * done // max(whole, 1)
        sys.stderr.write(f"\r[{'#' * filled}{'.' * (COLUMNS - filled)}] {done} of {whole}")
        sys.stderr.flush()

    try:
        yield show
    finally:
        if drawn:
            sys.stderr.write("\r" + " " * (COLUMNS + 20) + "\r")
            sys.stderr.flush()
