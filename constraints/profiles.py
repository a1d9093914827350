"""The documents of ``profiles/`` -> what "better" means, by name."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .errors import ExpressionError, Fault
from .expression import parse
from .read import Mapped
from .schema import Profile, Term
from .tree import Node

_KEYS = frozenset(("profile", "about", "closeness", "terms", "lacks", "workload"))
_WORKLOAD = ("input_len", "output_len", "concurrency")
USUAL = (1024, 1024, 64)
_TERM_KEYS = frozenset(("name", "weight", "about", "value", "joint"))


def load_profiles(documents: Mapping[str, Any], named: Mapping[str, Node], faults: list[Fault]) -> dict[str, Profile]:
    """The profiles of the documents (data by file name); whatever is wrong is added to ``faults``."""
    found: dict[str, Profile] = {}
    for file, document in documents.items():
        profile = read_profile(document, file, named, faults)
        if profile is not None:
            found[profile.name] = profile
    return found


def read_profile(document: Any, file: str, named: Mapping[str, Node], faults: list[Fault]) -> Profile | None:
    """One profile; what is wrong is added to ``faults``."""
    if not isinstance(document, Mapped) or "profile" not in document:
        faults.append(Fault(file, 1, "a profile file has the keys profile, about, closeness, terms, lacks"))
        return None
    for key in set(document) - _KEYS:
        faults.append(Fault(file, document.line_of(key), f"unknown key {key!r}"))
    terms = []
    for entry in document.get("terms") or []:
        for key in set(entry) - _TERM_KEYS:
            faults.append(Fault(file, entry.line_of(key), f"unknown key {key!r}"))
        try:
            node = parse(str(entry["value"]), named)
            about, joint = str(entry.get("about", "")), entry.get("joint", False) is True
            terms.append(Term(str(entry["name"]), int(entry["weight"]), about, node, joint))
        except ExpressionError as fault:
            faults.append(Fault(file, entry.line, str(fault)))
        except (KeyError, TypeError, ValueError):
            faults.append(Fault(file, entry.line, "a term needs a name, a whole number as weight, and a value"))
    return Profile(
        str(document["profile"]),
        str(document.get("about", "")),
        int(document.get("closeness", 0)),
        tuple(terms),
        tuple(str(line) for line in document.get("lacks") or []),
        _workload(document, file, faults),
    )


def _workload(document: Mapped, file: str, faults: list[Fault]) -> tuple[int, int, int]:
    given = document.get("workload", Mapped(1))
    values = (
        [given.get(key, usual) for key, usual in zip(_WORKLOAD, USUAL, strict=True)]
        if isinstance(given, Mapped)
        else []
    )
    if not values or set(given) - set(_WORKLOAD) or not all(type(one) is int and one > 0 for one in values):
        faults.append(Fault(file, document.line_of("workload"), f"workload has whole numbers: {', '.join(_WORKLOAD)}"))
        return USUAL
    return values[0], values[1], values[2]
