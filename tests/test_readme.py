"""The README's tour, run again: what it shows is what a person gets."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from solver.cli.app import run

README = Path(__file__).resolve().parents[1] / "README.md"
BLOCKS = re.findall(r"```console\n\$ ([^\n]+)\n(.*?)\n```", README.read_text(encoding="utf-8"), re.DOTALL)


@pytest.mark.parametrize(("command", "shown"), BLOCKS, ids=[command[:40] for command, _ in BLOCKS])
def test_tour(command: str, shown: str, capsys: pytest.CaptureFixture[str]) -> None:
    words = shlex.split(command)
    run(words[1:] if words[0] == "preflight" else words)
    lines = capsys.readouterr().out.rstrip().splitlines()
    if "..." not in shown.splitlines():
        assert lines == shown.splitlines()
        return
    left = iter(lines)
    for line in shown.splitlines():
        assert line == "..." or line in left, f"not shown, or not in this place: {line}"


def test_there_is_a_tour() -> None:
    assert len(BLOCKS) >= 4


def test_python_example(capsys: pytest.CaptureFixture[str]) -> None:
    code = re.findall(r"```python\n(.*?)```", README.read_text(encoding="utf-8"), re.DOTALL)[0]
    exec(compile(code, "README.md", "exec"), {})
    assert "fa3" in capsys.readouterr().out
