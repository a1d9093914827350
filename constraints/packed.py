"""A mapping whose values stay pickled until one is asked for: of hundreds of config classes a command needs three."""

from __future__ import annotations

import pickle
from collections.abc import Iterator, Mapping
from typing import TypeVar

Kept = TypeVar("Kept")


class Packed(Mapping[str, Kept]):
    """``values`` by name, each unpacked when it is first looked up."""

    def __init__(self, values: Mapping[str, Kept]) -> None:
        self._packed = {name: pickle.dumps(value, protocol=pickle.HIGHEST_PROTOCOL) for name, value in values.items()}
        self._unpacked: dict[str, Kept] = {}

    def __getitem__(self, name: str) -> Kept:
        if name not in self._unpacked:
            kept: Kept = pickle.loads(self._packed[name])
            self._unpacked[name] = kept
        return self._unpacked[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._packed)

    def __len__(self) -> int:
        return len(self._packed)
