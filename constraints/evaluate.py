"""A tree of the rule language -> its value: `evaluate` once, `closure` for often, `fold` with what is known."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any, TypeAlias

from .tree import FALSE, TRUE, All, Any_, Arithmetic, Call, Choice, Compare, Const, Group, Name, Node, Not
from .values import ARITHMETIC, COMPARE, FUNCTIONS, Env, Value, same

Closure: TypeAlias = Callable[[Env], Value]


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


def _fold_not(node: Not, known: Env) -> Node:
    inner = fold(node.operand, known)
    return (FALSE if inner.value else TRUE) if inner.__class__ is Const else Not(inner)


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
        return kind(tuple(left))

    return run


def _fold_compare(node: Compare, known: Env) -> Node:
    sign, left, right = node.operator, fold(node.left, known), fold(node.right, known)
    if isinstance(left, Const) and isinstance(right, Const):
        return TRUE if COMPARE[sign](left.value, right.value) else FALSE
    if sign in ("in", "not in") and isinstance(left, Const) and isinstance(right, Group):
        open_items = tuple(item for item in right.items if not isinstance(item, Const))
        if any(isinstance(item, Const) and same(left.value, item.value) for item in right.items):
            return Const(sign == "in")
        return Compare(sign, left, Group(open_items))
    return Compare(sign, left, right)


def _fold_arithmetic(node: Arithmetic, known: Env) -> Node:
    left, right = fold(node.left, known), fold(node.right, known)
    if isinstance(left, Const) and isinstance(right, Const):
        return Const(ARITHMETIC[node.operator](left.value, right.value))
    return Arithmetic(node.operator, left, right)


def _fold_choice(node: Choice, known: Env) -> Node:
    question = fold(node.test, known)
    if isinstance(question, Const):
        return fold(node.then if question.value else node.otherwise, known)
    return Choice(question, fold(node.then, known), fold(node.otherwise, known))


def _fold_call(node: Call, known: Env) -> Node:
    folded = tuple([fold(argument, known) for argument in node.arguments])
    values = [argument.value for argument in folded if isinstance(argument, Const)]
    return Const(FUNCTIONS[node.function](*values)) if len(values) == len(folded) else Call(node.function, folded)


def _fold_group(node: Group, known: Env) -> Node:
    items = tuple([fold(item, known) for item in node.items])
    values = [item.value for item in items if isinstance(item, Const)]
    return Const(tuple(values)) if len(values) == len(items) else Group(items)


_FOLD: dict[type[Node], Callable[[Any, Env], Node]] = {
    Const: lambda node, known: node,
    Name: lambda node, known: Const(known[node.name]) if node.name in known else node,
    Not: _fold_not,
    All: _fold_parts(All, stop=False),
    Any_: _fold_parts(Any_, stop=True),
    Compare: _fold_compare,
    Arithmetic: _fold_arithmetic,
    Choice: _fold_choice,
    Call: _fold_call,
    Group: _fold_group,
}


def closure(node: Node) -> Closure:
    """A function from values by name to the value of the tree."""
    return _CLOSURE[node.__class__](node)


def _closure_const(node: Const) -> Closure:
    value = node.value
    return lambda env: value


def _closure_not(node: Not) -> Closure:
    inner = closure(node.operand)
    return lambda env: not inner(env)


def _closure_all(node: All) -> Closure:
    parts = tuple([closure(part) for part in node.parts])
    if len(parts) == 2:
        first, second = parts
        return lambda env: bool(first(env) and second(env))

    def run(env: Env) -> bool:
        for part in parts:
            if not part(env):
                return False
        return True

    return run


def _closure_any(node: Any_) -> Closure:
    parts = tuple([closure(part) for part in node.parts])
    if len(parts) == 2:
        first, second = parts
        return lambda env: bool(first(env) or second(env))

    def run(env: Env) -> bool:
        for part in parts:
            if part(env):
                return True
        return False

    return run


def _closure_compare(node: Compare) -> Closure:
    if isinstance(node.left, Name) and isinstance(node.right, Const):
        plain = _closure_name_and_value(node.left.name, node.operator, node.right.value)
        if plain is not None:
            return plain
    run, left, right = COMPARE[node.operator], closure(node.left), closure(node.right)
    return lambda env: run(left(env), right(env))


def _closure_name_and_value(name: str, sign: str, value: Value) -> Closure | None:
    # Text has no twin of another type, unset and the truths are one object each: plain tests agree with `same`.
    equal = sign == "=="
    if sign in ("==", "!="):
        if isinstance(value, str):
            return lambda env: (env[name] == value) is equal
        if value is None or isinstance(value, bool):
            return lambda env: (env[name] is value) is equal
    if sign not in ("in", "not in") or not isinstance(value, tuple):
        return None
    if not all(item is None or isinstance(item, str) for item in value):
        return None
    members, inside = frozenset(value), sign == "in"
    return lambda env: (env[name] in members) is inside


def _closure_arithmetic(node: Arithmetic) -> Closure:
    run, left, right = ARITHMETIC[node.operator], closure(node.left), closure(node.right)
    return lambda env: run(left(env), right(env))


def _closure_choice(node: Choice) -> Closure:
    question, first, second = closure(node.test), closure(node.then), closure(node.otherwise)
    return lambda env: first(env) if question(env) else second(env)


def _closure_call(node: Call) -> Closure:
    run, inputs = FUNCTIONS[node.function], tuple([closure(argument) for argument in node.arguments])
    if len(inputs) == 1:
        (only,) = inputs
        return lambda env: run(only(env))
    return lambda env: run(*[value(env) for value in inputs])


def _closure_group(node: Group) -> Closure:
    members = tuple([closure(item) for item in node.items])
    return lambda env: tuple([member(env) for member in members])


_CLOSURE: dict[type[Node], Callable[[Any], Closure]] = {
    Const: _closure_const,
    Name: lambda node: operator.itemgetter(node.name),
    Not: _closure_not,
    All: _closure_all,
    Any_: _closure_any,
    Compare: _closure_compare,
    Arithmetic: _closure_arithmetic,
    Choice: _closure_choice,
    Call: _closure_call,
    Group: _closure_group,
}


# Composing a tree costs as much as walking it about this many times.
_WALKS = 4


class Compiled:
    """A tree that can be called: walked the first times, composed after; what is kept on disk is the tree alone."""

    __slots__ = ("_run", "_walks", "node")

    def __init__(self, node: Node) -> None:
        self.node = node
        self._run: Closure | None = None
        self._walks = 0

    def __call__(self, env: Env) -> Value:
        if self._run is not None:
            return self._run(env)
        if self._walks < _WALKS:
            self._walks += 1
            return evaluate(self.node, env)
        self._run = closure(self.node)
        return self._run(env)

    @property
    def fastest(self) -> Closure:
        """The quickest way to call it that is there by now."""
        return self._run or self

    def __reduce__(self) -> tuple[type[Compiled], tuple[Node]]:
        return Compiled, (self.node,)
