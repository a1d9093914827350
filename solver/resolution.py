"""What a run of the program has come to: values as they stand, writes in order, rules that do not hold."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from constraints.schema import Operation
from constraints.values import Env, Value, same


class Write(NamedTuple):
    """One flag that one operation gave another value."""

    operation: Operation
    target: str
    before: Value
    after: Value


class Resolution(NamedTuple):
    """What became of a command.

    ``values`` holds every flag, fact and environment variable as it stands at the end; ``writes`` every change in
    order; ``broken`` each operation of kind error, warning or defect that does not hold, in order. SGLang itself stops
    at the first broken error; what follows it here is what would have come next.
    """

    values: Mapping[str, Value]
    writes: tuple[Write, ...]
    broken: tuple[Operation, ...]

    @property
    def refusals(self) -> tuple[Operation, ...]:
        """The broken rules of kind error, in the order SGLang would meet them."""
        return tuple(operation for operation in self.broken if operation.rule.kind == "error")


class Run:
    """What a run has come to so far: what the code of the program calls. Operations are named by their place."""

    __slots__ = ("_broken", "_held", "_operations", "_writes", "env")

    def __init__(self, operations: Sequence[Operation], facts: Env, initial: Mapping[str, Value]) -> None:
        self.env = State(facts)
        self.env.update(initial)
        self._operations = operations
        self._writes: list[Write] = []
        self._broken: list[Operation] = []
        self._held: list[tuple[int, str, Value]] = []

    def write(self, place: int, target: str, value: Value) -> Value:
        """Let the target take its value, and say what then stands there."""
        before = self.env[target]
        if before is value or same(before, value):
            return before
        self.env[target] = value
        self._writes.append(Write(self._operations[place], target, before, value))
        return value

    def hold(self, place: int, target: str, value: Value) -> None:
        """The same in a deferred step: seen when the step is left."""
        self._held.append((place, target, value))

    def release(self) -> bool:
        """Leave a deferred step, and say whether something was held in it."""
        if not self._held:
            return False
        for place, target, value in self._held:
            self.write(place, target, value)
        self._held.clear()
        return True

    def broken(self, place: int) -> None:
        """Note a requirement that does not hold."""
        self._broken.append(self._operations[place])

    def resolution(self) -> Resolution:
        """All that came of it."""
        return Resolution(self.env, tuple(self._writes), tuple(self._broken))


class State(dict[str, Value]):
    """Values by name; a local that nothing has written yet is unset."""

    def __missing__(self, key: str) -> Value:
        return None
