"""What is said of a wrong question: where it is wrong, in words that are neither Python's nor too long."""

from __future__ import annotations

import json
import re
import socket
import ssl
import time
from pathlib import Path

import pytest

from constraints.errors import KnowledgeError
from constraints.plainly import plainly
from constraints.read import read_file
from solver import Preflight
from solver.cli.app import run
from solver.errors import InputError
from solver.estimate.roofline import Workload

LAUNCH = 'FROM lmsysorg/sglang:v0.5.23\nCMD ["python3", "-m", "sglang.launch_server", "--model-path", "Qwen/Qwen3-8B"'
MANY = "9" * 5000
MODEL = "Qwen/Qwen3-8B"
# A question, and words of the answer on standard error.
WRONG: list[tuple[list[str], str]] = [
    (["check", "H100", "."], ". is a folder: it launches nothing"),
    (["check", "H100", "/dev/null"], "/dev/null: is empty"),
    (["check", "H100", "nosuch"], "'nosuch' is no launch command, and there is no such file"),
    (["check", "H100", "cut/Dockerfile"], "cut/Dockerfile:2:5: CMD begins as a list and is none"),
    (["check", "H100", "half.dockerfile"], "half.dockerfile:2:18: the text ends in a backslash"),
    (["matrix", MODEL, "--rows", "nonsense"], "--rows attention_backend: 'nonsense' is no value"),
    (
        ["matrix", MODEL, "--by", "kv_cache_dtype", "--gpu", "H100", "--columns", "nonsense"],
        "--columns kv_cache_dtype: 'nonsense'",
    ),
    (["explain", MODEL, "H100", "--which", "count"], "--which count asks for which of these something holds: say what"),
    (["explain", MODEL, "H100", "--args", "x", "--set", "tp_size=1"], "both --set and --args are given"),
    (["recommend", MODEL, "H100", "--set", f"tp_size={MANY}"], "(5,000 characters)' is no value for --tp-size"),
    (["recommend", MODEL, "H100", "--input-len", "1" + "0" * 30], "--input-len: more than any server has"),
    (["recommend", MODEL, "H100", "--concurrency", "1" + "0" * 30], "--concurrency: more than any server has"),
    (["recommend", MODEL, "H100", "--context-length", "1" + "0" * 30], "--context-length: more than any server has"),
    (["recommend", MODEL, "H100", "--top", MANY], "is not a whole number in range"),
    (["recommend", MODEL, "H100", "--profile", "./empty.yaml"], "a profile has terms"),
    (["recommend", MODEL, "H100", "--profile", "./none.yaml"], "none.yaml:1: a profile has terms"),
    (["recommend", MODEL, "H100", "--profile", "./missing.yaml"], "cannot be read: no such file or directory"),
    (["recommend", MODEL, "H100", "--profile", "./bytes.yaml"], "cannot be read: it is no text in UTF-8"),
    (["recommend", MODEL, "H100", "--plot", "x.bmp"], "x.bmp: .bmp is not drawn"),
    (["recommend", MODEL, "H100", "--plot", "no/x.svg"], "no/x.svg: its folder is not there"),
    (["recommend", MODEL, "H100", "--plot", "x.svg", "--plot-kind", "y"], "Known: memory, terms, pareto"),
    (["explain", MODEL, "H100", "--set", "tp_size=3", "--plot", "x.bmp"], ".bmp is not drawn"),
    (["diagnose", "."], ".: cannot be read: is a directory"),
    (["recommend", "numbers.json", "H100"], "a number has too many digits"),
    (["recommend", "deep.json", "H100"], "it is nested too deeply"),
    (["recommend", "bare.json", "H100"], "Not JSON: a key in double quotes is missing at line 1, column 2"),
    (["recommend", "bytes.json", "H100"], "is not a text file"),
]
FILES: dict[str, bytes] = {
    "cut/Dockerfile": LAUNCH.encode(),
    "half.dockerfile": b"FROM x\nCMD sglang serve \\",
    "none.yaml": b"profile: mine\ncloseness: 1\n",
    "empty.yaml": b"profile: mine\nterms: []\n",
    "bytes.yaml": b"\xff\xfe",
    "bytes.json": b"\xff\xfe",
    "numbers.json": b'{"hidden_size": ' + MANY.encode() + b"}",
    "deep.json": b"[" * 100_000,
    "bare.json": b"{a",
}
PYTHON = re.compile(r"Errno|Expecting|codec|Traceback|recursion|int_max|Exceeds|\bint\b|NoneType|Error:")


@pytest.mark.parametrize(("words", "said"), WRONG, ids=[" ".join(words)[:60] for words, _ in WRONG])
def test_what_is_wrong_is_said(
    words: list[str],
    said: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    for name, data in FILES.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(data)
    monkeypatch.chdir(tmp_path)
    begun = time.process_time()
    assert run(words) == 2
    assert time.process_time() - begun < 8
    shown = capsys.readouterr()
    assert shown.out == ""
    assert said in shown.err
    assert not PYTHON.search(shown.err)
    assert max(map(len, shown.err.split())) < 130


def test_a_value_that_is_no_number_is_refused_in_plain_words(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["check", "H100", "--model", MODEL, "--", "--tp", MANY]) == 1
    shown = " ".join(capsys.readouterr().out.split())
    assert "(5,000 characters)' is no value for --tp-size: it wants a whole number" in shown
    assert len(shown) < 400


@pytest.mark.parametrize("form", ["json", "yaml"])
def test_numbers_that_json_lacks_are_texts(form: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["check", "H100", "--model", MODEL, "--format", form, "--", "--schedule-conservativeness", "nan"]) < 2
    shown = capsys.readouterr().out
    if form == "json":
        assert json.loads(shown, parse_constant=pytest.fail)["typed"]["schedule_conservativeness"] == "nan"
    assert "NaN" not in shown


def test_exceptions_have_words_of_their_own(tmp_path: Path) -> None:
    for text in ("{", "[1,]", "{'a'}", '{"a" 1}', '"\\x"', "1 2", '"a\n"', '"a', "[1 2]"):
        with pytest.raises(json.JSONDecodeError) as caught:
            json.loads(text)
        assert not PYTHON.search(plainly(caught.value)), text
        assert " at line " in plainly(caught.value)
    with pytest.raises(KnowledgeError, match="cannot be read: is a directory"):
        read_file(tmp_path)


@pytest.mark.parametrize(
    ("fault", "said"),
    [
        (OSError(2, "No such file or directory", "x"), "no such file or directory"),
        (OSError("Cannot find the file in the cache."), "cannot find the file in the cache"),
        (OSError("HTTP 500 of the hub\nsecond line"), "HTTP 500 of the hub\nsecond line"),
        (socket.gaierror(-2, "Name or service not known"), "name or service not known"),
        (
            ssl.SSLError(1, "[SSL: CERTIFICATE_VERIFY_FAILED] self-signed"),
            "[SSL: CERTIFICATE_VERIFY_FAILED] self-signed",
        ),
        (OSError(), "the system refuses it"),
        (OSError(" \n"), "the system refuses it"),
        (ValueError(" \n"), "nobody says why"),
    ],
)
def test_what_a_library_says_is_kept(fault: Exception, said: str) -> None:
    """Libraries raise errors of the system that have no number of its, or another one's."""
    assert plainly(fault) == said


def test_the_memory_of_a_host_is_said_to_be_a_guess(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["check", "CPU", "--model", "deepseek-ai/DeepSeek-V3"]) == 0
    shown = capsys.readouterr().out
    assert "weights-fit-the-host" in shown
    assert "--gpu-memory" in shown
    assert run(["check", "CPU", "--gpu-memory", "64", "--model", "deepseek-ai/DeepSeek-V3"]) == 1
    assert "weights-fit-the-gpu" in capsys.readouterr().out
    assert run(["check", "CPU", "--gpu-memory", "900", "--model", "deepseek-ai/DeepSeek-V3"]) == 0
    assert "weights-fit" not in capsys.readouterr().out


def test_the_place_of_a_fault_is_told_whole(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / ("a b" + "c" * 200)
    folder.mkdir()
    (folder / "config.json").write_text("{a")
    assert run(["recommend", str(folder), "H100"]) == 2
    assert f"{folder}/config.json: " in capsys.readouterr().err
    assert run(["recommend", MODEL, "H100", "--profile", f"{folder}/none.yaml"]) == 2
    assert f"{folder}/none.yaml" in capsys.readouterr().err
    # What else is as long is no place.
    assert run(["recommend", str(folder), "H100", "--set", "tp_size=" + "1" * 300]) == 2
    assert "1" * 200 not in capsys.readouterr().err


def test_a_missing_config_is_told_whole(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / ("c" * 200) / "c.yaml"
    assert run(["check", "H100", "--model", MODEL, "--", "--config", str(file)]) == 1
    answer = capsys.readouterr()
    assert str(file) in answer.out + answer.err


@pytest.mark.parametrize(
    ("workload", "where"),
    [
        (Workload(0, 256, 8), "input_len"),
        (Workload(1024, -1, 8), "output_len"),
        (Workload(1024, 256, -1), "concurrency"),
        (Workload(1024, 256, 8, -5), "context_length"),
    ],
    ids=["input", "output", "concurrency", "context"],
)
def test_a_workload_of_nothing_is_too_little(workload: Workload, where: str) -> None:
    with pytest.raises(InputError) as caught:
        Preflight().recommend(MODEL, "H100", workload=workload)
    assert caught.value.where == where
    assert "too few" in caught.value.message
