"""One program, two readers: the problem admits what `resolve` does not refuse, and both end with the same values."""

from __future__ import annotations

import itertools
import random
from dataclasses import replace

from hypothesis import given, settings
from hypothesis import strategies as st

from constraints.release import Span
from constraints.schema import Case, Kind, Operation, Rule
from constraints.tree import TRUE, All, Any_, Compare, Const, Name, Node, Not
from constraints.values import Value, same
from solver.initial import initial_values
from solver.problem import Problem, value_of
from solver.rank import ranked
from solver.remembered import Remembered
from solver.resolve import Program
from solver.search import solve
from solver.unit import Unit
from solver.unroll import unroll

FLAGS = ("a", "b", "c", "d")
NAMES = (*FLAGS, "local.l", "typed.a", "typed.b")
VALUES: tuple[Value, ...] = (None, 1, 2, "x", True)
Typed = dict[str, Value]


def rule(place: int, kind: Kind, cases: tuple[Case, ...] = ()) -> Rule:
    return Rule(
        id=f"r{place}",
        subject="",
        kind=kind,
        stage="args",
        step="s",
        title="",
        reason="",
        fix="",
        when=None,
        require=None,
        cases=cases,
        span=Span(),
        sources=(),
        file="",
        line=0,
        at=place,
    )


class Drawn:
    """A random program over four flags, two of them typed together, with deferred scopes and a local."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.operations = self.program()
        self.defaults: Typed = {
            "a": None,
            "b": self.random.choice([None, 1]),
            "c": None,
            "d": self.random.choice([None, "x"]),
        }
        shapes: tuple[Value, ...] = ((None, None), ("x", None), ("x", 1), (None, 1), (None, "x"))
        droppable = self.random.choice([(("c",), ("d",)), (("c", "d"),)])
        self.units = [
            Unit.of_flag("a", [None, 1, 2]),
            Unit.of_flag("b", [None, 1, True]),
            Unit("cd", ("c", "d"), shapes, droppable),
        ]

    def atom(self) -> Node:
        name, kind = Name(self.random.choice(NAMES)), self.random.random()
        if kind < 0.5:
            return Compare("==", name, Const(self.random.choice(VALUES)))
        if kind < 0.8:
            return Compare("in", name, Const(tuple(self.random.sample(VALUES, 2))))
        return Compare("==", name, Name(self.random.choice(NAMES)))

    def condition(self, depth: int = 0) -> Node:
        if depth > 1 or self.random.random() < 0.5:
            return self.atom()
        kind = self.random.randrange(3)
        if kind == 2:
            return Not(self.condition(depth + 1))
        parts = (self.condition(depth + 1), self.condition(depth + 1))
        return All(parts) if kind else Any_(parts)

    def perhaps(self, chance: float) -> Node | None:
        return self.condition() if self.random.random() < chance else None

    def value(self) -> Node:
        return Const(self.random.choice(VALUES)) if self.random.random() < 0.7 else Name(self.random.choice(NAMES))

    def program(self) -> list[Operation]:
        operations, scope, left = [], 0, 0
        for place in range(self.random.randint(2, 9)):
            if left:
                left -= 1
            else:
                scope = 0
                if self.random.random() < 0.3:
                    left, scope = self.random.randint(1, 3), place + 1
            operations.append(self.operation(place, scope))
        return operations

    def operation(self, place: int, scope: int) -> Operation:
        if self.random.random() < 0.3:
            when, require = self.perhaps(0.7), self.condition()
            return Operation(rule(place, "error"), "s", "s", ((place, 0),), scope, when, require, ())
        cases = tuple(
            Case(self.perhaps(0.5), tuple((target, self.value()) for target in self.targets()))
            for _ in range(self.random.randint(1, 2))
        )
        kind: Kind = self.random.choice(["fill", "set"])
        when = self.perhaps(0.7)
        return Operation(rule(place, kind, cases), "s", "s", ((place, 0),), scope, when, None, cases)

    def targets(self) -> list[str]:
        return self.random.sample([*FLAGS, "local.l"], self.random.randint(1, 2))

    def assignments(self) -> list[dict[str, Value]]:
        names = [unit.name for unit in self.units]
        return [dict(zip(names, chosen, strict=True)) for chosen in itertools.product(*(u.domain for u in self.units))]

    def effective(self, typed: Typed) -> Typed | None:
        """What `resolve` ends with; None when it refuses."""
        found = Program(self.operations).run({}, initial_values(self.defaults, typed))
        return None if found.refusals else {flag: found.values[flag] for flag in FLAGS}


def typed_of(assignment: dict[str, Value]) -> Typed:
    shape = assignment["cd"]
    assert isinstance(shape, tuple)
    typed = {"a": assignment["a"], "b": assignment["b"], "c": shape[0], "d": shape[1]}
    return {flag: value for flag, value in typed.items() if value is not None}


def solutions(problem: Problem) -> dict[str, dict[str, Value]]:
    return {repr(sorted(one.assignment.items())): dict(one.assignment) for one in ranked(solve(problem))}


def equal(left: Typed, right: Typed) -> bool:
    return all(same(left[flag], right[flag]) for flag in FLAGS)


@settings(deadline=None, max_examples=250, derandomize=True)
@given(st.integers(0, 10**9))
def test_the_problem_admits_what_resolve_accepts(seed: int) -> None:
    drawn = Drawn(seed)
    problem = unroll(drawn.operations, drawn.defaults, drawn.units, {}, shadows=False)
    admitted = solutions(problem)
    for assignment in drawn.assignments():
        effective = drawn.effective(typed_of(assignment))
        assert (repr(sorted(assignment.items())) in admitted) == (effective is not None), assignment
        if effective is not None:
            known = problem.values(assignment)
            last = {flag: value_of(problem.last[flag], known) for flag in FLAGS}
            assert equal(last, effective), assignment


@settings(deadline=None, max_examples=40, derandomize=True)
@given(st.integers(0, 10**9))
def test_what_could_be_blamed_still_holds(seed: int) -> None:
    """Where each write stays a definition the same is admitted, whatever what is free would be."""
    drawn = Drawn(seed)
    words = dict.fromkeys((*FLAGS, "local.l"), VALUES)
    problem = unroll(drawn.operations, drawn.defaults, drawn.units, {}, shadows=False, blame=words.__getitem__)
    free = {variable.name: None for variable in problem.variables if variable.name.startswith("free ")}
    for assignment in drawn.assignments():
        accepted = drawn.effective(typed_of(assignment)) is not None
        assert (not problem.broken({**assignment, **free})) == accepted, assignment


def test_a_write_back_within_a_deferred_step_can_be_blamed() -> None:
    """What the step wrote before is written over, though the value is the one the step began with."""
    operations = []
    for place, value in enumerate((2, 1)):
        write = Case(None, (("a", Const(value)),))
        operations.append(Operation(rule(place, "set", (write,)), "s", "s", ((place, 0),), 1, None, None, (write,)))
    units = [Unit.of_flag("b", [None, 1])]
    problem = unroll(operations, {"a": 1, "b": None}, units, {}, shadows=False, blame=lambda _: (1, 2))
    assert [one.operation.rule.id for one in problem.definitions if one.operation is not None] == ["r0", "r1"]


@settings(deadline=None, max_examples=150, derandomize=True)
@given(st.integers(0, 10**9))
def test_every_effective_configuration_is_covered(seed: int) -> None:
    """Solutions with nothing superfluous are solutions, and end with everything that any solution ends with."""
    drawn = Drawn(seed)
    everything = solutions(unroll(drawn.operations, drawn.defaults, drawn.units, {}, shadows=False))
    lean = solutions(unroll(drawn.operations, drawn.defaults, drawn.units, {}))
    assert set(lean) <= set(everything)
    ends = {name: repr(drawn.effective(typed_of(one))) for name, one in everything.items()}
    assert {ends[name] for name in lean} == set(ends.values())


@settings(deadline=None, max_examples=150, derandomize=True)
@given(st.integers(0, 10**9))
def test_what_is_left_out_is_superfluous(seed: int) -> None:
    """What is no lean solution holds a group whose dropping leaves the effective configuration as it is."""
    drawn = Drawn(seed)
    everything = solutions(unroll(drawn.operations, drawn.defaults, drawn.units, {}, shadows=False))
    lean = solutions(unroll(drawn.operations, drawn.defaults, drawn.units, {}))
    groups = [group for unit in drawn.units for group in unit.droppable]
    for name in set(everything) - set(lean):
        typed = typed_of(everything[name])
        effective = drawn.effective(typed)
        assert effective is not None
        ways = [{flag: value for flag, value in typed.items() if flag not in group} for group in groups]
        fewer = [drawn.effective(way) for way in ways if way != typed]
        assert any(one is not None and equal(one, effective) for one in fewer), typed


def test_a_closed_flag_is_typed() -> None:
    """What is closed stands as typed in every version and in ``typed.x``."""
    write = Case(Compare("==", Name("typed.a"), Const(1)), (("b", Const(2)),))
    operation = Operation(rule(0, "set", (write,)), "s", "s", ((0, 0),), 0, None, None, (write,))
    problem = unroll([operation], {"a": None, "b": None}, [Unit.of_flag("b", [None, 1])], {"a": 1}, shadows=False)
    ends = [value_of(problem.last["b"], problem.values(one.assignment)) for one in ranked(solve(problem))]
    assert ends == [2, 2]


def test_only_errors_and_defects_bind() -> None:
    never = Const(False)
    kinds: dict[Kind, int] = {"error": 0, "defect": 0, "warning": 2}
    for kind, count in kinds.items():
        operation = Operation(rule(0, "error")._replace(kind=kind), "s", "s", ((0, 0),), 0, None, never, ())
        problem = unroll([operation], {"b": None}, [Unit.of_flag("b", [None, 1])], {}, shadows=False)
        assert solve(problem).count == count


class Asking:
    """Questions about one drawn program: which flags are open, with which values, and what is typed for the others."""

    def __init__(self, drawn: Drawn) -> None:
        self.drawn = drawn
        self.random = drawn.random

    def units(self) -> list[Unit]:
        """Some of the units, each with some of its values."""
        chosen = self.random.sample(self.drawn.units, self.random.randint(1, len(self.drawn.units)))
        return [
            replace(one, domain=tuple(self.random.sample(one.domain, self.random.randint(1, len(one.domain)))))
            for one in sorted(chosen, key=lambda one: one.name)
        ]

    def closed(self, units: list[Unit]) -> Typed:
        """What is typed for flags that are not open."""
        inside = {flag for unit in units for flag in unit.flags}
        return {flag: self.random.choice(VALUES) for flag in FLAGS if flag not in inside and self.random.random() < 0.6}


@settings(deadline=None, max_examples=200, derandomize=True)
@given(st.integers(0, 10**9), st.booleans())
def test_what_is_remembered_changes_no_problem(seed: int, blamed: bool) -> None:
    """A problem unrolled with what earlier questions found out is the one unrolled alone."""
    drawn = Drawn(seed)
    asking = Asking(drawn)
    remembered = Remembered(drawn.operations, drawn.defaults)
    for _ in range(12):
        units = asking.units()
        closed = asking.closed(units)
        words = {name: tuple(drawn.random.sample(VALUES, 2)) for name in (*FLAGS, "local.l")}
        blame = words.__getitem__ if blamed else None

        alone, shared = (
            unroll(drawn.operations, drawn.defaults, units, closed, shadows=False, blame=blame, remembered=memory)
            for memory in (None, remembered)
        )
        assert shared == alone


@settings(deadline=None, max_examples=200, derandomize=True)
@given(st.integers(0, 10**9), st.booleans())
def test_a_check_says_later_what_it_says_at_once(seed: int, remembers: bool) -> None:
    """What names meant at its place is found again, within deferred steps too."""
    drawn = Drawn(seed)
    asking = Asking(drawn)
    remembered = Remembered(drawn.operations, drawn.defaults) if remembers else None
    for _ in range(6):
        units = asking.units()
        closed = asking.closed(units)
        words = {name: tuple(drawn.random.sample(VALUES, 2)) for name in (*FLAGS, "local.l")}

        def unrolled(*, later: bool) -> Problem:
            return unroll(
                drawn.operations,
                drawn.defaults,
                units,  # noqa: B023
                closed,  # noqa: B023
                shadows=False,
                blame=words.__getitem__,  # noqa: B023
                remembered=remembered,
                later=later,
            )

        at_once, later = unrolled(later=False), unrolled(later=True)
        said = [(one.label, one.node) for one in reversed(later.constraints)][::-1]
        assert [(label, node) for label, node in said if node != TRUE] == [
            (one.label, one.node) for one in at_once.constraints
        ]
        assert (later.variables, later.definitions, later.last) == (
            at_once.variables,
            at_once.definitions,
            at_once.last,
        )
