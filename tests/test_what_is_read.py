"""What may be given as a file, and what never reaches an answer as it stands."""

from __future__ import annotations

import json
import os
import socket
import time
from pathlib import Path

import pytest
import yaml

from solver.cli.app import run
from solver.intake.log import read_log

LAUNCH = "python3 -m sglang.launch_server --model-path Qwen/Qwen3-8B"


@pytest.mark.parametrize("command", [["check", "H100"], ["diagnose"]])
def test_a_pipe_in_the_file_system_is_refused_at_once(
    command: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    os.mkfifo(tmp_path / "a.sh")
    assert run([*command, str(tmp_path / "a.sh")]) == 2
    assert "is a pipe, no file" in capsys.readouterr().err


def test_a_device_and_a_socket_are_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["check", "H100", "/dev/zero"]) == 2
    assert "is a device, no file" in capsys.readouterr().err
    with socket.socket(socket.AF_UNIX) as bound:
        bound.bind(str(tmp_path / "s.sh"))
        assert run(["check", "H100", str(tmp_path / "s.sh")]) == 2
    assert "is a socket, no file" in capsys.readouterr().err


def test_what_a_shell_puts_in_for_a_command_is_read(capsys: pytest.CaptureFixture[str]) -> None:
    reading, writing = os.pipe()
    os.write(writing, LAUNCH.encode())
    os.close(writing)
    assert run(["check", "H100", f"/dev/fd/{reading}"]) == 0
    os.close(reading)
    assert "Qwen/Qwen3-8B" in capsys.readouterr().out


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read all")
def test_a_file_that_may_not_be_read_has_a_way_on(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "a.sh"
    file.touch(0)
    assert run(["check", "H100", str(file)]) == 2
    assert "sudo cat" in capsys.readouterr().err


@pytest.mark.parametrize("text", ["x" * 10_000_000, "a.b: " * 2_000_000, "/server: error: " * 600_000])
def test_a_log_of_one_long_line_is_read_at_once(text: str) -> None:
    begun = time.process_time()
    read_log(text)
    assert time.process_time() - begun < 1


def test_both_ends_of_a_long_line_are_read() -> None:
    log = read_log("[x] server_args=ServerArgs(tp_size=4, " + "x" * 100_000 + " ValueError: the end is near")
    assert log.arguments is not None
    assert log.arguments["tp_size"] == 4
    assert log.message == "the end is near"


@pytest.mark.parametrize("form", ["text", "json", "yaml", "sarif", "github", "junit", "command"])
@pytest.mark.parametrize("sign", ["\x1b[31m", "\x9b31m", "\x08", "\u202e", "\x7f"])
def test_control_characters_reach_no_answer(
    sign: str, form: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / f"a{sign}.sh"
    file.write_text(f"{LAUNCH} --served-model-name 'a{sign}b' --kv-cache-dtype '{sign}'\n")
    run(["check", "H100", str(file), "--format", form])
    run(["check", "H100", str(file), "--quiet"])
    run(["check", "H100", str(file), "--diff"])
    answer = capsys.readouterr()
    assert sign not in answer.out + answer.err


def test_control_characters_keep_their_meaning_in_data(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "a.sh"
    file.write_text(f"{LAUNCH} --served-model-name 'a\x9b\x1bb\u202e'\n")
    run(["check", "H100", str(file), "--format", "json"])
    words = json.loads(capsys.readouterr().out)["files"][0]["launches"][0]["words"]
    assert words[-1] == "a\x9b\x1bb\u202e"
    run(["check", "H100", str(file), "--format", "yaml"])
    assert yaml.safe_load(capsys.readouterr().out)["files"][0]["launches"][0]["words"][-1] == "a\x9b\x1bb\u202e"


def test_a_script_that_no_shell_can_run_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "a.sh"
    file.write_bytes((LAUNCH + "\n").encode("utf-16"))
    assert run(["check", "H100", str(file)]) == 2
    assert "which no shell can run" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "cure"),
    [
        (["check", "H100", "--", f"{LAUNCH} 'x"], "Close it"),
        (["check", "H100", "--", f"{LAUNCH} \\"], "Finish the command"),
        (["check", "H100", "--model", "Qwen/Qwen3-8B", "--", "--zzzqqq", "3"], "`preflight flags`"),
        (["check", "H100", "--model", "Qwen/Qwen3-8B", "--", "--tp", "1", "x"], "Quote a value"),
        (["check", "H100", "--model", "Qwen/Qwen3-8B", "--", "--tp"], "Write its value"),
        (["explain", "Qwen/Qwen3-8B", "H100", "--args", "--tp '1"], "Close it"),
        (["check", "H100", "none.sh"], "Look for its name"),
    ],
)
def test_what_is_wrong_has_a_cure(words: list[str], cure: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(words) in (1, 2)
    answer = capsys.readouterr()
    assert cure in answer.out + answer.err
