"""Minimal conflicts and corrections of random set systems against their definitions, by trying every subset."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from solver.mus import Oracle, enumerate_conflicts, grow, shrink

Sets = list[frozenset[int]]
systems = st.integers(1, 7).flatmap(
    lambda size: st.tuples(
        st.just(size), st.lists(st.frozensets(st.integers(0, size - 1), min_size=1, max_size=4), max_size=6)
    )
)


def oracle(nogoods: Sets) -> Oracle:
    """A set is satisfiable when it holds no nogood whole: every monotone oracle has this form."""
    return lambda chosen: not any(nogood <= chosen for nogood in nogoods)


def subsets(size: int) -> Sets:
    return [
        frozenset(chosen) for count in range(size + 1) for chosen in itertools.combinations(range(size), count)
    ]


def minimal(groups: Sets) -> set[frozenset[int]]:
    return {one for one in groups if not any(other < one for other in groups)}


@settings(deadline=None, max_examples=300, derandomize=True)
@given(systems)
def test_every_conflict_and_correction(system: tuple[int, Sets]) -> None:
    size, nogoods = system
    satisfiable = oracle(nogoods)
    everything = subsets(size)
    found = enumerate_conflicts(satisfiable, range(size), seconds=60)
    assert found.complete
    assert set(found.cores) == minimal([one for one in everything if not satisfiable(one)])
    whole = frozenset(range(size))
    assert set(found.corrections) == minimal([one for one in everything if satisfiable(whole - one)])
    assert len(set(found.cores)) == len(found.cores)
    assert list(found.cores) == sorted(found.cores, key=lambda one: (len(one), sorted(one)))
    assert list(found.corrections) == sorted(found.corrections, key=lambda one: (len(one), sorted(one)))


@settings(deadline=None, max_examples=200, derandomize=True)
@given(systems)
def test_each_correction_meets_each_core(system: tuple[int, Sets]) -> None:
    size, nogoods = system
    found = enumerate_conflicts(oracle(nogoods), range(size), seconds=60)
    if found.cores:
        assert all(core & correction for core in found.cores for correction in found.corrections)
    else:
        assert found.corrections == (frozenset(),)


@settings(deadline=None, max_examples=200, derandomize=True)
@given(systems, st.randoms(use_true_random=False))
def test_shrink_and_grow(system: tuple[int, Sets], shuffled: object) -> None:
    size, nogoods = system
    satisfiable = oracle(nogoods)
    order = list(range(size))
    shuffled.shuffle(order)  # type: ignore[attr-defined]
    whole = frozenset(range(size))
    if not satisfiable(whole):
        core = shrink(satisfiable, whole, order)
        assert not satisfiable(core)
        assert all(satisfiable(core - {one}) for one in core)
    kept = grow(satisfiable, frozenset(), order)
    assert satisfiable(kept)
    assert all(not satisfiable(kept | {one}) for one in whole - kept)


def test_what_is_early_in_order_is_kept_last() -> None:
    satisfiable = oracle([frozenset({0, 1}), frozenset({2, 3})])
    assert shrink(satisfiable, range(4), (0, 1)) == {2, 3}
    assert shrink(satisfiable, range(4), (2, 3)) == {0, 1}


@pytest.mark.parametrize("most", [1, 2, 3])
def test_a_limit_is_said(most: int) -> None:
    nogoods = [frozenset(pair) for pair in itertools.combinations(range(6), 2)]
    found = enumerate_conflicts(oracle(nogoods), range(6), most=most, seconds=60)
    assert not found.complete
    assert len(found.cores) + len(found.corrections) == most
