"""An answer to standard output, in the format that was asked for."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any

import typer

from constraints.plainly import plainly

from ..errors import InputError
from .options import CheckFormat, Format, LaunchFormat

_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")


def write(shown: str) -> None:
    """Text to standard output; what a terminal would obey instead of show is shown."""
    text = printable(shown) if sys.stdout.isatty() else shown
    typer.echo(text, nl=not text.endswith("\n"))


def printable(text: str) -> str:
    """The text with control characters, other than ends of lines and tabs, as Python writes them."""
    return _CONTROL.sub(lambda found: found[0].encode("unicode_escape").decode(), text)


def own_version() -> str:
    """The version of this program; 0 where it runs without being installed."""
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version("sglang-preflight")
    except PackageNotFoundError:
        return "0"


def formatted(output: Format | CheckFormat | LaunchFormat, shown: str, data: dict[str, Any]) -> str:
    """One of the three; the others are not made."""
    from ..render import machine

    if output.value == Format.json.value:
        return machine.as_json(data)
    return machine.as_yaml(data) if output.value == Format.yaml.value else shown


def write_file(path: Path, data: str) -> None:
    """Text to a file.

    Raises InputError where it cannot be written.
    """
    try:
        path.write_text(data, encoding="utf-8")
    except OSError as fault:
        raise InputError(f"cannot be written: {plainly(fault)}", str(path)) from None


def expect_plot(path: Path, kind: str = "", of: type | None = None) -> None:
    """Hold what is to be drawn against what can be, before the answer is looked for; ``of`` is the type of the answer.

    Raises InputError.
    """
    from ..render import plot

    plot.expect_file(path, kind, of)


def draw(answer: object, path: Path, kind: str = "") -> None:
    """An answer as a picture in a file.

    Raises InputError where it cannot be drawn.
    """
    from ..render import plot

    try:
        plot.save(plot.plot(answer, kind), path)
    except OSError as fault:
        raise InputError(f"cannot be written: {plainly(fault)}", str(path)) from None
