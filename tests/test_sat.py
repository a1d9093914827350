"""The SAT engine and propagation give the same answers, on drawn problems and on real questions."""

from __future__ import annotations

import itertools
import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from solver.problem import Problem
from solver.refute import Refuter, Restriction
from tests.conformance.conflicts import judged, questions
from tests.test_search import Drawn

pytest.importorskip("pysat")

from solver.sat import SatRefuter


@settings(deadline=None, max_examples=100, derandomize=True)
@given(st.integers(0, 10**9))
def test_drawn_problems(seed: int) -> None:
    problem: Problem = Drawn(seed).problem
    one, other = Refuter(problem), SatRefuter(problem)
    chance = random.Random(seed)
    for _ in range(6):
        restricted = {
            variable.name: Restriction(tuple(chance.sample(variable.domain, 1)), frozenset((variable.name,)))
            for variable in chance.sample(problem.variables, min(2, len(problem.variables)))
        }
        expected = any(
            not problem.broken(dict(zip(names, row, strict=True)))
            for names in [[variable.name for variable in problem.variables]]
            for row in itertools.product(
                *(
                    restricted[variable.name].values if variable.name in restricted else variable.domain
                    for variable in problem.variables
                )
            )
        )
        assert (one.refute(restricted) is None) is expected
        causes = other.refute(restricted)
        assert (causes is None) is expected
        if causes is None:
            assert not problem.broken(other.found)
        else:
            rest = {name: kept for name, kept in restricted.items() if kept.causes & causes}
            assert other.refute(rest) is not None


@pytest.mark.parametrize("release", ["0.5.18", "0.5.23"])
def test_real_questions(release: str) -> None:
    outcomes = []
    for name, ours, theirs in questions(release, 8, 11):
        outcome, said = judged(ours, theirs)
        assert not said, name
        outcomes.append(outcome)
    assert outcomes.count("the same") >= 4
