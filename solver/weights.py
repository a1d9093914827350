"""The safetensors files beside a config.json -> how the weights of the experts are stored, read from one header."""

from __future__ import annotations

import json
import struct
from collections.abc import Mapping
from pathlib import Path
from typing import Any

INDEX_FILE = "model.safetensors.index.json"
SINGLE_FILE = "model.safetensors"
# The longest header safetensors itself accepts.
MAX_HEADER_BYTES = 100_000_000


def experts_type(folder: Path) -> str | None:
    """The stored type of the first expert weight (``F8_E4M3``, ``BF16``, ...), None where there is none.

    As SGLang does, it reads the first file that holds experts, and takes what it cannot read for absent.
    """
    try:
        shard = _shard(folder)
        header = _header(folder / shard) if shard else {}
    except (OSError, ValueError, RecursionError, struct.error):
        return None
    for name, entry in header.items():
        if _is_expert(name) and isinstance(entry, Mapping):
            found = entry.get("dtype")
            return found if isinstance(found, str) else None
    return None


def _is_expert(name: str) -> bool:
    return "experts" in name and "weight" in name


def _shard(folder: Path) -> str | None:
    """The first file with expert weights; without any, the first file."""
    index = folder / INDEX_FILE
    if not index.exists():
        return SINGLE_FILE if (folder / SINGLE_FILE).exists() else None
    places = _object(index.read_bytes()).get("weight_map")
    if not isinstance(places, Mapping):
        return None
    files = sorted({str(file) for name, file in places.items() if _is_expert(name)}) or sorted(
        {str(file) for file in places.values()}
    )
    # An index names files of its own folder; what leads elsewhere is not opened.
    return files[0] if files and Path(files[0]).name == files[0] else None


def _header(file: Path) -> Mapping[str, Any]:
    with file.open("rb") as weights:
        (length,) = struct.unpack("<Q", weights.read(8))
        if length > MAX_HEADER_BYTES:
            raise ValueError(f"a header of {length} bytes")
        return _object(weights.read(length))


def _object(text: bytes) -> Mapping[str, Any]:
    data = json.loads(text)
    if not isinstance(data, dict):
        raise ValueError("not a JSON object")
    return data
