"""The safetensors files beside a config.json -> how experts are stored, from one header, or why it cannot be read."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from constraints.plainly import plainly

INDEX_FILE = "model.safetensors.index.json"
SINGLE_FILE = "model.safetensors"
# The longest header safetensors itself accepts.
MAX_HEADER_BYTES = 100_000_000
# Its length in bytes stands before it.
_LENGTH = 8


class Weights(NamedTuple):
    """What weight files tell: the stored type of ``experts`` (None: none found), and what could not be read."""

    experts: str | None = None
    unread: str = ""


class _Unreadable(Exception):
    """A file that is there and does not hold what it should."""


def stored_weights(folder: Path) -> Weights:
    """The stored type of the first expert weight (``F8_E4M3``, ``BF16``, ...) in the first file that holds experts.

    SGLang takes what it cannot read for absent, and so does this; but it is said.
    """
    try:
        shard = _shard(folder)
        header = _header(folder / shard) if shard and _is_there(folder / shard) else {}
    except _Unreadable as fault:
        return Weights(None, str(fault))
    for name, entry in header.items():
        if _is_expert(name) and isinstance(entry, Mapping):
            found = entry.get("dtype")
            return Weights(found if isinstance(found, str) else None)
    return Weights()


def _is_expert(name: str) -> bool:
    return "experts" in name and "weight" in name


def _shard(folder: Path) -> str | None:
    """The first file with expert weights; without any, the first file."""
    index = folder / INDEX_FILE
    if not _is_there(index):
        return SINGLE_FILE if _is_there(folder / SINGLE_FILE) else None
    places = _object(_bytes(index), index.name).get("weight_map")
    if not isinstance(places, Mapping):
        raise _Unreadable(f"{index.name} has no weight_map")
    files = sorted({str(file) for name, file in places.items() if _is_expert(name)}) or sorted(
        {str(file) for file in places.values()}
    )
    # An index names files of its own folder; what leads elsewhere is not opened.
    if files and Path(files[0]).name != files[0]:
        raise _Unreadable(f"{index.name} names a file outside of the folder")
    return files[0] if files else None


def _is_there(file: Path) -> bool:
    try:
        return file.exists()
    except (OSError, ValueError) as fault:  # an index can name what no file is called
        raise _Unreadable(f"{file.name} cannot be read: {plainly(fault)}") from None


def _header(file: Path) -> Mapping[str, Any]:
    begun = _bytes(file, _LENGTH)
    if len(begun) < _LENGTH:
        raise _Unreadable(f"{file.name} is cut off")
    length = int.from_bytes(begun, "little")
    if length > MAX_HEADER_BYTES:
        raise _Unreadable(f"{file.name} is no safetensors file: its header would have {length:,} bytes")
    header = _bytes(file, _LENGTH + length)[_LENGTH:]
    if len(header) < length:
        raise _Unreadable(f"{file.name} is cut off within its header")
    return _object(header, f"the header of {file.name}")


def _bytes(file: Path, most: int = -1) -> bytes:
    try:
        with file.open("rb") as data:
            return data.read(most)
    except OSError as fault:
        raise _Unreadable(f"{file.name} cannot be read: {plainly(fault)}") from None


def _object(text: bytes, what: str) -> Mapping[str, Any]:
    try:
        data = json.loads(text)
    except (ValueError, RecursionError):
        raise _Unreadable(f"{what} is not JSON") from None
    if not isinstance(data, dict):
        raise _Unreadable(f"{what} is no JSON object")
    return data
