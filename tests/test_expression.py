"""The rule language: what is refused, what things mean, and that folding and running agree on random trees."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from constraints.compose import Compiled, compose, compose_row
from constraints.errors import ExpressionError
from constraints.evaluate import evaluate, fold
from constraints.expression import MAX_DEPTH, MAX_TEXT, parse
from constraints.tree import (
    All,
    Any_,
    Arithmetic,
    Call,
    Choice,
    Compare,
    Const,
    Group,
    Name,
    Node,
    Not,
    describe,
    literals,
    names,
    substitute,
)
from constraints.values import Value, same

NAMES = ("a", "b", "gpu.c")
values = st.sampled_from([None, True, False, 0, 1, 2, -3, 8, 0.5, "x", "fa3", "", (1, "x"), (True, None)])
leaves: st.SearchStrategy[Node] = st.one_of(st.builds(Const, values), st.builds(Name, st.sampled_from(NAMES)))


def grown(inner: st.SearchStrategy[Node]) -> st.SearchStrategy[Node]:
    parts = st.lists(inner, min_size=2, max_size=3).map(tuple)
    one = st.tuples(inner)
    return st.one_of(
        st.builds(Not, inner),
        st.builds(All, parts),
        st.builds(Any_, parts),
        st.builds(Compare, st.sampled_from(["==", "!=", "<", "<=", ">", ">="]), inner, inner),
        st.builds(Compare, st.sampled_from(["in", "not in"]), inner, st.builds(Group, parts)),
        st.builds(Arithmetic, st.sampled_from(["+", "-", "*", "/", "//", "%"]), inner, inner),
        st.builds(Choice, inner, inner, inner),
        st.builds(Call, st.sampled_from(["len", "lower", "power_of_two", "is_text", "is_number"]), one),
        st.builds(Call, st.sampled_from(["either", "min", "max"]), parts),
    )


trees = st.recursive(leaves, grown, max_leaves=12)
worlds = st.fixed_dictionaries(dict.fromkeys(NAMES, values))


def run(text: str, **env: Value) -> Value:
    return compose(parse(text))(env)


@settings(deadline=None, max_examples=500, derandomize=True)
@given(trees, worlds, st.sets(st.sampled_from(NAMES)))
def test_folding_changes_no_value(tree: Node, world: dict[str, Value], known: set[str]) -> None:
    """Whatever is known beforehand, the folded tree gives what the tree gives, and reads nothing that was known."""
    folded = fold(tree, {name: world[name] for name in known})
    assert not names(folded) & known
    assert same(compose(folded)(world), compose(tree)(world))


@settings(deadline=None, max_examples=300, derandomize=True)
@given(trees, worlds)
def test_all_known_is_a_constant(tree: Node, world: dict[str, Value]) -> None:
    folded = fold(tree, world)
    assert isinstance(folded, Const)
    assert same(folded.value, compose(tree)(world))


@given(trees, worlds)
def test_every_way_to_ask_gives_the_same(tree: Node, world: dict[str, Value]) -> None:
    compiled = Compiled(tree)
    for _ in range(3):
        assert same(compiled(world), compose(tree)(world))
    assert same(evaluate(tree, world), compose(tree)(world))
    assert same(evaluate(tree, world), compose_row(tree, NAMES)(*[world[name] for name in NAMES]))


@settings(deadline=None, max_examples=300, derandomize=True)
@given(trees, worlds)
def test_putting_constants_in_is_knowing_them(tree: Node, world: dict[str, Value]) -> None:
    put = substitute(tree, {name: Const(value) for name, value in world.items()})
    assert names(put) == frozenset()
    assert same(compose(put)({}), compose(tree)(world))


@settings(deadline=None, max_examples=300, derandomize=True)
@given(trees, worlds)
def test_described_reads_back(tree: Node, world: dict[str, Value]) -> None:
    """The shown text means the tree."""
    again = parse(describe(tree))
    assert same(compose(again)(world), compose(tree)(world))


@pytest.mark.parametrize(
    "text",
    [
        "__import__('os').system('true')",
        "a.__class__.__bases__[0]",
        "(lambda: 1)()",
        "[x for x in a]",
        "{1: 2}",
        "{1, 2}",
        "f'{a}'",
        "a ** 9",
        "a << 2",
        "a | b",
        "~a",
        "-a",
        "a[0]",
        "a[1:2]",
        "open('x')",
        "eval('1')",
        "len(*a)",
        "len(a, key=b)",
        "a.b()",
        "a := 1",
        "(a := 1)",
        "await a",
        "yield a",
        "...",
        "b'x'",
        "1j",
        "None",
        "a; b",
        "import os",
        "",
        "a and",
        "*a",
        "a if b",
        "'a'.join",
        "1 .real",
    ],
)
def test_hostile_text_is_refused(text: str) -> None:
    with pytest.raises(ExpressionError):
        parse(text)


def test_text_has_a_limit() -> None:
    with pytest.raises(ExpressionError, match="longer"):
        parse("a " + "or a " * MAX_TEXT)
    with pytest.raises(ExpressionError):
        parse("not " * (MAX_DEPTH + 2) + "a")
    with pytest.raises(ExpressionError):
        parse("(" * 900 + "a" + ")" * 900)


def test_true_is_not_one() -> None:
    assert run("a == 1", a=True) is False
    assert run("a == True", a=1) is False
    assert run("a in (1, 2)", a=True) is False
    assert run("a in (True, 'x')", a=1) is False
    assert run("a not in (0,)", a=False) is True
    assert same((1,), (True,)) is False
    assert Const(1) != Const(True)
    assert fold(parse("a == 1"), {"a": True}) == Const(False)


def test_unset() -> None:
    assert run("a is unset", a=None) is True
    assert run("a == unset", a=0) is False
    assert run("a < 3", a=None) is False
    assert run("a >= 3", a=None) is False
    assert run("a + 1", a=None) is None
    assert run("either(a, b)", a=None, b=0) == 0


def test_words_are_booleans() -> None:
    assert run("a or b", a="x", b=None) is True
    assert run("a and b", a="x", b=2) is True
    assert run("a and b", a="x", b="") is False


def test_numbers() -> None:
    assert run("a // b", a=7, b=2) == 3
    assert run("a // b", a=7, b=0) is None
    assert run("a % b", a="7", b=2) is None
    assert run("1 < a <= 3", a=3) is True
    assert run("a < b", a="x", b=3) is False
    assert run("-3 < a", a=0) is True


def test_a_part_in_a_text() -> None:
    assert run("'fa' in a", a="fa3") is True
    assert run("a in 'fa3'", a=3) is False


def test_names_are_put_in() -> None:
    tree = parse("shared.set and c", {"shared.set": parse("a in (1, 2)")})
    assert names(tree) == {"a", "c"}


def test_literals_of_a_tree() -> None:
    found = set(literals(parse("a == 'x' and b not in ('y', 1) and 'z' in (c, d) or 2 != e")))
    assert found == {("a", "x"), ("b", "y"), ("b", 1), ("c", "z"), ("d", "z"), ("e", 2)}
