"""Corrections of a conflict (pins to give up) -> fixes: the nearest command that holds, resolved again."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from constraints.values import Value, same

from .errors import TooLarge
from .pins import Asked, Pin, rows_with
from .problem import Problem, Variable
from .report import Adjustment, Fix
from .search import solve
from .spell import spell
from .unroll import Unit

MOST_FIXES = 8
LIMIT = 60_000
_SET, _DROPPED, _WANTED = 3, 2, 1000


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
        for typed in _nearest(problem, units, kept, wanted):
            fix = _fix(asked, wanted, typed, kept)
            if fix is not None:
                known = found.get(fix.args)
                if known is None or fix.cost < known.cost:
                    found[fix.args] = fix
                break
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
    for solution in diagram.ranked():
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
                lost += _DROPPED if one is None else _SET
        return -lost

    return points


def _met(value: Value) -> Callable[[Value], int]:
    return lambda found: _WANTED if same(found, value) else 0


def _fix(asked: Asked, wanted: Mapping[str, Value], typed: Mapping[str, Value], kept: Sequence[Pin]) -> Fix | None:
    """The fix as a command, if it holds when resolved as printed and keeps what it has to keep."""
    resolution = asked.engine.run(asked.facts, typed)
    if resolution.refusals or any(one.rule.kind == "defect" for one in resolution.broken):
        return None
    if any(not pin.typed and not same(resolution.values.get(pin.flag), pin.value) for pin in kept):
        return None
    changes = tuple(
        Adjustment(flag, wanted.get(flag), typed.get(flag))
        for flag in sorted({*wanted, *typed})
        if not same(wanted.get(flag), typed.get(flag))
    )
    cost = sum(_DROPPED if change.after is None else _SET for change in changes)
    subject = asked.subject
    return Fix(
        cost,
        changes,
        subject.model,
        subject.gpu,
        subject.num_gpus,
        subject.release,
        spell(typed, asked.knowledge.flags),
        asked.engine.effective(resolution.values),
    )
