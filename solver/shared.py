"""A large expression -> the same with every part that occurs more than once named, so that it is worked out once."""

from __future__ import annotations

from constraints.tree import Arithmetic, Call, Compare, Const, Name, Node, children, rebuilt

from .problem import Definition

SMALLEST = 3


def shared_parts(node: Node, prefix: str) -> tuple[list[Definition], Node]:
    """Definitions ``prefix 1, 2, ...`` of the parts that occur more than once, in order, and what is left."""
    numbers: dict[object, int] = {}
    parts: list[tuple[Node, tuple[int, ...]]] = []
    times: list[int] = []
    sizes: list[int] = []

    def number(one: Node) -> int:
        """The number of a part; equal parts have one."""
        inner = tuple(map(number, children(one)))
        key = (one.__class__, _head(one), inner)
        found = numbers.get(key)
        if found is None:
            found = numbers[key] = len(parts)
            parts.append((one, inner))
            times.append(0)
            sizes.append(1 + sum(sizes[place] for place in inner))
        times[found] += 1
        return found

    found: list[Definition] = []
    done: dict[int, Node] = {}

    def made(place: int) -> Node:
        if place not in done:
            one, inner = parts[place]
            whole = rebuilt(one, tuple(map(made, inner))) if inner else one
            if times[place] > 1 and sizes[place] >= SMALLEST:
                found.append(Definition(f"{prefix} {len(found) + 1}", whole))
                whole = Name(found[-1].name)
            done[place] = whole
        return done[place]

    return found, made(number(node))


def _head(node: Node) -> object:
    """What tells a node from others of its kind with the same parts."""
    match node:
        case Const(value):
            return type(value), repr(value)
        case Name(name):
            return name
        case Compare(sign) | Arithmetic(sign):
            return sign
        case Call(function):
            return function
    return None
