"""What explanations share: what was asked, a soft demand on a flag, and the values that demands leave to a unit."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from constraints.knowledge import Knowledge
from constraints.schema import Operation
from constraints.values import Env, Value, same

from .check import Engine
from .place import Place, World
from .prepared import Prepared
from .report import Subject
from .unit import Unit


@dataclass(frozen=True, slots=True)
class Asked:
    """What a question stands on: a place, and the release's program on the facts of it.

    ``keep`` names flags, and aspects of the place, that no way out may change.
    """

    subject: Subject
    place: Place
    world: World
    prepared: Prepared
    keep: frozenset[str] = frozenset()

    @property
    def operations(self) -> Sequence[Operation]:
        """The program with the facts put in."""
        return self.prepared.operations

    @property
    def facts(self) -> Env:
        """The facts of the question."""
        return self.prepared.facts

    @property
    def engine(self) -> Engine:
        """The engine of the release."""
        return self.place.engine

    @property
    def knowledge(self) -> Knowledge:
        """The knowledge of the release."""
        return self.engine.knowledge

    @property
    def defaults(self) -> Mapping[str, Value]:
        """Every flag's declared default."""
        return self.engine.defaults


@dataclass(frozen=True, slots=True)
class Pin:
    """A soft demand on one flag: its typed value (``typed``) or its effective one is ``value``."""

    flag: str
    value: Value
    typed: bool

    @property
    def selector(self) -> str:
        """The name of the variable that puts the pin in force."""
        return f"pin {self.flag}"


def rows_with(unit: Unit, typed: Mapping[str, Value]) -> tuple[Value, ...]:
    """The values of a unit in which each flag of ``typed`` has the value given there."""
    places = [(place, typed[flag]) for place, flag in enumerate(unit.flags) if flag in typed]
    if len(unit.flags) == 1:
        return tuple(value for value in unit.domain if all(same(value, wanted) for _, wanted in places))
    return tuple(
        row
        for row in unit.domain
        if isinstance(row, tuple) and all(same(row[place], wanted) for place, wanted in places)
    )
