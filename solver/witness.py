"""A place and wanted effective values -> what to type there so that they come true, or that nothing does."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from constraints.expression import Compare, Const, Value, same

from .errors import TooLarge
from .place import Place
from .problem import Constraint, Problem
from .proof import holds
from .question import units_of
from .refute import Refuter
from .spell import spell
from .unroll import Unit, unroll

LIMIT = 4_000
Typed = Mapping[str, Value]
# "unknown": the search was cut short.
Found = Typed | Literal["none", "unknown"]


def reach(place: Place, outcome: Mapping[str, Value], *, search: bool = True) -> Found:
    """What to type so that ``outcome`` is effective and nothing hard is broken, with nothing superfluous in it.

    Tried first as it stands, which is most often enough; with ``search`` the constraint problem decides.
    """
    wanted = {flag: value for flag, value in outcome.items() if value is not None}
    if reaches(place, wanted, outcome):
        return least(place, wanted, outcome)
    if not search:
        return "unknown"
    found = _searched(place, outcome)
    return found if isinstance(found, str) else least(place, found, outcome)


def reaches(place: Place, typed: Typed, outcome: Mapping[str, Value]) -> bool:
    """Whether typing ``typed`` holds and gives ``outcome``, resolved as the printed command."""
    checked = place.engine.check(place.model, place.platform, spell(typed, place.engine.knowledge.flags))
    return (
        holds(checked)
        and checked.resolution is not None
        and all(same(checked.resolution.values.get(flag), value) for flag, value in outcome.items())
    )


def least(place: Place, typed: Typed, outcome: Mapping[str, Value]) -> Typed:
    """``typed`` without what is not needed: each flag is left out that can be, later ones first."""
    kept = dict(typed)
    for flag in reversed(list(typed)):
        fewer = {name: value for name, value in kept.items() if name != flag}
        if flag not in outcome and reaches(place, fewer, outcome):
            kept = fewer
    return kept


def _searched(place: Place, outcome: Mapping[str, Value]) -> Found:
    engine = place.engine
    facts = place.facts({})
    units = units_of(engine.knowledge.variables, facts, outcome)
    plain = unroll(engine.folded(facts), engine.defaults, units, {}, shadows=False)
    demands = tuple(
        Constraint(f"outcome {flag}", Compare("==", plain.last[flag], Const(value)), demanded=True)
        for flag, value in outcome.items()
    )
    refuter = Refuter(
        Problem(plain.variables, plain.definitions, (*plain.constraints, *demands), plain.last, plain.typed)
    )
    try:
        if refuter.refute({}, limit=LIMIT) is not None:
            return "none"
    except TooLarge:
        return "unknown"
    typed = _typed(units, refuter.found)
    return typed if reaches(place, typed, outcome) else "unknown"


def _typed(units: tuple[Unit, ...], found: Mapping[str, Value]) -> dict[str, Value]:
    typed: dict[str, Value] = {}
    for unit in units:
        value = found.get(unit.name)
        row = value if len(unit.flags) > 1 and isinstance(value, tuple) else (value,)
        typed.update({flag: one for flag, one in zip(unit.flags, row, strict=True) if one is not None})
    return typed
