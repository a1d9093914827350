"""What broke once: inputs that fuzzing found (`tests/fuzz_parsers.py`), hostile ones, and what newcomers met."""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path

import pytest

from constraints import store
from solver.api import Preflight
from solver.check import MOST_KEPT
from solver.cli.app import run
from solver.cli.inputs import arguments_of, pins_of
from solver.errors import InputError
from solver.file_check import Asked, FileChecker
from solver.intake.files import read_launches
from solver.intake.template import mask, unmask
from solver.machine import platform_of
from solver.render import file_text

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
        (["Qwen/Qwen3-8B", "H100", "--pareto", ""], "--pareto: no term is named\nTerms of balanced: memory, "),
        (["Qwen/Qwen3-8B", "H100", "--pareto", " ,"], "--pareto: no term is named"),
        (["Qwen/Qwen3-8B", "H100", "--release", ""], "--release: '' is not a release"),
        (
            ["Qwen/Qwen3-8B", "H100", "--profile", "thruput"],
            "'thruput'\nDid you mean throughput?",
        ),
        (["Qwen/Qwen3-8B", "H100", "--profile", "no.yaml"], "`preflight profiles` lists"),
        (["Qwen/Qwen3-8B", "999999xH100"], "999999 GPUs cannot be"),
    ],
)
def test_what_cannot_be_said_is_refused(words: list[str], told: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["recommend", *words]) == 2
    assert told in capsys.readouterr().err


def test_one_profile_is_shown(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["profiles", "cheap"]) == 0
    shown = capsys.readouterr().out
    assert shown.startswith("cheap: ")
    assert "throughput: " not in shown
    assert run(["profiles", "cheep"]) == 2
    assert "Did you mean cheap?" in capsys.readouterr().err


def test_what_is_wrong_with_a_weight_is_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "mine.yaml"
    file.write_text("profile: mine\nterms:\n  - {name: speed, weight: heavy, value: roofline.throughput}\n")
    assert run(["recommend", "Qwen/Qwen3-8B", "H100", "--profile", str(file)]) == 2
    assert ":3: the weight of 'speed' is a whole number up to 1,000,000, not 'heavy'" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("setting", "said"),
    [
        ("SGLANG_ENABLE_PP_SPEC=maybe", "is no true or false: SGLang warns, and runs with false"),
        ("SGLANG_IS_FLASHINFER_AVAILABLE=on", "is no true or false: SGLang warns, and runs with false"),
        ("SGL_GRPC_WORKER_THREADS=four", "SGLANG_GRPC_WORKER_THREADS=four is no whole number"),
        ("SGLANG_ENABLE_PP_SPEC=Yes", ""),
        ("SGL_IS_FLASHINFER_AVAILABLE=0", ""),
        ("SGLANG_NOBODY_READS_THIS=maybe", "no rule reads the variable SGLANG_NOBODY_READS_THIS: it is not known to"),
        ("SGLANG_USE_AITR=1", "change anything; did you mean SGLANG_USE_AITER?"),
        ("sglang_use_aiter=1", "change anything; did you mean SGLANG_USE_AITER?"),
        ("ALLOW_OVERWRITE_LONGER_CONTEXT_LEN=1", "did you mean SGLANG_ALLOW_OVERWRITE_LONGER_CONTEXT_LEN?"),
    ],
)
def test_a_variable_that_sglang_cannot_read_or_no_rule_does_is_told(setting: str, said: str) -> None:
    preflight = Preflight("0.5.23")
    name, _, value = setting.partition("=")
    notes = preflight.check("Qwen/Qwen3-8B", platform_of(preflight.knowledge, "H100", env={name: value}), []).subject
    assert said in " ".join(notes.inferred)
    assert bool(said) == bool(notes.inferred)


def test_quiet_says_that_a_search_was_cut_short() -> None:
    asked = Asked("H100", "Qwen/Qwen3-8B", "0.5.23")
    report = FileChecker(asked).check("--attention-backend trtllm_mla", "command")
    (launch,) = report.launches
    assert launch.report.explanation is not None
    assert "cut short" not in file_text.quiet([report])
    cut = launch.report._replace(explanation=launch.report.explanation._replace(complete=False))
    shown = file_text.quiet([replace(report, launches=(replace(launch, report=cut),))])
    assert "note: There may be more conflicts: the search was cut short.\n" in shown


def test_a_file_that_is_run_as_it_is_holds_one_launch(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["recommend", "Qwen/Qwen3-8B", "H100", "--top", "3", "--format", "kubernetes"]) == 0
    text = capsys.readouterr().out
    assert text.count("kind: Deployment") == 1
    assert "0.0.0.0" in text


@pytest.mark.parametrize("command", ["check", "resolve"])
def test_flags_without_a_gpu_lack_the_gpu(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    for words in (["Qwen/Qwen3-8B", "--tp", "8"], ["--tp", "8"]):
        assert run([command, *words]) == 2
        assert capsys.readouterr().err.startswith(f"{command}: no GPU is named")


def test_the_folder_that_was_meant_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "my-model").mkdir()
    (tmp_path / "my-model" / "config.json").write_text("{}")
    monkeypatch.chdir(tmp_path)
    for word in ("my-modle", "./my-modle"):
        assert run(["recommend", word, "H100"]) == 2
        assert "Did you mean my-model?" in capsys.readouterr().err


def test_the_version_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["--version"]) == run(["version"]) == 0
    assert capsys.readouterr().out.splitlines()[0].endswith("; SGLang " + ", ".join(store.known_releases()))


def test_a_command_loads_the_checkpoint_that_was_asked_for() -> None:
    """Ids of the same shape share an entry of the catalogue; commands loaded the weights that the entry is named by."""
    asked, llama = Preflight("0.5.23"), "meta-llama/Llama-3.3-70B-Instruct"
    found = asked.check(llama.lower(), "4xH100", ["--tp", "8"], why=True)
    assert found.explanation is not None
    assert {found.subject.model, *(fix.model for fix in found.explanation.fixes)} == {llama}
    assert asked.subject("Llama-3.1-8B-AWQ", asked.machine("H100")).model.startswith("hugging-quants/"), "no id"


def test_as_well_means_with_the_same_command() -> None:
    """With 2 GPUs in place of 8 another --tp-size is needed: that is no alternative to what is printed."""
    found = Preflight("0.5.23").explain_command("Qwen/Qwen3-32B", "4xH100", ["--tp", "8"])
    (moved,) = (fix for fix in found.fixes if fix.num_gpus != 4)
    assert (moved.num_gpus, moved.also) == (8, ())


@pytest.mark.parametrize(("gpu", "each"), [("2xH100", 2), ("H100", 2), ("4xH100", 4)])
def test_a_command_for_several_nodes_runs_on_several(gpu: str, each: int) -> None:
    found = Preflight("0.5.23").check("Qwen/Qwen3-32B", gpu, ["--tp", "4", "--nnodes", "2", "--node-rank", "0"])
    assert found.holds
    assert (found.subject.nodes, found.subject.num_gpus) == (2, each)


@pytest.mark.parametrize("page", ["9" * 400, "-" + "9" * 400])
def test_a_number_that_no_float_holds(page: str) -> None:
    asked = Preflight("0.5.23")
    found = asked.memory(asked.check("Qwen/Qwen3-8B", "H100", ["--page-size", page]))
    assert found is not None
    assert found.tokens is not None


def test_a_fault_of_the_program_is_no_answer(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def broken(*_: object) -> None:
        raise ZeroDivisionError("here")

    monkeypatch.setattr("solver.api.Preflight.machine", broken)
    assert run(["check", "H100", "--model", "Qwen/Qwen3-8B"]) == 3
    told = capsys.readouterr().err
    assert "ZeroDivisionError: here" in told
    assert "please report it" in told


def test_a_stream_of_commands_does_not_fill_the_memory() -> None:
    engine = Preflight("0.5.23").engine
    machine = platform_of(engine.knowledge, "H100")
    for number in range(MOST_KEPT + 50):
        engine.check("Qwen/Qwen3-8B", machine, ["--json-model-override-args", f'{{"rope_theta": {number}}}'])
    assert max(len(one) for one in (engine._facts, engine._models, engine._inputs)) == MOST_KEPT
