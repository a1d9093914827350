"""Shared expressions under known values, as numbers and intervals."""

from __future__ import annotations

import math
import sys
from collections.abc import Mapping
from dataclasses import dataclass

from constraints.evaluate import evaluate
from constraints.tree import Node
from constraints.values import Env, Value


@dataclass(frozen=True, slots=True)
class Interval:
    """An estimate between what is certain: ``least <= likely <= most``."""

    least: float
    likely: float
    most: float

    def __contains__(self, value: float) -> bool:
        return self.least <= value <= self.most

    def scaled(self, factor: float) -> Interval:
        """Every bound times ``factor``."""
        return Interval(self.least * factor, self.likely * factor, self.most * factor)


class _Open(dict[str, Value]):
    """Values by name; what is not there is unset."""

    def __missing__(self, name: str) -> Value:
        return None


class Known:
    """Shared expressions and values by name."""

    def __init__(self, names: Mapping[str, Node], values: Env) -> None:
        self._names = names
        self._values = _Open(values)

    def value(self, name: str) -> Value:
        node = self._names.get(name)
        return self._values[name] if node is None else evaluate(node, self._values)

    def holds(self, node: Node) -> bool:
        """Whether an expression is true."""
        return evaluate(node, self._values) is True

    def number(self, name: str) -> float | None:
        value = self.value(name)
        if isinstance(value, bool) or not isinstance(value, int | float):
            return None
        # A whole number of any size can be typed; no estimate is about one that a float cannot hold.
        if abs(value) <= sys.float_info.max:
            return value
        return math.inf if value > 0 else -math.inf

    def interval(self, name: str) -> Interval | None:
        bounds = self.number(name + "_least"), self.number(name), self.number(name + "_most")
        least, likely, most = bounds
        return None if least is None or likely is None or most is None else Interval(least, likely, most)
