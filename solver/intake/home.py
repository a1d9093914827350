"""A path as a person writes it -> the path, with ``~`` put in where it is known who is meant."""

from __future__ import annotations

import os


def put_in(text: str) -> str:
    """The text with a leading ``~`` or ``~NAME`` as that home folder; as it stands where there is no such home."""
    try:
        return os.path.expanduser(text)
    except ValueError:  # a NUL, or half a character: no name of anybody
        return text
