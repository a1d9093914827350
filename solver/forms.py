"""Expressions by number: what is folded once is found again, for every problem on the same facts."""

from __future__ import annotations

from collections.abc import Iterable

from constraints.evaluate import fold
from constraints.tree import Const, Node, names
from constraints.values import Value, twin

from .forced import claims, equals, forced


class Forms:
    """Every form that some equation was folded to so far."""

    def __init__(self) -> None:
        self.nodes: list[Node] = []
        self.scopes: list[frozenset[str]] = []
        # Sets of names as bits of a whole number: what meets what is asked millions of times.
        self.masks: list[int] = []
        self.bits: dict[str, int] = {}
        self._number: dict[Node, int] = {}
        self._known: dict[int, tuple[Node, int]] = {}
        self._folded: dict[tuple[str, object], dict[int, int | Const]] = {}
        self._forced: dict[int, tuple[tuple[str, Value], ...]] = {}
        self._claims: dict[int, tuple[tuple[int, Value, bool], ...]] = {}
        self._equal: dict[tuple[int, object], int | Const] = {}

    def number(self, node: Node) -> int:
        """The number of a form."""
        number = self._number.get(node)
        if number is None:
            number = self._number[node] = len(self.nodes)
            self.nodes.append(node)
            self.scopes.append(names(node))
            self.masks.append(self.mask(self.scopes[-1]))
        return number

    def number_of(self, node: Node) -> int:
        """The same for a tree that lasts: looked up by what it is, not by what stands in it."""
        known = self._known.get(id(node))
        if known is None or known[0] is not node:
            known = self._known[id(node)] = (node, self.number(node))
        return known[1]

    def names(self, node: Node) -> frozenset[str]:
        """The names in a tree that lasts."""
        return self.scopes[self.number_of(node)]

    def mask(self, scope: Iterable[str]) -> int:
        """The bits of some names."""
        mask = 0
        for name in scope:
            mask |= self.bits.setdefault(name, 1 << len(self.bits))
        return mask

    def folds(self, name: str, value: Value) -> dict[int, int | Const]:
        """The forms met so far with this value put in: another form's number, or a constant."""
        return self._folded.setdefault((name, twin(value)), {})

    def fold(self, folds: dict[int, int | Const], form: int, name: str, value: Value) -> int | Const:
        """The form with one value put in, to be found in ``folds`` of that value from now on."""
        found = folds[form] = self._settled(fold(self.nodes[form], {name: value}))
        return found

    def put(self, form: int, name: str, value: Value) -> int | Const:
        """The form with one value put in."""
        folds = self.folds(name, value)
        return folds[form] if form in folds else self.fold(folds, form, name, value)

    def equal(self, form: int, value: Value) -> int | Const:
        """What must be true for the form to have a value."""
        key = (form, twin(value))
        if key not in self._equal:
            self._equal[key] = self._settled(equals(self.nodes[form], value))
        return self._equal[key]

    def forced(self, form: int) -> tuple[tuple[str, Value], ...]:
        """Names and the values they must have where the form is to be true."""
        if form not in self._forced:
            self._forced[form] = tuple(forced(self.nodes[form]))
        return self._forced[form]

    def claims(self, form: int) -> tuple[tuple[int, Value, bool], ...]:
        """The parts, by number, that must have or must not have a value where the form is to be true."""
        if form not in self._claims:
            self._claims[form] = tuple(
                (self.number(part), value, truth) for part, value, truth in claims(self.nodes[form])
            )
        return self._claims[form]

    def _settled(self, node: Node) -> int | Const:
        return node if isinstance(node, Const) else self.number(node)
