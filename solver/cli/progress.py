"""How far a long answer is, on standard error: a bar for who looks, else a line now and then."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

SECONDS, COLUMNS = 1.0, 40
# Between two lines, where standard error is no terminal.
APART = 30.0


@contextmanager
def progress(about: str) -> Iterator[Callable[[int, int], None]]:
    """A function to call with (done, all); the bar is wiped at the end. What takes less than a second says nothing."""
    told = begun = time.monotonic()
    drawn = False

    def show(done: int, whole: int) -> None:
        nonlocal told, drawn
        now = time.monotonic()
        # Where standard error was closed, its words would stand among those of the answer.
        if now - begun < SECONDS or done >= whole or sys.stderr is sys.stdout:
            return
        if sys.stderr.isatty():
            drawn = True
            filled = COLUMNS * done // max(whole, 1)
            sys.stderr.write(f"\r[{'#' * filled}{'.' * (COLUMNS - filled)}] {done} of {whole}")
            sys.stderr.flush()
        elif told == begun or now - told >= APART:
            told = now
            print(f"{about}: {done} of {whole} done", file=sys.stderr, flush=True)

    try:
        yield show
    finally:
        if drawn:
            sys.stderr.write("\r" + " " * (COLUMNS + 20) + "\r")
            sys.stderr.flush()
