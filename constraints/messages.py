"""`sglang/messages/*.yaml` -> the words by which each refusal of each release is recognised in a log."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from .errors import Fault, KnowledgeError
from .load import HOME, read_one
from .read import Mapped
from .release import release_key

PLACE = HOME / "sglang" / "messages"
_WORD = re.compile(r"[^\s\"'`()\[\]{}<>,;:=!?|/\\]+")
_NUMBER = re.compile(r"[\d.,x%*+-]+")


@dataclass(frozen=True, slots=True)
class Printed:
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


def load_messages(place: Path = PLACE) -> tuple[Printed, ...]:
    """Every refusal that is known by its words, the newest release first.

    Raises KnowledgeError.
    """
    faults: list[Fault] = []
    found: list[Printed] = []
    for path in sorted(place.glob("*.yaml"), key=lambda one: release_key(one.stem), reverse=True):
        document = read_one(path, faults)
        if not isinstance(document, Mapped) or "release" not in document:
            faults.append(Fault(str(path), 1, "a file of messages has the keys release, rules and sites"))
            continue
        release = str(document["release"])
        for rule, words in _of(document, "rules").items():
            found.append(Printed(release, str(rule), "", tuple(str(word) for word in words)))
        for site, words in _of(document, "sites").items():
            found.append(Printed(release, "", str(site), tuple(str(word) for word in words)))
    if faults:
        raise KnowledgeError(faults)
    return tuple(found)


def _of(document: Mapped, key: str) -> Mapping[str, list[str]]:
    return document.get(key) or {}
