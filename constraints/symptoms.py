"""``sglang/symptoms.yaml`` -> what a log says of failures that no rule foretells, and what they mean."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from .errors import Fault, KnowledgeError
from .knowledge import HOME
from .read import Mapped, read_file
from .schema import Source
from .symptoms_schema import Moment, Symptom

FILE = "sglang/symptoms.yaml"


def load_symptoms() -> tuple[Symptom, ...]:
    """Every symptom, in order.

    Raises KnowledgeError with every fault.
    """
    faults: list[Fault] = []
    found = tuple(_symptoms(read_file(HOME / FILE, FILE), faults))
    if faults:
        raise KnowledgeError(faults)
    return found


def _symptoms(document: Any, faults: list[Fault]) -> Iterator[Symptom]:
    for data in document["symptoms"]:
        lacking = [key for key in ("id", "words", "title", "reason", "fix") if not data.get(key)]
        if lacking:
            faults.append(Fault(FILE, data.line, f"a symptom has no {', '.join(lacking)}"))
            continue
        yield Symptom(
            str(data["id"]),
            tuple(frozenset(map(str, words)) for words in data["words"]),
            str(data["title"]),
            _line(data["reason"]),
            _line(data["fix"]),
            tuple(_moment(one) for one in data.get("moments") or ()),
            tuple(Source(**one) for one in data.get("sources") or ()),
        )


def _moment(data: Mapped) -> Moment:
    return Moment(tuple(map(str, data["at"])), str(data["title"]), _line(data["fix"]))


def _line(text: object) -> str:
    return " ".join(str(text).split())
