"""Answers, one after another -> a line of JSON for each, in which values that stand as before are not written anew."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import compress, count
from operator import is_not
from typing import Any

from constraints.values import Value

from .machine import as_json


class Lines:
    """One stream of answers. Most flags end alike, command after command; writing them all costs a quarter of each."""

    def __init__(self) -> None:
        self._entries: dict[tuple[str, ...], _Entries] = {}  # by the flags there are: one for each release

    def line(self, answer: Mapping[str, Any], effective: Mapping[str, Value]) -> str:
        """The answer with the ``effective`` values as its last entry."""
        names = tuple(effective)
        entries = self._entries.get(names)
        if entries is None:
            entries = self._entries[names] = _Entries(names)
        return f'{as_json(answer, None)[:-1]}, "effective": {entries.text(list(effective.values()))}}}'


class _Entries:
    """The entries of an object, as they were written last."""

    def __init__(self, names: tuple[str, ...]) -> None:
        self._heads = [f"{as_json(name, None)}: " for name in names]
        self._texts = [f"{head}null" for head in self._heads]
        self._values: list[Value] = [None] * len(names)

    def text(self, values: list[Value]) -> str:
        # Equal values may still be True and 1; those that are one object are written alike.
        for place in compress(count(), map(is_not, values, self._values)):
            self._texts[place] = self._heads[place] + as_json(values[place], None)
            # One by one: where a value cannot be written, the stream goes on with what was.
            self._values[place] = values[place]
        return f"{{{', '.join(self._texts)}}}"
