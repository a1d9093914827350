"""An open question (model, machine, pins, profile) -> the problem to solve, with the terms to rank by."""

from __future__ import annotations

import itertools
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from constraints.preferences import Choosable, Profile
from constraints.tree import FALSE, TRUE, All, Any_, Compare, Const, Node, names, substitute
from constraints.values import Env, Value

from .narrow import narrow
from .operations import targets
from .prepared import Prepared
from .problem import Constraint, Problem
from .search import Terms
from .terms import Gain, Joint, Ranking
from .unit import Unit
from .unroll import unroll

UNSET = Const(None)


@dataclass(frozen=True, slots=True)
class Posed:
    """A problem with what it takes to rank its solutions.

    ``gains`` holds for each name the terms that look at it: (term, score of a value); ``joints`` the terms that look at
    several ``outcomes``, each of which is a variable. ``complete``: no variable's domain is a mere sample.
    """

    problem: Problem
    units: tuple[Unit, ...]
    gains: Mapping[str, tuple[tuple[str, Gain], ...]]
    complete: bool
    joints: Mapping[str, Joint]
    outcomes: Mapping[str, Node]

    @property
    def terms(self) -> Terms:
        """The score that each name's value adds."""
        return {name: _sum(tuple(gain for _, gain in group)) for name, group in self.gains.items()}

    def shares(self, known: Mapping[str, Value]) -> dict[str, int]:
        """What each term adds to the score of an assignment with these values; they sum up to the score."""
        shares: dict[str, int] = {}
        for name, group in self.gains.items():
            for term, gain in group:
                shares[term] = shares.get(term, 0) + gain(known[name])
        for term, joint in self.joints.items():
            shares[term] = joint.score(known)
        return {term: share for term, share in sorted(shares.items()) if share}


def units_of(
    choosable: Iterable[Choosable], kept: Mapping[str, Sequence[tuple[Value, ...]]], pins: Mapping[str, Value]
) -> tuple[Unit, ...]:
    """What can be chosen, of the rows ``kept`` for each variable.

    A pinned flag may be typed or left unset, whatever its variable lists.
    """
    units = []
    taken: set[str] = set()
    for one in choosable:
        rows = list(kept[one.name])
        pinned = [flag for flag in one.flags if flag in pins]
        for flag in pinned:
            rows = _with_value(rows, one.flags.index(flag), pins[flag])
        taken.update(one.flags)
        if len(rows) < 2:
            continue
        droppable = tuple(group for group in one.droppable if not set(group) & set(pinned))
        units.extend(_units(one, rows, droppable))
    for flag, value in pins.items():
        if flag not in taken and value is not None:
            units.append(Unit(flag, (flag,), (None, value), ()))
    return tuple(units)


def _units(one: Choosable, rows: list[tuple[Value, ...]], droppable: tuple[tuple[str, ...], ...]) -> list[Unit]:
    """One unit, or, where pairs of flags say all that the rows say, a unit for each flag."""
    if len(one.flags) == 1:
        return [Unit(one.flags[0], one.flags, tuple(row[0] for row in rows), droppable)]
    columns = [_distinct(row[place] for row in rows) for place in range(len(one.flags))]
    pairs = {
        (first, second): _distinct((row[first], row[second]) for row in rows)
        for first, second in itertools.combinations(range(len(one.flags)), 2)
    }
    alone = all(len(group) == 1 for group in one.droppable)
    if not alone or _joined(columns, pairs) != len(rows):
        return [Unit(one.name, one.flags, tuple(rows), droppable)]
    return [
        Unit(
            flag,
            (flag,),
            columns[place],
            ((flag,),) if (flag,) in droppable else (),
            tuple(
                (one.flags[first], pairs[first, place])
                for first in range(place)
                if len(pairs[first, place]) < len(columns[first]) * len(columns[place])
            ),
        )
        for place, flag in enumerate(one.flags)
    ]


def _distinct(values: Iterable[Value]) -> tuple[Value, ...]:
    return tuple({repr(value): value for value in values}.values())


def _joined(columns: list[tuple[Value, ...]], pairs: Mapping[tuple[int, int], tuple[Value, ...]]) -> int:
    """How many rows have every pair of their values among ``pairs``."""
    known = {places: {repr(pair) for pair in allowed} for places, allowed in pairs.items()}
    rows: list[tuple[Value, ...]] = [()]
    for place, column in enumerate(columns):
        rows = [
            (*row, value)
            for row in rows
            for value in column
            if all(repr((row[first], value)) in known[first, place] for first in range(place))
        ]
    return len(rows)


def _with_value(rows: list[tuple[Value, ...]], place: int, value: Value) -> list[tuple[Value, ...]]:
    added = [(*row[:place], value, *row[place + 1 :]) for row in rows if row[place] is None]
    seen = {repr(row) for row in rows}
    return rows + [row for row in added if repr(row) not in seen]


def pose(
    prepared: Prepared,
    defaults: Mapping[str, Value],
    choosable: Sequence[Choosable],
    pins: Mapping[str, Value],
    profile: Profile,
    measures: frozenset[str] = frozenset(),
    workload: Mapping[str, Value] = MappingProxyType({}),
    outcomes: Collection[str] = (),
) -> Posed:
    """The problem of an open question; ``workload`` are facts that terms alone read.

    ``outcomes``: the flags whose ends a term may look at together with others.
    """
    program, facts = prepared.operations, prepared.facts
    units = units_of(choosable, prepared.rows, pins)
    # What a typed value changes is looked for among what can be chosen: a difference elsewhere alone does not keep it.
    chosen = {flag for unit in units for flag in unit.flags}
    beside = {target for operation in program for target in targets(operation) if not target.startswith("local.")}
    problem = unroll(program, defaults, units, {}, measures=frozenset(measures | (beside - chosen)))
    constraints = list(problem.constraints)
    for flag, value in pins.items():
        constraints.append(Constraint(f"pin: {flag}", _settled(Compare("==", problem.last[flag], Const(value)))))
    constraints += idle_constraints(choosable, problem, pins)
    for one in choosable:
        if one.relevant is not None and set(one.flags) <= chosen:
            constraints.append(Constraint(f"relevant: {one.name}", _relevance(one, problem, facts)))
    definitions = list(problem.definitions)
    ranking = Ranking(problem, {**defaults, **facts, **workload}, outcomes)
    for term in profile.terms:
        ranking.add(term)
    ranking.warn(profile.warnings)
    constraints += ranking.constraints
    # A typed value that a solution holds changes something, so each one is a step away from SGLang's own choice.
    for variable in problem.variables:
        ranking.gains.setdefault(variable.name, []).append(("closeness", _typed(profile.closeness)))
    gains = {name: tuple(group) for name, group in ranking.gains.items()}
    definitions += ranking.definitions
    posed = Problem(
        (*problem.variables, *ranking.variables),
        tuple(definitions),
        tuple(constraint for constraint in constraints if constraint.node != TRUE),
        problem.last,
        problem.typed,
    )
    complete = all(one.complete for one in choosable if set(one.flags) <= chosen)
    return Posed(posed, units, gains, complete, ranking.joints, ranking.watched)


def idle_pairs(
    choosable: Iterable[Choosable], pins: Mapping[str, Value], ends: Mapping[str, Value] | None = None
) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Each flag that was asked for, with the flags that would pass over it if all of them had a value.

    Where the asker typed all of them, that is their affair; where all have one as the command stands (it ends as
    ``ends``), so is that.
    """
    for flag, others in (pair for one in choosable for pair in one.idle):
        if pins.get(flag) is None or all(pins.get(other) is not None for other in others):
            continue
        if ends is None or any(ends.get(other) is None for other in others):
            yield flag, tuple(others)


def passed_over(
    pairs: Iterable[tuple[str, tuple[str, ...]]], typed: Mapping[str, Value], values: Mapping[str, Value]
) -> bool:
    """Whether some flag of `idle_pairs` is typed, and what would pass over it ends with values."""
    return any(
        typed.get(flag) is not None and all(values.get(other) is not None for other in others) for flag, others in pairs
    )


def idle_constraints(
    choosable: Iterable[Choosable],
    problem: Problem,
    pins: Mapping[str, Value],
    ends: Mapping[str, Value] | None = None,
) -> tuple[Constraint, ...]:
    """What is asked for must have something to do: the flags that would pass over it are not all typed.

    Around a command, whose values end as ``ends``, they must not all end with a value either, whoever gave it.
    """
    meant = problem.typed if ends is None else problem.last
    found = []
    for flag, others in idle_pairs(choosable, pins, ends):
        parts = [Compare("==", problem.typed[flag], UNSET)]
        parts += [Compare("==", meant[name], UNSET) for name in others if name in meant]
        node = _settled(Any_(tuple(parts)))
        if node not in (TRUE, FALSE):
            found.append(Constraint(f"idle: {flag}", node))
    return tuple(found)


def _settled(node: Node) -> Node:
    return narrow(node, {})


def _meaning(node: Node, problem: Problem, facts: Env) -> Node:
    wanted = names(node)
    return _settled(
        substitute(
            node, {name: problem.last[name] if name in problem.last else Const(facts.get(name)) for name in wanted}
        )
    )


def _relevance(one: Choosable, problem: Problem, facts: Env) -> Node:
    unset = All(tuple(Compare("==", problem.typed[flag], UNSET) for flag in one.flags))
    return _settled(Any_((unset, _meaning(one.relevant or TRUE, problem, facts))))


def _typed(weight: int) -> Gain:
    def points(value: Value) -> int:
        return -weight * sum(one is not None for one in (value if isinstance(value, tuple) else (value,)))

    return points


def _sum(group: tuple[Gain, ...]) -> Gain:
    if len(group) == 1:
        return group[0]
    return lambda value: sum(one(value) for one in group)
