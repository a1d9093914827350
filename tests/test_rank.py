"""Ranking over a compiled problem against trying every assignment; properties of what `recommend` shows."""

from __future__ import annotations

import random
from collections.abc import Mapping

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from constraints.values import Value
from solver.rank import ranked
from solver.search import solve
from solver.terms import Joint
from tests.test_search import Drawn, key


def drawn_joints(drawn: Drawn, draw: random.Random) -> list[Joint]:
    names = [variable.name for variable in drawn.problem.variables]
    joints = []
    for _ in range(draw.randint(0, 3)):
        read = tuple(draw.sample(names, draw.randint(0, min(3, len(names)))))
        salt = draw.random()

        def score(known: Mapping[str, Value], read: tuple[str, ...] = read, salt: float = salt) -> int:
            return random.Random(repr([salt, *(repr(known[name]) for name in read)])).randint(-9, 9)

        joints.append(Joint(read, score))
    return joints


@settings(deadline=None, max_examples=300, derandomize=True)
@given(st.integers(0, 10**9))
def test_joint_terms_against_every_assignment(seed: int) -> None:
    drawn, draw = Drawn(seed), random.Random(seed)
    joints = drawn_joints(drawn, draw)
    expected = [(one, score + sum(joint.score(one) for joint in joints)) for one, score in drawn.brute()]
    expected.sort(key=lambda pair: -pair[1])
    diagram = solve(drawn.problem, drawn.terms)
    found = [(key(one.assignment), one.score) for one in ranked(diagram, joints)]
    assert found == [(key(one), score) for one, score in expected]


@settings(deadline=None, max_examples=300, derandomize=True)
@given(st.integers(0, 10**9))
def test_of_what_is_alike_the_best_alone(seed: int) -> None:
    drawn, draw = Drawn(seed), random.Random(seed)
    joints = drawn_joints(drawn, draw)
    names = [variable.name for variable in drawn.problem.variables]
    keys = frozenset(draw.sample(names, draw.randint(1, len(names))))
    best: dict[str, tuple[str, int]] = {}
    scored = [(one, score + sum(joint.score(one) for joint in joints)) for one, score in drawn.brute()]
    for one, score in sorted(scored, key=lambda pair: -pair[1]):
        best.setdefault(repr([one[name] for name in sorted(keys)]), (key(one), score))
    found = [(key(one.assignment), one.score) for one in ranked(solve(drawn.problem, drawn.terms), joints, keys)]
    assert found == list(best.values())


@pytest.mark.parametrize("seed", range(20))
def test_the_same_question_has_the_same_order(seed: int) -> None:
    def order() -> list[str]:
        drawn, draw = Drawn(seed), random.Random(seed)
        joints = drawn_joints(drawn, draw)
        return [key(one.assignment) for one in ranked(solve(drawn.problem, drawn.terms), joints)]

    assert order() == order()
