"""The documents of ``evidence/`` -> what others run and what SGLang advises against, and the names terms read it by.

``evidence.KIND.NAME`` is true where what NAME ends as (``kv_cache_dtype``, ``attention.decode``, ``typed.x``) is among
the values of an entry of this kind that holds for the model and the GPU.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from .errors import ExpressionError, Fault
from .expression import parse
from .preferences import Evidence
from .read import Listed, Mapped
from .release import Span
from .tree import FALSE, All, Any_, Compare, Const, Node
from .values import Value

KINDS = ("published", "chosen", "deprecated")
PURPOSES = ("throughput", "latency", "balanced")
_KEYS = frozenset(("id", "kind", "purpose", "about", "since", "until", "when", "uses", "engines", "sources"))


def load_evidence(
    documents: Mapping[str, Any], release: str, named: Mapping[str, Node], faults: list[Fault]
) -> tuple[Evidence, ...]:
    """The entries of the documents (data by file name) that are about ``release``; what is wrong goes to ``faults``."""
    found: dict[str, Evidence] = {}
    for file, document in documents.items():
        entries = document.get("evidence") if isinstance(document, Mapped) else None
        if not isinstance(entries, Listed):
            faults.append(Fault(file, 1, "must hold `evidence`: a list"))
            continue
        for entry, line in zip(entries, entries.lines, strict=True):
            one = _entry(entry, file, line, named, faults)
            if one is None:
                continue
            if one.id in found:
                faults.append(Fault(file, line, f"the entry {one.id} is there twice"))
            try:
                if release in Span(entry.get("since"), entry.get("until")):
                    found[one.id] = one
            except ValueError as fault:
                faults.append(Fault(file, line, str(fault)))
    return tuple(found.values())


def _entry(entry: Any, file: str, line: int, named: Mapping[str, Node], faults: list[Fault]) -> Evidence | None:
    if not isinstance(entry, Mapped) or not isinstance(entry.get("uses"), Mapped) or "id" not in entry:
        faults.append(Fault(file, line, "an entry has an id, a kind, and `uses`: values by name"))
        return None
    for key in set(entry) - _KEYS:
        faults.append(Fault(file, entry.line_of(key), f"unknown key {key!r}"))
    kind, purpose = str(entry.get("kind")), str(entry.get("purpose", ""))
    if kind not in KINDS:
        faults.append(Fault(file, line, f"kind is one of {', '.join(KINDS)}"))
    if purpose not in ("", *PURPOSES):
        faults.append(Fault(file, line, f"purpose is one of {', '.join(PURPOSES)}"))
    if not entry.get("sources"):
        faults.append(Fault(file, line, f"{entry['id']} names no source"))
    when = None
    try:
        when = parse(str(entry["when"]), named) if "when" in entry else None
    except ExpressionError as fault:
        faults.append(Fault(file, entry.line_of("when"), str(fault)))
    uses: dict[str, tuple[Value, ...]] = {}
    for name, values in entry["uses"].items():
        if isinstance(values, Listed):
            uses[str(name)] = tuple(values)
        else:
            faults.append(Fault(file, entry["uses"].line_of(name), f"{name} takes a list of values"))
    sources, engines = (tuple(str(text) for text in entry.get(key) or ()) for key in ("sources", "engines"))
    return Evidence(str(entry["id"]), kind, purpose, str(entry.get("about", "")), when, uses, sources, engines)


def evidence_names(entries: Iterable[Evidence], named: Mapping[str, Node]) -> dict[str, Node]:
    """``evidence.KIND.NAME``, and ``evidence.KIND.PURPOSE.NAME`` of what is published for that purpose, as trees.

    Every kind has every name that some entry is about, so that a term reads false where nobody said anything.
    """
    parts: dict[str, list[Node]] = {}
    subjects: dict[str, None] = {}
    for entry in entries:
        for name, values in entry.uses.items():
            subjects[name] = None
            used = Compare("in", parse(name, named), Const(values))
            holds = used if entry.when is None else All((entry.when, used))
            parts.setdefault(f"evidence.{entry.kind}.{name}", []).append(holds)
            if entry.purpose:
                parts.setdefault(f"evidence.{entry.kind}.{entry.purpose}.{name}", []).append(holds)
    spaces = [f"evidence.{kind}" for kind in KINDS] + [f"evidence.published.{purpose}" for purpose in PURPOSES]
    none: dict[str, Node] = {f"{space}.{name}": FALSE for space in spaces for name in subjects}
    return none | {name: Any_(tuple(found)) for name, found in parts.items()}
