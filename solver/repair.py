"""Corrections of a conflict (pins to give up) -> fixes: the nearest command that holds, resolved again."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence

from constraints.values import Value, same

from .errors import TooLarge
from .moves import DROPPED, SET
from .pins import Asked, Pin, rows_with
from .problem import Problem, Variable
from .proof import Question, prove
from .rank import ranked
from .report import Fix
from .search import solve
from .unroll import Unit
from .ways import most_of

MOST_FIXES = 8
LIMIT = 60_000
TRIES = 12
_WANTED = 1000


def repairs(
    asked: Asked,
    problem: Problem,
    units: Sequence[Unit],
    soft: Sequence[Pin],
    corrections: Sequence[Sequence[Pin]],
) -> tuple[Fix, ...]:
    """For each correction the nearest configuration that keeps every other pin, cheapest first, none twice."""
    wanted = {pin.flag: pin.value for pin in soft if pin.value is not None}
    found: dict[tuple[str, ...], Fix] = {}
    for correction in corrections:
        given_up = {pin.flag for pin in correction}
        kept = [pin for pin in soft if pin.flag not in given_up]
        question = Question(asked.place, wanted, {pin.flag: pin.value for pin in kept if not pin.typed})
        for typed in itertools.islice(_nearest(problem, units, kept, wanted), TRIES):
            fix = prove(question, asked.place, typed)
            if fix is not None:
                known = found.get(fix.args)
                if known is None or fix.cost < known.cost:
                    found[fix.args] = fix
                break
    if not found:  # no search finds a way
        outcome = {pin.flag: pin.value for pin in soft if not pin.typed}
        fewer = most_of(Question(asked.place, wanted, outcome), asked.place, asked.keep)
        if fewer is not None:
            found[fewer.args] = fewer
    return tuple(sorted(found.values(), key=lambda fix: (fix.cost, fix.args)))[:MOST_FIXES]


def _nearest(
    problem: Problem, units: Sequence[Unit], kept: Sequence[Pin], wanted: Mapping[str, Value]
) -> Iterator[dict[str, Value]]:
    """What to type, nearest to what was wanted first."""
    typed = {pin.flag: pin.value for pin in kept if pin.typed}
    outcome = {pin.flag for pin in kept if not pin.typed}
    variables = tuple(
        Variable(unit.name, rows_with(unit, typed))
        if set(unit.flags) & set(typed)
        else Variable(unit.name, unit.domain)
        for unit in units
    )
    narrowed = Problem(variables, problem.definitions, problem.constraints, problem.last, problem.typed)
    by_name = {unit.name: unit for unit in units}
    terms = {unit.name: _distance(by_name[unit.name], wanted) for unit in units}
    for flag in sorted(outcome & set(problem.last)):
        name = getattr(problem.last[flag], "name", None)
        if name is not None and name not in terms:
            terms[name] = _met(wanted[flag])
    try:
        diagram = solve(narrowed, terms, limit=LIMIT)
    except TooLarge:
        return
    for solution in ranked(diagram):
        yield {
            flag: value
            for unit in units
            for flag, value in zip(unit.flags, _row(solution.assignment[unit.name], unit), strict=True)
            if value is not None
        }


def _row(value: Value, unit: Unit) -> tuple[Value, ...]:
    return value if len(unit.flags) > 1 and isinstance(value, tuple) else (value,)


def _distance(unit: Unit, wanted: Mapping[str, Value]) -> Callable[[Value], int]:
    def points(value: Value) -> int:
        lost = 0
        for flag, one in zip(unit.flags, _row(value, unit), strict=True):
            if not same(one, wanted.get(flag)):
                lost += DROPPED if one is None else SET
        return -lost

    return points


def _met(value: Value) -> Callable[[Value], int]:
    return lambda found: _WANTED if same(found, value) else 0
