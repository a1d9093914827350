"""What newcomers and attackers met later: what is said of variables, files, homes, and numbers that no machine has."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from constraints import store
from solver.api import Preflight
from solver.cli.app import run
from solver.errors import InputError
from solver.render import machine, sentence


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


_COMPOSE = """\
services:
  a:
    command: python3 -m sglang.launch_server --model-path Qwen/Qwen3-8B
    deploy: {{resources: {{reservations: {{devices: [
      {{count: {}, capabilities: [gpu]}}]}}}}}}
"""
_POD = """\
apiVersion: v1
kind: Pod
spec:
  containers:
    - command: [python3, -m, sglang.launch_server, --model-path, Qwen/Qwen3-8B]
      resources: {{limits: {{nvidia.com/gpu: {}}}}}
"""
_DYNAMO = """\
apiVersion: nvidia.com/v1alpha1
kind: DynamoGraphDeployment
spec:
  services:
    worker:
      multinode: {{nodeCount: {}}}
      extraPodSpec:
        mainContainer:
          command: [python3, -m, sglang.launch_server, --model-path, Qwen/Qwen3-8B]
"""
_DOCKER = "docker run --gpus {} lmsysorg/sglang:v0.5.23 python3 -m sglang.launch_server --model-path Qwen/Qwen3-8B\n"


@pytest.mark.parametrize("number", ["99999999", "9" * 5000])
@pytest.mark.parametrize(
    ("name", "text", "place"),
    [
        ("compose.yaml", _COMPOSE, "5:15: "),
        ("pod.yaml", _POD, "6:44: "),
        ("dynamo.yaml", _DYNAMO, "6:30: "),
        ("run.sh", _DOCKER, "1:12: "),
    ],
)
def test_a_number_in_a_file_that_no_machine_has_is_shown_there(
    number: str, name: str, text: str, place: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Numbers of more digits than Python converts ended in a traceback."""
    file = tmp_path / name
    file.write_text(text.format(number))
    assert run(["check", "H100", str(file)]) == 2
    told = capsys.readouterr().err
    assert told.startswith(f"{file}:{place}")
    assert "s cannot be\nGive 1 to " in told


def test_more_nodes_than_any_cluster_has_are_sglangs_to_refuse(tmp_path: Path) -> None:
    file = tmp_path / "run.sh"
    file.write_text("python3 -m sglang.launch_server --model-path Qwen/Qwen3-8B --nnodes 99999\n")
    assert run(["check", "H100", str(file)]) == 1


def test_a_line_of_a_traceback_that_no_file_has() -> None:
    log = 'Traceback (most recent call last):\n  File "/x/sglang/srt/a.py", line {}, in f\nValueError: no\n'
    assert Preflight("0.5.23").diagnose(log.format("9" * 5000)).error == "ValueError"


@pytest.mark.parametrize(
    ("before", "head"),
    [
        ("docker run --gpus 2 lmsysorg/sglang:v0.5.18", "2xH100, SGLang 0.5.18"),
        ("docker run --gpus all lmsysorg/sglang:v0.5.18", "4xH100, SGLang 0.5.18"),
        ("docker run lmsysorg/sglang:latest", "4xH100, SGLang 0.5.23"),
        ("CUDA_VISIBLE_DEVICES=0,1", "2xH100, SGLang 0.5.23"),
        ("", "4xH100, SGLang 0.5.23"),
    ],
)
def test_a_command_says_its_release_and_gpus_as_a_file_does(
    before: str, head: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A command with an image of another release was answered for by the newest."""
    command = f"{before} python3 -m sglang.launch_server --model-path Qwen/Qwen3-8B --tp 4".strip()
    script = tmp_path / "run.sh"
    script.write_text(command + "\n")
    asked = (
        *(["check", "H100", command], ["check", "H100", "--", *command.split()], ["check", "H100", str(script)]),
        *(["resolve", "H100", command], ["explain", "Qwen/Qwen3-8B", "H100", "--args", command]),
    )
    for words in asked:
        run([*words, "--no-why"] if words[0] == "check" and "--" not in words else words)
        assert f"Qwen/Qwen3-8B on {head}\n" in capsys.readouterr().out, words
    run(["check", "--release", "0.5.23", "H100", command])
    assert "SGLang 0.5.23\n" in capsys.readouterr().out


@pytest.mark.parametrize("variable", ["FORCE_COLOR", "TTY_COMPATIBLE", "PY_COLORS"])
def test_a_table_is_plain_where_colours_are_forced(
    variable: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Servers that build force colours, which a table showed as characters."""
    monkeypatch.setenv(variable, "1")
    for words in (["gpus"], ["models"], ["profiles"], ["flags"]):
        assert run(words) == 0
        shown = capsys.readouterr().out
        assert "x1b" not in shown
        assert "\x1b" not in shown


def test_a_coloured_log_is_read() -> None:
    log = (
        "\x1b[1;31mTraceback (most recent call last):\x1b[0m\n"
        '  File "\x1b[35m/x/sglang/srt/server_args.py\x1b[0m", line \x1b[35m7\x1b[0m, in f\n'
        "\x1b[1;35mValueError\x1b[0m: \x1b[35mtoo many\x1b[0m\n"
    )
    found = Preflight("0.5.23").diagnose(log)
    assert (found.error, found.message, found.place) == ("ValueError", "too many", "srt/server_args.py:7")


def test_a_release_of_more_digits_than_any(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    number = "9" * 5000
    assert run(["check", "H100", "--model", "Qwen/Qwen3-8B", "--release", f"0.5.{number}"]) == 2
    told = capsys.readouterr().err
    assert "is not a release such as 0.5.23" in told
    assert "limit" not in told
    # A tag that is no release says none.
    command = f"docker run lmsysorg/sglang:v0.5.{number} python3 -m sglang.launch_server --model-path Qwen/Qwen3-8B"
    assert run(["check", "H100", command]) == 0
    trace = 'Traceback (most recent call last):\n  File "/x/sglang/srt/a.py", line 1, in f\nValueError: no\n'
    log = f"sglang {number}.5.{number}\n{trace}"
    assert Preflight().diagnose(log).error == "ValueError"


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["--top", "0"], "--top: 0 is not in the range"),
        (["--top", "x"], "--top: 'x' is not a whole number in range."),
        (["--nodes", "x"], "--nodes: 'x' is not a whole number in range."),
        (["--gpu-memory", "x"], "--gpu-memory: 'x' is not a number."),
        (["--format", "nope"], "--format: 'nope' is not one of"),
    ],
)
def test_a_bad_option_is_named(words: list[str], told: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Of several options none was blamed."""
    assert run(["recommend", "Qwen/Qwen3-8B", "H100", "--input-len", "8", *words]) == 2
    assert capsys.readouterr().err.startswith(told)


def test_a_number_that_python_does_not_write_out() -> None:
    for word in ("9" * 5000 + "k", "9" * 4300 + "Ki"):
        found = Preflight("0.5.23").check("Qwen/Qwen3-8B", "H100", ["--max-total-tokens", word])
        assert found.refusal is not None
        assert found.refusal.reason == "bad-value"
    assert sentence.shown(10**5000) == "a number of some 5,001 digits"
    assert machine.as_json({"a": [10**5000, 1]}, None) == '{"a": ["a number of some 5,001 digits", 1]}'


def test_help_alone_is_no_fault(capsys: pytest.CaptureFixture[str]) -> None:
    run([])
    assert capsys.readouterr().err == ""
