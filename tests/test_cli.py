"""The command line: exit codes, messages for bad input, widths, the batch interface."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from solver.cli.app import run

QWEN = "Qwen/Qwen3-8B"
WRONG = [
    ["recommend", "--nope"],
    ["recommend", QWEN],
    ["recommend", "nope/nope", "B200"],
    ["recommend", QWEN, "B2000"],
    ["recommend", QWEN, "0xB200"],
    ["recommend", QWEN, "B200", "--set", "atention_backend=x"],
    ["recommend", QWEN, "B200", "--set", "attention_backend=trition"],
    ["recommend", QWEN, "B200", "--set", "attention_backend"],
    ["recommend", QWEN, "B200", "--profile", "x"],
    ["recommend", QWEN, "B200", "--release", "x"],
    ["recommend", QWEN, "B200", "--env", "x"],
    ["recommend", QWEN, "B200", "--cuda", "x"],
    ["recommend", QWEN, "B200", "--nodes", "0"],
    ["recommend", QWEN, "B200", "--without", "x"],
    ["check"],
    ["check", "B200", "--", "foo", "bar"],
    ["check", "B200", "--model", QWEN, "--", "python -m sglang.launch_server 'open"],
    ["explain", QWEN, "B200"],
    ["explain", QWEN, "B200", "--args", "--attention-backend 'open"],
    ["rules", "nope"],
    ["flags", "nope"],
    ["check", "--batch", "no-such-file"],
    ["no-such-command"],
    ["recommend", QWEN, "B200", "--set"],
    ["recommend", QWEN, "B200", "--set", "tp_size=many"],
    ["recommend", QWEN, "B200", "--set", "tp_size=1", "--set", "tp=2"],
    ["recommend", QWEN, "B200", "--top", "0"],
    ["recommend", QWEN, "B200", "--format", "xml"],
    ["recommend", QWEN, "B200", "--gpu-memory", "nan"],
    ["recommend", QWEN, "B200", "--gpu-memory", "-1"],
    ["recommend", QWEN, "B200", "--cuda", "nan"],
    ["check", "B200", "--model", "/no/such/config.json", "--", "--tp", "1"],
    ["check", "B200", "--model", "", "--", "--tp", "1"],
    ["check", "", "--model", QWEN, "--", "--tp", "1"],
    ["explain", QWEN, "B200", "--set", "tp_size=1", "--args", "--tp 1"],
    ["explain", QWEN, "B200", "--args", "--tp many"],
    ["rules", "--release", "x"],
    ["lint", "--release", "x"],
    ["lint", "--sources", "/no/such/tree"],
    ["resolve"],
]


@pytest.mark.parametrize("command", ["check", "resolve"])
def test_a_model_may_stand_before_the_gpu(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run([command, QWEN, "2xH100", "--tp", "2"]) == 0
    assert "Qwen/Qwen3-8B on 2xH100" in capsys.readouterr().out
    assert run([command, QWEN, "8xH1000", "--tp", "2"]) == 2
    assert "Did you mean H100" in capsys.readouterr().err


def test_serve_names_its_model_without_an_option(capsys: pytest.CaptureFixture[str]) -> None:
    for words in (["sglang", "serve", QWEN, "--tp", "2"], [f"sglang serve {QWEN} --tp 2"]):
        assert run(["check", "2xH100", *words]) == 0
        assert f"{QWEN} on 2xH100" in capsys.readouterr().out


def test_a_model_may_stand_before_a_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    script = tmp_path / "run.sh"
    script.write_text(f"python3 -m sglang.launch_server --model-path {QWEN} --tp 2\n")
    assert run(["check", QWEN, "2xH100", str(script)]) == 0
    assert str(script) in capsys.readouterr().out


def test_a_reader_may_have_enough(tmp_path: Path) -> None:
    """`preflight check --batch FILE | head -1` ends quietly."""
    line = json.dumps({"id": 1, "model": QWEN, "gpu": "B200", "args": []}) + "\n"
    (tmp_path / "cases").write_text(line * 400)
    words = [sys.executable, "-m", "solver", "check", "--batch", str(tmp_path / "cases")]
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.readline()
        process.stdout.close()
        assert process.stderr.read() == b""


def shell(text: str, place: Path) -> subprocess.CompletedProcess[str]:
    """What `preflight` does in a shell, where it is called $PREFLIGHT."""
    program = (
        f"{sys.executable} -c 'import sys; sys.path.insert(0, sys.argv.pop(1)); from solver.cli import main; main()'"
    )
    here = Path(__file__).resolve().parents[1]
    return subprocess.run(
        ["sh", "-c", text.replace("$PREFLIGHT", f"{program} {here}")],
        cwd=place,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("$PREFLIGHT check 4xH100 - <&-", "standard input is closed"),
        ("$PREFLIGHT check --batch - <&-", "standard input is closed"),
        ("$PREFLIGHT diagnose - <&-", "standard input is closed"),
        ("$PREFLIGHT gpus > /dev/full", "no space left"),
        ("unset PYTHONUNBUFFERED; $PREFLIGHT gpus > /dev/full", "no space left"),
        ("$PREFLIGHT recommend Qwen/Qwen3-8B H100 --profile /dev/zero", "no plain file"),
        ("$PREFLIGHT check --batch /dev/zero", "is a device"),
        ("$PREFLIGHT check H100 --model Qwen/Qwen3-8B -- --config bomb.yaml", ""),
        ("mkfifo pipe.yaml; $PREFLIGHT check H100 --model Qwen/Qwen3-8B -- --config pipe.yaml", ""),
    ],
)
def test_a_shell_in_a_bad_state(text: str, said: str, tmp_path: Path) -> None:
    """No traceback, no hang, no memory without bound, and never the exit code of a finding that is none."""
    levels = "".join(f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]\n" for n in range(1, 12))
    (tmp_path / "bomb.yaml").write_text(f"a0: &a0 x\n{levels}")
    done = shell(text, tmp_path)
    assert done.returncode == (2 if said else 1), done.stderr
    assert said in done.stderr
    assert "Traceback" not in done.stderr


def test_what_a_script_is_given_is_unknown(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    script = tmp_path / "run.sh"
    script.write_text("TP=$1\npython3 -m sglang.launch_server --model-path Qwen/Qwen3-8B --tp $TP\n")
    assert run(["check", "4xH100", str(script)]) == 0
    assert "does not say" in capsys.readouterr().out


@pytest.mark.parametrize("words", WRONG, ids=[" ".join(words) for words in WRONG])
def test_wrong_questions_end_in_a_message(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert run(words) == 2
    shown = capsys.readouterr()
    assert shown.err.strip()
    assert "Traceback" not in shown.err + shown.out


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("config.json", b"{"),
        ("config.json", b"[]"),
        ("config.json", b"\x00\xff\x00"),
        ("config.json", b'{"architectures": 3}'),
        ("config.json", b"[" * 100_000),
    ],
)
def test_broken_configs(name: str, content: bytes, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / name).write_bytes(content)
    for reference in (tmp_path, tmp_path / name):
        assert run(["check", "B200", "--model", str(reference), "--", "--tp", "1"]) == 2
    assert capsys.readouterr().err


def test_a_config_that_says_nothing_is_refused_as_sglang_does(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text("{}")
    assert run(["check", "B200", "--model", str(tmp_path), "--no-why"]) == 1


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (["check", "8xB200", "--model", QWEN, "--", "--tp", "8"], 0),
        (["check", "B200", "--model", QWEN, "--", "--attention-backend", "trtllm_mla"], 1),
        (["check", "1xB200", "--model", QWEN, "--", "--tp", "8"], 1),
        (["check", "B200", "--model", QWEN, "--", "--tp", "8"], 0),
        (["check", "B200", "--model", QWEN, "--", "--atention-backend", "triton"], 1),
        (["check", "B200", "--", "python", "-m", "sglang.launch_server", "--model-path", QWEN], 0),
        (["resolve", "B200", "--model", QWEN, "--", "--page-size", "1"], 0),
        (["explain", QWEN, "H200", "--set", "attention_backend=trtllm_mla"], 1),
        (["explain", QWEN, "H200", "--set", "attention_backend=fa3"], 0),
        (["recommend", QWEN, "H200", "--top", "2"], 0),
        (["recommend", QWEN, "H200", "--set", "attention_backend=trtllm_mla"], 1),
        (["rules"], 0),
        (["rules", "trtllm-mla-needs-mla"], 0),
        (["flags", "--page-size"], 0),
        (["gpus"], 0),
        (["models"], 0),
        (["profiles"], 0),
        (["--help"], 0),
        (["recommend", "--help"], 0),
    ],
)
def test_codes_and_width(words: list[str], code: int, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(words) == code
    shown = capsys.readouterr()
    assert shown.out
    assert [line for line in shown.out.splitlines() if len(line) > 80 and len(line.split()) > 1] == []


@pytest.mark.parametrize(
    ("words", "nearest"),
    [
        (["recommend", "qwen/qwen3-8b-", "B200"], "Qwen/Qwen3-8B"),
        (["recommend", QWEN, "B2000"], "B200"),
        (["recommend", QWEN, "B200", "--set", "atention_backend=triton"], "attention_backend"),
        (["recommend", QWEN, "B200", "--set", "attention_backend=trition"], "triton"),
        (["recommend", QWEN, "B200", "--profile", "thruput"], "throughput"),
        (["check", "B200", "--model", QWEN, "--without", "flashinfr"], "flashinfer"),
    ],
)
def test_the_nearest_name_is_told(words: list[str], nearest: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(words) == 2
    assert nearest in capsys.readouterr().err


def test_words_that_are_no_text() -> None:
    words: list[str | bytes] = [
        sys.executable,
        "-m",
        "solver",
        "resolve",
        "B200",
        "--model",
        QWEN,
        "--",
        "--served-model-name",
        b"\xff",
    ]
    told = subprocess.run(words, capture_output=True, check=False)
    assert told.returncode == 0
    assert told.stderr == b""


def test_an_unknown_release_is_answered_for_the_nearest(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["check", "B200", "--model", QWEN, "--release", "0.9.0", "--", "--tp", "1"]) == 0
    assert "0.9.0 was not read" in " ".join(capsys.readouterr().out.split())


def test_batch_answers_every_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    cases = tmp_path / "cases.jsonl"
    lines = [
        json.dumps({"id": "a", "model": QWEN, "gpu": "B200", "num_gpus": 1, "args": []}),
        "not json",
        json.dumps({"id": "b", "model": "nope", "gpu": "B200", "args": []}),
        json.dumps({"id": "c", "model": QWEN, "gpu": "B200", "args": ["--attention-backend", "trtllm_mla"]}),
        json.dumps({"id": "d", "model": QWEN, "gpu": "B200", "args": "x"}),
        json.dumps({"id": "e", "model": QWEN, "gpu": "B200", "args": [], "nodes": "x"}),
        json.dumps([1]),
    ]
    cases.write_text("\n".join(lines), encoding="utf-8")
    assert run(["check", "--batch", str(cases)]) == 1
    answers = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [one["id"] for one in answers] == ["a", None, "b", "c", "d", "e", None]
    assert [one["verdict"] for one in answers] == ["ok", *["invalid-input"] * 2, "refused", *["invalid-input"] * 3]
    assert answers[3]["findings"][0]["rule"] == "trtllm-mla-needs-mla"
    assert answers[3]["findings"][0]["source"]["line"] > 0
    assert answers[0]["effective"]["attention_backend"] == "trtllm_mha"


def test_json_of_a_recommendation(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["recommend", QWEN, "H100", "--top", "3", "--format", "json"]) == 0
    data = json.loads(capsys.readouterr().out)
    assert data["count"] > 1000
    assert [one["rank"] for one in data["solutions"]] == [1, 2, 3]
    for one in data["solutions"]:
        assert sum(one["terms"].values()) == one["score"]
