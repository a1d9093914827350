"""Why a text cannot be split into words, and where -> the fault that every reader of such texts raises."""

from __future__ import annotations

from ..errors import InputError

_SAID = {
    "unbalanced-quote": "a quote is opened and never closed",
    "trailing-backslash": "the text ends in a backslash: half of the command is missing",
}


def broken_off(reason: str, where: str) -> InputError:
    """A text that breaks off in the middle of a command."""
    return InputError(_SAID.get(reason, reason), where)
