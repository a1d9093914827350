"""The variables file -> what an open question may choose, for one release."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from typing import Any

from .errors import ExpressionError, Fault
from .expression import parse
from .preferences import Choosable
from .read import Mapped
from .release import Span
from .schema import Flag
from .tree import Node
from .values import Value

_KEYS = frozenset(
    ("name", "since", "until", "flags", "values", "patterns", "product", "drop", "keep", "relevant", "complete", "idle")
)


def load_variables(
    document: Mapped | None,
    file: str,
    release: str,
    flags: Mapping[str, Flag],
    named: Mapping[str, Node],
    faults: list[Fault],
) -> tuple[Choosable, ...]:
    """The choosable variables of a release; flags that it does not have are left out."""
    found = []
    for entry in (document if document is not None else Mapped(1)).get("variables") or []:
        for key in set(entry) - _KEYS:
            faults.append(Fault(file, entry.line_of(key), f"unknown key {key!r}"))
        names = tuple(str(flag) for flag in entry.get("flags") or [])
        if not names:
            faults.append(Fault(file, entry.line, "a variable needs flags"))
        span = Span(entry.get("since"), entry.get("until"))
        if names and release in span and all(name in flags for name in names):
            found.append(_choosable(entry, names, file, flags, named, faults))
    return tuple(found)


def _choosable(
    entry: Mapped,
    names: tuple[str, ...],
    file: str,
    flags: Mapping[str, Flag],
    named: Mapping[str, Node],
    faults: list[Fault],
) -> Choosable:
    def node(key: str) -> Node | None:
        if key not in entry:
            return None
        try:
            return parse(str(entry[key]), named)
        except ExpressionError as fault:
            faults.append(Fault(file, entry.line_of(key), str(fault)))
            return None

    values = entry.get("values")
    chosen = dict.fromkeys(choice for name in names for choice in flags[name].choices or ())
    listed = tuple(chosen if values == "choices" else values or ())
    patterns = entry.get("patterns")
    if patterns:
        rows = _expand(patterns, listed)
    elif "product" in entry:
        lists = [[None if one == "unset" else one for one in entry["product"].get(flag, ["unset"])] for flag in names]
        rows = tuple(itertools.product(*lists))
    else:
        rows = tuple((value,) for value in (None, *listed))
    # A list may serve many releases, and the flags of a shape need not have the same choices.
    rows = tuple(row for row in rows if all(map(_takes, (flags[name] for name in names), row)))
    return Choosable(
        name=str(entry.get("name", names[0])),
        flags=names,
        values=rows,
        droppable=_droppable(entry.get("drop", "each"), names),
        keep=node("keep"),
        relevant=node("relevant"),
        complete=bool(entry.get("complete", False)),
        idle=tuple((str(flag), tuple(others)) for flag, others in (entry.get("idle") or {}).items()),
    )


def _takes(flag: Flag, value: Value) -> bool:
    return value is None or flag.choices is None or value in flag.choices


def _droppable(drop: Any, names: tuple[str, ...]) -> tuple[tuple[str, ...], ...]:
    if drop == "each":
        return tuple((name,) for name in names)
    return (names,) if drop == "together" else tuple(tuple(str(name) for name in group) for group in drop)


def _expand(patterns: Any, values: tuple[Value, ...]) -> tuple[tuple[Value, ...], ...]:
    rows: dict[tuple[Value, ...], None] = {}
    for pattern in patterns:
        letters = sorted({word for word in pattern if isinstance(word, str) and len(word) == 1})
        for filled in _fillings(letters, values):
            rows[tuple(filled.get(word, word) if word != "unset" else None for word in pattern)] = None
    return tuple(rows)


def _fillings(letters: list[str], values: tuple[Value, ...]) -> list[dict[str, Value]]:
    fillings: list[dict[str, Value]] = [{}]
    for letter in letters:
        fillings = [
            {**filling, letter: value} for filling in fillings for value in values if value not in filling.values()
        ]
    return fillings
