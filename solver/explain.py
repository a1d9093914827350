"""Pins that cannot hold on a model and machine -> every minimal conflict, with rules and facts, and ways out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from constraints.schema import HARD
from constraints.values import Value

from .blame import blame
from .case import Case
from .failures import Failures
from .mus import Conflicts, enumerate_conflicts, shrink
from .pins import Asked, Pin
from .proof import Question
from .question import units_of
from .repair import repairs
from .report import Core, Element, Explanation, Fix
from .resolution import Resolution
from .spell import option_of
from .unit import Unit
from .ways import Ways
from .widen import units_around

MOST_SETS = 60
MOST_CORRECTIONS = 12
SECONDS = 3.0


def explain(asked: Asked, pins: Mapping[str, Value], *, typed: bool) -> Explanation:
    """The conflicts of ``pins`` and the ways out.

    ``typed``: the pins are what a command types, and every other flag is softly left unset; otherwise they are wanted
    outcomes, and what is typed is open.
    """
    units, soft, run = demands(asked, pins, typed=typed)
    case = Case(asked, units, soft, run=run)
    everything = tuple(range(len(soft)))
    if case.refute(frozenset(everything)) is None:
        return Explanation(asked.subject, True, (), (), True, False, dict(pins), typed)

    def weight(place: int) -> int:
        """What was asked for counts more than what was left open."""
        return 2 if soft[place].value is None else 3

    direct = _direct(case)
    conflicts = enumerate_conflicts(
        case.refute, everything, first=case.unset, weight=weight, most=MOST_SETS, seconds=SECONDS
    )
    cores = _cores(case, conflicts, direct)
    kept = frozenset(place for place, pin in enumerate(soft) if pin.flag in asked.keep)
    allowed = _corrections(case, conflicts, everything, kept)
    cheapest = sorted(allowed, key=lambda one: (sum(map(weight, one)), sorted(one)))[:MOST_CORRECTIONS]
    chosen = [[soft[place] for place in sorted(one)] for one in cheapest]
    ends = None if run is None else run.values
    near = repairs(asked, units, soft, chosen, ends, case.failures)
    fixes = _ranked(near, asked, pins, typed, case.failures)
    return Explanation(
        asked.subject,
        False,
        cores,
        fixes,
        conflicts.complete and not case.undecided,
        _rests_on_samples(asked, units, cores),
        dict(pins),
        typed,
    )


def demands(
    asked: Asked, pins: Mapping[str, Value], *, typed: bool
) -> tuple[Sequence[Unit], list[Pin], Resolution | None]:
    """What can be chosen, what is demanded of it, and the run of a command as it stands."""
    knowledge, prepared = asked.knowledge, asked.prepared
    units = units_of(knowledge.variables, prepared.rows, {} if typed else pins)
    if not typed:
        return units, [Pin(flag, value, False) for flag, value in pins.items()], None
    given = {flag: value for flag, value in pins.items() if value is not None}
    resolution = asked.engine.run(asked.facts, given)
    broken = [one for one in resolution.broken if one.rule.kind in HARD]
    units = units_around(units, knowledge.variables, given, prepared.listed, prepared.compared, broken, knowledge.flags)
    return units, asked_for(units, pins), resolution


def asked_for(units: Sequence[Unit], pins: Mapping[str, Value]) -> list[Pin]:
    """What a command types, and that every other flag is left unset."""
    flags = [flag for unit in units for flag in unit.flags]
    asked = [Pin(flag, pins[flag], True) for flag in pins if flag in flags]
    return asked + [Pin(flag, None, True) for flag in flags if flag not in pins]


def _direct(case: Case) -> list[tuple[frozenset[int], str]]:
    """A conflict with each broken rule alone."""
    found: list[tuple[frozenset[int], str]] = []
    for rule in dict.fromkeys(rule for rule in broken_rules(case) if rule in case.rules):
        core = core_of(case, rule, [known for known, _ in found])
        if core is not None:
            found.append((core, rule))
    return found


def _cores(case: Case, conflicts: Conflicts, direct: Sequence[tuple[frozenset[int], str]]) -> tuple[Core, ...]:
    """A conflict for each broken rule alone, then those of several rules that none of these explains.

    One rule's conflict is told as it is. What holds together only because each way around it meets another rule comes
    in addition where it rests on less of what was asked; with a rule's own conflict in it, it would say nothing new.
    """
    told = [_asked(case, places) for places, _ in direct]
    # Of a command, what rests on a search through other values of what was left out is told only for want of better.
    apart = () if direct and any(pin.typed for pin in case.soft) else conflicts.cores
    others = [core for core in apart if not any(one <= _asked(case, core) for one in told)]
    every: list[tuple[frozenset[int], str | None]] = [*direct, *((core, None) for core in others)]
    return tuple(_core(case, sorted(places), rule) for places, rule in sorted(every, key=lambda one: len(one[0])))


def broken_rules(case: Case) -> list[str]:
    """The hard rules that a command breaks as it stands, in order."""
    everything = frozenset(range(len(case.soft)))
    return [one.rule.id for one in case.witness(everything).broken if one.rule.kind in HARD]


def core_of(case: Case, rule: str, near: Sequence[frozenset[int]] = ()) -> frozenset[int] | None:
    """A minimal conflict with one rule alone; None where what is chosen freely meets it.

    ``near``: what other rules forbid, which this one may forbid as well.
    """

    def refute(places: frozenset[int]) -> frozenset[int] | None:
        return case.refute_by(rule, places)

    everything = frozenset(range(len(case.soft)))
    found = next((core for one in (*near, everything) if (core := refute(one)) is not None), None)
    return None if found is None else shrink(refute, found, case.unset)


def _asked(case: Case, places: frozenset[int]) -> frozenset[int]:
    return frozenset(place for place in places if case.soft[place].value is not None)


def _core(case: Case, places: Sequence[int], only: str | None = None) -> Core:
    pins = [case.soft[place] for place in places]
    elements = [Element("pin", pin.flag, pin.value, origin=_option(case, pin.flag)) for pin in pins]
    elements += blame(case, frozenset(places), only)
    return Core(tuple(elements), tuple(pin.flag for pin in pins))


def _ranked(
    fixes: Sequence[Fix], asked: Asked, pins: Mapping[str, Value], typed: bool, failures: Failures
) -> tuple[Fix, ...]:
    """Changes of flags and of the place, the cheapest first."""
    question = Question(
        asked.place, {flag: value for flag, value in pins.items() if value is not None}, {} if typed else pins
    )
    ways = Ways(question, asked.world, asked.keep, failures)
    found = (*fixes, *ways.nearest()) or ways.pairs() or ways.fewer()
    kept: list[Fix] = []
    for fix in sorted(found, key=lambda fix: (fix.cost, fix.args)):
        # What another one does already needs nothing more.
        if not any(set(other.changes) <= set(fix.changes) for other in kept):
            kept.append(fix)
    return tuple(kept)


def _corrections(
    case: Case, conflicts: Conflicts, everything: Sequence[int], kept: frozenset[int]
) -> Sequence[frozenset[int]]:
    """The corrections that leave ``kept`` alone; sought for again where they were not all found."""
    if conflicts.complete or not kept:
        return [one for one in conflicts.corrections if not one & kept]
    if case.refute(kept) is not None:
        return []

    def refute(chosen: frozenset[int]) -> frozenset[int] | None:
        found = case.refute(chosen | kept)
        return None if found is None else found - kept

    rest = [place for place in everything if place not in kept]
    return enumerate_conflicts(refute, rest, most=MOST_SETS, seconds=SECONDS).corrections


def _option(case: Case, flag: str) -> str:
    known = case.asked.knowledge.flags.get(flag)
    return (option_of(known) or "") if known is not None else ""


def _rests_on_samples(asked: Asked, units: Sequence[Unit], cores: Sequence[Core]) -> bool:
    """Whether some conflict goes by several rules, so through the values of what is open, and not all were tried."""
    if all(sum(one.kind == "rule" for one in core.elements) < 2 for core in cores):
        return False
    inside = {flag for unit in units for flag in unit.flags}
    return not all(one.complete for one in asked.knowledge.variables if set(one.flags) & inside)
