"""What an operation came to, by what it read: problems posed on the same facts differ in few of their parts."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from operator import itemgetter
from typing import Any, TypeVar

from constraints.schema import WRITERS, Operation
from constraints.tree import Call, Const, Name, Node
from constraints.values import Value, twin

from .operations import reads, targets

Outcome = TypeVar("Outcome")
UNSET = 0


class Remembered:
    """The outcomes of one program's operations.

    What a name means at some place, and the values that can have, has a code: equal codes, equal outcomes.
    """

    def __init__(self, operations: Sequence[Operation], defaults: Mapping[str, Value]) -> None:
        """``defaults``: what each flag starts as where nothing is typed."""
        seen = [sorted(reads(one) | (targets(one) if one.rule.kind in WRITERS else set())) for one in operations]
        # Of one name, ``itemgetter`` gives what stands there, of several a tuple: either is a key.
        self._met = [itemgetter(*names) if names else _nothing for names in seen]
        self._writes = [
            tuple(sorted(targets(one))) if one.scope and one.rule.kind in WRITERS else () for one in operations
        ]
        self._outcomes: list[dict[object, Any]] = [{} for _ in operations]
        self._codes: dict[object, int] = {("=", None): UNSET}
        self.defaults = dict.fromkeys(chain.from_iterable(seen), UNSET)
        self.defaults |= {flag: self.code(("=", twin(value))) for flag, value in defaults.items()}

    def code(self, thing: object) -> int:
        """The number of what stands for a meaning."""
        return self._codes.setdefault(thing, len(self._codes))

    def outcome(self, place: int, codes: Any, held: Mapping[str, int], made: Callable[[], Outcome]) -> Outcome:
        """What the operation at ``place`` comes to where names have these ``codes``, ``made`` if it never read this.

        ``held``: the codes of what its deferred step has written so far.
        """
        key = self._met[place](codes)
        if self._writes[place]:
            key = key, *map(held.get, self._writes[place])
        known = self._outcomes[place]
        if key not in known:
            known[key] = made()
        found: Outcome = known[key]
        return found


def _nothing(_: Mapping[str, int]) -> object:
    return ()


@dataclass(slots=True)
class Meanings:
    """The codes of what names mean as a program is read; ``held``: of what a deferred step has written so far."""

    remembered: Remembered
    codes: dict[str, int] = field(init=False)
    held: dict[str, int] = field(default_factory=dict)
    _names: dict[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.codes = self.remembered.defaults.copy()

    def open(self, name: str, values: tuple[Value, ...] | None) -> None:
        """A variable or a derived value, and what it can be."""
        known = None if values is None else tuple(map(twin, values))
        self._names[name] = self.remembered.code((name, known))

    def of(self, node: Node) -> int:
        """The code of a settled meaning: a constant, a name, or one flag of a shape."""
        if isinstance(node, Const):
            return self.remembered.code(("=", twin(node.value)))
        if isinstance(node, Name):
            return self._names[node.name]
        assert isinstance(node, Call), node
        shape, index = node.arguments
        assert isinstance(shape, Name), node
        return self.remembered.code((self._names[shape.name], index))

    def outcome(self, place: int, made: Callable[[], Outcome]) -> Outcome:
        """What the operation at ``place`` comes to as names stand."""
        return self.remembered.outcome(place, self.codes, self.held, made)

    def leave(self) -> None:
        """A deferred step is left: what it wrote is seen."""
        self.codes.update(self.held)
        self.held.clear()

    def start(self, meanings: Mapping[str, Node]) -> None:
        """What names mean before the first operation, where that is no default."""
        self.codes.update({name: self.of(node) for name, node in meanings.items()})
