"""``models/gguf/*.yaml`` -> what a release makes of the headers of GGUF files, by their architecture."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from .compose import Compiled
from .errors import ExpressionError, Fault
from .expression import parse
from .models_schema import GgufHeader, Refused
from .read import Mapped
from .release import Span
from .tree import Const


def headers_of(file: str, document: Mapped, release: str, faults: list[Fault]) -> dict[str, GgufHeader]:
    """The headers that a file describes for a release, under every spelling."""
    found: dict[str, GgufHeader] = {}
    listed: Mapped = document.get("headers") or Mapped(0)
    for name, data in listed.items():
        if not _holds(data, release):
            continue
        base = found.get(str(data.get("like")), GgufHeader("", {}))
        if "like" in data and not base.name:
            faults.append(Fault(file, data.line, f"{name} is like {data['like']}, which does not stand above it"))
        config = data.get("config") or Mapped(0)
        header = GgufHeader(
            name,
            {**base.config, **{key: _run(file, config, key, faults) for key in config}},
            (*base.needs, *(data.get("needs") or ())),
            tuple(_refusals(file, data.get("refuses") or (), release, faults)),
            bool(data.get("unread")),
        )
        found |= dict.fromkeys((name, *(data.get("spelled") or ())), header)
    return {name: header for name, header in found.items() if header.config.get("architectures") or not header.config}


def _refusals(file: str, listed: Iterable[Mapped], release: str, faults: list[Fault]) -> Iterable[Refused]:
    for data in listed:
        if _holds(data, release):
            yield Refused(_run(file, data, "when", faults) if "when" in data else None, str(data["why"]))


def _run(file: str, data: Mapped, key: str, faults: list[Fault]) -> Compiled:
    try:
        return Compiled(parse(str(data[key]), {}))
    except ExpressionError as fault:
        faults.append(Fault(file, data.line_of(key), str(fault)))
        return Compiled(Const(None))


def _holds(data: Mapping[str, Any], release: str) -> bool:
    since, until = data.get("since"), data.get("until")
    return release in Span(since and str(since), until and str(until))
