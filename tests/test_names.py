"""The loader of shared names: order, circles, revisions, faults with their lines."""

from __future__ import annotations

from typing import Any

import pytest

from constraints.compose import compose
from constraints.errors import Fault
from constraints.names import load_names
from constraints.read import read_text
from constraints.tree import names


def names_of(text: str, release: str = "0.5.23") -> tuple[dict[str, Any], list[str]]:
    faults: list[Fault] = []
    trees = load_names({"n.yaml": read_text(text, "n.yaml")}, release, faults)
    return trees, [str(fault) for fault in faults]


def test_names_may_stand_in_any_order() -> None:
    trees, faults = names_of("names:\n  a: 'b and x in set'\n  b: 'c or y'\n  c: 'z == 1'\n  set: [p, q]\n")
    assert faults == []
    assert names(trees["a"]) == {"x", "y", "z"}
    assert compose(trees["a"])({"x": "p", "y": False, "z": 1}) is True


def test_a_circle_is_a_fault() -> None:
    trees, faults = names_of("names:\n  a: 'b'\n  b: 'c'\n  c: 'a'\n  d: 'd or x'\n")
    assert faults == ["n.yaml:2: names go in a circle: a -> b -> c -> a", "n.yaml:5: names go in a circle: d -> d"]
    assert set(trees) == {"a", "b", "c", "d"}


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("x: 1\n", "n.yaml:1: must hold `names`"),
        ("names:\n  a: 'f(x'\n", "n.yaml:2: a: not an expression"),
        ("names:\n  a: null\n", "n.yaml:2: the name a has no value"),
        ("names:\n  a: [[x]]\n", "n.yaml:2: the set a may hold plain values alone"),
        ("names:\n  a: {is: 'x'}\n", "n.yaml:2: the name a must be"),
        ("names:\n  a:\n    revisions:\n      - {since: abc, is: 'x'}\n", "n.yaml:4: 'abc' is not a release"),
        ("names:\n  a:\n    revisions:\n      - {since: '0.5.1'}\n", "n.yaml:4: a revision has"),
        (
            "names:\n  a:\n    revisions:\n      - {since: '0.5.20', is: x}\n      - {since: '<=0.5.18', is: y}\n",
            "n.yaml:5: two revisions of a hold in one release",
        ),
    ],
)
def test_bad_names_are_faults(text: str, fault: str) -> None:
    _, faults = names_of(text)
    assert len(faults) == 1
    assert faults[0].startswith(fault)


def test_revisions_are_chosen_by_release() -> None:
    text = "names:\n  a:\n    revisions:\n      - {since: '0.5.20', is: x}\n"
    assert list(names_of(text)[0]) == ["a"]
    assert names_of(text, "0.5.18") == ({}, [])
