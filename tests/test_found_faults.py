"""What broke once: inputs that fuzzing found (`tests/fuzz_parsers.py`), hostile ones, and what newcomers met."""

from __future__ import annotations

import json
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


def test_of_what_a_launch_sets_only_misspelled_variables_are_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Launches set many variables that no rule reads."""
    command = "NCCL_DEBUG=INFO HIP_VISIBLE_DEVICES=0 SGLANG_USE_AITR=1 python -m sglang.launch_server --model-path "
    script = tmp_path / "a.sh"
    script.write_text(command + "Qwen/Qwen3-8B\n")
    for words in (["H100", str(script)], ["H100", command + "Qwen/Qwen3-8B"]):
        assert run(["check", *words]) == 0
        told = " ".join(capsys.readouterr().out.split())
        assert told.count("no rule reads the variable") == 1
        assert "did you mean SGLANG_USE_AITER?" in told
    assert run(["check", "H100", str(script), "--env", "NCCL_DEBUG=WARN"]) == 0
    assert "no rule reads the variable NCCL_DEBUG:" in capsys.readouterr().out


def test_every_answer_says_what_it_could_not_know(capsys: pytest.CaptureFixture[str]) -> None:
    """A survey and a matrix told neither another release nor a variable that nothing reads."""
    asked = ["Qwen/Qwen3-8B", "H100", "--set", "attention_backend=fa3"]
    assert run(["explain", *asked, "--which", "count", "--release", "0.5.22", "--env", "NOBODY=1"]) == 0
    told = " ".join(capsys.readouterr().out.split())
    assert "Warning: SGLang 0.5.22 was not read; this is what 0.5.18, the newest older release that was, does." in told
    assert "no rule reads the variable NOBODY: it is not known to change anything" in told
    grid = ["matrix", "Qwen/Qwen3-8B", "--columns", "H100", "--rows", "fa3", "--release"]
    for form in ("text", "markdown", "json"):
        assert run([*grid, "0.3.0", "--format", form]) == 0
        shown = " ".join(capsys.readouterr().out.split())
        assert (
            '"asked_release": "0.3.0"' if form == "json" else "SGLang 0.3.0 was not read; this is what 0.5.18, the"
        ) in shown
    assert run([*grid, "0.5.23+cu12"]) == 0
    assert "0.5.23+cu12 was not read; this is what 0.5.23 does." in " ".join(capsys.readouterr().out.split())


def test_a_machine_named_twice_is_one_column_and_says_so(capsys: pytest.CaptureFixture[str]) -> None:
    """DeepSeek-V3 takes 8 H200 where nobody counts them: asked for both ways, one of them was missing."""
    grid = ["matrix", "deepseek-ai/DeepSeek-V3", "--rows", "fa3"]
    assert run([*grid, "--columns", "H200,8xH200,h200,16xH200"]) == 0
    assert "  A 8x H200 (for H200 and 8xH200); 16x H200\n" in capsys.readouterr().out
    assert run([*grid, "--by", "count", "--gpu", "H200", "--columns", "8,16,8"]) == 0
    assert "A 8, 16\n" in capsys.readouterr().out


def test_an_edited_model_is_read_again(tmp_path: Path) -> None:
    """A notebook asks one object again and again, and edits files meanwhile."""
    asked, file = Preflight("0.5.23"), tmp_path / "config.json"
    config = json.loads(store.catalogue().configs[store.catalogue().names["qwen/qwen3-8b"].file])

    def heads(number: int) -> object:
        file.write_text(json.dumps({**config, "num_key_value_heads": number}))
        return asked.check(str(tmp_path), "H100", []).facts["model.total_num_kv_heads"]

    assert [heads(8), heads(4), heads(8)] == [8, 4, 8]
    assert asked.check(str(tmp_path), "H100", []).facts["model.quantization"] is None
    (tmp_path / "hf_quant_config.json").write_text('{"quantization": {"quant_algo": "FP8"}}')
    assert asked.check(str(tmp_path), "H100", []).facts["model.quantization"] == "modelopt_fp8"
    draft = ["--speculative-algorithm", "EAGLE3", "--speculative-draft-model-path", str(tmp_path)]
    wide = asked.check("Qwen/Qwen3-8B", "H100", draft).facts
    file.write_text(json.dumps({**config, "hidden_size": 2048}))
    assert asked.check("Qwen/Qwen3-8B", "H100", draft).facts != wide
    file.unlink()
    with pytest.raises(InputError, match="holds no config"):
        asked.check(str(tmp_path), "H100", [])


def test_a_value_that_nobody_reads_to_its_end_is_begun_alone(capsys: pytest.CaptureFixture[str]) -> None:
    """What is pasted stays whole."""
    number = "9" * 400
    assert run(["check", "H100", "--model", "Qwen/Qwen3-8B", "--", "--page-size", number]) == 1
    lines = capsys.readouterr().out.splitlines()
    assert "page_size = " + "9" * 60 + "... (400 characters)" in " ".join(" ".join(lines).split())
    assert {line.strip() for line in lines if len(line) > 80} <= {f"--page-size {number}", f"--page-size {number} \\"}


@pytest.mark.parametrize("name", ["~\0", "~\ud800", "~nobody-is-called-so/x"])
def test_a_home_that_nobody_has(name: str) -> None:
    asked = Preflight("0.5.23")
    with pytest.raises(InputError, match="no file or folder"):
        asked.check(name, "H100", [])
    assert asked.check("Qwen/Qwen3-8B", "H100", ["--speculative-draft-model-path", name]).typed


def test_a_user_without_a_home(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """Containers run under users that no file knows: Python finds no home for them."""

    def unknown(number: int) -> None:
        raise KeyError(number)

    for variable in ("HOME", "XDG_CACHE_HOME", "HF_HOME", "HF_HUB_CACHE", "HUGGINGFACE_HUB_CACHE"):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setattr("pwd.getpwuid", unknown)
    with pytest.raises(RuntimeError):
        Path.home()
    # Called through: what was found before is kept.
    assert store._folder.__wrapped__() is None
    assert run(["check", "H100", "--model", "nobody/knows-this"]) == 2
    assert "not in the catalogue" in capsys.readouterr().err
