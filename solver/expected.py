"""What a program gives as a text, a number or several names -> that very thing, or why it cannot be meant.

Every function raises InputError for what is of another kind: a question must not end in Python's own words.
"""

from __future__ import annotations

import contextlib
import math
import operator
import os
from collections.abc import Iterable, Mapping

from .errors import InputError


def text(value: object, where: str, hint: str) -> str:
    """A text."""
    if not isinstance(value, str):
        raise InputError(f"{_said(value)} is no text", where, hint)
    return value


def path(value: object, where: str, hint: str) -> str:
    """A text, or a path as Python has it."""
    if isinstance(value, os.PathLike):
        value = os.fspath(value)
    return text(value, where, hint)


def whole(value: object, where: str) -> int:
    """A whole number; those of other packages count, truth values do not."""
    if not isinstance(value, bool):
        with contextlib.suppress(TypeError):  # of several numbers at once too, which seem to have one
            return operator.index(value)  # type: ignore[arg-type]
    raise InputError(f"{_said(value)} is no whole number", where, "Give one such as 8.")


def number(value: object, where: str) -> float:
    """A number that is finite."""
    if not isinstance(value, bool) and isinstance(value, int | float):
        try:
            found = float(value)
        except OverflowError:
            found = math.inf
        if math.isfinite(found):
            return found
    raise InputError(f"{_said(value)} is no finite number", where, "Give one such as 79.5.")


def names(value: object, where: str, hint: str) -> tuple[str, ...]:
    """Several texts; of one text those between its commas, without what is empty."""
    if isinstance(value, str):
        return tuple(part.strip() for part in value.split(",") if part.strip())
    if isinstance(value, bytes | Mapping) or not isinstance(value, Iterable):
        raise InputError(f"{_said(value)} are no names", where, hint)
    return tuple(text(one, where, hint) for one in value)


def several(value: object, where: str) -> tuple[object, ...]:
    """Several values; of one text those between its commas."""
    if isinstance(value, str):
        return tuple(part.strip() for part in value.split(","))
    if isinstance(value, bytes | Mapping) or not isinstance(value, Iterable):
        raise InputError(f"{_said(value)} are no values", where, "Give a list of them, or a text with commas.")
    return tuple(value)


def texts(value: object, where: str) -> dict[str, str]:
    """Texts by name, such as variables of the environment; numbers are written out."""
    hint = 'It reads like {"NAME": "1"}.'
    if not isinstance(value, Mapping):
        raise InputError(f"{_said(value)} is no mapping of names to texts", where, hint)
    found: dict[str, str] = {}
    for name, one in value.items():
        if isinstance(one, bool) or not isinstance(one, str | int | float):
            raise InputError(f"{_said(one)} is no text for {name}", where, hint)
        found[text(name, where, hint)] = str(one)
    return found


def _said(value: object) -> str:
    """A value as a program would write it, not to its end."""
    try:
        shown = repr(value)
    except ValueError:  # a number of too many digits
        return "this number"
    return shown if len(shown) <= 60 else f"{shown[:60]}..."
