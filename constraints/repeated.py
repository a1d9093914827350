"""The trees of a program -> which parts of them recur and cost enough to be remembered once computed.

Equal trees are numbered alike (hash consing, Ershov 1958), so that a part counts once for all equal trees it stands in.
"""

from __future__ import annotations

from collections.abc import Iterable

from .tree import Arithmetic, Call, Compare, Const, Name, Node, children

# A remembered value costs about as much as two plain tests; what is called costs five.
_CALLED = 5
_WORTH = 5
_LARGE = 20


class Repeated:
    """The parts that recur in ``trees``, which have to stay alive as long as this is asked."""

    def __init__(self, trees: Iterable[Node]) -> None:
        self._numbers: dict[int, int] = {}
        self._known: dict[tuple[object, ...], int] = {}
        self._weights: list[int] = []
        self._counts: list[int] = []
        for tree in trees:
            self._counts[self._number(tree)] += 1

    def number(self, node: Node) -> int | None:
        """The number of a part that is worth remembering, the same for equal ones; None for any other."""
        number = self._numbers.get(id(node))
        if number is None or self._counts[number] < 2 or self._weights[number] < _WORTH:
            return None
        return number

    def is_large(self, number: int) -> bool:
        """Whether a part costs so much that a call is nothing beside it."""
        return self._weights[number] >= _LARGE

    def _number(self, node: Node) -> int:
        number = self._numbers.get(id(node))
        if number is None:
            number = self._numbers[id(node)] = self._numbered(node)
        return number

    def _numbered(self, node: Node) -> int:
        parts = [self._number(part) for part in children(node)]
        own = repr(node[0]) if isinstance(node, (Const, Name, Compare, Arithmetic, Call)) else ""
        key = (node.__class__, own, *parts)
        known = self._known.get(key)
        if known is not None:
            return known
        for part in parts:
            self._counts[part] += 1
        number = self._known[key] = len(self._counts)
        self._counts.append(0)
        self._weights.append(_weight(node) + sum(self._weights[part] for part in parts))
        return number


def _weight(node: Node) -> int:
    if isinstance(node, (Const, Name)):
        return 0
    called = isinstance(node, (Call, Arithmetic)) or (
        isinstance(node, Compare) and not isinstance(node.left, Const) and not isinstance(node.right, Const)
    )
    return _CALLED if called else 1
