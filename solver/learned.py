"""What failed in a search -> equations, in the forms they had, that cannot hold together wherever they stand so."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from constraints.values import Value, same

from .deduce import Allowed
from .propagate import State


@dataclass(frozen=True, slots=True)
class Nogood:
    """Equations in forms that cannot hold together, by number, while these values are all that is left to variables."""

    forms: Mapping[int, int]
    domains: Mapping[str, tuple[Value, ...]]

    def met(self, state: State, allowed: Mapping[str, Allowed]) -> bool:
        """Whether it forbids this state."""
        for index, form in self.forms.items():
            if state.get(index) != form:
                return False
        return all(name in allowed and same(allowed[name].values, values) for name, values in self.domains.items())


class Learned:
    """Nogoods by the equations they are about (Dechter 1990): one is looked at when an equation gets a form of it."""

    def __init__(self) -> None:
        self._by_pair: dict[tuple[int, int], list[Nogood]] = {}

    def add(self, nogood: Nogood) -> None:
        """Remember."""
        for pair in nogood.forms.items():
            self._by_pair.setdefault(pair, []).append(nogood)

    def met(self, state: State, changed: Iterable[int], allowed: Mapping[str, Allowed]) -> Nogood | None:
        """One that forbids this state, of those about a changed equation."""
        for index in changed:
            for nogood in self._by_pair.get((index, state.get(index, -1)), ()):
                if nogood.met(state, allowed):
                    return nogood
        return None
