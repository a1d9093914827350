"""A config and the kinds its class declares -> every key whose value is of another kind, before anything is made of it.

SGLang's config classes stop at such a value; where one does not look, the model's code does, later and less clearly.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from constraints.models_schema import KeyKind, Kinds

from .config_view import ConfigView
from .errors import InputError

_SAID = {
    "whole": "a whole number",
    "number": "a number",
    "truth": "true or false",
    "text": "a text",
    "wholes": "a list of whole numbers",
    "texts": "a list of texts",
    "list": "a list",
    "object": "an object",
}
_HINT = "Write it as the published checkpoint has it, or fetch the file again."
MOST_SHOWN = 5
LONGEST = 40


def expect_kinds(top: ConfigView, known: Kinds, where: str) -> None:
    """Hold a config, and what was asked to go over it, against the kinds of its keys.

    Raises InputError with every key at fault.
    """
    faults = list(dict.fromkeys(_faults(top, known)))
    if faults:
        more = f"; and {len(faults) - MOST_SHOWN} more" if len(faults) > MOST_SHOWN else ""
        raise InputError("; ".join(faults[:MOST_SHOWN]) + more, where, _HINT)


def _faults(view: ConfigView, known: Kinds) -> Iterator[str]:
    for values in (view.raw, view.over):
        yield from _of_values(values, view, known)
    for name, key in known.counts.items():
        yield from _miscounted(view, name, key)
    for key in sorted({*view.raw, *view.cls.parts}):
        part = view.get(key) if key in view.cls.parts or key.endswith("_config") else None
        if isinstance(part, ConfigView) and part.raw is not view.raw:
            yield from _faults(part, known)


def _of_values(values: Mapping[str, Any], view: ConfigView, known: Kinds) -> Iterator[str]:
    """The faults of one level; a dotted name is a key of an object."""
    for name, entry in known.keys.items():
        first, *rest = name.split(".")
        if first not in values:
            continue
        holder: Any = values
        for step in (first, *rest)[:-1]:
            holder = holder.get(step) if isinstance(holder, Mapping) else None
        last = (first, *rest)[-1]
        if isinstance(holder, Mapping) and last in holder and not _fits(holder[last], entry, last, view, known):
            allowed = " or ".join(_SAID[one] for one in _allowed(entry, view, known, last))
            more = " above zero" if entry.above_zero else ""
            yield f"{view.path}{name} is {shown(holder[last])}, and has to be {allowed}{more}"


def _fits(value: Any, entry: KeyKind, key: str, view: ConfigView, known: Kinds) -> bool:
    if value is None:
        return not entry.never_null and not (
            _declares(view, key, known) and view.cls.values.get(key) is not None and view.cls.name not in entry.nullable
        )
    if entry.blank and not value:
        return True
    if entry.above_zero and isinstance(value, int) and value <= 0:
        return False
    return any(_is(value, kind) for kind in _allowed(entry, view, known, key))


def _allowed(entry: KeyKind, view: ConfigView, known: Kinds, key: str) -> tuple[str, ...]:
    """The kinds a class allows; a class that does not declare the key takes what any class does."""
    if view.cls.name in entry.other:
        return entry.other[view.cls.name]
    if _declares(view, key, known):
        return entry.kinds
    every = dict.fromkeys((*entry.kinds, *(kind for kinds in entry.other.values() for kind in kinds)))
    if "number" in every or "truth" in every:  # nobody looks closely: 0 is as good as false, and 1 as 1.0
        every |= {"whole": None}
    return tuple(every)


def _declares(view: ConfigView, key: str, known: Kinds) -> bool:
    cls = view.cls
    return cls.name not in known.loose and (key in cls.values or key in cls.follow or key in cls.parts)


def _miscounted(view: ConfigView, name: str, key: str) -> Iterator[str]:
    # As the file has them: what is typed over a config is not counted again.
    members, number = view.raw.get(name), view.raw.get(key, view.cls.values.get(key))
    if isinstance(members, (list, tuple)) and _is(number, "whole") and len(members) != number:
        yield f"{view.path}{name} has {len(members)} members, and {key} is {number}"


def _is(value: Any, kind: str) -> bool:
    match kind:
        case "whole":
            return isinstance(value, int) and not isinstance(value, bool)
        case "number":
            return isinstance(value, float)
        case "truth":
            return isinstance(value, bool)
        case "text":
            return isinstance(value, str)
        case "wholes":
            return isinstance(value, (list, tuple)) and all(_is(one, "whole") for one in value)
        case "texts":
            return isinstance(value, (list, tuple)) and all(isinstance(one, str) for one in value)
        case "list":
            return isinstance(value, (list, tuple))
        case _:
            return isinstance(value, Mapping)


def shown(value: Any) -> str:
    """A value as JSON writes it, cut where it is long."""
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) > 10**LONGEST:
        return "a number of many digits"
    text = json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 3]}..."
