"""A large expression -> the same with every part that occurs more than once named, so that it is folded once."""

from __future__ import annotations

from collections import Counter

from constraints.tree import Const, Name, Node, children, rebuilt

from .problem import Definition

SMALLEST = 3


def shared_parts(node: Node, prefix: str) -> tuple[list[Definition], Node]:
    """Definitions ``prefix 1, 2, ...`` of the parts that occur more than once, in order, and what is left."""
    times: Counter[Node] = Counter()
    sizes: dict[Node, int] = {}

    def count(one: Node) -> int:
        if isinstance(one, (Const, Name)):
            return 1
        times[one] += 1
        if one not in sizes:
            sizes[one] = 1 + sum(map(count, children(one)))
        return sizes[one]

    count(node)
    found: list[Definition] = []
    done: dict[Node, Node] = {}

    def name(one: Node) -> Node:
        if isinstance(one, (Const, Name)):
            return one
        if one not in done:
            made = rebuilt(one, tuple(map(name, children(one))))
            if times[one] > 1 and sizes[one] >= SMALLEST:
                found.append(Definition(f"{prefix} {len(found) + 1}", made))
                made = Name(found[-1].name)
            done[one] = made
        return done[one]

    return found, name(node)
