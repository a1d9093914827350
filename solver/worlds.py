"""What names mean as a program is read: where all that is typed stands, and in the shadow where some of it is not.

Within a deferred step what the step wrote is held: it is not seen before the step is left.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from constraints.schema import Operation
from constraints.tree import Const, Node
from constraints.values import Value

from .operations import is_held, is_local
from .remembered import Meanings, Outcome, Remembered

UNSET = Const(None)


class World:
    """The world in which everything typed stands; with ``remembered`` it keeps the codes of what names mean, too."""

    def __init__(
        self, defaults: Mapping[str, Value], closed: Mapping[str, Value], remembered: Remembered | None
    ) -> None:
        self.typed: dict[str, Node] = dict.fromkeys(defaults, UNSET)
        self.current: dict[str, Node] = {flag: Const(value) for flag, value in defaults.items()}
        self.held: dict[str, Node] = {}
        self.meanings = None if remembered is None else Meanings(remembered)
        self._past: dict[str, list[tuple[int, Node]]] = {}
        self._scope = 0
        self._entry: Mapping[str, Node] = {}
        self._opened: list[str] = []
        for flag, value in closed.items():
            if value is not None and flag in defaults:
                self.open(flag, Const(value), Const(value))

    def open(self, flag: str, typed: Node, current: Node) -> None:
        """What is typed for a flag, and what it starts as."""
        self.typed[flag], self.current[flag] = typed, current
        self._opened.append(flag)

    def start(self) -> None:
        """Every flag has its first meaning."""
        if self.meanings is not None:
            self.meanings.start({flag: self.current[flag] for flag in self._opened})
            self.meanings.start({f"typed.{flag}": self.typed[flag] for flag in self._opened})

    def can_be(self, name: str, values: tuple[Value, ...] | None) -> None:
        """A variable or a derived value is new."""
        if self.meanings is not None:
            self.meanings.open(name, values)

    def value(self, name: str) -> Node:
        """What a name that is read means at this place."""
        if name.startswith("typed."):
            return self.typed.get(name.removeprefix("typed."), UNSET)
        # Within a deferred step what the step wrote is not seen yet; its locals are.
        return (self._entry if self._scope and not is_local(name) else self.current).get(name, UNSET)

    def before(self, target: str) -> Node:
        """What a write at this place finds."""
        return self.held.get(target, self.current.get(target, UNSET))

    def put(self, place: int, operation: Operation, target: str, node: Node) -> None:
        """The operation at ``place`` has written."""
        held = is_held(operation, target)
        if held:
            self.held[target] = node
        else:
            self._see(place, target, node)
        if self.meanings is not None:
            (self.meanings.held if held else self.meanings.codes)[target] = self.meanings.of(node)

    def enter(self, scope: int) -> None:
        """The next operation is of this deferred step, or of none where ``scope`` is 0."""
        if scope and scope != self._scope:
            self._scope, self._entry = scope, self.current
            self.current = dict(self.current)

    def _see(self, place: int, target: str, node: Node) -> None:
        """What is read after ``place`` is another one."""
        self._past.setdefault(target, [(-1, self.current.get(target, UNSET))]).append((place, node))
        self.current[target] = node

    def past(self, place: int) -> Past:
        """The world as the operation at ``place`` found it."""
        return Past(self, self._past, place)

    def leave(self, place: int) -> None:
        """A deferred step is left after ``place``: what it wrote is seen."""
        for target, node in self.held.items():
            self._see(place, target, node)
        self.held.clear()
        self._scope = 0
        if self.meanings is not None:
            self.meanings.leave()


@dataclass(frozen=True, slots=True)
class Past:
    """What names meant at a place that the reading of the program has left behind; of each its versions by place."""

    world: World
    versions: Mapping[str, Sequence[tuple[int, Node]]]
    place: int

    def value(self, name: str) -> Node:
        """What a name that is read meant."""
        versions = self.versions.get(name)
        if versions is None:
            return self.world.value(name)
        return next(node for place, node in reversed(versions) if place < self.place)

    def remembered(self, made: Callable[[], Outcome]) -> Outcome:
        """What the operation at the place comes to, which another question may have found out."""
        meanings = self.world.meanings
        return made() if meanings is None else meanings.remembered.outcome(self.place, _Codes(self, meanings), {}, made)


@dataclass(frozen=True, slots=True)
class _Codes:
    """The codes of what names meant."""

    past: Past
    meanings: Meanings

    def __getitem__(self, name: str) -> int:
        return self.meanings.of(self.past.value(name))


@dataclass(slots=True)
class Shadow:
    """The world in which ``flags`` were not typed and everything else stands as it does in ``real``.

    ``untyped`` says that they are not typed at all, ``differs`` that some rule answers differently.
    """

    real: World
    flags: tuple[str, ...]
    untyped: Node
    current: dict[str, Node]
    held: dict[str, Node] = field(default_factory=dict)
    differs: list[Node] = field(default_factory=list)

    def value(self, name: str) -> Node:
        """What a name that is read means at this place."""
        if name.startswith("typed.") and name.removeprefix("typed.") in self.flags:
            return UNSET
        return self.current[name] if name in self.current else self.real.value(name)

    def before(self, target: str) -> Node:
        """What a write at this place finds."""
        return self.held.get(target, self.current[target]) if target in self.current else self.real.before(target)

    def put(self, operation: Operation, target: str, node: Node) -> None:
        """An operation has written something else than in the real world."""
        (self.held if is_held(operation, target) else self.current)[target] = node

    def leave(self) -> None:
        """A deferred step is left: what it wrote is seen."""
        self.current.update(self.held)
        self.held.clear()
