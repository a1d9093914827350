"""What a program gives with a question: nothing is answered as if it had not been said."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from constraints import store
from solver.api import Preflight
from solver.errors import InputError
from solver.estimate.roofline import Workload
from solver.given import arguments_given, count_given, flag_named, kept_given, values_given
from solver.machine import platform_of

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


# What no question can mean, of every kind that a program may give by mistake.
ODD: tuple[Any, ...] = (
    *(1.5, float("nan"), -1, True, b"x", "\0", "\ud800", [None], ["a", 1], {"a": 1}, {1: 2}),
    *(object(), Path("/nobody/has/this"), "x" * 5000, 10**400, {"tp_size": [[1]]}, {"tp_size": float("nan")}),
)
TRACE = 'Traceback (most recent call last):\n  File "/x/sglang/srt/a.py", line 1, in f\nValueError: no\n'
# A question with one of its parts left open, and which odd things are meant there after all.
OPEN: dict[str, tuple[Callable[[Preflight, Any], object], tuple[int, ...]]] = {
    "release": (lambda asked, odd: Preflight(odd), ()),
    "hub": (lambda asked, odd: Preflight("0.5.23", odd), ()),
    "model": (lambda asked, odd: asked.check(odd, "H100", []), ()),
    "subject": (lambda asked, odd: asked.subject(odd, asked.machine("H100")), ()),
    "machine": (lambda asked, odd: asked.machine(odd), ()),
    "keep": (lambda asked, odd: asked.check(QWEN, "H100", [], keep=odd), ()),
    "folder": (
        lambda asked, odd: raising(asked.check(QWEN, "H100", "--config a.yaml", odd).refusal is not None),
        (5, 6, 12, 13),
    ),
    "profile": (lambda asked, odd: asked.profile(odd), ()),
    "pins": (lambda asked, odd: asked.explain(QWEN, "H100", odd), ()),
    "top": (lambda asked, odd: asked.recommend(QWEN, "H100", top=odd), (14,)),
    "workload": (lambda asked, odd: asked.recommend(QWEN, "H100", workload=odd), ()),
    "input_len": (lambda asked, odd: asked.recommend(QWEN, "H100", workload=Workload(odd, 1, 1)), ()),
    "context": (lambda asked, odd: asked.recommend(QWEN, "H100", workload=Workload(1, 1, 1, odd)), ()),
    "front": (lambda asked, odd: asked.recommend(QWEN, "H100", front=odd), ()),
    "explained": (lambda asked, odd: asked.explain_command(odd, "H100", "--tp 1"), ()),
    "aspect": (lambda asked, odd: asked.which(odd, QWEN, "H100"), ()),
    "which": (lambda asked, odd: asked.which("num_gpus", odd, "H100"), ()),
    "flag": (lambda asked, odd: asked.matrix(QWEN, flag=odd, columns="H100"), ()),
    "by": (lambda asked, odd: asked.matrix(QWEN, "H100", by=odd), ()),
    "columns": (lambda asked, odd: asked.matrix(QWEN, values="fa3", columns=odd), ()),
    "counts": (lambda asked, odd: asked.matrix(QWEN, "H100", by="num_gpus", values="fa3", columns=[odd]), ()),
    "releases": (lambda asked, odd: asked.matrix(QWEN, "H100", by="release", values="fa3", columns=[odd]), ()),
    "typed": (lambda asked, odd: asked.matrix(QWEN, columns="H100", values="fa3", typed=odd), ()),
    "marginals": (lambda asked, odd: asked.marginals(odd, "H100"), ()),
    "log": (lambda asked, odd: asked.diagnose(odd), (6,)),
    "failed": (lambda asked, odd: asked.diagnose(TRACE, model=odd), ()),
    "failed on": (lambda asked, odd: asked.diagnose(TRACE, gpu=odd), ()),
    "command": (lambda asked, odd: asked.diagnose(TRACE, command=odd), ()),
    "gpu": (lambda asked, odd: platform_of(asked.knowledge, odd), ()),
    "num_gpus": (lambda asked, odd: platform_of(asked.knowledge, "H100", num_gpus=odd), ()),
    "nodes": (lambda asked, odd: platform_of(asked.knowledge, "H100", nodes=odd), ()),
    "env": (lambda asked, odd: platform_of(asked.knowledge, "H100", env=odd), (9, 16)),
    "without": (lambda asked, odd: platform_of(asked.knowledge, "H100", without=odd), ()),
    "cuda": (lambda asked, odd: platform_of(asked.knowledge, "H100", cuda=odd), ()),
    "memory": (lambda asked, odd: platform_of(asked.knowledge, "H100", memory_gib=odd), (0,)),
}


def raising(refused: bool) -> None:
    assert refused


@pytest.mark.parametrize("part", OPEN)
def test_what_cannot_be_meant_is_said_in_our_words(part: str) -> None:
    """`diagnose(None)` and many more ended in Python's own words, and half a token was taken for a workload."""
    asked = Preflight("0.5.23")
    ask, meant = OPEN[part]
    for number, odd in enumerate(ODD):
        if number in meant:
            ask(asked, odd)
        else:
            with pytest.raises(InputError):
                ask(asked, odd)


@pytest.mark.parametrize(
    "ask", [lambda asked: asked.diagnose(None), lambda asked: asked.recommend(QWEN, "H100", front=None)]
)
def test_nothing_is_no_log_and_no_term(ask: Callable[[Any], object]) -> None:
    with pytest.raises(InputError):
        ask(Preflight("0.5.23"))


def test_a_folder_is_named_by_its_path_as_well(tmp_path: Path) -> None:
    asked, catalogue = Preflight("0.5.23"), store.catalogue()
    (tmp_path / "config.json").write_text(catalogue.configs[catalogue.names["qwen/qwen3-8b"].file])
    pins = {"page_size": 64}
    for model in (tmp_path, str(tmp_path)):
        assert asked.check(model, "H100", []).subject.model == str(tmp_path)
        assert asked.recommend(model, "H100", pins=pins, top=1).subject.model == str(tmp_path)
        assert asked.explain(model, "H100", pins).satisfiable
        assert asked.explain_command(model, "H100", []).satisfiable
        assert asked.which("release", model, "H100", pins=pins).subject.model == str(tmp_path)
        assert asked.matrix(model, columns="H100", values="fa3").model == str(tmp_path)
        assert asked.marginals(model, "H100", pins=pins).count


def test_values_of_a_program_are_read_as_the_flag_reads_them() -> None:
    class Whole:  # as numpy has them
        def __index__(self) -> int:
            return 2

    assert values_given({"tp_size": Whole(), "mem_fraction_static": 1}, FLAGS, "pins") == {
        "tp_size": 2,
        "mem_fraction_static": 1.0,
    }
    assert values_given({"disable_radix_cache": False, "cuda_graph_bs_decode": [1, 2]}, FLAGS, "pins") == {
        "disable_radix_cache": False,
        "cuda_graph_bs_decode": (1, 2),
    }
    found = Preflight("0.5.23").matrix(QWEN, flag="tp_size", columns="2xH100", values="1,2", ways=False)
    assert [cell.state for cell in found.columns[0].cells] == ["works", "works"]


def test_a_whole_command_is_told_from_its_flags() -> None:
    """It was refused for the word `python`, and what it sets would have gone unheard."""
    with pytest.raises(InputError, match="whole command") as fault:
        Preflight("0.5.23").check(None, "H100", f"A=1 python3 -m sglang.launch_server --model-path {QWEN} --tp 2")
    assert fault.value.hint == f"Give its flags alone: --model-path {QWEN} --tp 2"


def test_what_hints_name_is_public() -> None:
    import solver

    for name in ("Hub", "Workload", "platform_of"):
        assert name in solver.__all__
        assert getattr(solver, name)


def test_counts_by_the_name_of_the_command_line() -> None:
    asked = Preflight("0.5.23")
    assert asked.which("count", QWEN, "H100", arguments="--tp 2").aspect == "num_gpus"
    assert asked.matrix(QWEN, "H100", by="count", columns=[1, 2], values="fa3", ways=False).axis == "num_gpus"


@pytest.mark.parametrize("top", [int, 1.5, True, "1", None])
def test_what_only_seems_to_be_a_number_is_none(top: object) -> None:
    """A class has the method that makes a whole number of its things."""
    with pytest.raises(InputError, match="is no whole number"):
        count_given(top, "top")
