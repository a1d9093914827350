"""What an expression of the rule language is once it is read: a tree of few kinds, and what can be asked of it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple, TypeAlias

from .values import Value, same


def _equal(left: object, right: object) -> bool:
    # Plain tuples of equal content are equal whatever their kind; trees of different kinds are not.
    return type(left) is type(right) and bool(tuple.__eq__(left, right))  # type: ignore[operator]


def _differ(left: object, right: object) -> bool:
    # The other way round of ``==``, which each kind has of its own.
    return not left == right  # noqa: SIM201


# Trees of different kinds may share a hash, as long as they are not equal: that of plain tuples is the quickest.
_hash = tuple.__hash__


class Const(NamedTuple):
    """A literal, or a set of literals."""

    value: Value

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Const) and same(self.value, other.value)

    __ne__, __hash__ = _differ, _hash  # type: ignore[misc]


class Name(NamedTuple):
    """A flag, a fact (``model.is_mla``), or what was typed (``typed.page_size``)."""

    name: str

    __eq__, __ne__, __hash__ = _equal, _differ, _hash  # type: ignore[misc]


class Not(NamedTuple):
    """True when its operand is false."""

    operand: Node

    __eq__, __ne__, __hash__ = _equal, _differ, _hash  # type: ignore[misc]


class All(NamedTuple):
    """True when each part is; parts are read in order, as far as needed."""

    parts: tuple[Node, ...]

    __eq__, __ne__, __hash__ = _equal, _differ, _hash  # type: ignore[misc]


class Any_(NamedTuple):
    """True when some part is; parts are read in order, as far as needed."""

    parts: tuple[Node, ...]

    __eq__, __ne__, __hash__ = _equal, _differ, _hash  # type: ignore[misc]


class Compare(NamedTuple):
    """One comparison; ``operator`` is one of ``== != < <= > >= in not in``."""

    operator: str
    left: Node
    right: Node

    __eq__, __ne__, __hash__ = _equal, _differ, _hash  # type: ignore[misc]


class Arithmetic(NamedTuple):
    """``+ - * / // %`` on numbers."""

    operator: str
    left: Node
    right: Node

    __eq__, __ne__, __hash__ = _equal, _differ, _hash  # type: ignore[misc]


class Choice(NamedTuple):
    """``then if test else otherwise``."""

    test: Node
    then: Node
    otherwise: Node

    __eq__, __ne__, __hash__ = _equal, _differ, _hash  # type: ignore[misc]


class Call(NamedTuple):
    """A declared function."""

    function: str
    arguments: tuple[Node, ...]

    __eq__, __ne__, __hash__ = _equal, _differ, _hash  # type: ignore[misc]


class Group(NamedTuple):
    """A tuple of expressions, as the right side of ``in``."""

    items: tuple[Node, ...]

    __eq__, __ne__, __hash__ = _equal, _differ, _hash  # type: ignore[misc]


Node: TypeAlias = "Const | Name | Not | All | Any_ | Compare | Arithmetic | Choice | Call | Group"

TRUE, FALSE = Const(True), Const(False)


def children(node: Node) -> tuple[Node, ...]:
    """The direct parts of a tree."""
    kind = node.__class__
    if kind is All or kind is Any_ or kind is Group:
        return node[0]  # type: ignore[return-value]
    if kind is Compare or kind is Arithmetic:
        return node[1:]  # type: ignore[return-value]
    if kind is Choice or kind is Not:
        return tuple(node)  # type: ignore[arg-type]
    return node[1] if kind is Call else ()  # type: ignore[return-value,misc]


def rebuilt(node: Node, parts: tuple[Node, ...]) -> Node:
    """The tree with its direct parts replaced, in the order of `children`."""
    match node:
        case All() | Any_() | Group():
            return node.__class__(parts)
        case Compare(sign) | Arithmetic(sign):
            return node.__class__(sign, *parts)
        case Call(function):
            return Call(function, parts)
        case Choice() | Not():
            return node.__class__(*parts)
        case Const() | Name():
            return node


def names(node: Node | None) -> frozenset[str]:
    """Every name the tree reads."""
    found: set[str] = set()
    left: list[Node] = [] if node is None else [node]
    seen: set[int] = set()  # a named expression stands in many places of a tree as one object
    while left:
        one = left.pop()
        kind = one.__class__
        if kind is Name:
            found.add(one[0])  # type: ignore[arg-type]
        elif kind is not Const and id(one) not in seen:
            seen.add(id(one))
            left += children(one)
    return frozenset(found)


def literals(node: Node) -> Iterable[tuple[str, Value]]:
    """Each (name, literal) that the tree compares with one another: what lint holds against domains."""
    if isinstance(node, Compare) and node.operator in ("==", "!=", "in", "not in"):
        for name, other in ((node.left, node.right), (node.right, node.left)):
            if isinstance(name, Name) and isinstance(other, Const):
                values = other.value if isinstance(other.value, tuple) else (other.value,)
                yield from ((name.name, value) for value in values)
            if isinstance(other, Const) and isinstance(name, Group) and node.operator.endswith("in"):
                yield from ((item.name, other.value) for item in name.items if isinstance(item, Name))
    for child in children(node):
        yield from literals(child)


def substitute(node: Node, values: Mapping[str, Node]) -> Node:
    """The tree with each name in ``values`` replaced."""
    match node:
        case Name(name):
            return values.get(name, node)
        case Const():
            return node
        case Not(operand):
            return Not(substitute(operand, values))
        case All(parts):
            return All(tuple(substitute(part, values) for part in parts))
        case Any_(parts):
            return Any_(tuple(substitute(part, values) for part in parts))
        case Compare(sign, left, right):
            return Compare(sign, substitute(left, values), substitute(right, values))
        case Arithmetic(sign, left, right):
            return Arithmetic(sign, substitute(left, values), substitute(right, values))
        case Choice(test, then, otherwise):
            return Choice(substitute(test, values), substitute(then, values), substitute(otherwise, values))
        case Call(function, arguments):
            return Call(function, tuple(substitute(argument, values) for argument in arguments))
        case Group(items):
            return Group(tuple(substitute(item, values) for item in items))


def describe(node: Node) -> str:
    """The tree as text of the language, without the names that were replaced."""
    match node:
        case Const(None):
            return "unset"
        case Const(value) if isinstance(value, tuple):
            return "(" + ", ".join(describe(Const(item)) for item in value) + ("," if len(value) == 1 else "") + ")"
        case Const(value):
            return repr(value)
        case Name(name):
            return name
        case Not(operand):
            return f"not {_inner(operand)}"
        case All(parts):
            return " and ".join(_inner(part) for part in parts)
        case Any_(parts):
            return " or ".join(_inner(part) for part in parts)
        case Compare(sign, left, right):
            if isinstance(right, Const) and right.value is None and sign in ("==", "!="):
                return f"{_operand(left)} {'is' if sign == '==' else 'is not'} unset"
            return f"{_operand(left)} {sign} {_operand(right)}"
        case Arithmetic(sign, left, right):
            return f"{_operand(left)} {sign} {_operand(right)}"
        case Choice(test, then, otherwise):
            return f"{_inner(then)} if {_inner(test)} else {_inner(otherwise)}"
        case Call(function, arguments):
            return f"{function}({', '.join(describe(argument) for argument in arguments)})"
        case Group(items):
            return "(" + ", ".join(describe(item) for item in items) + ("," if len(items) == 1 else "") + ")"


def _inner(node: Node) -> str:
    text = describe(node)
    return f"({text})" if isinstance(node, (All, Any_, Choice, Arithmetic, Not)) else text


def _operand(node: Node) -> str:
    return f"({describe(node)})" if isinstance(node, Compare) else _inner(node)
