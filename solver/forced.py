"""A constraint -> what it claims of its parts, and the values it forces: what must hold whatever else does.

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


def claims(node: Node, truth: bool = True) -> Iterator[tuple[Node, Value, bool]]:
    """(part, value, whether): the parts that must have, or must not have, a value for ``node`` to be true (or false).

    A condition that is no comparison with a value stands as what it is, its value the truth.
    """
    match node:
        case Not(operand):
            yield from claims(operand, not truth)
        case All(parts) | Any_(parts) if isinstance(node, All) is truth or len(set(parts)) == 1:
            for part in parts:
                yield from claims(part, truth)
        case Compare("==" | "!=" as sign, left, Const(value)) | Compare("==" | "!=" as sign, Const(value), left):
            yield left, value, (sign == "==") is truth
        case Compare("!=", left, right):
            yield Any_((Compare("==", left, right),)), True, not truth
        case Compare("not in", left, right):
            yield Any_((Compare("in", left, right),)), True, not truth
        case _:
            yield Any_((node,)), True, truth


def forced(node: Node) -> Iterator[tuple[str, Value]]:
    """Names and the values they must have for ``node`` to be true."""
    for part, value, truth in claims(node):
        if truth and isinstance(part, Name):
            yield part.name, value
        elif truth and isinstance(part, Choice):
            yield from forced(equals(part, value))
