"""What failed in a search -> equations, in the forms they had, that cannot hold together wherever they stand so."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TypeAlias

from constraints.values import Value, same

from .deduce import Allowed
from .propagate import State

# Nogoods about the same equations, by the forms that these have in them.
_Alike: TypeAlias = "dict[tuple[int | None, ...], list[Nogood]]"


@dataclass(frozen=True, slots=True)
class Nogood:
    """Equations in forms that cannot hold together, by number, while these values are all that is left to variables."""

    forms: Mapping[int, int]
    domains: Mapping[str, tuple[Value, ...]]

    def binds(self, allowed: Mapping[str, Allowed]) -> bool:
        """Whether the values it is about are those that are left."""
        return all(name in allowed and same(allowed[name].values, values) for name, values in self.domains.items())


class Learned:
    """Nogoods by the equations they are about (Dechter 1990): looked at when one of these gets another form."""

    def __init__(self) -> None:
        self._alike: dict[tuple[int, ...], _Alike] = {}
        self._about: dict[tuple[int, int | None], set[tuple[int, ...]]] = {}

    def add(self, nogood: Nogood) -> None:
        """Remember."""
        equations = tuple(nogood.forms)
        alike = self._alike.setdefault(equations, {})
        alike.setdefault(tuple(nogood.forms.values()), []).append(nogood)
        for pair in nogood.forms.items():
            self._about.setdefault(pair, set()).add(equations)

    def met(self, state: State, changed: Iterable[int], allowed: Mapping[str, Allowed]) -> Nogood | None:
        """One that forbids this state, of those about a changed equation."""
        pairs = [(index, state.get(index)) for index in changed]
        for equations in sorted(set().union(*[self._about[pair] for pair in pairs if pair in self._about])):
            for nogood in self._alike[equations].get(tuple(map(state.get, equations)), ()):
                if nogood.binds(allowed):
                    return nogood
        return None
