"""`sglang/messages/*.yaml` -> the words by which each refusal of each release is recognised in a log."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from .errors import Fault, KnowledgeError
from .knowledge import HOME
from .load import read_one
from .messages import Printed
from .read import Mapped
from .release import release_key

PLACE = HOME / "sglang" / "messages"


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
