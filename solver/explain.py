"""Pins that cannot hold on a model and machine -> every minimal conflict, with rules and facts, and ways out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from constraints.values import Value

from .blame import Case, blame
from .mus import Conflicts, enumerate_conflicts
from .pins import Asked, Pin
from .question import units_of
from .repair import repairs
from .report import Core, Element, Explanation
from .unroll import Unit, unroll

MOST_SETS = 60
SECONDS = 3.0


def explain(asked: Asked, pins: Mapping[str, Value], *, typed: bool) -> Explanation:
    """The conflicts of ``pins`` and the ways out.

    ``typed``: the pins are what a command types, and every other flag is softly left unset; otherwise they are wanted
    outcomes, and what is typed is open.
    """
    units = units_of(asked.knowledge.variables, asked.facts, {} if typed else pins)
    units = _with_typed(units, pins) if typed else units
    soft = _soft(units, pins, typed)
    case = Case(asked, units, soft)
    everything = tuple(range(len(soft)))
    if case.refute(frozenset(everything)) is None:
        return Explanation(asked.subject, True, (), (), True, False, dict(pins))
    # Unset pins are the first to be dropped from a core, what was asked for the last.
    order = sorted(everything, key=lambda place: (soft[place].value is not None, place))
    conflicts = enumerate_conflicts(case.refute, everything, order=order, most=MOST_SETS, seconds=SECONDS)
    cores = tuple(_core(case, sorted(core)) for core in conflicts.cores)
    chosen = [[soft[place] for place in sorted(one)] for one in _cheapest(conflicts, soft)]
    plain = unroll(asked.operations, asked.defaults, units, {}, shadows=False)
    fixes = repairs(asked, plain, units, soft, chosen)
    return Explanation(asked.subject, False, cores, fixes, conflicts.complete, _sampled(asked, units), dict(pins))


def _with_typed(units: Sequence[Unit], typed: Mapping[str, Value]) -> tuple[Unit, ...]:
    """The units, with every typed value among their values and a unit for each further typed flag."""
    result = []
    inside: set[str] = set()
    for unit in units:
        inside.update(unit.flags)
        here = {flag: typed.get(flag) for flag in unit.flags}
        domain = list(unit.domain)
        if any(value is not None for value in here.values()):
            rows = [here[unit.flags[0]]] if len(unit.flags) == 1 else _around(tuple(here.values()))
            domain += [row for row in rows if repr(row) not in {repr(one) for one in domain}]
        result.append(Unit(unit.name, unit.flags, tuple(domain), unit.droppable))
    for flag, value in typed.items():
        if flag not in inside and value is not None:
            result.append(Unit(flag, (flag,), (None, value), ()))
    return tuple(result)


def _around(row: tuple[Value, ...]) -> list[Value]:
    """A row and every row with some of its values left unset."""
    rows: list[tuple[Value, ...]] = [()]
    for value in row:
        rows = [(*begun, one) for begun in rows for one in ((value, None) if value is not None else (None,))]
    return list(rows)


def _soft(units: Sequence[Unit], pins: Mapping[str, Value], typed: bool) -> list[Pin]:
    if not typed:
        return [Pin(flag, value, False) for flag, value in pins.items()]
    flags = [flag for unit in units for flag in unit.flags]
    asked = [Pin(flag, pins[flag], True) for flag in pins if flag in flags]
    return asked + [Pin(flag, None, True) for flag in flags if flag not in pins]


def _core(case: Case, places: Sequence[int]) -> Core:
    pins = [case.soft[place] for place in places]
    elements = [Element("pin", pin.flag, pin.value) for pin in pins]
    elements += blame(case, frozenset(places))
    return Core(tuple(elements), tuple(pin.flag for pin in pins))


def _cheapest(conflicts: Conflicts, soft: Sequence[Pin]) -> list[frozenset[int]]:
    """Corrections by what they cost the asker: what was asked for counts more than what was left open."""
    ordered = sorted(
        conflicts.corrections,
        key=lambda one: (sum(2 if soft[place].value is None else 3 for place in one), sorted(one)),
    )
    return ordered[:12]


def _sampled(asked: Asked, units: Sequence[Unit]) -> bool:
    inside = {flag for unit in units for flag in unit.flags}
    return not all(one.complete for one in asked.knowledge.variables if set(one.flags) & inside)
