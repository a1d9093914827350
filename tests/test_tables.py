"""Equations written as trees over variables say what they said before."""

from __future__ import annotations

import itertools
import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from constraints.evaluate import evaluate
from constraints.expression import parse
from constraints.tree import Call, names
from constraints.values import Value, same
from solver.problem import Constraint, Definition, Problem, Variable
from solver.tables import MAX_ROWS, tabulated

TEXTS = [
    "x + y > 3",
    "x == 1 or y == 'a'",
    "x if z else y",
    "not (x in (1, True, unset))",
    "max(x, 2) // 2 == 1 and z",
    "x * 0 == 0",
    "z and not z",
]
DOMAINS: dict[str, tuple[Value, ...]] = {
    "x": (None, 1, True, 1.0, 2, 4),
    "y": (None, "a", 3, False),
    "z": (True, False),
}


@settings(deadline=None, max_examples=200, derandomize=True)
@given(st.integers(0, 10**9))
def test_same_values(seed: int) -> None:
    drawn = random.Random(seed)
    variables = tuple(Variable(name, domain) for name, domain in DOMAINS.items())
    definitions = tuple(
        Definition(f"d{place}", parse(text))
        for place, text in enumerate(drawn.sample([*TEXTS, "x - y", "d0", "x if d0 else z"], 4), 1)
        if "d0" not in names(parse(text))
    )
    constraints = tuple(Constraint(text, parse(text)) for text in drawn.sample(TEXTS, 3))
    problem = Problem(variables, definitions, constraints)
    other = tabulated(problem, {one.name for one in definitions})
    for row in itertools.product(*DOMAINS.values()):
        assignment = dict(zip(DOMAINS, row, strict=True))
        before, after = problem.values(assignment), other.values(assignment)
        assert all(same(before[name], after[name]) for name in before)
        # A constraint that always holds is left out, the others keep their place.
        assert bool(problem.broken(assignment)) == bool(other.broken(assignment))


def test_what_makes_no_difference_is_gone() -> None:
    variables = tuple(Variable(name, domain) for name, domain in DOMAINS.items())
    definitions = (Definition("sum", parse("x + y * 0 if y == 3 else x")),)
    constraint = Constraint("c", parse("z or max(0, sum) > 1 and sum < 3"))
    problem = tabulated(Problem(variables, definitions, (constraint,)))
    (left,) = problem.constraints
    assert names(left.node) == {"x", "z"}


@pytest.mark.parametrize("size", [1, 40])
def test_what_is_too_large_stays(size: int) -> None:
    domain = tuple(range(size))
    variables = tuple(Variable(f"v{place}", domain) for place in range(4))
    node = parse("v0 + v1 + v2 + v3 == 7")
    (left,) = tabulated(Problem(variables, (), (Constraint("c", node),))).constraints
    if size**4 > MAX_ROWS:
        assert left.node == node
    else:
        assert evaluate(left.node, {}) is False


def test_parts_of_a_shape() -> None:
    shape = Variable("shape", ((None, 1), (2, 3), (4, 1)))
    node = parse("second == 1")
    definition = Definition("second", Call("item", parse("(shape, 1)").items))  # type: ignore[union-attr]
    (left,) = tabulated(Problem((shape,), (definition,), (Constraint("c", node),))).constraints
    assert [evaluate(left.node, {"shape": value}) for value in shape.domain] == [True, False, True]
