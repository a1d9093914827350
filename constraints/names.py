"""The documents that hold ``names`` -> the tree of each name in one release, free of other names."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from .errors import ExpressionError, Fault
from .expression import parse
from .read import Listed, Mapped
from .release import Span, release_key
from .tree import Const, Name, Node, names, substitute

_REVISION_KEYS = frozenset(("since", "until", "is"))


@dataclass(frozen=True, slots=True)
class _Definition:
    file: str
    line: int
    node: Node


def load_names(documents: Mapping[str, Any], release: str, faults: list[Fault]) -> dict[str, Node]:
    """The names of the documents (data by file name) as they stand in ``release``.

    A list is a constant set, a text is an expression. Names may read one another in any order: each tree comes
    out with all of them put in. Whatever is wrong is added to ``faults``: bad expressions, circles, doubles.
    """
    definitions: dict[str, _Definition] = {}
    places: dict[str, str] = {}
    for file, document in documents.items():
        group = document.get("names") if isinstance(document, Mapped) else None
        if not isinstance(group, Mapped):
            faults.append(Fault(file, 1, "must hold `names`: a mapping"))
            continue
        for name, data in group.items():
            line = group.line_of(name)
            if name in places:
                faults.append(Fault(file, line, f"the name {name} is defined at {places[name]} already"))
                continue
            places[name] = f"{file}:{line}"
            chosen = _in_force(name, data, line, release, file, faults)
            node = _tree(name, chosen[0], file, chosen[1], faults) if chosen is not None else None
            if chosen is not None and node is not None:
                definitions[name] = _Definition(file, chosen[1], node)
    settled: dict[str, Node] = {}
    for name in definitions:
        _settle(name, definitions, settled, faults, ())
    return {name: settled[name] for name in definitions}


def _in_force(name: str, data: Any, line: int, release: str, file: str, faults: list[Fault]) -> tuple[Any, int] | None:
    """The value of the revision in force and its line; None when there is none."""
    if not isinstance(data, Mapped):
        return data, line
    revisions = data.get("revisions")
    if not isinstance(revisions, Listed) or set(data) != {"revisions"}:
        faults.append(Fault(file, line, f"the name {name} must be a list, a text, or have `revisions` alone"))
        return None
    spans: list[Span] = []
    found: tuple[Any, int] | None = None
    for revision, at in zip(revisions, revisions.lines, strict=True):
        span = _span(revision, file, at, faults)
        if span is None:
            continue
        if any(span.overlaps(other) for other in spans):
            faults.append(Fault(file, at, f"two revisions of {name} hold in one release"))
        spans.append(span)
        if release in span:
            found = revision["is"], revision.line_of("is")
    return found


def _span(revision: Any, file: str, line: int, faults: list[Fault]) -> Span | None:
    if not isinstance(revision, Mapped) or "is" not in revision or not set(revision) <= _REVISION_KEYS:
        faults.append(Fault(file, line, "a revision has `is`, `since` and `until`"))
        return None
    since, until = revision.get("since"), revision.get("until")
    try:
        for bound in (since, until):
            if bound is not None:
                release_key(str(bound).removeprefix("<="))
    except ValueError as fault:
        faults.append(Fault(file, line, str(fault)))
        return None
    return Span(None if since is None else str(since), None if until is None else str(until))


def _tree(name: str, value: Any, file: str, line: int, faults: list[Fault]) -> Node | None:
    if isinstance(value, Listed):
        if all(item is None or isinstance(item, (str, int, float, bool)) for item in value):
            return Const(tuple(value))
        faults.append(Fault(file, line, f"the set {name} may hold plain values alone"))
        return None
    if isinstance(value, str):
        try:
            return parse(value)
        except ExpressionError as fault:
            faults.append(Fault(file, line, f"{name}: {fault}"))
            return None
    if isinstance(value, (bool, int, float)):
        return Const(value)
    faults.append(Fault(file, line, f"the name {name} has no value"))
    return None


def _settle(
    name: str,
    definitions: Mapping[str, _Definition],
    settled: dict[str, Node],
    faults: list[Fault],
    above: tuple[str, ...],
) -> Node:
    if name in settled:
        return settled[name]
    definition = definitions[name]
    if name in above:
        circle = " -> ".join((*above[above.index(name) :], name))
        faults.append(Fault(definition.file, definition.line, f"names go in a circle: {circle}"))
        return Name(name)
    parts = {
        other: _settle(other, definitions, settled, faults, (*above, name))
        for other in sorted(names(definition.node))
        if other in definitions
    }
    settled[name] = substitute(definition.node, parts)
    return settled[name]
