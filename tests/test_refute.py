"""Refutation by definition: against every assignment, over many questions that share what was learned."""

from __future__ import annotations

import itertools
import random
from collections.abc import Collection, Iterator, Mapping, Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from constraints.evaluate import evaluate, fold
from constraints.schema import Operation
from constraints.tree import All, Any_, Arithmetic, Call, Choice, Compare, Const, Group, Name, Node, Not
from constraints.values import Value, same
from solver.forced import claims, equals, forced
from solver.forms import Forms
from solver.problem import Constraint, Definition, Pending, Problem, Variable
from solver.refute import Refuter, Restriction
from tests.test_unroll import rule

VALUES: tuple[Value, ...] = (None, 0, 1, 2, True, False, "a")
# Enough texts for some to be told apart by nothing.
TEXTS: tuple[Value, ...] = (None, "a", "b", "c", "d", "e", "f", "", 1)
NAMES = ("x", "y", "z")
RULES = ("r0", "r1", "r2", "r3")


class Expressions:
    """Random conditions and values over some names."""

    def __init__(self, chance: random.Random, pool: Collection[str], values: Sequence[Value] = VALUES) -> None:
        self.random = chance
        self.values = values
        self.pool = list(pool)

    def value(self, depth: int = 0) -> Node:
        """An expression of any value."""
        kind = self.random.random()
        if kind < 0.35:
            return Name(self.random.choice(self.pool))
        if kind < 0.6 or depth > 2:
            return Const(self.random.choice(self.values))
        if kind < 0.85:
            return Choice(self.condition(depth + 1), self.value(depth + 1), self.value(depth + 1))
        if kind < 0.93:
            return Arithmetic("+", self.value(depth + 1), self.value(depth + 1))
        return self.condition(depth + 1)

    def condition(self, depth: int = 0) -> Node:
        """An expression that is asked whether it is true, a bare name among them."""
        kind = self.random.random()
        if depth > 2 or kind < 0.4:
            return self.comparison(depth)
        if kind < 0.5:
            return Not(self.condition(depth + 1))
        if kind < 0.6:
            return self.value(depth + 1)
        parts = tuple(self.condition(depth + 1) for _ in range(self.random.randint(1, 3)))
        if self.random.random() < 0.2:
            parts = parts[:1] * 2
        return All(parts) if kind < 0.8 else Any_(parts)

    def clause(self) -> Node:
        """A condition that propagation alone seldom settles, or any other."""
        if self.random.random() < 0.3:
            return self.condition()
        name, other = (Name(one) for one in self.random.sample(self.pool, 2))
        group = Const(tuple(self.random.sample(self.values, 3)))
        link = Compare(self.random.choice(("==", "!=", "<")), name, other)
        return Any_((link, Compare(self.random.choice(("in", "not in")), self.random.choice((name, other)), group)))

    def comparison(self, depth: int) -> Node:
        """One comparison."""
        sign = self.random.choice(("==", "==", "!=", "!=", "in", "not in", "<"))
        if sign in ("in", "not in"):
            return Compare(sign, self.value(depth + 1), Const(tuple(self.random.sample(self.values, 2))))
        left, right = self.value(depth + 1), self.value(depth + 1)
        return Compare(sign, left, right)


def environments() -> Iterator[dict[str, Value]]:
    """Every value for every name."""
    for row in itertools.product(VALUES, repeat=len(NAMES)):
        yield dict(zip(NAMES, row, strict=True))


@settings(deadline=None, max_examples=250, derandomize=True)
@given(st.integers(0, 10**9))
def test_what_is_claimed_and_forced_holds_wherever_a_condition_does(seed: int) -> None:
    node = Expressions(random.Random(seed), NAMES).condition()
    told = {truth: tuple(claims(node, truth)) for truth in (True, False)}
    values = tuple(forced(node))
    for env in environments():
        truth = bool(evaluate(node, env))
        for part, value, whether in told[truth]:
            assert same(evaluate(part, env), value) is whether, (node, part, env)
        if truth:
            assert all(same(env[name], value) for name, value in values), (node, env)


@settings(deadline=None, max_examples=250, derandomize=True)
@given(st.integers(0, 10**9))
def test_a_value_is_what_must_be_true_for_it(seed: int) -> None:
    drawn = Expressions(random.Random(seed), NAMES)
    node = drawn.value()
    conditions = [(value, equals(node, value)) for value in VALUES]
    for env in environments():
        found = evaluate(node, env)
        for value, condition in conditions:
            assert bool(evaluate(condition, env)) is same(found, value), (node, value, env)


def test_values_are_forced_through_choices() -> None:
    """The only way to the value is seen, however deep; a way that is not the only one forces nothing."""
    inner = Choice(Compare("==", Name("y"), Const(1)), Const("a"), Const(None))
    node = Choice(Compare("!=", Name("x"), Const(2)), Const(1), inner)
    assert list(forced(Compare("==", node, Const("a")))) == [("x", 2), ("y", 1)]
    assert list(forced(Compare("==", node, Const("b")))) == []
    assert equals(node, "b") == Const(False)
    assert list(forced(Any_((Compare("==", Name("x"), Const(1)), Name("y"))))) == []


def test_what_is_equal_and_is_not_settles_a_condition() -> None:
    """Also where neither side is known; True is not 1."""
    equal, differs = Compare("==", Name("x"), Name("y")), Compare("!=", Name("x"), Name("y"))
    for names in ({}, {"z": 1}):
        assert fold(All((Name("z"), equal, differs)), names) == Const(False)
        assert fold(Any_((equal, Compare("<", Name("z"), Name("x")), differs)), names) == Const(True)
    apart = All((Compare("==", Name("x"), Const(1)), Compare("!=", Name("x"), Const(True))))
    assert fold(apart, {}) == apart


class Looking(Expressions):
    """Expressions that make texts, look into them and gather them."""

    def value(self, depth: int = 0) -> Node:
        """Also of texts that are made, of lists and what stands in them."""
        kind = self.random.random()
        if depth > 2 or kind < 0.6:
            return super().value(depth)
        if kind < 0.75:
            return Call(self.random.choice(("lower", "upper", "json_kind", "letters", "len")), (self.value(depth + 1),))
        if kind < 0.82:
            return Call("item", (self.value(depth + 1), Const(self.random.randint(0, 1))))
        if kind < 0.9:
            return Call("either", (self.value(depth + 1), self.value(depth + 1)))
        return Group((self.value(depth + 1), self.value(depth + 1)))

    def comparison(self, depth: int) -> Node:
        """Also whether one value stands in another."""
        if self.random.random() < 0.3:
            sign = self.random.choice(("in", "not in"))
            return Compare(sign, self.value(depth + 1), self.value(depth + 1))
        return super().comparison(depth)


class Questioned:
    """A random problem of rules, some of which write, some constraints demanded, and questions about it."""

    def __init__(
        self,
        seed: int,
        values: Sequence[Value] = VALUES,
        sizes: tuple[int, int] = (2, 5),
        kind: type[Expressions] = Expressions,
    ) -> None:
        self.random = random.Random(seed)
        self.values = values
        names = [f"v{place}" for place in range(self.random.randint(2, 4 if sizes[1] < 6 else 3))]
        variables = [Variable(name, tuple(self.random.sample(values, self.random.randint(*sizes)))) for name in names]
        drawn = kind(self.random, names, values)
        definitions = []
        for place in range(self.random.randint(0, 4)):
            name, before = f"d{place}", Name(self.random.choice(drawn.pool))
            when, written = drawn.condition(1), drawn.value(1)
            free = f"free {name}"
            operation = self.operation() if self.random.random() < 0.6 else None
            # As in every problem, what is constant is folded.
            relaxed = None if operation is None else fold(Choice(when, Name(free), before), {})
            if relaxed is not None:
                variables.append(Variable(free, tuple(self.random.sample(values, 2))))
            definitions.append(Definition(name, fold(Choice(when, written, before), {}), operation, relaxed))
            drawn.pool.append(name)
        constraints = tuple(
            Constraint(f"c{place}", fold(drawn.clause(), {}), self.operation(), demanded=self.random.random() < 0.3)
            for place in range(self.random.randint(1, 6))
        )
        self.problem = Problem(tuple(variables), tuple(definitions), constraints)

    def operation(self) -> Operation | None:
        """One of a rule that can be switched off, or of ours, which cannot."""
        name = self.random.choice((*RULES, ""))
        if not name:
            return None
        return Operation(rule(0, "error")._replace(id=name), "s", "s", ((0, 0),), 0, None, None, ())

    def restricted(self) -> dict[str, Restriction]:
        """One value or several for some variables, each for reasons of its own."""
        found = {}
        for variable in self.random.sample(
            self.problem.variables, self.random.randint(0, min(3, len(self.problem.variables)))
        ):
            values = self.random.sample(variable.domain, self.random.randint(1, min(3, len(variable.domain))))
            found[variable.name] = Restriction(tuple(values), frozenset((("pin", variable.name),)))
        return found

    def off(self) -> frozenset[str]:
        """Some rules switched off."""
        return frozenset(self.random.sample(RULES, self.random.choice((0, 0, 1, 2))))

    def holds(self, restricted: Mapping[str, Restriction], off: Collection[str]) -> bool:
        """Whether some assignment meets all, by trying them one by one."""
        names = [one.name for one in self.problem.variables]
        domains = [
            restricted[one.name].values if one.name in restricted else one.domain for one in self.problem.variables
        ]
        return any(self.meets(dict(zip(names, row, strict=True)), off) for row in itertools.product(*domains))

    def meets(self, assignment: Mapping[str, Value], off: Collection[str]) -> bool:
        """Whether an assignment meets every constraint that is in force."""
        known = dict(assignment)
        for one in self.problem.definitions:
            known[one.name] = evaluate(meant(one, off), known)
        return all(evaluate(one.node, known) for one in self.problem.constraints if rule_of(one) not in off)

    def weakened(self, off: Collection[str], causes: Collection[object]) -> Problem:
        """The problem with what is no cause left out: constraints do not bind, what definitions give is free."""
        total = len(self.problem.definitions)
        kept, free = [], []
        for place, one in enumerate(self.problem.definitions):
            if place in causes:
                kept.append(Definition(one.name, meant(one, off)))
            else:
                free.append(Variable(one.name, tuple(self.values)))
        constraints = [one for place, one in enumerate(self.problem.constraints) if total + place in causes]
        return Problem((*self.problem.variables, *free), tuple(kept), tuple(constraints))


def rule_of(one: Definition | Constraint | Pending) -> str | None:
    return None if one.operation is None else one.operation.rule.id


def meant(definition: Definition, off: Collection[str]) -> Node:
    gone = definition.relaxed is not None and rule_of(definition) in off
    return definition.relaxed if gone and definition.relaxed is not None else definition.node


@settings(deadline=None, max_examples=120, derandomize=True)
@given(st.integers(0, 10**9))
def test_many_questions_against_every_assignment(seed: int) -> None:
    """What was learned for one question, or for another problem on the same forms, misleads none of the next."""
    asked_and_known(Questioned(seed), Questioned(seed + 1), Questioned(seed))


@settings(deadline=None, max_examples=120, derandomize=True)
@given(st.integers(0, 10**9), st.sampled_from([(6, 9), (3, 5)]), st.sampled_from([Expressions, Looking]))
def test_values_that_a_failure_does_not_tell_apart_against_every_assignment(
    seed: int, sizes: tuple[int, int], kind: type[Expressions]
) -> None:
    """Trying one of them finds no less, and blames no less, than trying all."""
    drawn = [Questioned(one, TEXTS, sizes, kind) for one in (seed, seed + 1, seed)]
    asked_and_known(*drawn)


@pytest.mark.parametrize(
    ("function", "made", "given_texts"),
    [("json_kind", "dict", ('{"a":1}', '{"b":2}')), ("lower", "vv", ("VV", "Vv")), ("upper", "VV", ("vv", "vV"))],
)
def test_a_text_that_a_function_makes_is_told_apart(function: str, made: str, given_texts: tuple[str, ...]) -> None:
    """No equation names it, and no domain has it."""
    made_of = Constraint("c", Compare("!=", Name("a"), Call(function, (Name("x"),))))
    problem = Problem((Variable("a", (made, "other")), Variable("x", given_texts)), (), (made_of,))
    assert Refuter(problem).refute({}) is None


def test_a_demand_that_refutes_the_other_values_is_named() -> None:
    """The first value fails whatever is demanded, the others fail by what is demanded."""
    alike = Constraint("c", Compare("==", Name("a"), Name("x")))
    refuter = Refuter(Problem((Variable("a", ("b", "e")), Variable("x", ("e", "k", "m"))), (), (alike,)))
    assert refuter.refute({"x": Restriction(("k", "m"), frozenset(("asked",)))}) == frozenset((0, "asked"))
    assert refuter.refute({}) is None


def asked_and_known(*drawn: Questioned) -> None:
    """Hold several questions of each problem against brute force; the first and the last are the same."""
    forms = Forms()
    said: list[list[object]] = []
    for one in drawn:
        refuter = Refuter(one.problem, forms)
        said.append([])
        for _ in range(8):
            restricted, off = one.restricted(), one.off()
            causes = refuter.refute(restricted, off)
            said[-1].append(causes or refuter.found)
            assert (causes is None) is one.holds(restricted, off)
            if causes is None:
                assert one.meets(refuter.found, off)
                for name, given_values in restricted.items():
                    assert any(same(refuter.found[name], value) for value in given_values.values)
            else:
                rest = {name: left for name, left in restricted.items() if left.causes <= causes}
                assert Refuter(one.weakened(off, causes)).refute(rest) is not None
    assert said[0] == said[2]


def test_what_is_learned_of_some_values_says_nothing_of_others() -> None:
    """True is not 1, though Python's tuples say so."""
    a, b = Variable("a", (1, 2, True)), Variable("b", (1, 2))
    either = Any_((Compare("==", Name("a"), Const(True)), Compare("==", Name("b"), Const(3))))
    refuter = Refuter(Problem((a, b), (), (Constraint("c", either),)))
    asked = frozenset(("asked",))
    assert refuter.refute({"a": Restriction((1, 2), asked)}) == frozenset((0, "asked"))
    assert refuter.refute({"a": Restriction((True, 2), asked)}) is None


def test_several_values_left_and_one_forced() -> None:
    """What is left is compared with what the equations alone force, whichever of it comes first."""
    is_two = Constraint("c", Compare("==", Name("a"), Const(2)))
    refuter = Refuter(Problem((Variable("a", (1, 2, 3)),), (), (is_two,)))
    assert refuter.refute({"a": Restriction((1, 2), frozenset(("asked",)))}) is None
    assert refuter.refute({"a": Restriction((1, 3), frozenset(("asked",)))}) == frozenset((0, "asked"))


def test_an_outcome_out_of_reach_names_who_keeps_it_there() -> None:
    """A demand that reads a restricted variable itself fails for the restriction's sake."""
    wanted = Any_((Compare("==", Name("a"), Const(1)), Compare("==", Name("a"), Const(2))))
    problem = Problem((Variable("a", (1, 2, 3, 4)),), (), (Constraint("c", wanted, demanded=True),))
    assert Refuter(problem).refute({"a": Restriction((3, 4), frozenset(("asked",)))}) == frozenset((0, "asked"))
