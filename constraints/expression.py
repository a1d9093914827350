"""The one language of ``when``, ``require`` and ``set``: text -> a checked tree.

The text is read by Python's own grammar and turned, node by node, into the kinds of `tree`; whatever is not among
them is refused. What a rule's author wrote is never run: `evaluate` walks the tree, and the code that `compose` and
`program_code` write from it holds values as `repr` gives them and names of declared functions, nothing else.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping

from .errors import ExpressionError
from .tree import All, Any_, Arithmetic, Call, Choice, Compare, Const, Group, Name, Node, Not
from .values import FUNCTIONS

MAX_TEXT = 2000
MAX_DEPTH = 40

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
