"""Ways out elsewhere: what is taken from one place to another is what the forward reader says there."""

from __future__ import annotations

import random
from functools import cache

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from constraints.schema import HARD, Case, Flags, Operation
from constraints.tree import Compare, Const, Name
from constraints.values import Value, same
from solver.api import Preflight
from solver.check import Engine
from solver.failures import Failures
from solver.hinges import Hinges
from solver.machine import platform_of
from solver.moves import moves
from solver.place import Place, World
from solver.proof import Question
from solver.resolve import Program
from solver.ways import Ways
from tests.conformance.ways_out import refused
from tests.test_unroll import NAMES, VALUES, Drawn, rule

RELEASES = ("0.5.18", "0.5.23")


@cache
def preflight(release: str) -> Preflight:
    return Preflight(release)


@pytest.mark.parametrize("release", RELEASES)
def test_what_broke_elsewhere_breaks_here(release: str) -> None:
    """Every place answers as if nothing had been asked before, in whatever order places and commands come."""
    asked = preflight(release)
    draw = random.Random(5)
    for case in refused(release, 12, 17):
        machine = platform_of(asked.knowledge, case["gpu"], num_gpus=case["num_gpus"])
        args = [word.removeprefix("@") for word in case["args"]]
        typed = dict(getattr(asked.engine.check(case["model"], machine, args).parsed, "typed", {}))
        parts = [typed, {flag: value for flag, value in typed.items() if draw.random() < 0.6}]
        places = [move.place for move in moves(Place(asked.engine, case["model"], machine), asked.world)]
        draw.shuffle(places)
        failures = Failures()
        for place in places:
            for words in parts:
                run = place.engine.run(place.facts(words), words)
                broken = any(one.rule.kind in HARD for one in run.broken)
                assert failures.breaks(place, words) is broken, (place.aspects, words)


@settings(deadline=None, max_examples=300, derandomize=True)
@given(st.integers(0, 10**9))
def test_what_a_rule_broke_for_breaks_it_again(seed: int) -> None:
    """Of a drawn program, whose rules write in steps that are deferred as well."""
    drawn = Drawn(seed)
    hinges, program = Hinges(tuple(drawn.operations)), Program(drawn.operations)
    starts = [{name: drawn.random.choice(VALUES) for name in NAMES} for _ in range(12)]
    runs = [program.run({}, start) for start in starts]
    for start, run in zip(starts, runs, strict=True):
        for operation in run.broken:
            names = hinges.of(operation, start, run.writes)
            for other, again in zip(starts, runs, strict=True):
                if all(same(other.get(name), start.get(name)) for name in names):
                    assert any(one is operation for one in again.broken)


def test_what_did_not_happen_is_a_reason_too() -> None:
    """A rule that would have written what is read hangs on its guard, one that comes later does not."""

    def sets(place: int, guard: str) -> Operation:
        cases = (Case(None, (("a", Const(1)),)),)
        return Operation(rule(place, "fill", cases), "s", "s", ((place, 0),), 0, Name(guard), None, cases)

    needs = Operation(rule(1, "error"), "s", "s", ((1, 0),), 0, None, Compare("==", Name("a"), Const(1)), ())
    program = (sets(0, "b"), needs, sets(2, "c"))
    start: dict[str, Value] = {"a": None, "b": False, "c": False}
    run = Program(program).run({}, start)
    assert Hinges(program).of(needs, start, run.writes) == ("a", "b")


def test_a_release_that_lacks_a_flag_is_not_named_beside_one_that_has_it() -> None:
    """The rules of a release say nothing of words that it cannot read."""
    new, old = preflight("0.5.23"), preflight("0.5.18")
    typed: dict[str, Value] = {"ep_size": -2, "retraction_policy": "length"}
    lacking = Flags({name: flag for name, flag in old.knowledge.flags.items() if name != "retraction_policy"})
    older = Engine(old.knowledge._replace(flags=lacking), old.engine.models, old.engine.catalogue)
    engines = {"0.5.16": older, "0.5.17": old.engine, "0.5.18": old.engine, "0.5.23": new.engine}
    start = Place(new.engine, "MiniMaxAI/MiniMax-M2.5", platform_of(new.knowledge, "B300", num_gpus=1))
    ways = Ways(Question(start, typed, {}), World(tuple(engines), engines.__getitem__), ("gpu", "num_gpus", "model"))
    fix = next(iter(ways.nearest()))
    assert (fix.changes[0].after, fix.also) == ("0.5.18", ("0.5.17",))
