"""A place and wanted effective values -> what to type there so that they come true, or why nothing does.

A refutation names what it rests on, so that it can be carried to another place where all of that is the same.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from constraints.evaluate import fold
from constraints.preferences import Choosable
from constraints.schema import WRITERS, Operation
from constraints.tree import Compare, Const, Node, names
from constraints.values import Value, same

from .errors import InputError, TooLarge
from .operations import fold_operation, targets
from .place import Place
from .problem import Constraint, Problem
from .proof import holds
from .question import idle_constraints, units_of
from .refute import Refuter
from .spell import spell
from .unit import Unit
from .unroll import unroll

LIMIT = 4_000
Typed = Mapping[str, Value]


@dataclass(frozen=True, slots=True)
class Refutation:
    """That nothing typed at ``place`` gives what was wanted.

    ``operations`` are the rules it takes and all that write what those read, ``folded`` the same with the facts of the
    place put in; ``domains`` the conditions, with the facts put in, that say what could be typed.
    """

    place: Place
    rules: tuple[str, ...]
    operations: tuple[Operation, ...]
    folded: tuple[Operation | None, ...]
    choosable: tuple[Choosable, ...]
    domains: tuple[Node | None, ...]

    def stands_at(self, other: Place) -> bool:
        """Whether the same steps refute it there: rules, writers and domains are the same under its facts."""
        if other.engine is not self.place.engine:
            return False
        facts = other.facts({})
        known = _known(other, facts)
        return all(
            fold_operation(one, known) == folded for one, folded in zip(self.operations, self.folded, strict=True)
        ) and self.domains == _domains(self.choosable, facts)


def _known(place: Place, facts: Mapping[str, Value]) -> dict[str, Value]:
    """The facts that no rule writes."""
    written = {target for operation in place.engine.knowledge.program for target in targets(operation)}
    return {name: value for name, value in facts.items() if name not in written}


def _domains(choosable: Iterable[Choosable], facts: Mapping[str, Value]) -> tuple[Node | None, ...]:
    return tuple(None if one.keep is None else fold(one.keep, facts) for one in choosable)


def _refutation(place: Place, facts: Mapping[str, Value], rules: tuple[str, ...], flags: frozenset[str]) -> Refutation:
    knowledge = place.engine.knowledge
    taken = tuple(
        one for one in knowledge.program if one.rule.id in rules or (one.rule.kind in WRITERS and targets(one) & flags)
    )
    known = _known(place, facts)
    choosable = tuple(one for one in knowledge.variables if set(one.flags) & flags)
    folded = tuple(fold_operation(one, known) for one in taken)
    return Refutation(place, rules, taken, folded, choosable, _domains(choosable, facts))


def reach(place: Place, outcome: Mapping[str, Value], *, search: bool = True) -> Typed | Refutation | None:
    """What to type so that ``outcome`` is effective and nothing hard is broken, with nothing superfluous in it.

    Tried first as it stands, which is most often enough; with ``search`` the constraint problem decides. None: not
    decided, the search was not made or cut short.
    """
    wanted = {flag: value for flag, value in outcome.items() if value is not None}
    if reaches(place, wanted, outcome):
        return least(place, wanted, outcome)
    return _searched(place, outcome) if search else None


def reaches(place: Place, typed: Typed, outcome: Mapping[str, Value]) -> bool:
    """Whether typing ``typed`` holds and gives ``outcome``, resolved as the printed command."""
    try:
        checked = place.engine.check(place.model, place.platform, spell(typed, place.engine.knowledge.flags))
    except InputError:
        return False
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


def _searched(place: Place, outcome: Mapping[str, Value]) -> Typed | Refutation | None:
    engine = place.engine
    facts = place.facts({})
    prepared = engine.prepared(facts)
    units = units_of(engine.knowledge.variables, prepared.rows, outcome)
    plain = unroll(prepared.operations, engine.defaults, units, {}, shadows=False, remembered=prepared.plain)
    demands = tuple(
        Constraint(f"outcome {flag}", Compare("==", plain.last[flag], Const(value)), demanded=True)
        for flag, value in outcome.items()
    )
    problem = Problem(
        plain.variables,
        plain.definitions,
        (*plain.constraints, *idle_constraints(engine.knowledge.variables, plain, outcome, {}), *demands),
        plain.last,
        plain.typed,
    )
    refuter = Refuter(problem, prepared.forms)
    try:
        causes = refuter.refute({}, limit=LIMIT)
    except TooLarge:
        return None
    if causes is None:
        typed = _typed(units, refuter.found)
        return least(place, typed, outcome) if reaches(place, typed, outcome) else None
    return _refutation(place, facts, refuter.rules_of(causes), _flags(problem, units, causes, outcome))


def _flags(
    problem: Problem, units: tuple[Unit, ...], causes: Iterable[object], outcome: Mapping[str, Value]
) -> frozenset[str]:
    """Every flag and local whose value the equations among ``causes`` read."""
    nodes = [one.node for one in problem.definitions] + [one.node for one in problem.constraints]
    taken = {index for index in causes if isinstance(index, int)}
    read = {name for index in taken for name in names(nodes[index])}
    read |= {one.name for index, one in enumerate(problem.definitions) if index in taken}
    shapes = {unit.name: unit.flags for unit in units}
    flags = {flag for name in read for flag in shapes.get(name, (name.partition("#")[0],))}
    return frozenset(flags | set(outcome))


def _typed(units: tuple[Unit, ...], found: Mapping[str, Value]) -> dict[str, Value]:
    return {flag: one for unit in units for flag, one in unit.typed(found.get(unit.name)) if one is not None}
