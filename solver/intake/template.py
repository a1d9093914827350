"""Text with `{{ ... }}` in it -> text of the same layout that a YAML reader takes, and back again, piece by piece.

A template that stands alone in its line (`{{- if .Values.x }}`) is blanked; one inside a value becomes a private
character with its number, padded to the same length, so that every place stays what it was.
"""

from __future__ import annotations

import re
from collections.abc import Callable

_TEMPLATE = re.compile(r"\{\{[^\n]*?\}\}")
_FIRST, _PAD, _DIGIT = "\ue000", "\ue001", 0xE100
_MASKED = re.compile(f"{_FIRST}(.)(.){_PAD}*")
_BASE = 256


def mask(text: str) -> tuple[str, tuple[str, ...]]:
    """The text with its templates masked, and what they were."""
    if "{{" not in text or any(mark in text for mark in (_FIRST, _PAD)):
        return text, ()
    found: list[str] = []

    def one(match: re.Match[str]) -> str:
        if len(found) >= _BASE * _BASE:
            return match[0]
        number = len(found)
        found.append(match[0])
        digits = chr(_DIGIT + number // _BASE) + chr(_DIGIT + number % _BASE)
        return (_FIRST + digits).ljust(len(match[0]), _PAD)

    return "".join(_line(row, one) for row in text.splitlines(keepends=True)), tuple(found)


def _line(row: str, one: Callable[[re.Match[str]], str]) -> str:
    """A line with its templates masked, or blanked where they stand alone."""
    if "{{" not in row:
        return row
    # Behind the last end no template can end: looking for it there from every beginning would take forever.
    stop = row.rfind("}}") + 2
    head, tail = row[:stop], row[stop:]
    if not tail.strip() and not _TEMPLATE.sub("", head).strip():
        return " " * len(head) + tail
    return _TEMPLATE.sub(one, head) + tail


def unmask(text: str, templates: tuple[str, ...]) -> str:
    """A piece of masked text as it stood."""
    if not templates or _FIRST not in text:
        return text

    def one(match: re.Match[str]) -> str:
        number = (ord(match[1]) - _DIGIT) * _BASE + ord(match[2]) - _DIGIT
        return templates[number] if 0 <= number < len(templates) else match[0]

    return _MASKED.sub(one, text)


def is_template(text: str) -> bool:
    """Whether something in the text is filled in by somebody else."""
    return "{{" in text and "}}" in text
