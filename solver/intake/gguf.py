"""The head of a GGUF file -> its metadata and the names of its tensors, in bounded time and memory.

Nothing of the weights is read. Long lists (the vocabulary) are kept as their length alone.
"""

from __future__ import annotations

import mmap
import struct
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from constraints.plainly import plainly

from ..errors import InputError

MAGIC = b"GGUF"
VERSIONS = (2, 3)
# Far above any published file, and small enough that a hostile one is refused within a second.
MAX_FIELDS = 20_000
MAX_TENSORS = 200_000
MAX_ITEMS = 2_000_000
MAX_TEXT = 1 << 20
KEPT_ITEMS = 4096
MAX_DIMENSIONS = 8
_TYPE_AND_PLACE = 4 + 8
# Number types of the format by their code: how struct reads them. 8 is a text, 9 a list.
_NUMBERS = {0: "B", 1: "b", 2: "H", 3: "h", 4: "I", 5: "i", 6: "f", 7: "?", 10: "Q", 11: "q", 12: "d"}
_TEXT, _LIST = 8, 9

Scalar = str | int | float | bool


@dataclass(frozen=True, slots=True)
class GgufFile:
    """``fields`` by key: numbers, texts, short lists of numbers. ``lengths`` of lists, ``tensors`` with shapes."""

    fields: Mapping[str, Scalar | tuple[Scalar, ...]]
    lengths: Mapping[str, int]
    tensors: Mapping[str, tuple[int, ...]]


def is_gguf(path: Path) -> bool:
    """Whether SGLang takes a file for GGUF: by its ending, else by its first four bytes."""
    if path.suffix == ".gguf":
        return True
    try:
        with path.open("rb") as file:
            return file.read(4) == MAGIC
    except OSError:
        return False


def read_gguf(path: Path) -> GgufFile:
    """The head of the file.

    Raises InputError: not readable, not GGUF, cut off, or with numbers that no file has.
    """
    try:
        with path.open("rb") as file:
            if file.read(4) != MAGIC:
                raise InputError("does not begin as a GGUF file", str(path), "Fetch the file again.")
            with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
                return _Head(data, str(path)).read()
    except OSError as fault:
        raise InputError(f"cannot be read: {plainly(fault)}", str(path)) from None


class _Head:
    """A file being read, from the front."""

    def __init__(self, data: mmap.mmap, where: str) -> None:
        self.data, self.where, self.at, self.order, self.items = data, where, 4, "<", 0

    def read(self) -> GgufFile:
        self._version()
        tensors, fields = self._number("Q"), self._number("Q")
        self._limit("tensors", tensors, MAX_TENSORS)
        self._limit("entries", fields, MAX_FIELDS)
        found: dict[str, Scalar | tuple[Scalar, ...]] = {}
        lengths: dict[str, int] = {}
        for _ in range(fields):
            key, kind = self._text(), self._number("I")
            if kind == _LIST:
                value, length = self._list()
                lengths.setdefault(key, length)
                if value is not None:
                    found.setdefault(key, value)
            else:
                found.setdefault(key, self._scalar(kind))
        return GgufFile(found, lengths, dict(self._tensor() for _ in range(tensors)))

    def _version(self) -> None:
        version = self._number("I")
        if version & 0xFFFF == 0:  # written on a machine of the other byte order
            self.order = ">"
            version = int.from_bytes(version.to_bytes(4, "little"), "big")
        if version not in VERSIONS:
            raise self._fault(f"is of version {version} of GGUF; SGLang reads {VERSIONS[0]} and {VERSIONS[1]}")

    def _tensor(self) -> tuple[str, tuple[int, ...]]:
        name, dimensions = self._text(), self._number("I")
        self._limit("dimensions", dimensions, MAX_DIMENSIONS)
        shape = tuple(int(size) for size in self._unpacked(f"{dimensions}Q"))
        self._skip(_TYPE_AND_PLACE)
        return name, shape

    def _list(self) -> tuple[tuple[Scalar, ...] | None, int]:
        kind, length = self._number("I"), self._number("Q")
        self.items += length
        self._limit("list items", self.items, MAX_ITEMS)
        code = _NUMBERS.get(kind)
        if code is None:
            if kind != _TEXT:
                raise self._fault("holds a list of lists, which no model has")
            for _ in range(length):
                self._skip(self._number("Q"))
            return None, length
        if length > KEPT_ITEMS:
            self._skip(length * struct.calcsize(code))
            return None, length
        return self._unpacked(f"{length}{code}"), length

    def _scalar(self, kind: int) -> Scalar:
        if kind == _TEXT:
            return self._text()
        code = _NUMBERS.get(kind)
        if code is None:
            raise self._fault(f"holds a value of the unknown type {kind}")
        found: Scalar = self._unpacked(code)[0]
        return found

    def _text(self) -> str:
        length = self._number("Q")
        self._limit("bytes in one text", length, MAX_TEXT)
        begun = self.at
        self._skip(length)
        return self.data[begun : self.at].decode("utf-8", errors="replace")

    def _number(self, code: str) -> int:
        return int(self._unpacked(code)[0])

    def _unpacked(self, code: str) -> tuple[Scalar, ...]:
        form = self.order + code
        begun = self.at
        self._skip(struct.calcsize(form))
        return struct.unpack_from(form, self.data, begun)

    def _skip(self, size: int) -> None:
        self.at += size
        if self.at > len(self.data):
            raise self._fault("is cut off within its header", "Fetch the file again.")

    def _limit(self, what: str, number: int, most: int) -> None:
        if number > most:
            raise self._fault(f"says it has {number} {what}, more than any model", "Fetch the file again.")

    def _fault(self, message: str, hint: str | None = None) -> InputError:
        return InputError(message, self.where, hint)
