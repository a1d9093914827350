"""An answer to standard output, in the format that was asked for."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any

import typer

from .options import CheckFormat, Format, LaunchFormat

_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")


def write(shown: str) -> None:
    """Text to standard output; what a terminal would obey instead of show is shown."""
    text = printable(shown) if sys.stdout.isatty() else shown
    typer.echo(text, nl=not text.endswith("\n"))


def printable(text: str) -> str:
    """The text with control characters, other than ends of lines and tabs, as Python writes them."""
    return _CONTROL.sub(lambda found: found[0].encode("unicode_escape").decode(), text)


def formatted(output: Format | CheckFormat | LaunchFormat, shown: str, data: dict[str, Any]) -> str:
    """One of the three; the others are not made."""
    from ..render import machine

    if output.value == Format.json.value:
        return machine.as_json(data)
    return machine.as_yaml(data) if output.value == Format.yaml.value else shown


def draw(answer: object, path: Path, kind: str = "") -> None:
    """An answer as a picture in a file.

    Raises InputError where it cannot be drawn.
    """
    from ..render import plot

    plot.save(plot.plot(answer, kind), path)
