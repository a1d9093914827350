"""Pins that cannot hold on a model and machine -> every minimal conflict among them, with rules and facts, and ways out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from constraints.expression import Any_, Compare, Const, Name, Not, Value

from .blame import blame
from .feasible import Feasibility
from .mus import Conflicts, enumerate_conflicts
from .pins import Asked, Pin, rows_with
from .problem import Constraint, Problem, Variable
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
    problem = unroll(asked.operations, asked.defaults, units, {}, shadows=False)
    soft = _soft(units, pins, typed)
    oracle = Oracle(problem, units, soft)
    if oracle.satisfiable(frozenset(range(len(soft)))):
        return Explanation(asked.subject, True, (), (), True, False, dict(pins))
    # Unset pins are the first to be dropped from a core, what was asked for the last.
    order = sorted(range(len(soft)), key=lambda place: (soft[place].value is not None, place))
    conflicts = enumerate_conflicts(
        oracle.satisfiable, range(len(soft)), order=order, most=MOST_SETS, seconds=SECONDS
    )
    cores = tuple(_core(asked, units, [soft[place] for place in sorted(core)]) for core in conflicts.cores)
    chosen = [[soft[place] for place in sorted(one)] for one in _cheapest(conflicts, soft)]
    fixes = repairs(asked, problem, units, soft, chosen)
    return Explanation(asked.subject, False, cores, fixes, conflicts.complete, _sampled(asked, units), dict(pins))


class Oracle:
    """Whether some assignment meets a set of pins, given by their places."""

    def __init__(self, problem: Problem, units: Sequence[Unit], soft: Sequence[Pin]) -> None:
        outcome = [pin for pin in soft if not pin.typed]
        selected = Problem(
            (*problem.variables, *(Variable(pin.selector, (True, False)) for pin in outcome)),
            problem.definitions,
            (
                *problem.constraints,
                *(
                    Constraint(
                        pin.selector,
                        Any_((Not(Name(pin.selector)), Compare("==", problem.last[pin.flag], Const(pin.value)))),
                    )
                    for pin in outcome
                ),
            ),
        )
        self._units = units
        self._soft = soft
        self._feasibility = Feasibility(selected)
        self._answers: dict[frozenset[int], bool] = {}

    def satisfiable(self, places: frozenset[int]) -> bool:
        """Whether the pins at ``places`` can hold together."""
        if places not in self._answers:
            self._answers[places] = self._feasibility.find(self.allowed([self._soft[place] for place in places])) is not None
        return self._answers[places]

    def allowed(self, pins: Sequence[Pin]) -> dict[str, tuple[Value, ...]]:
        """The values left to each variable when these pins are in force and no other is."""
        typed = {pin.flag: pin.value for pin in pins if pin.typed}
        left = {unit.name: rows_with(unit, typed) for unit in self._units if set(unit.flags) & set(typed)}
        wanted = {pin.flag for pin in pins if not pin.typed}
        left.update({pin.selector: (pin.flag in wanted,) for pin in self._soft if not pin.typed})
        return left


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


def _core(asked: Asked, units: Sequence[Unit], pins: Sequence[Pin]) -> Core:
    elements = [Element("pin", pin.flag, pin.value) for pin in pins]
    elements += blame(asked, units, pins)
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
