"""What broke at one place breaks wherever the first values that it hung on stand again."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import NamedTuple

from constraints.schema import HARD, Operation
from constraints.values import Value, same

from .check import Engine
from .errors import InputError
from .place import Place
from .resolution import Resolution

# A rule that broke so often for a reason that never came again is not looked into any more.
MOST_REASONS = 8


class _Reason(NamedTuple):
    """First values among which a rule breaks, whatever else is typed and wherever."""

    rule: str
    names: tuple[str, ...]
    values: tuple[Value, ...]

    def stands(self, first: Mapping[str, Value]) -> bool:
        """Whether a run would start from them."""
        return all(map(same, map(first.get, self.names), self.values))


class Failures:
    """What broke something hard so far: to be asked about many places, and much that may be typed."""

    def __init__(self) -> None:
        self._reasons: dict[Engine, list[_Reason]] = {}
        self._in_vain: Counter[tuple[Engine, str]] = Counter()

    def breaks(self, place: Place, typed: Mapping[str, Value]) -> bool:
        """Whether ``typed`` breaks something hard at ``place``, as it does where the model cannot be read."""
        try:
            facts = place.facts(typed)
        except InputError:
            return True
        return bool(self.broken(place.engine, facts, typed))

    def broken(self, engine: Engine, facts: Mapping[str, Value], typed: Mapping[str, Value]) -> frozenset[str]:
        """Hard rules that ``typed`` breaks, at least one where it breaks any."""
        reasons = self._reasons.setdefault(engine, [])
        first = engine.first(facts, typed)
        known = next((place for place, one in enumerate(reasons) if one.stands(first)), None)
        if known is not None:
            reasons.insert(0, reasons.pop(known))  # what stood here will stand nearby
            self._in_vain[engine, reasons[0].rule] = 0
            return frozenset((reasons[0].rule,))
        run = engine.run(facts, typed)
        broken = [one for one in run.broken if one.rule.kind in HARD]
        if broken and self._in_vain[engine, broken[0].rule.id] < MOST_REASONS:
            self._in_vain[engine, broken[0].rule.id] += 1
            self.reason(engine, first, run, broken[0])
        return frozenset(one.rule.id for one in broken)

    def reason(
        self, engine: Engine, first: Mapping[str, Value], run: Resolution, operation: Operation
    ) -> tuple[str, ...]:
        """The names whose ``first`` values a run broke a hard operation for, which is remembered."""
        rule, reasons = operation.rule.id, self._reasons.setdefault(engine, [])
        known = next((one for one in reasons if one.rule == rule and one.stands(first)), None)
        if known is None:
            names = engine.hinges.of(operation, first, run.writes)
            known = _Reason(rule, names, tuple(map(first.get, names)))
            reasons.append(known)
        return known.names
