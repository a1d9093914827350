"""An expression and the values its names can have -> the expression with every comparison settled that they settle."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

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
    return _NARROW[node.__class__](node, possible, meaning)


def _name(node: Name, possible: Possible, meaning: Meaning | None) -> Node:
    if meaning is not None:
        return narrow(meaning(node.name), possible)
    values = possible.get(node.name)
    return Const(values[0]) if values is not None and len(values) == 1 else node


def joined(kind: type[All] | type[Any_], parts: Iterable[Node]) -> Node:
    """All or any of parts that are narrowed already; what comes after a part that settles it is not asked for."""
    stop = FALSE if kind is All else TRUE
    left: list[Node] = []
    for inner in parts:
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


def chosen(test: Node, then: Node, otherwise: Node) -> Node:
    """One of two, all narrowed already."""
    if isinstance(test, Const):
        return then if test.value else otherwise
    return then if then == otherwise else Choice(test, then, otherwise)


def _junction(node: All | Any_, possible: Possible, meaning: Meaning | None) -> Node:
    return joined(node.__class__, (_NARROW[part.__class__](part, possible, meaning) for part in node.parts))


def _is_boolean(node: Node) -> bool:
    return isinstance(node, (All, Any_, Not, Compare))


def _choice(node: Choice, possible: Possible, meaning: Meaning | None) -> Node:
    test = narrow(node.test, possible, meaning)
    if isinstance(test, Const):
        return narrow(node.then if test.value else node.otherwise, possible, meaning)
    return chosen(test, narrow(node.then, possible, meaning), narrow(node.otherwise, possible, meaning))


def _parts(nodes: tuple[Node, ...], possible: Possible, meaning: Meaning | None) -> tuple[Node, ...]:
    return tuple([_NARROW[one.__class__](one, possible, meaning) for one in nodes])


def _compare(whole: Compare, possible: Possible, meaning: Meaning | None) -> Node:
    sign = whole.operator
    node = settled(Compare(sign, narrow(whole.left, possible, meaning), narrow(whole.right, possible, meaning)))
    if not isinstance(node, Compare):
        return node
    _, left, right = node
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


_NARROW: dict[type[Node], Callable[[Any, Possible, Meaning | None], Node]] = {
    Const: lambda node, possible, meaning: node,
    Name: _name,
    Not: lambda node, possible, meaning: settled(Not(narrow(node.operand, possible, meaning))),
    All: _junction,
    Any_: _junction,
    Compare: _compare,
    Arithmetic: lambda node, possible, meaning: settled(
        Arithmetic(node.operator, *_parts((node.left, node.right), possible, meaning))
    ),
    Choice: _choice,
    Call: lambda node, possible, meaning: settled(Call(node.function, _parts(node.arguments, possible, meaning))),
    Group: lambda node, possible, meaning: settled(Group(_parts(node.items, possible, meaning))),
}


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
