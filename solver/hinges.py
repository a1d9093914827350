"""A run that broke a rule -> the first values that this hung on: where they stand again, it breaks again.

A dynamic slice (Agrawal and Horgan 1990) that keeps what did not happen as well: what an operation did not write hangs
on what its condition read.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from constraints.evaluate import evaluate
from constraints.schema import WRITERS, Operation
from constraints.tree import Node
from constraints.values import Value

from .operations import is_held, targets
from .resolution import Write


class Hinges:
    """What the runs of one program hung on."""

    def __init__(self, program: Sequence[Operation]) -> None:
        self.program = program
        self._places = {id(operation): place for place, operation in enumerate(program)}
        self._left = {operation.scope: place for place, operation in enumerate(program) if operation.scope}
        self._writers: dict[str, list[tuple[int, int]]] = {}
        for place, operation in enumerate(program):
            for target in targets(operation) if operation.rule.kind in WRITERS else ():
                self._writers.setdefault(target, []).append((self._seen(operation, target), place))
        for writers in self._writers.values():
            writers.sort()

    def of(self, operation: Operation, first: Mapping[str, Value], writes: Iterable[Write]) -> tuple[str, ...]:
        """The names whose ``first`` values made a run break an operation; ``writes`` are those of the run, in order."""
        versions: dict[str, list[tuple[int, Value]]] = {}
        for write in writes:
            versions.setdefault(write.target, []).append((self._seen(write.operation, write.target), write.after))
        return _Slice(self, first, versions).names(self._places[id(operation)])

    def before(self, name: str, place: int) -> list[int]:
        """The operations that may have written what is read at a place, the last first."""
        return [one for seen, one in reversed(self._writers.get(name, ())) if seen < place]

    def _seen(self, operation: Operation, target: str) -> int:
        """The place after which others see what an operation writes."""
        return self._left[operation.scope] if is_held(operation, target) else self._places[id(operation)]


class _Slice:
    """What one operation of a run hung on."""

    def __init__(
        self, hinges: Hinges, first: Mapping[str, Value], versions: Mapping[str, Sequence[tuple[int, Value]]]
    ) -> None:
        """``versions``: the values that a name took, each with the place after which it was seen."""
        self._hinges = hinges
        self._first = first
        self._versions = versions
        self._read: list[tuple[str, int]] = []
        self._came: dict[int, tuple[_Standing, Mapping[str, Node]]] = {}

    def names(self, place: int) -> tuple[str, ...]:
        """The names whose first values decided what stood at a place."""
        operation, standing = self._hinges.program[place], _Standing(self, place)
        for node in (operation.when, operation.require):
            if node is not None:
                evaluate(node, standing)
        found: dict[str, None] = {}
        met: set[tuple[str, int | None]] = set()
        while self._read:
            name, at = self._read.pop()
            writers = self._hinges.before(name, at)
            if (name, writers[0] if writers else None) in met:
                continue
            met.add((name, writers[0] if writers else None))
            for writer in writers:
                there, written = self._at(writer)
                if name in written:
                    evaluate(written[name], there)
                    break
            else:
                found[name] = None
        self._came.clear()  # they hold this slice
        return tuple(sorted(found))

    def value(self, name: str, place: int) -> Value:
        """What a name meant at a place, from now on among what was read."""
        self._read.append((name, place))
        for seen, value in reversed(self._versions.get(name, ())):
            if seen < place:
                return value
        return self._first.get(name)

    def _at(self, place: int) -> tuple[_Standing, Mapping[str, Node]]:
        """How things stood for an operation, and what it wrote."""
        if place not in self._came:
            operation, standing = self._hinges.program[place], _Standing(self, place)
            cases = operation.cases if operation.when is None or evaluate(operation.when, standing) else ()
            case = next((one for one in cases if one.when is None or evaluate(one.when, standing)), None)
            self._came[place] = standing, dict(case.writes) if case is not None else {}
        return self._came[place]


class _Standing(dict[str, Value]):
    """What names meant for one operation, as far as it read them."""

    def __init__(self, slice_: _Slice, place: int) -> None:
        super().__init__()
        self._slice = slice_
        self._place = place

    def __missing__(self, name: str) -> Value:
        value = self[name] = self._slice.value(name, self._place)
        return value
