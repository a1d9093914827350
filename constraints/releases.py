"""The documents that hold ``releases`` -> a `Release` by name, oldest first, with its images' software facts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .errors import Fault
from .read import Listed, Mapped
from .release import release_key
from .schema import Release
from .values import Value

_KEYS = frozenset(("date", "about", "facts", "images"))
_NAMESPACES = ("runtime.", "package.", "env.")


def load_releases(documents: Mapping[str, Any], faults: list[Fault]) -> dict[str, Release]:
    """The releases of the documents (data by file name); whatever is wrong is added to ``faults``."""
    found: dict[str, Release] = {}
    for file, document in documents.items():
        group = document.get("releases") if isinstance(document, Mapped) else None
        if not isinstance(group, Mapped):
            faults.append(Fault(file, 1, "must hold `releases`: a mapping"))
            continue
        for name, data in group.items():
            line = group.line_of(name)
            if name in found:
                faults.append(Fault(file, line, f"the release {name} stands twice"))
                continue
            release = _release(name, data, file, line, faults)
            if release is not None:
                found[name] = release
    return {name: found[name] for name in sorted(found, key=release_key)}


def _release(name: str, data: Any, file: str, line: int, faults: list[Fault]) -> Release | None:
    try:
        release_key(name)
    except ValueError as fault:
        faults.append(Fault(file, line, str(fault)))
        return None
    if not isinstance(data, Mapped) or not isinstance(data.get("images"), Mapped):
        faults.append(Fault(file, line, f"the release {name} must be a mapping with `images`"))
        return None
    for key in data:
        if key not in _KEYS:
            faults.append(Fault(file, data.line_of(key), f"{key!r} is no field of a release"))
    for key in ("date", "about"):
        if not isinstance(data.get(key), str):
            faults.append(Fault(file, data.line_of(key), f"the release {name} needs a text `{key}`"))
    common = _facts(data.get("facts", Mapped(line)), file, line, faults)
    own: Mapped = data["images"]
    images = {vendor: {**common, **_facts(facts, file, own.line_of(vendor), faults)} for vendor, facts in own.items()}
    return Release(name, str(data.get("date", "")), str(data.get("about", "")), images)


def _facts(data: Any, file: str, line: int, faults: list[Fault]) -> dict[str, Value]:
    if not isinstance(data, Mapped):
        faults.append(Fault(file, line, "facts must be a mapping"))
        return {}
    facts: dict[str, Value] = {}
    for key, value in data.items():
        if not key.startswith(_NAMESPACES):
            faults.append(Fault(file, data.line_of(key), f"{key!r} is none of {', '.join(_NAMESPACES)}"))
        elif isinstance(value, Listed) and all(isinstance(item, int) for item in value):
            facts[key] = tuple(value)
        elif value is None or isinstance(value, (str, int, float, bool)):
            facts[key] = value
        else:
            faults.append(Fault(file, data.line_of(key), f"{key} is no value"))
    return facts
