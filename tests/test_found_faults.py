"""What broke once: inputs that fuzzing found (`tests/fuzz_parsers.py`), hostile ones, and what newcomers met."""

from __future__ import annotations

import time

import pytest

from constraints import store
from solver.api import Preflight
from solver.cli.app import run
from solver.cli.inputs import arguments_of, pins_of
from solver.errors import InputError
from solver.intake.files import read_launches
from solver.intake.template import mask, unmask

FLAGS = store.knowledge_of(store.known_releases()[-1]).flags


@pytest.mark.parametrize("setting", ['h=mo Ju0s=m:"-: --qe', "attention_backend='", "tp_size=2 \\", 'page_size="64'])
def test_a_quote_that_stays_open_in_set(setting: str) -> None:
    with pytest.raises(InputError):
        pins_of([setting], FLAGS)


def test_a_line_of_templates_is_masked_at_once() -> None:
    begun = time.process_time()
    for text in ("{{a}} " * 5000 + "x", "{{" * 50_000, "{{ }" * 50_000 + "}}", "{{a}}" * 5000):
        masked, found = mask(text)
        assert len(masked) == len(text)
        assert unmask(masked, found) == text or not masked.strip()
    assert time.process_time() - begun < 2


def test_a_launch_of_more_words_than_any_is_refused_not_cut() -> None:
    text = "python3 -m sglang.launch_server --model-path a --lora-paths" + " x" * 5000
    with pytest.raises(InputError, match="words in one launch"):
        read_launches(text, "a.sh", FLAGS)


def test_what_begins_like_a_list_and_is_none_is_for_the_shell() -> None:
    text = "FROM x\nCMD [ -f a ] && python3 -m sglang.launch_server --model-path a\n"
    (launch,) = read_launches(text, "Dockerfile", FLAGS)
    assert [word.text for word in launch.arguments] == ["--model-path", "a"]


def test_literal_signs_in_a_whole_command() -> None:
    words, env = arguments_of(["A='x$y' python3 -m sglang.launch_server --model-path 'a$b'"], FLAGS)
    assert env == {"A": "x$y"}
    assert words == ["--model-path", "a$b"]


def test_a_no_without_any_wish_has_its_reason_and_a_way_out() -> None:
    """Two rules on memory together leave no layout; the search for that was cut off and taken for a yes."""
    found = Preflight("0.5.23").recommend("deepseek-ai/DeepSeek-V3", "8xH100")
    assert found.count == 0
    assert found.explanation is not None
    assert not found.explanation.satisfiable
    assert any(one.name == "weights-leave-a-kv-cache" for core in found.explanation.cores for one in core.elements)
    assert found.explanation.fixes
    assert all(fix.gpu != "CPU" for fix in found.explanation.fixes)


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["Qwen/Qwen3-8B", "H100", "--context-length", "100000"], "at most 40,960 tokens"),
        (["deepseek-ai/DeepSeek-V3", "8xH100", "--nodes", "2", "--format", "kubernetes"], "on each of them"),
        (["Qwen/Qwen3-8B", "H100", "--pareto", "memory", "--near-duplicates"], "--near-duplicates"),
    ],
)
def test_what_cannot_be_said_is_refused(words: list[str], told: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["recommend", *words]) == 2
    assert told in capsys.readouterr().err


def test_a_file_that_is_run_as_it_is_holds_one_launch(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["recommend", "Qwen/Qwen3-8B", "H100", "--top", "3", "--format", "kubernetes"]) == 0
    text = capsys.readouterr().out
    assert text.count("kind: Deployment") == 1
    assert "0.0.0.0" in text
