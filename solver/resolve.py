"""The forward reader: the program of a release, run on what was typed -> fills, rewrites, refusals, last values."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from constraints.evaluate import Closure, Compiled
from constraints.schema import Operation
from constraints.tree import Node, names
from constraints.values import Env, Value, same

from .operations import reads
from .resolution import Outcome, Resolution, Run, State

_CaseRun = tuple[Closure | None, tuple[tuple[str, Closure], ...]]


class _Compiled(NamedTuple):
    """An operation ready to run."""

    operation: Operation
    fixed: Compiled | None
    when: Compiled | None
    require: Compiled | None
    cases: tuple[_CaseRun, ...]


_Live = tuple[Operation, Closure | None, Closure | None, tuple[_CaseRun, ...]]
# Commands on the same facts after which one untyped run pays.
_OFTEN = 3


class _Untyped(NamedTuple):
    """What each operation does when nothing is typed; sets of operations are bits by their place in the program.

    ``passed`` are those whose guard passes, ``active`` those that do something.
    """

    outcomes: Mapping[int, Outcome]
    passed: int
    active: int


@dataclass(slots=True)
class _Machine:
    """What is kept for the facts of one machine and model.

    Of the operations looked at so far ``live`` are those that can act, by place, ``dead`` those whose guard on facts
    alone fails, as bits.
    """

    facts: State
    live: dict[int, _Live]
    dead: int = 0
    asked: int = 0
    untyped: _Untyped | None = None


class Program:
    """A release's operations, ready to run on the facts of any model, GPU and environment."""

    def __init__(self, operations: Iterable[Operation], defaults: Mapping[str, Value]) -> None:
        """``defaults`` is the initial value of every flag when nothing is typed."""
        self._operations = tuple(operations)
        self._defaults = defaults
        self._compiled: dict[int, _Compiled] = {}
        self._machines: dict[int, tuple[Env, _Machine]] = {}
        # Operations that do nothing unless certain names have changed, and those that each name wakes.
        self._asleep = 0
        self._woken: dict[str, int] = {}
        for place, operation in enumerate(self._operations):
            if operation.asleep:
                self._asleep |= 1 << place
            for name in operation.asleep:
                self._woken[name] = self._woken.get(name, 0) | 1 << place

    def run(self, facts: Env, initial: Mapping[str, Value], *, stop: bool = False) -> Resolution:
        """Resolve ``initial``: a value for every flag (typed or default), and ``typed.x`` for each that is typed.

        With ``stop`` the run ends at the first broken error, as SGLang does.
        """
        machine = self._machine(facts)
        if machine.untyped is None and machine.asked == _OFTEN:
            machine.untyped = self._record(machine)
        machine.asked += 1
        return self._walk(machine, initial, stop)

    def _walk(self, machine: _Machine, initial: Mapping[str, Value], stop: bool) -> Resolution:
        """The program from top to bottom.

        What an operation did when nothing was typed it does again while all that it rests on is as it was then; where
        that is nothing, it is passed over. Most of a command's time would go into such operations.
        """
        run = Run(machine.facts, initial)
        untyped = machine.untyped
        changed = self._changed(initial)
        woken = 0
        for name in changed:
            woken |= self._woken.get(name, 0)
        # Operations that read something whose value may differ from what it is there when nothing is typed.
        open_ = self._awake | woken
        live = machine.live
        visit = open_ & ~machine.dead
        if untyped is not None:
            open_ = self._meeting(changed, untyped) | woken
            visit = (untyped.active | open_) & ~machine.dead
        place = -1
        while rest := visit >> (place + 1):
            place += (rest & -rest).bit_length()
            one = live.get(place) or self._look(machine, place)
            if one is None:
                continue
            run.enter(one[0])
            if untyped is None:
                outcome = _outcome(one, run.env)
            else:
                outcome = before = untyped.outcomes.get(place, ())
                if open_ >> place & 1:
                    outcome = _outcome(one, run.env)
                    if outcome is not before and (differing := _differing(outcome, before)):
                        open_ |= self._meeting(differing, untyped)
                        visit |= open_ & ~machine.dead
            run.take(one[0], outcome)
            if stop and outcome is None and one[0].rule.kind == "error":
                run.forget()
                break
        return run.end()

    def _record(self, machine: _Machine) -> _Untyped:
        run = Run(machine.facts, self._defaults)
        outcomes: dict[int, Outcome] = {}
        passed = active = 0
        for place in range(len(self._operations)):
            if self._asleep >> place & 1:
                continue
            one = machine.live.get(place) or self._look(machine, place)
            if one is None:
                continue
            run.enter(one[0])
            if one[1] is not None and not one[1](run.env):
                continue
            passed |= 1 << place
            outcome = _outcome(one, run.env)
            if outcome != ():
                outcomes[place] = outcome
                active |= 1 << place
            run.take(one[0], outcome)
        return _Untyped(outcomes, passed, active)

    def _meeting(self, changed: Iterable[str], untyped: _Untyped) -> int:
        """The operations whose outcome rests on one of these names: where the guard fails, on what it reads alone.

        Those that sleep rest on what wakes them.
        """
        guards, whole = self._readers
        read = guard = 0
        for name in changed:
            read |= whole.get(name, 0)
            guard |= guards.get(name, 0)
        return (read & untyped.passed | guard & ~untyped.passed) & self._awake

    @cached_property
    def _readers(self) -> tuple[Mapping[str, int], Mapping[str, int]]:
        """For each name the operations whose guard reads it, and those that read it at all."""
        guards: dict[str, int] = {}
        whole: dict[str, int] = {}
        for place, operation in enumerate(self._operations):
            for name in names(_guard(operation)):
                guards[name] = guards.get(name, 0) | 1 << place
            for name in reads(operation):
                whole[name] = whole.get(name, 0) | 1 << place
        return guards, whole

    def _changed(self, initial: Mapping[str, Value]) -> list[str]:
        defaults = self._defaults
        return [
            name
            for name, value in initial.items()
            if name not in defaults or (value is not defaults[name] and not same(value, defaults[name]))
        ]

    @cached_property
    def _awake(self) -> int:
        return ((1 << len(self._operations)) - 1) & ~self._asleep

    def _machine(self, facts: Env) -> _Machine:
        kept = self._machines.get(id(facts))
        if kept is None or kept[0] is not facts:
            kept = self._machines[id(facts)] = (facts, _Machine(State(facts), {}))
        return kept[1]

    def _look(self, machine: _Machine, place: int) -> _Live | None:
        """The operation as the machine leaves it; a guard that reads facts alone is asked once."""
        compiled = self._compiled.get(place)
        if compiled is None:
            compiled = self._compiled[place] = _compile(self._operations[place])
        operation, fixed, when, require, cases = compiled
        if fixed is not None and not fixed(machine.facts):
            machine.dead |= 1 << place
            return None
        one = machine.live[place] = (operation, when and when.fastest, require and require.fastest, cases)
        return one


def _guard(operation: Operation) -> Node | None:
    """The part of the guard that does not read facts alone."""
    return operation.open if operation.fixed is not None or operation.open is not None else operation.when


def _compile(operation: Operation) -> _Compiled:
    guard = _guard(operation)
    return _Compiled(
        operation,
        None if operation.fixed is None else Compiled(operation.fixed),
        None if guard is None else Compiled(guard),
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
    )


def _outcome(one: _Live, env: Env) -> Outcome:
    _, when, require, cases = one
    if when is not None and not when(env):
        return ()
    if require is not None:
        return () if require(env) else None
    for test, writes in cases:
        if test is None or test(env):
            return tuple([(target, value(env)) for target, value in writes])
    return ()


def _differing(outcome: Outcome, before: Outcome) -> list[str]:
    """The names that one of two outcomes may leave otherwise than the other."""
    one, other = outcome or (), before or ()
    if len(one) == len(other) and all(a[0] == b[0] and same(a[1], b[1]) for a, b in zip(one, other, strict=True)):
        return []
    return [target for target, _ in (*one, *other)]
