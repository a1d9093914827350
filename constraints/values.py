"""Values of the rule language and what is done with them: comparisons, arithmetic, functions.

``unset`` is None. Arithmetic with unset is unset, ordering with unset is false, and True is not 1.
"""

from __future__ import annotations

import json
import math
import operator
from collections.abc import Callable, Mapping
from typing import Any, TypeAlias, TypeGuard

Value: TypeAlias = "str | int | float | bool | tuple[Value, ...] | None"
Env: TypeAlias = Mapping[str, Value]

# No list that an expression makes is longer, no number larger.
MAX_ITEMS = 2000
MAX_NUMBER = 10**60  # people type what they like, and SGLang counts with it


def same(left: Value, right: Value) -> bool:
    """Equality of the rule language: True is not 1, unset equals unset alone."""
    if left is right:
        return True
    if isinstance(left, tuple) and isinstance(right, tuple):
        return len(left) == len(right) and all(map(same, left, right))
    return left == right and isinstance(left, bool) == isinstance(right, bool)


def twin(value: Value) -> object:
    """A key that no value of another kind shares: True is not 1."""
    # Text and unset have no twin of another type; of numbers and truths the type is part of the key.
    return value if value is None or isinstance(value, str) else (value.__class__, repr(value))


def frozen(value: Any) -> Value:
    """Plain data as a hashable value: lists become tuples, mappings canonical JSON text."""
    if isinstance(value, (list, tuple)):
        return tuple(frozen(item) for item in value)
    if isinstance(value, Mapping):
        return json.dumps(value, sort_keys=True, separators=(",", ":"))
    if value is None or isinstance(value, (str, int, float, bool)):
        return value
    return str(value)


def is_member(item: Value, group: Value) -> bool:
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


COMPARE: dict[str, Callable[[Value, Value], bool]] = {
    "==": same,
    "!=": lambda left, right: not same(left, right),
    "in": is_member,
    "not in": lambda left, right: not is_member(left, right),
    "<": _ordered(operator.lt),  # type: ignore[arg-type]
    "<=": _ordered(operator.le),  # type: ignore[arg-type]
    ">": _ordered(operator.gt),  # type: ignore[arg-type]
    ">=": _ordered(operator.ge),  # type: ignore[arg-type]
}


def _is_number(value: Value) -> TypeGuard[int | float]:
    return isinstance(value, (int, float)) and -MAX_NUMBER <= value <= MAX_NUMBER


def _arithmetic(run: Callable[[float, float], float]) -> Callable[[Value, Value], Value]:
    numbers, least, most = (int, float), -MAX_NUMBER, MAX_NUMBER  # asked a hundred times for each command

    def apply(left: Value, right: Value) -> Value:
        if not isinstance(left, numbers) or not isinstance(right, numbers):
            return None
        if not (least <= left <= most and least <= right <= most):
            return None
        try:
            return run(left, right)
        except (ZeroDivisionError, OverflowError):
            return None

    return apply


ARITHMETIC: dict[str, Callable[[Value, Value], Value]] = {
    "+": _arithmetic(operator.add),
    "-": _arithmetic(operator.sub),
    "*": _arithmetic(operator.mul),
    "/": _arithmetic(operator.truediv),
    "//": _arithmetic(operator.floordiv),
    "%": _arithmetic(operator.mod),
}


def _of_numbers(run: Callable[[list[float]], float]) -> Callable[..., Value]:
    def apply(*values: Value) -> Value:
        numbers = [value for value in values if _is_number(value)]
        return run(numbers) if len(numbers) == len(values) and numbers else None

    return apply


def _text(run: Callable[[str, str], bool]) -> Callable[..., Value]:
    return lambda text, part: isinstance(text, str) and isinstance(part, str) and run(text, part)


def _round(value: Value, digits: Value = 0) -> Value:
    if not _is_number(value) or not isinstance(digits, int):
        return None
    return round(value, digits) if digits else round(value)


def _length(value: Value) -> Value:
    return len(value) if isinstance(value, (str, tuple)) else None


def _power_of_two(value: Value) -> Value:
    return isinstance(value, int) and value > 0 and value & (value - 1) == 0


def _json_kind(text: Value) -> Value:
    if not isinstance(text, str):
        return None
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return type(value).__name__ if value else "empty"


def _json_keys(text: Value) -> Value:
    try:
        value = json.loads(text) if isinstance(text, str) else None
    except (ValueError, RecursionError):
        return None
    return tuple(value) if isinstance(value, dict) else None


def _list(run: Callable[..., Value]) -> Callable[..., Value]:
    return lambda group, *rest: run(group, *rest) if isinstance(group, tuple) else None


def _every(total: Value, step: Value, hit: Value, other: Value) -> Value:
    if not isinstance(total, int) or not isinstance(step, int) or not 0 <= total <= MAX_ITEMS or step < 1:
        return None
    return tuple(hit if (place + 1) % step == 0 else other for place in range(total))


def _cycle(group: tuple[Value, ...], total: Value) -> Value:
    if not isinstance(total, int) or not group or not 0 <= total <= MAX_ITEMS:
        return None
    return tuple(group[place % len(group)] for place in range(total))


def _marks(total: Value, places: Value) -> Value:
    if not isinstance(total, int) or not isinstance(places, tuple) or not 0 <= total <= MAX_ITEMS:
        return None
    return tuple(int(is_member(place, places)) for place in range(total))


def _item(group: tuple[Value, ...], place: Value) -> Value:
    return group[place] if isinstance(place, int) and -len(group) <= place < len(group) else None


def _named(group: tuple[Value, ...], names: Value, part: Value) -> Value:
    if not isinstance(names, tuple) or len(names) != len(group):
        return None
    return tuple(member for name, member in zip(names, group, strict=True) if str(part) in str(name))


# On lists (tuples), counted from 0: an item, the first n, how many and where, one list meeting another, and the two
# ways to write a pattern of layers: every k-th differs, a block repeats. `letters` makes a list of a text.
_ON_LISTS: dict[str, Callable[..., Value]] = {
    "item": _list(_item),
    "first": _list(lambda group, total: group[:total] if isinstance(total, int) and total >= 0 else None),
    "count": _list(lambda group, value: sum(same(member, value) for member in group)),
    "positions": _list(lambda group, value: tuple(n for n, member in enumerate(group) if same(member, value))),
    "any_of": _list(lambda group, other: any(is_member(member, other) for member in group)),
    "every": _every,
    "marks": _marks,
    "skip": _list(lambda group, total: group[total:] if isinstance(total, int) and total >= 0 else None),
    "positions_in": _list(lambda group, many: tuple(n for n, member in enumerate(group) if is_member(member, many))),
    "without": _list(lambda group, value: tuple(member for member in group if not same(member, value))),
    "max_of": _list(lambda group: _of_numbers(max)(*group)),
    "chain": lambda *groups: tuple(member for group in groups if isinstance(group, tuple) for member in group),
    "letters": lambda text: tuple(text) if isinstance(text, str) else None,
    "cycle": _list(_cycle),
    "where": _list(lambda group, value, hit, other: tuple(hit if same(one, value) else other for one in group)),
    "named": _list(_named),
    "mentions": _list(lambda group, part: any(isinstance(member, str) and str(part) in member for member in group)),
}


def _touched(things: Value, each: Value, draws: Value) -> Value:
    """The expected share of ``things`` that some of ``draws`` take, when each takes ``each`` of them by chance."""
    if not all(
        isinstance(one, (int, float)) and not isinstance(one, bool) and one >= 0 for one in (things, each, draws)
    ):
        return None
    return 1.0 if each >= things else 1.0 - (1.0 - each / things) ** draws  # type: ignore[operator]


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
    "touched": _touched,
    "len": _length,
    "starts": _text(str.startswith),
    "ends": _text(str.endswith),
    "lower": lambda text: text.lower() if isinstance(text, str) else None,
    "upper": lambda text: text.upper() if isinstance(text, str) else None,
    "power_of_two": _power_of_two,
    # What JSON a text holds: dict, list, str, int, float or bool; "empty" when Python takes it for false.
    "json_kind": _json_kind,
    "json_keys": _json_keys,
    "is_text": lambda value: isinstance(value, str),
    "is_number": lambda value: isinstance(value, (int, float)) and not isinstance(value, bool),
}

# Those whose value may hold a text that they were not given.
MAKING_TEXTS = frozenset(("lower", "upper", "json_kind", "json_keys", "letters"))
