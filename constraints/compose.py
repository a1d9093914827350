"""A tree of the rule language -> a Python function: what is asked often runs as Python's own code."""

from __future__ import annotations

import marshal
import math
from collections.abc import Callable, Sequence
from functools import partial
from operator import itemgetter
from types import CodeType
from typing import Any, TypeAlias

from .evaluate import evaluate
from .tree import All, Any_, Arithmetic, Call, Choice, Compare, Const, Group, Name, Node, Not
from .values import ARITHMETIC, COMPARE, FUNCTIONS, Env, Value

Closure: TypeAlias = Callable[[Env], Value]
Rowwise: TypeAlias = Callable[..., Value]

# What the language calls, by the name it has in the written code.
_NAMED = {sign: f"run{number}" for number, sign in enumerate((*COMPARE, *ARITHMETIC))}
SPACE: dict[str, object] = {
    **{_NAMED[sign]: run for sign, run in (*COMPARE.items(), *ARITHMETIC.items())},
    **{f"{name}_": run for name, run in FUNCTIONS.items()},
    "NUMBER": (int, float),
    "inf": math.inf,
    "nan": math.nan,
    "itemgetter": itemgetter,
}


def compose(node: Node) -> Closure:
    """A function from values by name to the value of the tree."""
    return _function(_closure_code(node)) or partial(evaluate, node)


def compose_row(node: Node, names: Sequence[str]) -> Rowwise:
    """A function from the values of ``names``, in their order, to the value of the tree."""
    places = {name: f"v{place}" for place, name in enumerate(names)}
    found = _function(_code(",".join(places.values()), node, places.__getitem__))
    return found or (lambda *row: evaluate(node, dict(zip(names, row, strict=True))))


def _closure_code(node: Node) -> CodeType | None:
    return _code("env", node, lambda name: f"env[{name!r}]")


def _code(parameters: str, node: Node, name: Callable[[str], str]) -> CodeType | None:
    """The written function, to be made of its code; None where a tree is deeper than Python reads."""
    try:
        return compile(f"lambda {parameters}: {Writer(name).value(node)}", "<rule>", "eval")
    except (SyntaxError, MemoryError, RecursionError):
        return None


def _function(code: CodeType | None) -> Callable[..., Value] | None:
    return None if code is None else eval(code, SPACE)


class Writer:
    """Trees as Python text; ``name`` writes how a name is looked up.

    Only text that `repr` made of values stands in it, and names of functions that are declared.
    """

    def __init__(self, name: Callable[[str], str]) -> None:
        self._name = name

    def value(self, node: Node) -> str:
        """What has the value of the tree."""
        return self._value[node.__class__](self, node)

    def test(self, node: Node) -> str:
        """What is true where the value of the tree is."""
        if isinstance(node, (All, Any_)) and node.parts:
            return self._joined(node)
        return self.value(node)

    def _joined(self, node: All | Any_) -> str:
        word = " and " if isinstance(node, All) else " or "
        return f"({word.join([self.test(part) for part in node.parts])})"

    def _parts(self, node: All | Any_) -> str:
        if not node.parts:
            return repr(isinstance(node, All))
        return f"(True if {self._joined(node)} else False)"

    def _compare(self, node: Compare) -> str:
        sign, left, right = node
        if isinstance(right, Const) and not isinstance(left, (Const, Group)):
            plain = _plain(sign, self.value(left), right.value)
            if plain:
                return plain
        if isinstance(left, Const) and not isinstance(right, (Const, Group)) and sign in _TURNED:
            plain = _plain(_TURNED[sign], self.value(right), left.value)
            if plain:
                return plain
        return f"{_NAMED[sign]}({self.value(left)}, {self.value(right)})"

    _value: dict[type[Node], Callable[[Writer, Any], str]] = {
        Const: lambda self, node: repr(node.value),
        Name: lambda self, node: self._name(node.name),
        Not: lambda self, node: f"(not {self.test(node.operand)})",
        All: _parts,
        Any_: _parts,
        Compare: _compare,
        Arithmetic: lambda self, node: f"{_NAMED[node.operator]}({self.value(node.left)}, {self.value(node.right)})",
        Choice: lambda self, node: (
            f"({self.value(node.then)} if {self.test(node.test)} else {self.value(node.otherwise)})"
        ),
        Call: lambda self, node: f"{node.function}_({', '.join([self.value(one) for one in node.arguments])})",
        Group: lambda self, node: f"({''.join([self.value(item) + ', ' for item in node.items])})",
    }


# What a comparison is when its sides are exchanged.
_TURNED = {"==": "==", "!=": "!=", "<": ">", "<=": ">=", ">": "<", ">=": "<="}


def _plain(sign: str, text: str, value: Value) -> str:
    """A comparison of ``text`` with ``value`` in Python's own words, where they mean the same; empty where not."""
    if sign in ("==", "!="):
        # Unset and the truths are one object each.
        if value is None or isinstance(value, bool):
            return f"({text} {'is' if sign == '==' else 'is not'} {value!r})"
        return _among(sign == "==", text, (value,))
    if sign in ("in", "not in"):
        return _among(sign == "in", text, value) if isinstance(value, tuple) and value else ""
    return f"(isinstance((_ := {text}), NUMBER) and _ {sign} {value!r})" if isinstance(value, (int, float)) else ""


def _among(wanted: bool, text: str, values: tuple[Value, ...]) -> str:
    """Whether ``text`` is one of ``values``, or is none: Python takes 0 and 1 for truths, which is ruled out."""
    if any(isinstance(value, tuple) or value != value for value in values):
        return ""
    truths = [value for value in values if isinstance(value, bool)]
    numbers = [value for value in values if isinstance(value, (int, float)) and not isinstance(value, bool)]
    if any(truth not in numbers for truth in truths):
        return ""
    wrong = [truth for truth in (False, True) if truth in numbers and truth not in truths]
    right = repr(values[0]) if len(values) == 1 else f"{{{', '.join(map(repr, values))}}}"
    sign = ("==" if wanted else "!=") if len(values) == 1 else ("in" if wanted else "not in")
    if not wrong:
        return f"({text} {sign} {right})"
    apart = [f" {'and' if wanted else 'or'} _ {'is not' if wanted else 'is'} {truth}" for truth in wrong]
    return f"((_ := {text}) {sign} {right}{''.join(apart)})"


class Compiled:
    """A tree that can be called. What is kept on disk is the tree and its written code, which is read when it pays."""

    __slots__ = ("_code", "_composed", "_walked", "node")

    def __init__(self, node: Node, code: bytes | None = None) -> None:
        """``code`` is what `marshal` made of the written code, where that is at hand."""
        self.node = node
        self._code = code
        self._composed: Closure | None = None
        self._walked = False

    def __call__(self, env: Env) -> Value:
        if self._composed is not None:
            return self._composed(env)
        if not self._walked:  # most are asked once in a process, and reading the code costs some walks
            self._walked = True
            return evaluate(self.node, env)
        self._composed = _function(marshal.loads(self._written())) or partial(evaluate, self.node)
        return self._composed(env)

    def _written(self) -> bytes:
        if self._code is None:
            self._code = marshal.dumps(_closure_code(self.node))
        return self._code

    def __reduce__(self) -> tuple[type[Compiled], tuple[Node, bytes]]:
        return Compiled, (self.node, self._written())
