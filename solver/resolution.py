"""What a run of the program has come to: values as they stand, writes in order, rules that do not hold."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from constraints.schema import HARD, Operation
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

    __slots__ = ("_broken", "_held", "_operations", "_stop", "_writes", "env")

    def __init__(
        self, operations: Sequence[Operation], facts: Env, initial: Mapping[str, Value], *, stop: bool
    ) -> None:
        """With ``stop`` the run ends at the first hard rule that is broken."""
        self.env = State(facts)
        self.env.update(initial)
        self._operations = operations
        self._stop = stop
        self._writes: list[Write] = []
        self._broken: list[Operation] = []
        self._held: list[tuple[Operation, str, Value]] = []

    def write(self, place: int, pairs: Iterable[tuple[str, Value]]) -> None:
        """Let each target take its value."""
        for target, value in pairs:
            self._write(self._operations[place], target, value)

    def hold(self, place: int, pairs: Iterable[tuple[str, Value]]) -> None:
        """The same in a deferred step: seen when the step is left, but for locals."""
        operation = self._operations[place]
        for target, value in pairs:
            if target.startswith("local."):
                self._write(operation, target, value)
            else:
                self._held.append((operation, target, value))

    def release(self) -> None:
        """Leave a deferred step."""
        for operation, target, value in self._held:
            self._write(operation, target, value)
        self._held.clear()

    def broken(self, place: int) -> bool:
        """Note a requirement that does not hold, and say whether the run ends here: what is held is then lost."""
        operation = self._operations[place]
        self._broken.append(operation)
        return self._stop and operation.rule.kind in HARD

    def resolution(self) -> Resolution:
        """All that came of it."""
        return Resolution(self.env, tuple(self._writes), tuple(self._broken))

    def _write(self, operation: Operation, target: str, value: Value) -> None:
        before = self.env[target]
        if not same(before, value):
            self.env[target] = value
            self._writes.append(Write(operation, target, before, value))


class State(dict[str, Value]):
    """Values by name; a local that nothing has written yet is unset."""

    def __missing__(self, key: str) -> Value:
        return None
