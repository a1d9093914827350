"""The forward reader: the program of a release, run on what was typed -> fills, rewrites, refusals, last values."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from constraints.evaluate import Closure, Compiled, fold
from constraints.schema import HARD, WRITERS, Operation
from constraints.tree import All, Const, Node, names
from constraints.values import Env, Value, same


@dataclass(frozen=True, slots=True)
class Write:
    """One flag that one operation gave another value."""

    operation: Operation
    target: str
    before: Value
    after: Value


@dataclass(frozen=True, slots=True)
class Resolution:
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

    def last_writer(self, target: str) -> Write | None:
        """The write that gave ``target`` its last value."""
        return next((write for write in reversed(self.writes) if write.target == target), None)


_CaseRun = tuple[Closure | None, tuple[tuple[str, Closure], ...]]


@dataclass(frozen=True, slots=True)
class _Compiled:
    operation: Operation
    when: Closure | None
    require: Closure | None
    cases: tuple[_CaseRun, ...]
    ends_scope: bool


class Program:
    """A release's operations, ready to run on the facts of any model, GPU and environment."""

    def __init__(self, operations: Iterable[Operation]) -> None:
        self._compiled = list(_compile(tuple(operations)))

    def run(self, facts: Env, initial: Mapping[str, Value], *, stop: bool = False) -> Resolution:
        """Resolve ``initial``: a value for every flag (typed or default), and ``typed.x`` for each that is typed.

        With ``stop`` the run ends at the first broken error, as SGLang does.
        """
        env = _State(facts)
        env.update(initial)
        writes: list[Write] = []
        broken: list[Operation] = []
        held: list[tuple[Operation, str, Value]] = []
        for step in self._compiled:
            if step.when is None or step.when(env):
                if step.require is not None:
                    if not step.require(env):
                        broken.append(step.operation)
                        if stop and step.operation.rule.kind == "error":
                            break
                else:
                    for target, value in _chosen(step.cases, env):
                        if step.operation.scope and not target.startswith("local."):
                            held.append((step.operation, target, value))
                        else:
                            _apply(env, writes, step.operation, target, value)
            if step.ends_scope and held:
                for operation, target, value in held:
                    _apply(env, writes, operation, target, value)
                held.clear()
        return Resolution(env, tuple(writes), tuple(broken))


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


def _compile(operations: tuple[Operation, ...]) -> Iterator[_Compiled]:
    # Most guards fail at their first part: whatever is never asked is never compiled.
    last = {operation.scope: index for index, operation in enumerate(operations) if operation.scope}
    for index, operation in enumerate(operations):
        yield _Compiled(
            operation,
            None if operation.when is None else _guard(operation.when),
            None if operation.require is None else Compiled(operation.require),
            tuple(
                (
                    None if case.when is None else Compiled(case.when),
                    tuple((target, Compiled(value)) for target, value in case.writes),
                )
                for case in operation.cases
            ),
            last.get(operation.scope) == index,
        )


def _guard(node: Node) -> Closure:
    if not isinstance(node, All):
        return Compiled(node)
    parts = [_guard(part) for part in node.parts]

    def run(env: Env) -> bool:
        for part in parts:
            if not part(env):
                return False
        return True

    return run


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
