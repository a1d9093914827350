"""The documents of ``gpus/`` -> a `Gpu` by name, and the name a person meant by another spelling."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from .errors import Fault
from .gpu_names import spelling
from .gpu_schema import Gpu, Gpus, Measures
from .read import Listed, Mapped
from .values import Value

_NEEDED: dict[str, tuple[type, ...]] = {
    "gpu.vendor": (str,),
    "gpu.name": (str,),
    "gpu.major": (int, type(None)),
    "gpu.minor": (int, type(None)),
    "gpu.memory_mib": (int,),
    "gpu.sm_count": (int,),
    "gpu.shared_memory_optin": (int,),
}
_NEUTRAL: dict[str, Value] = {"gpu.gcn_arch": "", "gpu.integrated": False, "gpu.amx": False}
_KEYS = frozenset(("like", "generic", "aliases", "facts", "measures", "sources"))
_SPEEDS = ("bandwidth_gbs", "link_gbs", "pcie_gbs", "node_gbs")


@dataclass(frozen=True, slots=True)
class _Entry:
    file: str
    line: int
    data: Mapped


def load_gpus(documents: Mapping[str, Any], faults: list[Fault]) -> Gpus:
    """The GPUs of the documents (data by file name), in order; whatever is wrong is added to ``faults``."""
    entries: dict[str, _Entry] = {}
    for file, document in documents.items():
        group = document.get("gpus") if isinstance(document, Mapped) else None
        if not isinstance(group, Mapped):
            faults.append(Fault(file, 1, "must hold `gpus`: a mapping"))
            continue
        for name, data in group.items():
            line = group.line_of(name)
            if not isinstance(data, Mapped):
                faults.append(Fault(file, line, f"the GPU {name} must be a mapping"))
            elif name in entries:
                faults.append(Fault(file, line, f"the GPU {name} stands in {entries[name].file} already"))
            else:
                entries[name] = _Entry(file, line, data)
    built: dict[str, Gpu] = {}
    for name in entries:
        _build(name, entries, built, faults, ())
    gpus = Gpus((name, built[name]) for name in entries if name in built)
    _check_spellings(gpus, entries, faults)
    return gpus


def _build(
    name: str, entries: Mapping[str, _Entry], built: dict[str, Gpu], faults: list[Fault], above: tuple[str, ...]
) -> Gpu | None:
    if name in built:
        return built[name]
    entry = entries[name]
    data = entry.data
    base: Gpu | None = None
    like = data.get("like")
    if like is not None:
        at = data.line_of("like")
        if like in (*above, name):
            faults.append(Fault(entry.file, at, f"{name} is like itself"))
            return None
        if like not in entries:
            faults.append(Fault(entry.file, at, f"{name} is like {like}, which is no GPU here"))
            return None
        base = _build(like, entries, built, faults, (*above, name))
        if base is None:
            return None
    for key in data:
        if key not in _KEYS:
            faults.append(Fault(entry.file, data.line_of(key), f"{name}: {key!r} is no field of a GPU"))
    facts = _facts(name, entry, base, faults)
    measures = _measures(name, entry, base, faults)
    generic = data.get("generic", False)
    if not isinstance(generic, bool):
        faults.append(Fault(entry.file, data.line_of("generic"), f"{name}: `generic` must be true or false"))
    if facts is None or measures is None:
        return None
    sources = _texts(name, "sources", entry, faults) or (base.sources if base is not None else ())
    if not sources:
        faults.append(Fault(entry.file, entry.line, f"{name} names no source"))
    built[name] = Gpu(name, _texts(name, "aliases", entry, faults), facts, measures, sources, generic is True)
    return built[name]


def _facts(name: str, entry: _Entry, base: Gpu | None, faults: list[Fault]) -> dict[str, Value] | None:
    own = entry.data.get("facts", Mapped(entry.line))
    if not isinstance(own, Mapped):
        faults.append(Fault(entry.file, entry.line, f"{name}: `facts` must be a mapping"))
        return None
    facts: dict[str, Value] = dict(base.facts) if base is not None else dict(_NEUTRAL)
    sound = True
    for key, value in own.items():
        wanted = _NEEDED.get(key) or ((type(_NEUTRAL[key]),) if key in _NEUTRAL else None)
        if wanted is None:
            faults.append(Fault(entry.file, own.line_of(key), f"{name}: {key!r} is no fact of a GPU"))
        elif type(value) not in wanted:
            faults.append(Fault(entry.file, own.line_of(key), f"{name}: {key} cannot be {value!r}"))
            sound = False
        facts[key] = value
    for key in _NEEDED:
        if key not in facts:
            faults.append(Fault(entry.file, entry.line, f"{name}: {key} is missing"))
            sound = False
    return facts if sound else None


def _measures(name: str, entry: _Entry, base: Gpu | None, faults: list[Fault]) -> Measures | None:
    own = entry.data.get("measures", Mapped(entry.line))
    if not isinstance(own, Mapped):
        faults.append(Fault(entry.file, entry.line, f"{name}: `measures` must be a mapping"))
        return None
    before = len(faults)
    speeds: dict[str, float | None] = {key: getattr(base.measures, key) if base else None for key in _SPEEDS}
    tflops: Mapping[str, float] = base.measures.tflops if base is not None else {}
    for key, value in own.items():
        if key == "tflops" and isinstance(value, Mapped) and all(map(_positive, value.values())):
            tflops = {dtype: float(peak) for dtype, peak in value.items()}
        elif key in _SPEEDS and (_positive(value) or value is None):
            speeds[key] = None if value is None else float(value)
        else:
            faults.append(Fault(entry.file, own.line_of(key), f"{name}: {key} cannot be {value!r}"))
    bandwidth = speeds["bandwidth_gbs"]
    if bandwidth is None or not tflops:
        faults.append(Fault(entry.file, entry.line, f"{name}: bandwidth_gbs or tflops is missing"))
    if bandwidth is None or len(faults) > before:
        return None
    return Measures(bandwidth, tflops, speeds["link_gbs"], speeds["pcie_gbs"], speeds["node_gbs"])


def _positive(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and value > 0


def _texts(name: str, key: str, entry: _Entry, faults: list[Fault]) -> tuple[str, ...]:
    value = entry.data.get(key, Listed(entry.line))
    if isinstance(value, Listed) and all(isinstance(item, str) for item in value):
        return tuple(value)
    faults.append(Fault(entry.file, entry.data.line_of(key), f"{name}: `{key}` must be a list of texts"))
    return ()


def _check_spellings(gpus: Mapping[str, Gpu], entries: Mapping[str, _Entry], faults: list[Fault]) -> None:
    owners: dict[str, str] = {}
    for name, gpu in gpus.items():
        for folded in {spelling(text) for text in (name, *gpu.aliases)}:
            owner = owners.setdefault(folded, name)
            if owner != name:
                entry = entries[name]
                faults.append(Fault(entry.file, entry.line, f"{name} and {owner} are both spelled {folded!r}"))
