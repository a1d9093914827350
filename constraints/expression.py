"""The one language of ``when``, ``require`` and ``set``: text -> a checked tree, and what can be asked of a tree.

The text is read by Python's own grammar and turned, node by node, into the few kinds below; whatever is
not among them is refused. Nothing is ever given to ``eval`` or ``compile``: `closure` composes functions.
``unset`` is None. ``and``/``or`` return booleans, arithmetic with unset is unset, ordering with unset is
false, and True is not 1.
"""

from __future__ import annotations

import ast
import math
import operator
from collections.abc import Callable, Iterable, Mapping
from typing import NamedTuple, TypeAlias

from .errors import ExpressionError

Value: TypeAlias = "str | int | float | bool | tuple[Value, ...] | None"
Env: TypeAlias = Mapping[str, Value]
Closure: TypeAlias = Callable[[Env], Value]

MAX_TEXT = 2000
MAX_DEPTH = 40
MAX_NUMBER = 10**18


def _equal(left: object, right: object) -> bool:
    # Plain tuples of equal content are equal whatever their kind; trees of different kinds are not.
    return type(left) is type(right) and bool(tuple.__eq__(left, right))  # type: ignore[operator]


def _differ(left: object, right: object) -> bool:
    return not _equal(left, right)


def _hash(node: tuple[object, ...]) -> int:
    return hash((type(node).__name__, *node))


class Const(NamedTuple):
    """A literal, or a set of literals."""

    value: Value

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Const) and same(self.value, other.value)

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __hash__(self) -> int:
        return hash(("Const", self.value))


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


def same(left: Value, right: Value) -> bool:
    """Equality of the rule language: True is not 1, unset equals unset alone."""
    if left is right:
        return True
    if isinstance(left, tuple) and isinstance(right, tuple):
        return len(left) == len(right) and all(map(same, left, right))
    return left == right and isinstance(left, bool) == isinstance(right, bool)


def _member(item: Value, group: Value) -> bool:
    if isinstance(group, str):
        return isinstance(item, str) and item in group
    if not isinstance(group, tuple) or item not in group:  # what is not even equal cannot be the same
        return False
    return item is None or isinstance(item, str) or any(same(item, other) for other in group)


def _ordered(compare: Callable[[object, object], bool]) -> Callable[[Value, Value], bool]:
    def run(left: Value, right: Value) -> bool:
        if left is None or right is None or isinstance(left, str) != isinstance(right, str):
            return False
        try:
            return compare(left, right)
        except TypeError:  # a number and a version
            return False

    return run


_COMPARE: dict[str, Callable[[Value, Value], bool]] = {
    "==": same,
    "!=": lambda left, right: not same(left, right),
    "in": _member,
    "not in": lambda left, right: not _member(left, right),
    "<": _ordered(operator.lt),  # type: ignore[arg-type]
    "<=": _ordered(operator.le),  # type: ignore[arg-type]
    ">": _ordered(operator.gt),  # type: ignore[arg-type]
    ">=": _ordered(operator.ge),  # type: ignore[arg-type]
}


def _number(value: Value) -> int | float | None:
    return value if isinstance(value, (int, float)) and abs(value) <= MAX_NUMBER else None


def _arithmetic(run: Callable[[float, float], float]) -> Callable[[Value, Value], Value]:
    def apply(left: Value, right: Value) -> Value:
        first, second = _number(left), _number(right)
        if first is None or second is None:
            return None
        try:
            return run(first, second)
        except ZeroDivisionError:
            return None

    return apply


_ARITHMETIC: dict[str, Callable[[Value, Value], Value]] = {
    "+": _arithmetic(operator.add),
    "-": _arithmetic(operator.sub),
    "*": _arithmetic(operator.mul),
    "/": _arithmetic(operator.truediv),
    "//": _arithmetic(operator.floordiv),
    "%": _arithmetic(operator.mod),
}


def _of_numbers(run: Callable[[list[float]], float]) -> Callable[..., Value]:
    def apply(*values: Value) -> Value:
        numbers = [number for value in values if (number := _number(value)) is not None]
        return run(numbers) if len(numbers) == len(values) and numbers else None

    return apply


def _text(run: Callable[[str, str], bool]) -> Callable[..., Value]:
    return lambda text, part: isinstance(text, str) and isinstance(part, str) and run(text, part)


def _round(value: Value, digits: Value = 0) -> Value:
    number = _number(value)
    if number is None or not isinstance(digits, int):
        return None
    return round(number, digits) if digits else round(number)


def _length(value: Value) -> Value:
    return len(value) if isinstance(value, (str, tuple)) else None


def _power_of_two(value: Value) -> Value:
    return isinstance(value, int) and value > 0 and value & (value - 1) == 0


def _list(run: Callable[..., Value]) -> Callable[..., Value]:
    return lambda group, *rest: run(group, *rest) if isinstance(group, tuple) else None


def _every(total: Value, step: Value, hit: Value, other: Value) -> Value:
    if not isinstance(total, int) or not isinstance(step, int) or not 0 <= total <= MAX_TEXT or step < 1:
        return None
    return tuple(hit if (place + 1) % step == 0 else other for place in range(total))


def _cycle(group: tuple[Value, ...], total: Value) -> Value:
    if not isinstance(total, int) or not group or not 0 <= total <= MAX_TEXT:
        return None
    return tuple(group[place % len(group)] for place in range(total))


def _marks(total: Value, places: Value) -> Value:
    if not isinstance(total, int) or not isinstance(places, tuple) or not 0 <= total <= MAX_TEXT:
        return None
    return tuple(int(_member(place, places)) for place in range(total))


def _item(group: tuple[Value, ...], place: Value) -> Value:
    return group[place] if isinstance(place, int) and -len(group) <= place < len(group) else None


# On lists (tuples), counted from 0: an item, the first n, how many and where, one list meeting another, and the two
# ways to write a pattern of layers: every k-th differs, a block repeats. `letters` makes a list of a text.
_ON_LISTS: dict[str, Callable[..., Value]] = {
    "item": _list(_item),
    "first": _list(lambda group, total: group[:total] if isinstance(total, int) and total >= 0 else None),
    "count": _list(lambda group, value: sum(same(member, value) for member in group)),
    "positions": _list(lambda group, value: tuple(n for n, member in enumerate(group) if same(member, value))),
    "any_of": _list(lambda group, other: any(_member(member, other) for member in group)),
    "every": _every,
    "marks": _marks,
    "skip": _list(lambda group, total: group[total:] if isinstance(total, int) and total >= 0 else None),
    "positions_in": _list(lambda group, many: tuple(n for n, member in enumerate(group) if _member(member, many))),
    "without": _list(lambda group, value: tuple(member for member in group if not same(member, value))),
    "max_of": _list(lambda group: _of_numbers(max)(*group)),
    "chain": lambda *groups: tuple(member for group in groups if isinstance(group, tuple) for member in group),
    "letters": lambda text: tuple(text) if isinstance(text, str) else None,
    "cycle": _list(_cycle),
    "mentions": _list(lambda group, part: any(isinstance(member, str) and str(part) in member for member in group)),
}

FUNCTIONS: dict[str, Callable[..., Value]] = {
    **_ON_LISTS,
    "either": lambda *values: next((value for value in values if value is not None), None),
    "min": _of_numbers(min),
    "max": _of_numbers(max),
    "abs": _of_numbers(lambda numbers: abs(numbers[0])),
    "int": _of_numbers(lambda numbers: int(numbers[0])),
    "floor": _of_numbers(lambda numbers: math.floor(numbers[0])),
    "ceil": _of_numbers(lambda numbers: math.ceil(numbers[0])),
    "round": _round,
    "len": _length,
    "starts": _text(str.startswith),
    "ends": _text(str.endswith),
    "lower": lambda text: text.lower() if isinstance(text, str) else None,
    "upper": lambda text: text.upper() if isinstance(text, str) else None,
    "power_of_two": _power_of_two,
    "is_text": lambda value: isinstance(value, str),
    "is_number": lambda value: isinstance(value, (int, float)) and not isinstance(value, bool),
}

_OPERATORS: dict[type, str] = {
    ast.Eq: "==",
    ast.NotEq: "!=",
    ast.Lt: "<",
    ast.LtE: "<=",
    ast.Gt: ">",
    ast.GtE: ">=",
    ast.In: "in",
    ast.NotIn: "not in",
    ast.Is: "==",
    ast.IsNot: "!=",
    ast.Add: "+",
    ast.Sub: "-",
    ast.Mult: "*",
    ast.Div: "/",
    ast.FloorDiv: "//",
    ast.Mod: "%",
}


def parse(text: str, named: Mapping[str, Node] | None = None) -> Node:
    """The tree of ``text``, with each name of ``named`` replaced by its tree.

    Raises ExpressionError for anything outside the language.
    """
    if len(text) > MAX_TEXT:
        raise ExpressionError(f"longer than {MAX_TEXT} characters: give parts of it names in names.yaml")
    try:
        tree = ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError) as fault:
        raise ExpressionError(f"not an expression: {text!r} ({fault.__class__.__name__})") from None
    return _convert(tree, named or {}, 0)


def _convert(tree: ast.expr, named: Mapping[str, Node], depth: int) -> Node:
    if depth > MAX_DEPTH:
        raise ExpressionError(f"nested deeper than {MAX_DEPTH}")

    def go(child: ast.expr) -> Node:
        return _convert(child, named, depth + 1)

    match tree:
        case ast.Constant(value=str() | int() | float() | bool() as value):
            return Const(value)
        case ast.Name() | ast.Attribute():
            name = _dotted(tree)
            return Const(None) if name == "unset" else named.get(name, Name(name))
        case ast.BoolOp(op=ast.And(), values=values):
            return All(tuple(go(value) for value in values))
        case ast.BoolOp(values=values):
            return Any_(tuple(go(value) for value in values))
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            return Not(go(operand))
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int() | float() as number)):
            return Const(-number)
        case ast.BinOp(left=left, op=sign, right=right) if type(sign) in _OPERATORS:
            return Arithmetic(_OPERATORS[type(sign)], go(left), go(right))
        case ast.IfExp(test=test, body=body, orelse=orelse):
            return Choice(go(test), go(body), go(orelse))
        case ast.Tuple(elts=items) | ast.List(elts=items):
            parts = tuple(go(item) for item in items)
            literals = [part.value for part in parts if isinstance(part, Const)]
            return Const(tuple(literals)) if len(literals) == len(parts) else Group(parts)
        case ast.Call(func=ast.Name(id=function), args=arguments, keywords=[]) if function in FUNCTIONS:
            return Call(function, tuple(go(argument) for argument in arguments))
        case ast.Compare(left=left, ops=signs, comparators=others):
            return _chain(go(left), [_OPERATORS[type(sign)] for sign in signs], [go(other) for other in others])
    raise ExpressionError(f"{ast.unparse(tree)!r} is not part of the rule language")


def _chain(left: Node, signs: list[str], others: list[Node]) -> Node:
    parts: list[Node] = []
    for sign, right in zip(signs, others, strict=True):
        parts.append(Compare(sign, left, right))
        left = right
    return parts[0] if len(parts) == 1 else All(tuple(parts))


def _dotted(tree: ast.expr) -> str:
    match tree:
        case ast.Name(id=name):
            return name
        case ast.Attribute(value=value, attr=attribute):
            return f"{_dotted(value)}.{attribute}"
    raise ExpressionError(f"{ast.unparse(tree)!r} is not a name")


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


def names(node: Node | None) -> frozenset[str]:
    """Every name the tree reads."""
    found: set[str] = set()
    left = [] if node is None else [node]
    while left:
        one = left.pop()
        if isinstance(one, Name):
            found.add(one.name)
        elif not isinstance(one, Const):
            left.extend(children(one))
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


def fold(node: Node, known: Env) -> Node:
    """The tree with ``known`` values put in and every part that is then settled computed."""
    match node:
        case Const():
            return node
        case Name(name):
            return Const(known[name]) if name in known else node
        case Not(operand):
            inner = fold(operand, known)
            return Const(not inner.value) if isinstance(inner, Const) else Not(inner)
        case All(parts):
            return _fold_parts(parts, known, All, stop=False)
        case Any_(parts):
            return _fold_parts(parts, known, Any_, stop=True)
        case Compare(sign, left, right):
            return _fold_compare(sign, fold(left, known), fold(right, known))
        case Arithmetic(sign, left, right):
            first, second = fold(left, known), fold(right, known)
            if isinstance(first, Const) and isinstance(second, Const):
                return Const(_ARITHMETIC[sign](first.value, second.value))
            return Arithmetic(sign, first, second)
        case Choice(test, then, otherwise):
            question = fold(test, known)
            if isinstance(question, Const):
                return fold(then if question.value else otherwise, known)
            return Choice(question, fold(then, known), fold(otherwise, known))
        case Call(function, arguments):
            folded = tuple(fold(argument, known) for argument in arguments)
            values = [argument.value for argument in folded if isinstance(argument, Const)]
            return Const(FUNCTIONS[function](*values)) if len(values) == len(folded) else Call(function, folded)
        case Group(items):
            members = tuple(fold(item, known) for item in items)
            values = [member.value for member in members if isinstance(member, Const)]
            return Const(tuple(values)) if len(values) == len(members) else Group(members)


def _fold_parts(parts: tuple[Node, ...], known: Env, kind: type[All] | type[Any_], *, stop: bool) -> Node:
    left: list[Node] = []
    for part in parts:
        inner = fold(part, known)
        if not isinstance(inner, Const):
            left.append(inner)
        elif bool(inner.value) is stop:
            return Const(stop)
    if not left:
        return Const(not stop)
    return kind(tuple(left))


def _fold_compare(sign: str, left: Node, right: Node) -> Node:
    if isinstance(left, Const) and isinstance(right, Const):
        return Const(_COMPARE[sign](left.value, right.value))
    if sign in ("in", "not in") and isinstance(left, Const) and isinstance(right, Group):
        open_items = tuple(item for item in right.items if not isinstance(item, Const))
        if any(isinstance(item, Const) and same(left.value, item.value) for item in right.items):
            return Const(sign == "in")
        return Compare(sign, left, Group(open_items))
    return Compare(sign, left, right)


def closure(node: Node) -> Closure:
    """A function from values by name to the value of the tree."""
    match node:
        case Const(value):
            return lambda env: value
        case Name(name):
            return operator.itemgetter(name)
        case Not(operand):
            inner = closure(operand)
            return lambda env: not inner(env)
        case All(parts):
            return _all(tuple(closure(part) for part in parts))
        case Any_(parts):
            return _any(tuple(closure(part) for part in parts))
        case Compare(sign, left, right):
            return _compare(sign, left, right)
        case Arithmetic(sign, left, right):
            return _binary(_ARITHMETIC[sign], closure(left), closure(right))
        case Choice(test, then, otherwise):
            question, first, second = closure(test), closure(then), closure(otherwise)
            return lambda env: first(env) if question(env) else second(env)
        case Call(function, arguments):
            run, inputs = FUNCTIONS[function], tuple(closure(argument) for argument in arguments)
            return lambda env: run(*[value(env) for value in inputs])
        case Group(items):
            members = tuple(closure(item) for item in items)
            return lambda env: tuple([member(env) for member in members])


def _all(parts: tuple[Closure, ...]) -> Closure:
    if len(parts) == 2:
        first, second = parts
        return lambda env: bool(first(env) and second(env))

    def run(env: Env) -> bool:
        for part in parts:
            if not part(env):
                return False
        return True

    return run


def _any(parts: tuple[Closure, ...]) -> Closure:
    if len(parts) == 2:
        first, second = parts
        return lambda env: bool(first(env) or second(env))

    def run(env: Env) -> bool:
        for part in parts:
            if part(env):
                return True
        return False

    return run


def _compare(sign: str, left: Node, right: Node) -> Closure:
    # Text and unset have no twin of another type, so that plain equality and hashing agree with `same`.
    if isinstance(left, Name) and isinstance(right, Const):
        name, value = left.name, right.value
        if isinstance(value, str) and sign in ("==", "!="):
            equal = sign == "=="
            return lambda env: (env[name] == value) is equal
        if value is None and sign in ("==", "!="):
            equal = sign == "=="
            return lambda env: (env[name] is None) is equal
        if isinstance(value, tuple) and all(item is None or isinstance(item, str) for item in value):
            members, inside = frozenset(value), sign == "in"
            return lambda env: (env[name] in members) is inside
    return _binary(_COMPARE[sign], closure(left), closure(right))


def _binary(run: Callable[[Value, Value], Value], left: Closure, right: Closure) -> Closure:
    return lambda env: run(left(env), right(env))


class Compiled:
    """A tree that can be called; what is kept of it on disk is the tree alone."""

    __slots__ = ("_run", "node")

    def __init__(self, node: Node) -> None:
        self.node = node
        self._run: Closure | None = None

    def __call__(self, env: Env) -> Value:
        if self._run is None:
            self._run = closure(self.node)
        return self._run(env)

    def __reduce__(self) -> tuple[type[Compiled], tuple[Node]]:
        return Compiled, (self.node,)


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
