"""Corrections of a conflict (pins to give up) -> fixes: the nearest command that holds, resolved again."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace

from constraints.values import Value, same

from .errors import TooLarge
from .failures import Failures
from .moves import DROPPED, SET
from .pins import Asked, Pin, rows_with
from .proof import Question, prove
from .question import idle_constraints, idle_pairs, passed_over
from .rank import ranked
from .report import Fix
from .search import solve
from .unit import Unit
from .unroll import unroll
from .ways import most_of

MOST_FIXES = 8
LIMIT = 60_000
TRIES = 12
# Beyond so many rows of what is given up the nearest are searched for; of fewer, so many are looked at before.
MOST_ROWS, SIMPLEST = 4_000, 60
_WANTED = 1000


def repairs(
    asked: Asked,
    units: Sequence[Unit],
    soft: Sequence[Pin],
    corrections: Sequence[Sequence[Pin]],
    ends: Mapping[str, Value] | None,
    failures: Failures,
) -> tuple[Fix, ...]:
    """For each correction the nearest configuration that keeps every other pin, cheapest first, none twice.

    ``ends``: where the values of a command end as it stands; ``failures``: what is known to break.
    """
    wanted = {pin.flag: pin.value for pin in soft if pin.value is not None}
    found: dict[tuple[str, ...], Fix] = {}
    for correction in corrections:
        given_up = {pin.flag for pin in correction}
        kept = [pin for pin in soft if pin.flag not in given_up]
        question = Question(asked.place, wanted, {pin.flag: pin.value for pin in kept if not pin.typed})
        for typed in itertools.islice(_nearest(asked, units, kept, wanted, ends, failures), TRIES):
            fix = prove(question, asked.place, typed)
            if fix is not None:
                known = found.get(fix.args)
                if known is None or fix.cost < known.cost:
                    found[fix.args] = fix
                break
    if not found:  # no search finds a way
        outcome = {pin.flag: pin.value for pin in soft if not pin.typed}
        fewer = most_of(Question(asked.place, wanted, outcome), asked.place, asked.keep, failures)
        if fewer is not None:
            found[fewer.args] = fewer
    return tuple(sorted(found.values(), key=lambda fix: (fix.cost, fix.args)))[:MOST_FIXES]


def _nearest(
    asked: Asked,
    units: Sequence[Unit],
    kept: Sequence[Pin],
    wanted: Mapping[str, Value],
    ends: Mapping[str, Value] | None,
    failures: Failures,
) -> Iterator[dict[str, Value]]:
    """What to type, nearest to what was wanted first."""
    typed = {pin.flag: pin.value for pin in kept if pin.typed}
    outcome = {pin.flag for pin in kept if not pin.typed}
    # What is kept as it was typed is no choice: the problem is about the others.
    chosen = [replace(unit, domain=rows_with(unit, typed)) for unit in units if not set(unit.flags) <= set(typed)]
    if ends is not None:
        yield from _simplest(asked, units, chosen, typed, wanted, ends, failures)
    problem = unroll(asked.operations, asked.defaults, chosen, typed, shadows=False, remembered=asked.prepared.plain)
    idle = idle_constraints(asked.knowledge.variables, problem, wanted, ends)
    narrowed = replace(problem, constraints=(*problem.constraints, *idle))
    terms = {unit.name: _distance(unit, wanted) for unit in chosen}
    for flag in sorted(outcome & set(problem.last)):
        name = getattr(problem.last[flag], "name", None)
        if name is not None and name not in terms:
            terms[name] = _met(wanted[flag])
    try:
        diagram = solve(narrowed, terms, limit=LIMIT)
    except TooLarge:
        return
    for solution in ranked(diagram):
        yield _typed(units, typed, chosen, solution.assignment)


def _simplest(
    asked: Asked,
    units: Sequence[Unit],
    chosen: Sequence[Unit],
    kept: Mapping[str, Value],
    wanted: Mapping[str, Value],
    ends: Mapping[str, Value],
    failures: Failures,
) -> Iterator[dict[str, Value]]:
    """What holds of the first few things to type around ``kept``, as the forward reader sees without any search.

    A correction is minimal, so whatever it gives up must change.
    """
    spread = asked.knowledge.roles.get("spread")
    rows = [_changed(unit, kept, wanted, spread) for unit in chosen]
    if math.prod(map(len, rows)) > MOST_ROWS:
        return
    idle = tuple(idle_pairs(asked.knowledge.variables, wanted, ends))
    nearest = sorted(
        itertools.product(*rows), key=lambda one: (sum(row[0] for row in one), sum(row[1] for row in one), one)
    )
    for combination in nearest[:SIMPLEST]:
        assignment = {unit.name: unit.domain[place] for unit, (_, _, place) in zip(chosen, combination, strict=True)}
        typed = _typed(units, kept, chosen, assignment)
        if not all(unit.fits(assignment[unit.name], typed) for unit in chosen):
            continue
        if failures.breaks(asked.place, typed):
            continue
        if not idle or not passed_over(idle, typed, asked.engine.run(asked.place.facts(typed), typed).values):
            yield typed


def _changed(
    unit: Unit, kept: Mapping[str, Value], wanted: Mapping[str, Value], spread: str | None
) -> list[tuple[int, float, int]]:
    """The rows of a unit in which every flag that is not kept is another than was wanted, the nearest first.

    Of each: its distance, how far its numbers are from those that were typed, its place. Who says over how many GPUs to
    ``spread`` has them: another number is nearer than to leave that out.
    """
    points = _distance(unit, wanted)
    rows = []
    for place, value in enumerate(unit.domain):
        flags = [(flag, one) for flag, one in unit.typed(value) if flag not in kept]
        if any(same(one, wanted.get(flag)) for flag, one in flags):
            continue
        gathered = any(flag == spread and one is None for flag, one in flags)
        far = sum(_far(wanted.get(flag), one) for flag, one in flags)
        rows.append((-points(value) + (SET if gathered else 0), far, place))
    return sorted(rows)


def _far(typed: Value, other: Value) -> float:
    """How many doublings lie between two numbers."""
    # The logarithm of a number of any length is known, the ratio of two may be none.
    powers = [
        math.log2(one)
        for one in (typed, other)
        if isinstance(one, (int, float)) and not isinstance(one, bool) and 0 < one < math.inf
    ]
    return abs(powers[0] - powers[1]) if len(powers) == 2 else 0.0


def _typed(
    units: Sequence[Unit], kept: Mapping[str, Value], chosen: Sequence[Unit], assignment: Mapping[str, Value]
) -> dict[str, Value]:
    """What a solution types, in the order of the question."""
    values = dict(kept)
    for unit in chosen:
        values.update(unit.typed(assignment[unit.name]))
    return {flag: values[flag] for unit in units for flag in unit.flags if values[flag] is not None}


def _distance(unit: Unit, wanted: Mapping[str, Value]) -> Callable[[Value], int]:
    def points(value: Value) -> int:
        lost = 0
        for flag, one in unit.typed(value):
            if not same(one, wanted.get(flag)):
                lost += DROPPED if one is None else SET
        return -lost

    return points


def _met(value: Value) -> Callable[[Value], int]:
    return lambda found: _WANTED if same(found, value) else 0
