"""Operations with facts put in, and what is asked of one: what it reads, what it may write, whether it must hold."""

from __future__ import annotations

from collections.abc import Iterable

from constraints.evaluate import fold
from constraints.schema import HARD, WRITERS, Operation
from constraints.tree import Const, Node, names
from constraints.values import Env


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


def is_local(target: str) -> bool:
    """Whether it is a name that no one but the program sees."""
    return target.startswith("local.")


def is_held(operation: Operation, target: str) -> bool:
    """Whether what an operation writes is seen only after its step."""
    return bool(operation.scope) and not is_local(target)
