"""Why a text cannot be split into words, and where -> the fault that every reader of such texts raises."""

from __future__ import annotations

from ..errors import InputError

UNBALANCED = "Close it; a quote that is meant to stay is written behind a backslash."
TRAILING = "Finish the command, or take the backslash away."
_SAID = {
    "unbalanced-quote": ("a quote is opened and never closed", UNBALANCED),
    "trailing-backslash": ("the text ends in a backslash: half of the command is missing", TRAILING),
}


def broken_off(reason: str, where: str) -> InputError:
    """A text that breaks off in the middle of a command."""
    said, cure = _SAID.get(reason, (reason, None))
    return InputError(said, where, cure)
