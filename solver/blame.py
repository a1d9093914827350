"""Pins that cannot hold together -> the smallest set of rules that forbids them, with the facts those rules read."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from constraints.expression import Compare, Const, Value, names
from constraints.schema import Operation, Rule

from .feasible import Feasibility
from .narrow import possible_values
from .pins import Asked, Pin, rows_with
from .problem import Constraint, Definition, Problem, Variable
from .report import Element
from .resolve import fold_operation, reads
from .unroll import Unit, unroll


@dataclass(frozen=True, slots=True)
class _Relaxable:
    """A problem in which each rule can be taken out: its constraints dropped, what it writes left free."""

    problem: Problem
    free: Mapping[str, tuple[Value, ...]]

    def rules(self) -> list[Rule]:
        """Every rule that stands in the problem, in order."""
        equations: list[Definition | Constraint] = [*self.problem.definitions, *self.problem.constraints]
        found = {one.operation.rule.id: one.operation.rule for one in equations if one.operation is not None}
        return list(found.values())

    def satisfiable(self, kept: frozenset[str], allowed: Mapping[str, Sequence[Value]]) -> bool:
        """Whether the problem has a solution when the rules of ``kept`` stand alone."""
        gone = [
            one for one in self.problem.definitions if one.operation is not None and one.operation.rule.id not in kept
        ]
        taken = {one.name for one in gone}
        problem = Problem(
            (*self.problem.variables, *(Variable(one.name, self.free[one.name]) for one in gone)),
            tuple(one for one in self.problem.definitions if one.name not in taken),
            tuple(
                one for one in self.problem.constraints if one.operation is None or one.operation.rule.id in kept
            ),
        )
        return Feasibility(problem).find(allowed) is not None


def blame(asked: Asked, units: Sequence[Unit], pins: Sequence[Pin]) -> list[Element]:
    """The rules, chosen defaults and facts of one minimal conflict; ``pins`` must be unsatisfiable."""
    typed = {pin.flag: pin.value for pin in pins if pin.typed}
    narrowed = tuple(
        Unit(unit.name, unit.flags, rows_with(unit, typed), ()) if set(unit.flags) & set(typed) else unit
        for unit in units
    )
    problem = unroll(asked.operations, asked.defaults, narrowed, {}, shadows=False, blame=True)
    wanted = tuple(
        Constraint("pin", Compare("==", problem.last[pin.flag], Const(pin.value))) for pin in pins if not pin.typed
    )
    relaxable = _cone(
        Problem(problem.variables, problem.definitions, (*problem.constraints, *wanted), problem.last, problem.typed)
    )
    rules = relaxable.rules()
    kept = _smallest(relaxable, [rule.id for rule in rules])
    chosen = [rule for rule in rules if rule.id in kept]
    elements = [_element(asked, problem, rule) for rule in chosen]
    return elements + list(_facts(asked, chosen))


def _cone(problem: Problem) -> _Relaxable:
    """Only what a constraint hangs on, and for every written version the values it could have without its rule."""
    wanted: set[str] = set()
    for constraint in problem.constraints:
        wanted |= names(constraint.node)
    needed: list[Definition] = []
    for definition in reversed(problem.definitions):
        if definition.name in wanted:
            needed.append(definition)
            wanted |= names(definition.node)
    possible: dict[str, tuple[Value, ...] | None] = {one.name: one.domain for one in problem.variables}
    free: dict[str, tuple[Value, ...]] = {}
    for definition in reversed(needed):
        values = possible_values(definition.node, possible)
        possible[definition.name] = values
        free[definition.name] = values or (None,)
    return _Relaxable(
        Problem(problem.variables, tuple(reversed(needed)), problem.constraints, problem.last, problem.typed), free
    )


def _smallest(relaxable: _Relaxable, rules: list[str]) -> frozenset[str]:
    """A minimal set of rules that is unsatisfiable; halves are tried before single rules."""
    kept = list(rules)
    size = max(1, len(kept) // 2)
    while size:
        place = 0
        while place < len(kept):
            without = kept[:place] + kept[place + size :]
            if not relaxable.satisfiable(frozenset(without), {}):
                kept = without
            else:
                place += size
        size = size // 2 if size > 1 else 0
    return frozenset(kept)


def _element(asked: Asked, problem: Problem, rule: Rule) -> Element:
    source = rule.source(asked.knowledge.release)
    if rule.kind in ("error", "defect", "warning"):
        return Element("rule", rule.id, None, rule, source)
    written = next((one for one in problem.definitions if one.operation is not None and one.operation.rule is rule), None)
    value = written.node.value if written is not None and isinstance(written.node, Const) else None
    return Element("default", written.name.split("#")[0] if written else rule.id, value, rule, source)


def _facts(asked: Asked, rules: Sequence[Rule]) -> Iterator[Element]:
    """The facts without which some rule of the conflict would read otherwise."""
    seen: set[str] = set()
    wanted = {rule.id for rule in rules}
    for operation in asked.knowledge.program:
        if operation.rule.id not in wanted:
            continue
        for name in sorted(reads(operation)):
            if name in asked.facts and name not in seen and _matters(operation, name, asked.facts):
                seen.add(name)
                yield Element("fact", name, asked.facts[name])


def _matters(operation: Operation, name: str, facts: Mapping[str, Value]) -> bool:
    known = {other: value for other, value in facts.items() if other != name}
    without, whole = fold_operation(operation, known), fold_operation(operation, facts)
    return whole is not None and without != whole

