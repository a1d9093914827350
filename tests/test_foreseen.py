"""Failures that do not say what they are of: lines that several checks end in, and what the configuration breaks."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest

from solver.answers import Diagnosis
from solver.api import Preflight
from solver.cli.app import run

QWEN = "+ python3 -m sglang.launch_server --model-path Qwen/Qwen3-8B --tp 3\n8x NVIDIA H100\n"
DEEPSEEK = "+ python3 -m sglang.launch_server --model-path deepseek-ai/DeepSeek-V3 --tp 7\n8x NVIDIA H200\n"
HYBRID = "+ python3 -m sglang.launch_server --model-path Qwen/Qwen3-Next-80B-A3B-Instruct --tp 6\n8x NVIDIA H200\n"
LAYER, OTHER_LAYER = ("srt/layers/linear.py", 1139), ("srt/layers/linear.py", 1100)
HELPER, OTHER_HELPER = ("srt/distributed/utils.py", 70), ("srt/distributed/utils.py", 62)
CACHE = ("srt/mem_cache/kv_cache_dtype.py", 34)
DIVIDES = "AssertionError: 32 is not divisible by 3"


@cache
def preflight() -> Preflight:
    return Preflight("0.5.23")


def log(head: str, error: str, *frames: tuple[str, int]) -> str:
    lines = [f'  File "/x/sglang/{file}", line {line}, in f' for file, line in frames]
    return "\n".join([f"{head}Traceback (most recent call last):", *lines, f"{error}\n"])


def named(found: Diagnosis) -> str:
    rule = found.matches[0].rule if found.recognised and found.matches else None
    return rule.id if rule is not None else ""


@pytest.mark.parametrize(
    ("text", "rule", "how"),
    [
        (log(QWEN, DIVIDES, LAYER, HELPER), "query-heads-divide", "line"),
        (log("", DIVIDES, LAYER, HELPER), "query-heads-divide", "line"),
        # No line is one that was read: the configuration says which check ends there.
        (log(QWEN, DIVIDES, OTHER_LAYER, OTHER_HELPER), "query-heads-divide", "foreseen"),
        (log(QWEN, DIVIDES, OTHER_LAYER, HELPER), "query-heads-divide", "foreseen"),
        (log(HYBRID, DIVIDES, CACHE, HELPER), "linear-states-divide", "line and words"),
        (log(DEEPSEEK, "AssertionError", ("srt/models/deepseek_v2.py", 2001)), "mla-heads-divide", "foreseen"),
        # A message that no rule prints is of something else, wherever it stands.
        (log(DEEPSEEK, "KeyError: 'lm_head.weight'", ("srt/models/deepseek_v2.py", 2001)), "", ""),
    ],
)
def test_the_rule_is_the_one_that_is_broken(text: str, rule: str, how: str) -> None:
    found = preflight().diagnose(text, why=False)
    assert named(found) == rule
    assert not how or found.matches[0].how == how
    if rule and found.report is not None:
        assert found.finding is not None
        assert found.finding.rule.id == rule


def test_a_line_of_many_is_told_as_such(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    file = tmp_path / "a.log"
    file.write_text(log("", DIVIDES, OTHER_LAYER, HELPER))
    assert run(["diagnose", str(file)]) == 0
    assert "Other checks may end in this line too" in capsys.readouterr().out


def test_what_is_foreseen_is_told_beside_an_unknown_failure(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    file = tmp_path / "a.log"
    file.write_text(log(DEEPSEEK, "KeyError: 'lm_head.weight'", ("srt/a.py", 1)))
    assert run(["diagnose", str(file)]) == 1
    said = capsys.readouterr().out
    assert "No known refusal of SGLang prints this." in said
    assert "mla-heads-divide" in said.partition("What is foreseen for this configuration:")[2]
    assert "helps:" in said


def test_a_gpu_may_stand_behind_its_vendor() -> None:
    found = preflight().diagnose(log(QWEN, DIVIDES, LAYER, HELPER), why=False)
    assert found.report is not None
    assert (found.report.subject.num_gpus, found.report.subject.gpu) == (8, "H100")
