"""The forward reader: the program of a release, run on what was typed -> fills, rewrites, refusals, last values."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from constraints.evaluate import Closure, Compiled, fold
from constraints.schema import HARD, WRITERS, Operation
from constraints.tree import Const, Node, names
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


_Live = tuple[Operation, Closure | None, Closure | None, tuple[_CaseRun, ...]]


class Program:
    """A release's operations, ready to run on the facts of any model, GPU and environment."""

    def __init__(self, operations: Iterable[Operation]) -> None:
        self._operations = tuple(operations)
        # A guard that reads facts alone is asked once for a machine; what never passes it is never compiled.
        self._fixed = tuple([None if one.fixed is None else Compiled(one.fixed) for one in self._operations])
        self._compiled: dict[int, _Compiled] = {}
        self._live: dict[int, tuple[Env, tuple[_Live, ...]]] = {}

    def run(self, facts: Env, initial: Mapping[str, Value], *, stop: bool = False) -> Resolution:
        """Resolve ``initial``: a value for every flag (typed or default), and ``typed.x`` for each that is typed.

        With ``stop`` the run ends at the first broken error, as SGLang does.
        """
        env = _State(facts)
        env.update(initial)
        writes: list[Write] = []
        broken: list[Operation] = []
        held: list[tuple[Operation, str, Value]] = []
        scope = 0
        for operation, when, require, cases in self._live_on(facts):
            if held and operation.scope != scope:
                _release(env, writes, held)
            scope = operation.scope
            if when is not None and not when(env):
                continue
            if require is not None:
                if not require(env):
                    broken.append(operation)
                    if stop and operation.rule.kind == "error":
                        held.clear()
                        break
            else:
                for target, value in _chosen(cases, env):
                    if scope and not target.startswith("local."):
                        held.append((operation, target, value))
                    else:
                        _apply(env, writes, operation, target, value)
        _release(env, writes, held)
        return Resolution(env, tuple(writes), tuple(broken))

    def _live_on(self, facts: Env) -> tuple[_Live, ...]:
        """The operations that can fire at all on these facts."""
        kept = self._live.get(id(facts))
        if kept is None or kept[0] is not facts:
            known = _State(facts)
            live = [place for place, fixed in enumerate(self._fixed) if fixed is None or fixed(known)]
            kept = self._live[id(facts)] = (facts, tuple([self._ready(place) for place in live]))
        return kept[1]

    def _ready(self, place: int) -> _Live:
        compiled = self._compiled.get(place)
        if compiled is None:
            compiled = self._compiled[place] = _compile(self._operations[place])
        operation, when, require, cases = compiled
        return operation, when and when.fastest, require and require.fastest, cases


class _State(dict[str, Value]):
    """Values by name; a local that nothing has written yet is unset."""

    def __missing__(self, key: str) -> Value:
        return None


def fold_operations(operations: Iterable[Operation], facts: Env) -> tuple[Operation, ...]:
    """The operations that can still fire under ``facts``, with the facts put in; the order is kept.

    Facts that some operation writes (environment variables) stay open.
    """
    operations = tuple(operations)
    written = {target for operation in operations for case in operation.rule.cases for target, _ in case.writes}
    known = {name: value for name, value in facts.items() if name not in written}
    return tuple(folded for operation in operations if (folded := fold_operation(operation, known)) is not None)


def fold_operation(operation: Operation, known: Env) -> Operation | None:
    """The operation under ``known`` values; None when it can neither write nor be broken."""
    when = _settled(operation.when, known)
    if when is False:
        return None
    require = operation.require
    if require is not None:
        require = fold(require, known)
        if isinstance(require, Const) and require.value:
            return None
    cases = []
    for case in operation.cases:
        test = _settled(case.when, known)
        if test is False:
            continue
        writes = tuple((target, fold(value, known)) for target, value in case.writes)
        cases.append(type(case)(None if test is True else test, writes))
        if test is True:
            break
    if operation.rule.kind in WRITERS and not cases:
        return None
    return Operation(
        operation.rule,
        operation.step,
        operation.call,
        operation.path,
        operation.scope,
        None if when is True else when,
        require,
        tuple(cases),
    )


def _settled(node: Node | None, known: Env) -> Node | bool:
    if node is None:
        return True
    folded = fold(node, known)
    return bool(folded.value) if isinstance(folded, Const) else folded


def reads(operation: Operation) -> frozenset[str]:
    """Every name the operation reads."""
    found = names(operation.when) | names(operation.require)
    for case in operation.cases:
        found |= names(case.when)
        for _, value in case.writes:
            found |= names(value)
    return found


def targets(operation: Operation) -> frozenset[str]:
    """Every flag, environment variable or local the operation may write."""
    return frozenset(target for case in operation.cases for target, _ in case.writes)


def is_hard(operation: Operation) -> bool:
    """Whether a solution must not break it."""
    return operation.rule.kind in HARD


def _compile(operation: Operation) -> _Compiled:
    split = operation.fixed is not None or operation.open is not None
    when = operation.open if split else operation.when
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
    )


def _release(env: _State, writes: list[Write], held: list[tuple[Operation, str, Value]]) -> None:
    for operation, target, value in held:
        _apply(env, writes, operation, target, value)
    held.clear()


def _chosen(cases: tuple[_CaseRun, ...], env: Env) -> list[tuple[str, Value]]:
    for test, writes in cases:
        if test is None or test(env):
            return [(target, value(env)) for target, value in writes]
    return []


def _apply(env: _State, writes: list[Write], operation: Operation, target: str, value: Value) -> None:
    before = env[target]
    if not same(before, value):
        env[target] = value
        writes.append(Write(operation, target, before, value))
