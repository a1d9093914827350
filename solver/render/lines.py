"""Answers, one after another -> a line of JSON for each, in which values that stand as before are not written anew."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from constraints.values import Value

from .machine import as_json


class Lines:
    """One stream of answers. Most flags end alike, command after command; writing them all costs a quarter of each."""

    def __init__(self) -> None:
        self._last: dict[str, tuple[Value, str]] = {}

    def line(self, answer: Mapping[str, Any], effective: Mapping[str, Value]) -> str:
        """The answer with the ``effective`` values as its last entry."""
        return f'{as_json(answer, None)[:-1]}, "effective": {self._object(effective)}}}'

    def _object(self, found: Mapping[str, Value]) -> str:
        last = self._last
        texts = []
        for name, value in found.items():
            known = last.get(name)
            if known is None or known[0] is not value:  # equal values may still be True and 1
                known = last[name] = (value, f"{as_json(name, None)}: {as_json(value, None)}")
            texts.append(known[1])
        return f"{{{', '.join(texts)}}}"
