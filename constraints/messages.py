"""What a refusal prints, as a value, and the words of a message."""

from __future__ import annotations

import re
from typing import NamedTuple

_WORD = re.compile(r"[^\s\"'`()\[\]{}<>,;:=!?|/\\]+")
_NUMBER = re.compile(r"[\d.,x%*+-]+")


class Printed(NamedTuple):
    """What one refusal prints: its words, of which release; ``rule`` "" when no rule explains the line ``place``."""

    release: str
    rule: str
    place: str
    words: tuple[str, ...]


def tokens(text: str, filled: str = "\0") -> tuple[str, ...]:
    """The words of a message, lower case, in order: no numbers, nothing that touches what was filled in."""
    found = []
    for word in _WORD.findall(text.lower()):
        plain = word.strip(".-")
        if filled not in word and len(plain) > 1 and not _NUMBER.fullmatch(plain):
            found.append(plain)
    return tuple(found)
