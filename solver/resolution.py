"""What a run of the program has come to: values as they stand, writes in order, rules that do not hold."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from constraints.schema import Operation
from constraints.values import Env, Value, same

# What an operation does: it writes, often nothing, or (None) it is a requirement that does not hold.
Outcome = tuple[tuple[str, Value], ...] | None


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
    """Where a run stands. What a deferred step writes is held until the step is left."""

    __slots__ = ("_held", "_scope", "broken", "env", "writes")

    def __init__(self, facts: Env, initial: Mapping[str, Value]) -> None:
        self.env = State(facts)
        self.env.update(initial)
        self.writes: list[Write] = []
        self.broken: list[Operation] = []
        self._held: list[tuple[Operation, str, Value]] = []
        self._scope = 0

    def enter(self, operation: Operation) -> None:
        """Go on to this operation."""
        if self._held and operation.scope != self._scope:
            self._release()
        self._scope = operation.scope

    def take(self, operation: Operation, outcome: Outcome) -> None:
        """Let the operation do what it does."""
        if outcome is None:
            self.broken.append(operation)
            return
        for target, value in outcome:
            if operation.scope and not target.startswith("local."):
                self._held.append((operation, target, value))
            else:
                self._apply(operation, target, value)

    def forget(self) -> None:
        """Let what is held never be written."""
        self._held.clear()

    def end(self) -> Resolution:
        """All that came of it."""
        self._release()
        return Resolution(self.env, tuple(self.writes), tuple(self.broken))

    def _release(self) -> None:
        for operation, target, value in self._held:
            self._apply(operation, target, value)
        self._held.clear()

    def _apply(self, operation: Operation, target: str, value: Value) -> None:
        before = self.env[target]
        if not same(before, value):
            self.env[target] = value
            self.writes.append(Write(operation, target, before, value))


class State(dict[str, Value]):
    """Values by name; a local that nothing has written yet is unset."""

    def __missing__(self, key: str) -> Value:
        return None
