"""A tree of the rule language -> its value: `evaluate` once, `fold` with what is known."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from .tree import FALSE, TRUE, All, Any_, Arithmetic, Call, Choice, Compare, Const, Group, Name, Node, Not
from .values import ARITHMETIC, COMPARE, FUNCTIONS, Env, Value, same


def evaluate(node: Node, env: Env) -> Value:
    """The value of the tree; what a condition does not reach is not looked at."""
    return _EVALUATE[node.__class__](node, env)


def _evaluate_all(node: All, env: Env) -> bool:
    for part in node.parts:
        if not _EVALUATE[part.__class__](part, env):
            return False
    return True


def _evaluate_any(node: Any_, env: Env) -> bool:
    for part in node.parts:
        if _EVALUATE[part.__class__](part, env):
            return True
    return False


_EVALUATE: dict[type[Node], Callable[[Any, Env], Value]] = {
    Const: lambda node, env: node.value,
    Name: lambda node, env: env[node.name],
    Not: lambda node, env: not evaluate(node.operand, env),
    All: _evaluate_all,
    Any_: _evaluate_any,
    Compare: lambda node, env: COMPARE[node.operator](evaluate(node.left, env), evaluate(node.right, env)),
    Arithmetic: lambda node, env: ARITHMETIC[node.operator](evaluate(node.left, env), evaluate(node.right, env)),
    Choice: lambda node, env: evaluate(node.then if evaluate(node.test, env) else node.otherwise, env),
    Call: lambda node, env: FUNCTIONS[node.function](*[evaluate(argument, env) for argument in node.arguments]),
    Group: lambda node, env: tuple([evaluate(item, env) for item in node.items]),
}


def fold(node: Node, known: Env) -> Node:
    """The tree with ``known`` values put in and every part that is then settled computed."""
    return _FOLD[node.__class__](node, known)


def _fold_parts(kind: type[All] | type[Any_], *, stop: bool) -> Callable[[All | Any_, Env], Node]:
    def run(node: All | Any_, known: Env) -> Node:
        left: list[Node] = []
        for part in node.parts:
            inner = _FOLD[part.__class__](part, known)
            if not isinstance(inner, Const):
                left.append(inner)
            elif bool(inner.value) is stop:
                return TRUE if stop else FALSE
        if not left:
            return FALSE if stop else TRUE
        if len(left) > 1 and _contrary(left):
            return TRUE if stop else FALSE
        return kind(tuple(left))

    return run


def _contrary(parts: Sequence[Node]) -> bool:
    """Whether one part says that two things are equal and another one that they are not."""
    told = [one for one in parts if one.__class__ is Compare and one[0] in ("==", "!=")]
    for place, one in enumerate(told):
        for other in told[:place]:
            if one[0] != other[0] and one[1:] == other[1:]:
                return True
    return False


def _fold_choice(node: Choice, known: Env) -> Node:
    question = fold(node.test, known)
    if isinstance(question, Const):
        return fold(node.then if question.value else node.otherwise, known)
    return Choice(question, fold(node.then, known), fold(node.otherwise, known))


_FOLD: dict[type[Node], Callable[[Any, Env], Node]] = {
    Const: lambda node, known: node,
    Name: lambda node, known: Const(known[node.name]) if node.name in known else node,
    Not: lambda node, known: settled(Not(fold(node.operand, known))),
    All: _fold_parts(All, stop=False),
    Any_: _fold_parts(Any_, stop=True),
    Compare: lambda node, known: settled(Compare(node.operator, fold(node.left, known), fold(node.right, known))),
    Arithmetic: lambda node, known: settled(Arithmetic(node.operator, fold(node.left, known), fold(node.right, known))),
    Choice: _fold_choice,
    Call: lambda node, known: settled(Call(node.function, tuple([fold(one, known) for one in node.arguments]))),
    Group: lambda node, known: settled(Group(tuple([fold(item, known) for item in node.items]))),
}


def settled(node: Not | Compare | Arithmetic | Call | Group) -> Node:
    """A tree whose direct parts are folded, itself computed where these leave nothing open."""
    return _SETTLE[node.__class__](node)


def _settle_not(node: Not) -> Node:
    inner = node.operand
    return (FALSE if inner.value else TRUE) if inner.__class__ is Const else node


def _settle_compare(node: Compare) -> Node:
    sign, left, right = node
    if not isinstance(left, Const):
        return node
    if isinstance(right, Const):
        return TRUE if COMPARE[sign](left.value, right.value) else FALSE
    if sign in ("in", "not in") and isinstance(right, Group):
        if any(isinstance(item, Const) and same(left.value, item.value) for item in right.items):
            return Const(sign == "in")
        return Compare(sign, left, Group(tuple([item for item in right.items if not isinstance(item, Const)])))
    return node


def _settle_arithmetic(node: Arithmetic) -> Node:
    sign, left, right = node
    if isinstance(left, Const) and isinstance(right, Const):
        return Const(ARITHMETIC[sign](left.value, right.value))
    return node


def _settle_call(node: Call) -> Node:
    values = [argument.value for argument in node.arguments if isinstance(argument, Const)]
    return Const(FUNCTIONS[node.function](*values)) if len(values) == len(node.arguments) else node


def _settle_group(node: Group) -> Node:
    values = [item.value for item in node.items if isinstance(item, Const)]
    return Const(tuple(values)) if len(values) == len(node.items) else node


_SETTLE: dict[type[Node], Callable[[Any], Node]] = {
    Not: _settle_not,
    Compare: _settle_compare,
    Arithmetic: _settle_arithmetic,
    Call: _settle_call,
    Group: _settle_group,
}
