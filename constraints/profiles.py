"""The documents of ``profiles/``, and people's own -> what "better" means, by name."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Mapping
from typing import Any

from .errors import ExpressionError, Fault
from .expression import parse
from .preferences import Profile, Term
from .read import Listed, Mapped
from .tree import Node, names

_KEYS = frozenset(("profile", "about", "closeness", "terms", "lacks", "workload", "warnings"))
_TERM_KEYS = frozenset(("name", "weight", "about", "value", "joint"))
_WORKLOAD = ("input_len", "output_len", "concurrency")
USUAL = (1024, 1024, 64)
# Far above what a sum of terms needs, far below what would hide all else.
HEAVIEST = 1_000_000


def load_profiles(documents: Mapping[str, Any], named: Mapping[str, Node], faults: list[Fault]) -> dict[str, Profile]:
    """The profiles of the documents (data by file name); whatever is wrong is added to ``faults``."""
    found: dict[str, Profile] = {}
    for file, document in documents.items():
        profile = read_profile(document, file, named, faults)
        if profile is not None:
            found[profile.name] = profile
    return found


def read_profile(
    document: Any,
    file: str,
    named: Mapping[str, Node],
    faults: list[Fault],
    known: Callable[[str], bool] = lambda name: True,
) -> Profile | None:
    """One profile; what is wrong is added to ``faults``, also a name that is not ``known``."""
    if not isinstance(document, Mapped) or "profile" not in document:
        faults.append(Fault(file, 1, f"a profile file has the keys {', '.join(sorted(_KEYS))}"))
        return None
    for key in sorted(set(map(str, document)) - _KEYS):
        faults.append(Fault(file, document.line_of(key), f"unknown key {key!r}"))
    entries = document.get("terms", Listed(1))
    terms: list[Term] = []
    if not isinstance(entries, Listed):
        faults.append(Fault(file, document.line_of("terms"), "terms is a list"))
    else:
        for entry, line in zip(entries, entries.lines, strict=True):
            term = _term(entry, file, line, named, faults, known)
            if term is not None and any(other.name == term.name for other in terms):
                faults.append(Fault(file, line, f"the term {term.name!r} is there twice"))
            elif term is not None:
                terms.append(term)
    if not entries:
        faults.append(Fault(file, document.line_of("terms"), "a profile has terms: they say what better means"))
    for key in ("closeness", "warnings"):
        if not _whole(document.get(key, 0)):
            faults.append(Fault(file, document.line_of(key), f"{key} is a whole number"))
    closeness, warnings = document.get("closeness", 0), document.get("warnings", 0)
    lacks = document.get("lacks", Listed(1))
    if not isinstance(lacks, Listed):
        faults.append(Fault(file, document.line_of("lacks"), "lacks is a list of texts"))
    return Profile(
        str(document["profile"]),
        str(document.get("about", "")),
        closeness if _whole(closeness) else 0,
        tuple(terms),
        tuple(map(str, lacks)) if isinstance(lacks, Listed) else (),
        _workload(document, file, faults),
        warnings if _whole(warnings) else 0,
    )


def _term(
    entry: Any,
    file: str,
    line: int,
    named: Mapping[str, Node],
    faults: list[Fault],
    known: Callable[[str], bool],
) -> Term | None:
    if not isinstance(entry, Mapped) or not {"name", "weight", "value"} <= set(entry):
        faults.append(Fault(file, line, "a term has a name, a weight and a value"))
        return None
    if not _whole(entry["weight"]):
        said = f"the weight of {entry['name']!r} is a whole number up to {HEAVIEST:,}, not {entry['weight']!r}"
        faults.append(Fault(file, entry.line_of("weight"), said))
        return None
    for key in sorted(set(map(str, entry)) - _TERM_KEYS):
        faults.append(Fault(file, entry.line_of(key), f"unknown key {key!r}"))
    if not isinstance(entry.get("joint", False), bool):
        faults.append(Fault(file, entry.line_of("joint"), "joint is true or false"))
    try:
        node = parse(str(entry["value"]), named)
    except ExpressionError as fault:
        faults.append(Fault(file, entry.line_of("value"), str(fault)))
        return None
    for name in sorted(names(node)):
        if not known(name):
            near = difflib.get_close_matches(name, list(named), 1)
            hint = f"; do you mean {near[0]}?" if near else ""
            faults.append(Fault(file, entry.line_of("value"), f"{name} is no flag, fact or shared expression{hint}"))
    return Term(str(entry["name"]), entry["weight"], str(entry.get("about", "")), node, entry.get("joint") is True)


def _workload(document: Mapped, file: str, faults: list[Fault]) -> tuple[int, int, int]:
    given = document.get("workload", Mapped(1))
    if isinstance(given, Mapped) and set(given) <= set(_WORKLOAD):
        values = [given.get(key, usual) for key, usual in zip(_WORKLOAD, USUAL, strict=True)]
        if all(_whole(one) and one > 0 for one in values):
            return values[0], values[1], values[2]
    faults.append(Fault(file, document.line_of("workload"), f"workload has whole numbers: {', '.join(_WORKLOAD)}"))
    return USUAL


def _whole(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and -HEAVIEST <= value <= HEAVIEST
