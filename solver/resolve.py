"""The forward reader: the program of a release, run on what was typed -> fills, rewrites, refusals, last values."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from constraints.evaluate import Closure, Compiled
from constraints.schema import Operation
from constraints.tree import names
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


_CaseRun = tuple[Closure | None, tuple[tuple[str, Closure], ...]]


class _Compiled(NamedTuple):
    operation: Operation
    when: Compiled | None
    require: Compiled | None
    cases: tuple[_CaseRun, ...]
    reads: int


# A live operation: its guard, requirement and cases as far as they are open, and the names that its guard reads.
_Live = tuple[Operation, Closure | None, Closure | None, tuple[_CaseRun, ...], int]
_Writes = tuple[tuple[str, Value], ...]


# Commands on the same facts after which one untyped run pays.
_OFTEN = 2


@dataclass(slots=True)
class _Machine:
    """What is kept for the facts of one machine and model.

    ``untyped`` says what each live operation does when nothing is typed: None where its guard fails, else what it
    writes. It is recorded when the facts have been asked about often enough to be worth it.
    """

    facts: Env
    live: tuple[_Live, ...]
    asked: int = 0
    untyped: tuple[_Writes | None, ...] | None = None


class Program:
    """A release's operations, ready to run on the facts of any model, GPU and environment."""

    def __init__(self, operations: Iterable[Operation], defaults: Mapping[str, Value]) -> None:
        """``defaults`` is the initial value of every flag when nothing is typed."""
        self._operations = tuple(operations)
        self._defaults = defaults
        # A guard that reads facts alone is asked once for a machine; what never passes it is never compiled.
        self._fixed = tuple([None if one.fixed is None else Compiled(one.fixed) for one in self._operations])
        self._compiled: dict[int, _Compiled] = {}
        self._machines: dict[int, _Machine] = {}
        # Sets of names as bits of a whole number.
        self._bits: dict[str, int] = {}

    def run(self, facts: Env, initial: Mapping[str, Value], *, stop: bool = False) -> Resolution:
        """Resolve ``initial``: a value for every flag (typed or default), and ``typed.x`` for each that is typed.

        With ``stop`` the run ends at the first broken error, as SGLang does.
        """
        machine = self._machine(facts)
        if machine.untyped is None and machine.asked == _OFTEN:
            trace: list[_Writes | None] = []
            self._walk(machine, self._defaults, trace=trace)
            machine.untyped = tuple(trace)
        machine.asked += 1
        return self._walk(machine, initial, stop=stop)

    def _walk(
        self,
        machine: _Machine,
        initial: Mapping[str, Value],
        *,
        stop: bool = False,
        trace: list[_Writes | None] | None = None,
    ) -> Resolution:
        """The program from top to bottom.

        A guard that failed when nothing was typed is not asked again while all that it reads is as it was then: most of
        a command's time would go into such guards.
        """
        env = _State(machine.facts)
        env.update(initial)
        writes: list[Write] = []
        broken: list[Operation] = []
        held: list[tuple[Operation, str, Value]] = []
        scope = 0
        # Names whose value may differ from what it is at this place when nothing is typed.
        changed = self._changed(initial)
        untyped = machine.untyped or itertools.repeat(())
        for (operation, when, require, cases, reads_), before in zip(machine.live, untyped, strict=False):
            if held and operation.scope != scope:
                _release(env, writes, held)
            scope = operation.scope
            if before is None and not reads_ & changed:
                continue
            passed = when is None or when(env)
            assigned: _Writes = ()
            if passed and require is not None:
                if not require(env):
                    broken.append(operation)
                    if stop and operation.rule.kind == "error":
                        held.clear()
                        break
            elif passed:
                assigned = _chosen(cases, env)
                for target, value in assigned:
                    if scope and not target.startswith("local."):
                        held.append((operation, target, value))
                    else:
                        _apply(env, writes, operation, target, value)
            if trace is not None:
                trace.append(assigned if passed else None)
            elif assigned or before:
                changed |= self._differing(assigned, before or ())
        _release(env, writes, held)
        return Resolution(env, tuple(writes), tuple(broken))

    def _changed(self, initial: Mapping[str, Value]) -> int:
        defaults, changed = self._defaults, 0
        for name, value in initial.items():
            if name not in defaults or (value is not defaults[name] and not same(value, defaults[name])):
                changed |= self._bit(name)
        return changed

    def _differing(self, assigned: _Writes, before: _Writes) -> int:
        if len(assigned) == len(before) and all(
            one[0] == other[0] and same(one[1], other[1]) for one, other in zip(assigned, before, strict=True)
        ):
            return 0
        changed = 0
        for target, _ in (*assigned, *before):
            changed |= self._bit(target)
        return changed

    def _bit(self, name: str) -> int:
        return self._bits.setdefault(name, 1 << len(self._bits))

    def _machine(self, facts: Env) -> _Machine:
        kept = self._machines.get(id(facts))
        if kept is None or kept.facts is not facts:
            known = _State(facts)
            live = [place for place, fixed in enumerate(self._fixed) if fixed is None or fixed(known)]
            kept = self._machines[id(facts)] = _Machine(facts, tuple([self._ready(place) for place in live]))
        return kept

    def _ready(self, place: int) -> _Live:
        compiled = self._compiled.get(place)
        if compiled is None:
            compiled = self._compiled[place] = self._compile(self._operations[place])
        operation, when, require, cases, read = compiled
        return operation, when and when.fastest, require and require.fastest, cases, read

    def _compile(self, operation: Operation) -> _Compiled:
        split = operation.fixed is not None or operation.open is not None
        when = operation.open if split else operation.when
        read = 0
        for name in names(when):
            read |= self._bit(name)
        return _Compiled(
            operation,
            None if when is None else Compiled(when),
            None if operation.require is None else Compiled(operation.require),
            tuple(
                [
                    (
                        None if case.when is None else Compiled(case.when),
                        tuple([(target, Compiled(value)) for target, value in case.writes]),
                    )
                    for case in operation.cases
                ]
            ),
            read,
        )


class _State(dict[str, Value]):
    """Values by name; a local that nothing has written yet is unset."""

    def __missing__(self, key: str) -> Value:
        return None


def _release(env: _State, writes: list[Write], held: list[tuple[Operation, str, Value]]) -> None:
    for operation, target, value in held:
        _apply(env, writes, operation, target, value)
    held.clear()


def _chosen(cases: tuple[_CaseRun, ...], env: Env) -> _Writes:
    for test, writes in cases:
        if test is None or test(env):
            return tuple([(target, value(env)) for target, value in writes])
    return ()


def _apply(env: _State, writes: list[Write], operation: Operation, target: str, value: Value) -> None:
    before = env[target]
    if not same(before, value):
        env[target] = value
        writes.append(Write(operation, target, before, value))
