"""What broke at one place breaks wherever the first values that it hung on stand again."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import NamedTuple

from constraints.schema import HARD
from constraints.values import Value, same

from .errors import InputError
from .place import Place

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
        self._reasons: dict[int, list[_Reason]] = {}
        self._in_vain: Counter[tuple[int, str]] = Counter()

    def breaks(self, place: Place, typed: Mapping[str, Value]) -> bool:
        """Whether ``typed`` breaks something hard at ``place``, as it does where the model cannot be read."""
        engine = place.engine
        try:
            facts = place.facts(typed)
        except InputError:
            return True
        reasons, release = self._reasons.setdefault(id(engine), []), id(engine)
        first = engine.first(facts, typed)
        known = next((one for one in reasons if one.stands(first)), None)
        if known is not None:
            self._in_vain[release, known.rule] = 0
            return True
        resolution = engine.run(facts, typed)
        broken = next((one for one in resolution.broken if one.rule.kind in HARD), None)
        if broken is None:
            return False
        if self._in_vain[release, broken.rule.id] < MOST_REASONS:
            self._in_vain[release, broken.rule.id] += 1
            names = engine.hinges.of(broken, first, resolution.writes)
            reasons.append(_Reason(broken.rule.id, names, tuple(map(first.get, names))))
        return True
