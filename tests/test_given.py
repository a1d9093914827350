"""What a program gives with a question: nothing is answered as if it had not been said."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from constraints import store
from solver.api import Preflight
from solver.errors import InputError
from solver.given import arguments_given, flag_named, kept_given, values_given

FLAGS = store.knowledge_of("0.5.23").flags
QWEN = "Qwen/Qwen3-8B"


def test_flags_in_any_spelling_and_values_as_text() -> None:
    assert values_given({"tp": "2", "--kv-cache-dtype": "fp8_e4m3"}, FLAGS, "pins") == {
        "tp_size": 2,
        "kv_cache_dtype": "fp8_e4m3",
    }
    assert values_given({"enable_dp_attention": True, "page_size": None}, FLAGS, "pins") == {
        "enable_dp_attention": True,
        "page_size": None,
    }
    assert flag_named("tensor-parallel-size", FLAGS) == "tp_size"
    assert kept_given("gpu, tp", FLAGS) == {"gpu", "tp_size"}
    assert arguments_given("--tp 2 --served-model-name 'a b'") == ["--tp", "2", "--served-model-name", "a b"]


@pytest.mark.parametrize(
    "values",
    [{"foo": 1}, {"t": 1}, {"": 1}, {"tp_size": "two"}, {"tp_size": {}}, {"tp": 1, "tp_size": 2}, "tp_size=2"],
    ids=str,
)
def test_values_that_cannot_be_meant(values: object) -> None:
    with pytest.raises(InputError):
        values_given(values, FLAGS, "pins")


@pytest.mark.parametrize(
    "ask",
    [
        lambda asked: asked.recommend(QWEN, "H100", pins={"foo": 1}),
        lambda asked: asked.recommend(QWEN, "H100", top=0),
        lambda asked: asked.recommend(QWEN, "H100", top="3"),
        lambda asked: asked.recommend(None, "H100"),
        lambda asked: asked.recommend(QWEN, 8),
        lambda asked: asked.check(QWEN, "H100", None),
        lambda asked: asked.check(QWEN, "H100", ["--tp", 2]),
        lambda asked: asked.check(QWEN, "H100", [], keep=["foo"]),
        lambda asked: asked.explain(QWEN, "H100", {"foo": 1}),
        lambda asked: asked.which("foo", QWEN, "H100", arguments=[]),
        lambda asked: asked.matrix(QWEN, columns=["H100"], typed={"foo": 1}),
    ],
)
def test_questions_that_cannot_be_meant(ask: Callable[[Any], object]) -> None:
    with pytest.raises(InputError):
        ask(Preflight("0.5.23"))


def test_one_text_of_arguments() -> None:
    assert Preflight("0.5.23").check(QWEN, "2xH100", "--tp 2").typed == {"tp_size": 2}
