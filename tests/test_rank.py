"""Ranking over a compiled problem against trying every assignment; properties of what `recommend` shows."""

from __future__ import annotations

import random
from collections.abc import Mapping

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from constraints.values import Value
from solver.pareto import coded, pareto
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


@settings(deadline=None, max_examples=200, derandomize=True)
@given(st.integers(0, 10**9))
def test_the_front_is_what_nothing_beats(seed: int) -> None:
    drawn, draw = Drawn(seed), random.Random(seed)
    joints = {f"j{place}": joint for place, joint in enumerate(drawn_joints(drawn, draw))}
    gains = {name: ((name, term),) for name, term in drawn.terms.items()}
    known = [*gains, *joints]
    front = draw.sample(known, min(len(known), 3))
    vectors = []
    for one, _ in drawn.brute():
        values = drawn.problem.values(one)
        points = {name: term(values[name]) for name, term in drawn.terms.items()}
        points |= {name: joint.score(one) for name, joint in joints.items()}
        vectors.append((tuple(points[name] for name in front), sum(points.values())))
    best: dict[tuple[int, ...], int] = {}
    for vector, total in vectors:
        if not any(other != vector and all(map(int.__ge__, other, vector)) for other, _ in vectors):
            best[vector] = max(total, best.get(vector, total))
    found = pareto(solve(drawn.problem, coded(gains, front)), joints, front)
    assert sorted(one.score for one in found) == sorted(best.values())
    assert all(not drawn.problem.broken(one.assignment) for one in found)


@pytest.mark.parametrize("seed", range(20))
def test_the_same_question_has_the_same_order(seed: int) -> None:
    def order() -> list[str]:
        drawn, draw = Drawn(seed), random.Random(seed)
        joints = drawn_joints(drawn, draw)
        return [key(one.assignment) for one in ranked(solve(drawn.problem, drawn.terms), joints)]

    assert order() == order()
