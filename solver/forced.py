"""A constraint -> the values it forces: equalities that must hold whatever else does.

What a definition must be is pushed through its choices: ``(a if t else b) == v`` with a constant ``a`` other than ``v``
leaves ``not t`` and ``b == v``.
"""

from __future__ import annotations

from collections.abc import Iterator

from constraints.tree import FALSE, TRUE, All, Any_, Choice, Compare, Const, Name, Node, Not
from constraints.values import Value, same


def equals(node: Node, value: Value) -> Node:
    """What must be true for ``node`` to be ``value``."""
    match node:
        case Const(other):
            return TRUE if same(other, value) else FALSE
        case Choice(test, then, otherwise):
            return _either(test, equals(then, value), equals(otherwise, value))
        case Not() | All() | Any_() | Compare():
            return (node if value else Not(node)) if isinstance(value, bool) else FALSE
    return Compare("==", node, Const(value))


def _either(test: Node, then: Node, otherwise: Node) -> Node:
    if then == otherwise:
        return then
    if then == TRUE:
        return test if otherwise == FALSE else Any_((test, otherwise))
    if then == FALSE:
        return Not(test) if otherwise == TRUE else All((Not(test), otherwise))
    if otherwise in (TRUE, FALSE):
        return Any_((Not(test), then)) if otherwise == TRUE else All((test, then))
    return Any_((All((test, then)), All((Not(test), otherwise))))


def forced(node: Node, truth: bool = True) -> Iterator[tuple[str, Value]]:
    """Names and the values they must have for ``node`` to be true (or false)."""
    match node:
        case Not(operand):
            yield from forced(operand, not truth)
        case All(parts) | Any_(parts):
            if isinstance(node, All) is truth or len(parts) == 1:
                for part in parts:
                    yield from forced(part, truth)
        case Compare("==" | "!=" as sign, left, right):
            if (sign == "==") is truth:
                if isinstance(right, Const):
                    yield from _as_one(left, right.value)
                elif isinstance(left, Const):
                    yield from _as_one(right, left.value)


def _as_one(node: Node, value: Value) -> Iterator[tuple[str, Value]]:
    if isinstance(node, Name):
        yield node.name, value
    elif isinstance(node, Choice):
        yield from forced(equals(node, value))
