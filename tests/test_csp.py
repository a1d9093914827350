"""Plain backtracking and the decision diagram find the same assignments, and so does trying everything."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from constraints.tree import All, Any_, Choice, Compare, Const, Name, Node, Not
from constraints.values import Value
from solver.csp import enumerate_with_backtracking
from solver.problem import Constraint, Definition, Problem, Variable
from solver.rank import ranked
from solver.search import solve

DOMAINS: list[tuple[Value, ...]] = [(None, "a", "b"), (None, 1, 2), (False, True), (None, "a"), (None, True, 1, "c")]
CONSTANTS: list[Value] = [None, "a", "b", "c", True, False, 1, 2]


def conditions(known: list[str]) -> st.SearchStrategy[Node]:
    operands = st.one_of(st.sampled_from(known).map(Name), st.sampled_from(CONSTANTS).map(Const))
    atoms = st.builds(Compare, st.sampled_from(["==", "!="]), st.sampled_from(known).map(Name), operands)
    return st.recursive(
        atoms,
        lambda inner: st.one_of(
            st.builds(Not, inner),
            st.tuples(inner, inner).map(All),
            st.tuples(inner, inner).map(Any_),
        ),
        max_leaves=4,
    )


@st.composite
def problems(draw: st.DrawFn) -> Problem:
    domains = draw(st.lists(st.sampled_from(DOMAINS), min_size=1, max_size=4))
    variables = tuple(Variable(f"v{place}", domain) for place, domain in enumerate(domains))
    known = [variable.name for variable in variables]
    definitions = []
    for place in range(draw(st.integers(0, 3))):
        then, otherwise = (draw(st.sampled_from(known).map(Name)), draw(st.sampled_from(CONSTANTS).map(Const)))
        definitions.append(Definition(f"d{place}", Choice(draw(conditions(known)), then, otherwise)))
        known.append(f"d{place}")
    nodes = draw(st.lists(conditions(known), max_size=4))
    constraints = tuple(Constraint(f"c{place}", node) for place, node in enumerate(nodes))
    return Problem(variables, tuple(definitions), constraints)


def by_trying(problem: Problem) -> list[dict[str, Value]]:
    names = [variable.name for variable in problem.variables]
    rows = itertools.product(*(variable.domain for variable in problem.variables))
    assignments = [dict(zip(names, row, strict=True)) for row in rows]
    return [assignment for assignment in assignments if not problem.broken(assignment)]


@settings(max_examples=150, deadline=None)
@given(problems())
def test_three_ways_agree(problem: Problem) -> None:
    expected = sorted(repr(sorted(one.items())) for one in by_trying(problem))
    found = sorted(repr(sorted(one.items())) for one in enumerate_with_backtracking(problem))
    diagram = solve(problem)
    compiled = sorted(repr(sorted(one.assignment.items())) for one in ranked(diagram))
    assert found == expected
    assert compiled == expected
    assert diagram.count == len(expected)


def test_values_come_in_the_order_of_the_domain() -> None:
    problem = Problem((Variable("v", ("b", "a", None)),), (), ())
    assert [one["v"] for one in enumerate_with_backtracking(problem)] == ["b", "a", None]


@pytest.mark.parametrize("domains", [((1, 2), (1, 2)), ((1,), ()), ()])
def test_nothing_holds(domains: tuple[tuple[Value, ...], ...]) -> None:
    variables = tuple(Variable(f"v{place}", domain) for place, domain in enumerate(domains))
    never = Compare("==", Name("v0"), Const("x")) if variables else Const(False)
    assert not list(enumerate_with_backtracking(Problem(variables, (), (Constraint("never", never),))))
