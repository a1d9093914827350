"""Minimal conflicts and corrections of random set systems against their definitions, by trying every subset."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from solver.mus import Oracle, enumerate_conflicts, shrink

Sets = list[frozenset[int]]
systems = st.integers(1, 7).flatmap(
    lambda size: st.tuples(
        st.just(size), st.lists(st.frozensets(st.integers(0, size - 1), min_size=1, max_size=4), max_size=6)
    )
)


def oracle(nogoods: Sets, *, precise: bool = False) -> Oracle:
    """A set is refuted when it holds a nogood whole: every monotone oracle has this form.

    A precise one names the last such nogood, the other what it was asked.
    """

    def refute(chosen: frozenset[int]) -> frozenset[int] | None:
        held = [nogood for nogood in nogoods if nogood <= chosen]
        return None if not held else held[-1] if precise else chosen

    return refute


def holds(nogoods: Sets, chosen: frozenset[int]) -> bool:
    return not any(nogood <= chosen for nogood in nogoods)


def subsets(size: int) -> Sets:
    return [frozenset(chosen) for count in range(size + 1) for chosen in itertools.combinations(range(size), count)]


def minimal(groups: Sets) -> set[frozenset[int]]:
    return {one for one in groups if not any(other < one for other in groups)}


@settings(deadline=None, max_examples=300, derandomize=True)
@given(systems, st.booleans())
def test_every_conflict_and_correction(system: tuple[int, Sets], precise: bool) -> None:
    size, nogoods = system
    everything = subsets(size)
    found = enumerate_conflicts(oracle(nogoods, precise=precise), range(size), seconds=60)
    assert found.complete
    assert set(found.cores) == minimal([one for one in everything if not holds(nogoods, one)])
    whole = frozenset(range(size))
    assert set(found.corrections) == minimal([one for one in everything if holds(nogoods, whole - one)])
    assert len(set(found.cores)) == len(found.cores)
    assert list(found.cores) == sorted(found.cores, key=lambda one: (len(one), sorted(one)))
    assert list(found.corrections) == sorted(found.corrections, key=lambda one: (len(one), sorted(one)))


@settings(deadline=None, max_examples=200, derandomize=True)
@given(systems, st.lists(st.integers(1, 4), min_size=7, max_size=7), st.integers(1, 6))
def test_the_lightest_corrections_come_first(system: tuple[int, Sets], weights: list[int], most: int) -> None:
    """A limit cuts off none that is lighter than one that was found."""
    size, nogoods = system

    def heavy(group: frozenset[int]) -> int:
        return sum(weights[one] for one in group)

    every = enumerate_conflicts(oracle(nogoods), range(size), weight=weights.__getitem__, seconds=60)
    some = enumerate_conflicts(oracle(nogoods), range(size), weight=weights.__getitem__, most=most, seconds=60)
    assert set(some.cores) <= set(every.cores)
    assert set(some.corrections) <= set(every.corrections)
    found = max(map(heavy, some.corrections), default=0)
    assert all(heavy(one) >= found for one in set(every.corrections) - set(some.corrections))


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
@given(systems, st.permutations(range(7)), st.booleans())
def test_shrink(system: tuple[int, Sets], shuffled: list[int], precise: bool) -> None:
    size, nogoods = system
    refute = oracle(nogoods, precise=precise)
    order = [one for one in shuffled if one < size]
    whole = frozenset(range(size))
    if not holds(nogoods, whole):
        core = shrink(refute, whole, order)
        assert not holds(nogoods, core)
        assert all(holds(nogoods, core - {one}) for one in core)


def test_what_is_early_in_order_is_kept_last() -> None:
    refute = oracle([frozenset({0, 1}), frozenset({2, 3})])
    assert shrink(refute, range(4), (0, 1)) == {2, 3}
    assert shrink(refute, range(4), (2, 3)) == {0, 1}


@pytest.mark.parametrize("most", [1, 2, 3])
def test_a_limit_is_said(most: int) -> None:
    nogoods = [frozenset(pair) for pair in itertools.combinations(range(6), 2)]
    found = enumerate_conflicts(oracle(nogoods), range(6), most=most, seconds=60)
    assert not found.complete
    assert len(found.cores) + len(found.corrections) == most
