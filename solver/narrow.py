"""An expression and the values its names can have -> the expression with every comparison settled that they settle."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from constraints.evaluate import settled
from constraints.tree import FALSE, TRUE, All, Any_, Arithmetic, Call, Choice, Compare, Const, Group, Name, Node, Not
from constraints.values import COMPARE, Value, same

MAX_VALUES = 512
Possible = Mapping[str, "tuple[Value, ...] | None"]
Meaning = Callable[[str], Node]


def narrow(node: Node, possible: Possible, meaning: Meaning | None = None) -> Node:
    """``node`` folded under what each name can be; a name that can be one value alone becomes it.

    With ``meaning`` the names of ``node`` stand for what it gives; the names in that are those of ``possible``.
    """
    match node:
        case Name(name):
            if meaning is not None:
                return narrow(meaning(name), possible)
            values = possible.get(name)
            return Const(values[0]) if values is not None and len(values) == 1 else node
        case Const():
            return node
        case Not(operand):
            return settled(Not(narrow(operand, possible, meaning)))
        case All(parts):
            return _junction(parts, possible, meaning, All)
        case Any_(parts):
            return _junction(parts, possible, meaning, Any_)
        case Compare(sign, left, right):
            return _compare(sign, narrow(left, possible, meaning), narrow(right, possible, meaning), possible)
        case Arithmetic(sign, left, right):
            return settled(Arithmetic(sign, narrow(left, possible, meaning), narrow(right, possible, meaning)))
        case Choice(test, then, otherwise):
            return _choice(narrow(test, possible, meaning), then, otherwise, possible, meaning)
        case Call(function, arguments):
            return settled(Call(function, tuple([narrow(one, possible, meaning) for one in arguments])))
        case Group(items):
            return settled(Group(tuple([narrow(item, possible, meaning) for item in items])))


def _junction(
    parts: tuple[Node, ...], possible: Possible, meaning: Meaning | None, kind: type[All] | type[Any_]
) -> Node:
    stop = FALSE if kind is All else TRUE
    left: list[Node] = []
    for part in parts:
        inner = narrow(part, possible, meaning)
        if isinstance(inner, Const):
            if bool(inner.value) is bool(stop.value):
                return stop
        elif isinstance(inner, kind):
            left.extend(inner.parts)
        elif inner not in left:
            left.append(inner)
    if not left:
        return TRUE if kind is All else FALSE
    return left[0] if len(left) == 1 and _is_boolean(left[0]) else kind(tuple(left))


def _is_boolean(node: Node) -> bool:
    return isinstance(node, (All, Any_, Not, Compare))


def _choice(test: Node, then: Node, otherwise: Node, possible: Possible, meaning: Meaning | None) -> Node:
    if isinstance(test, Const):
        return narrow(then if test.value else otherwise, possible, meaning)
    first, second = narrow(then, possible, meaning), narrow(otherwise, possible, meaning)
    return first if first == second else Choice(test, first, second)


def _compare(sign: str, left: Node, right: Node, possible: Possible) -> Node:
    node = settled(Compare(sign, left, right))
    if not isinstance(node, Compare):
        return node
    lefts, rights = possible_values(left, possible), possible_values(right, possible)
    if lefts is None or rights is None or len(lefts) * len(rights) > MAX_VALUES:
        if sign in ("in", "not in") and isinstance(right, Group) and lefts is not None:
            return _membership(sign, left, right, lefts, possible)
        return node
    if left == right and isinstance(left, Name):
        return node
    answer = COMPARE[sign]
    answers = {bool(answer(a, b)) for a in lefts for b in rights}
    return Const(answers.pop()) if len(answers) == 1 else node


def _membership(sign: str, left: Node, right: Group, lefts: tuple[Value, ...], possible: Possible) -> Node:
    kept = []
    for item in right.items:
        values = possible_values(item, possible)
        if values is None or any(same(value, other) for value in values for other in lefts):
            kept.append(item)
    return Compare(sign, left, Group(tuple(kept))) if kept else Const(sign == "not in")


def possible_values(node: Node, possible: Possible) -> tuple[Value, ...] | None:
    """Every value the expression can have, or None when they are not known or too many."""
    match node:
        case Const(value):
            return (value,)
        case Name(name):
            return possible.get(name)
        case Not() | All() | Any_() | Compare():
            return (True, False)
        case Choice(_, then, otherwise):
            return _union((possible_values(then, possible), possible_values(otherwise, possible)))
        case Call("item", (Name(name), Const(int() as index))):
            whole = possible.get(name)
            return None if whole is None else _union((_item(value, index),) for value in whole)
    return None


def _item(value: Value, index: int) -> Value:
    return value[index] if isinstance(value, tuple) else None


def _union(groups: object) -> tuple[Value, ...] | None:
    found: dict[str, Value] = {}
    for group in groups:  # type: ignore[attr-defined]
        if group is None:
            return None
        for value in group:
            found.setdefault(repr(value), value)
            if len(found) > MAX_VALUES:
                return None
    return tuple(found.values())
