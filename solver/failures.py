"""What broke at one place breaks, typed again, at every place that agrees with it in the facts it hangs on."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias

from constraints.values import Value, same, twin

from .errors import InputError
from .place import Place

# Values of the same facts, by themselves.
_Seen: TypeAlias = dict[tuple[Value, ...], tuple[Value, ...]]


class Failures:
    """Typed values that broke something hard, with the facts that this hung on: to be asked about many places."""

    def __init__(self) -> None:
        self._met: dict[object, dict[tuple[str, ...], _Seen]] = {}

    def breaks(self, place: Place, typed: Mapping[str, Value]) -> bool:
        """Whether ``typed`` breaks something hard at ``place``, as it does where the model cannot be read."""
        engine = place.engine
        try:
            facts = place.facts(typed)
        except InputError:
            return True
        words = (id(engine), tuple((flag, twin(value)) for flag, value in sorted(typed.items())))
        met = self._met.get(words)
        if met is not None and any(_alike(facts, names, seen) for names, seen in met.items()):
            return True
        # Of values that are new all that breaks is of use elsewhere, later on the first will do.
        broken = engine.broken(facts, typed, first=False)
        if broken:
            known = self._met.setdefault(words, {})
            for operation in broken:
                names = engine.influence.facts_of(operation)
                found = _values(facts, names)
                known.setdefault(names, {})[found] = found
        return bool(broken)


def _values(facts: Mapping[str, Value], names: tuple[str, ...]) -> tuple[Value, ...]:
    return tuple(map(facts.get, names))


def _alike(facts: Mapping[str, Value], names: tuple[str, ...], seen: _Seen) -> bool:
    values = _values(facts, names)
    known = seen.get(values)
    return known is not None and same(known, values)  # equal keys may still be True and 1
