"""The batch interface: one answer a line, in order, whatever the line holds."""

from __future__ import annotations

import io
import json
import re
import sys
from pathlib import Path
from typing import Any

import pytest

from solver.api import Preflight
from solver.cli.app import run
from solver.errors import Disagreement
from solver.intake.here import Found
from solver.render.lines import Lines

BASE = {"id": 1, "model": "Qwen/Qwen3-8B", "gpu": "B200", "num_gpus": 1, "args": []}
# What is changed in a good case, and the verdict it then has.
CHANGED: list[tuple[dict[str, Any], str]] = [
    ({}, "ok"),
    ({"id": {"a": [1]}}, "ok"),
    ({"id": "\ud800"}, "ok"),
    ({"release": "0.5.18"}, "ok"),
    ({"release": "9.9.9"}, "ok"),
    ({"release": None, "env": None, "without": None, "nodes": None}, "ok"),
    ({"env": {"SGLANG_USE_AITER": "1", "NOBODY_READS_THIS": 1}}, "ok"),
    ({"args": ["--tp", "8"], "num_gpus": 1}, "ok"),
    ({"args": ["--attention-backend", "trtllm_mla"]}, "refused"),
    ({"args": ["--no-such-flag"]}, "refused"),
    ({"args": ["--tp", "many"]}, "refused"),
    ({"args": ["--tp", "9" * 5000]}, "refused"),
    ({"args": ["\0"]}, "refused"),
    ({"args": ["--help"]}, "refused"),
    ({"args": ["--config", "/no/such.yaml"]}, "refused"),
    ({"args": None}, "invalid-input"),
    ({"args": "--tp 8"}, "invalid-input"),
    ({"args": [["--tp"]]}, "invalid-input"),
    ({"args": ["--model-path", "/no/such/folder"]}, "invalid-input"),
    ({"model": "no/such"}, "invalid-input"),
    ({"model": "a\0b"}, "invalid-input"),
    ({"model": "x" * 5000}, "invalid-input"),
    ({"model": 3}, "invalid-input"),
    ({"gpu": "B2000"}, "invalid-input"),
    ({"gpu": ""}, "invalid-input"),
    ({"num_gpus": 0}, "invalid-input"),
    ({"num_gpus": 1.5}, "invalid-input"),
    ({"num_gpus": True}, "invalid-input"),
    ({"nodes": 0}, "invalid-input"),
    ({"nodes": 10**9}, "invalid-input"),
    ({"env": ["A=1"]}, "invalid-input"),
    ({"env": {"A": None}}, "invalid-input"),
    ({"without": "flashinfer"}, "invalid-input"),
    ({"without": ["no-such-package"]}, "invalid-input"),
    ({"release": "new"}, "invalid-input"),
    ({"release": ["0.5.23"]}, "invalid-input"),
    ({"gpus": 4}, "invalid-input"),
    ({"gpu": "8xH100", "num_gpus": 4}, "invalid-input"),
    ({"gpu": "8xH100", "num_gpus": 8}, "ok"),
    ({"gpu": "8xH100", "num_gpus": None}, "ok"),
    ({"args": [True]}, "invalid-input"),
    ({"env": {"A": True}}, "invalid-input"),
    ({"args": ["--mem-fraction-static", "nan"]}, "ok"),
    ({"args": ["--schedule-conservativeness", "inf"]}, "ok"),
    ({"model": "\ud800"}, "invalid-input"),
    ({"gpu": "\ud800"}, "invalid-input"),
    ({"env": {"\ud800": "\ud800"}}, "ok"),
    ({"args": ["--config", "\ud800.yaml"]}, "refused"),
    ({"args": ["--model-path", "\ud800"]}, "invalid-input"),
    ({"args": ["--speculative-draft-model-path", "\ud800"]}, "ok"),
]
BROKEN = [
    b'{"id": NaN, "model": "Qwen/Qwen3-8B", "gpu": "B200", "args": []}',
    b'{"id": -Infinity}',
    b"{",
    b"[]",
    b"null",
    b"3",
    b'"x"',
    b"\xff\xfe{}",
    b"[" * 100_000,
    b'{"id": 1}',
]


def batch(content: bytes, folder: Path, capsys: pytest.CaptureFixture[str]) -> tuple[int, list[dict[str, Any]]]:
    path = folder / "cases.jsonl"
    path.write_bytes(content)
    code = run(["check", "--batch", str(path)])
    shown = capsys.readouterr()
    assert shown.err == ""
    assert shown.out.isascii()
    return code, [strict(line) for line in shown.out.splitlines()]


def test_one_answer_a_line_in_order(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    lines = [json.dumps({**BASE, **changed}).encode() for changed, _ in CHANGED]
    code, answers = batch(b"\n".join([*lines, b"", *BROKEN, lines[0]]), tmp_path, capsys)
    expected = [verdict for _, verdict in CHANGED] + ["invalid-input"] * len(BROKEN) + ["ok"]
    assert [one["verdict"] for one in answers] == expected
    assert [one["id"] for one in answers[: len(CHANGED)]] == [changed.get("id", 1) for changed, _ in CHANGED]
    assert code == 1
    for answer in answers:
        if answer["verdict"] == "invalid-input":
            assert answer["reason"]
        else:
            assert {"findings", "rewrites", "effective"} <= set(answer)


def test_the_shape_of_an_answer(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    cases = [
        {**BASE, "args": ["--attention-backend", "trtllm_mla"]},
        {**BASE, "args": ["--attention-backend", "trtllm_mha", "--page-size", "1"]},
        {**BASE, "args": ["--tp", "8"]},
    ]
    _, (refused, changed, large) = batch("\n".join(map(json.dumps, cases)).encode(), tmp_path, capsys)
    finding = refused["findings"][0]
    assert {"rule", "kind", "stage", "severity", "message", "source"} <= set(finding)
    assert {"release", "file", "line"} == set(finding["source"])
    assert finding["rule"] == "trtllm-mla-needs-mla"
    rewrite = changed["rewrites"][0]
    assert (rewrite["flag"], rewrite["from"], rewrite["to"]) == ("page_size", 1, 64)
    assert changed["effective"]["page_size"] == 64
    # What fails after SGLang has started is told, and is no part of the verdict.
    assert large["verdict"] == "ok"
    assert large["holds"] is False
    assert "model-load" in {one["stage"] for one in large["findings"]}


def strict(text: str) -> Any:
    def refuse(name: str) -> Any:
        raise ValueError(name)

    return json.loads(text, parse_constant=refuse)


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"gpus": 4}, "'gpus' is no key of a case; did you mean 'gpu'?"),
        ({"zzz": 4}, "known are id, model"),
        ({"gpu": "8xH100", "num_gpus": 4}, '"gpu" says 8 GPUs, and "num_gpus" 4'),
        ({"args": "--tp 8"}, '"args" is no list of words: it reads like ["--tp-size", "8"]'),
        ({"args": None}, '"args" is missing'),
        ({"num_gpus": 10**20}, f"{10**20} GPUs cannot be"),
        ({"release": ""}, "'' is not a release such as 0.5.23"),
    ],
)
def test_what_is_wrong_with_a_line_is_said(
    changed: dict[str, Any], words: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    _, (answer,) = batch(json.dumps({**BASE, **changed}).encode(), tmp_path, capsys)
    assert words in answer["reason"]


def test_words_of_python_are_not_an_answer(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    lines = [b"{", b'{"a": 1,}', b"[" * 100_000, b"9" * 5000, b'{"id": NaN}', b"\xff"]
    _, answers = batch(b"\n".join(lines), tmp_path, capsys)
    for answer in answers:
        assert not re.search(r"Expecting|recursion|limit|codec|sys\.|Error", answer["reason"]), answer


def test_the_gpus_of_this_machine_are_for_lines_that_name_none(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("solver.intake.here.gpus_here", lambda: Found(2, "NVIDIA B200", "sm100", 183359))
    path = tmp_path / "cases.jsonl"
    bare = {"model": "Qwen/Qwen3-8B", "args": ["--tp", "2"]}
    path.write_text("\n".join(json.dumps(one) for one in (bare, {**bare, "gpu": "H100"}, {**bare, "num_gpus": 1})))
    assert run(["check", "--here", "--batch", str(path)]) == 1
    answers = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [one["holds"] for one in answers] == [True, True, False]
    assert run(["check", "--batch", str(path)]) == 1
    assert "'gpu' is missing" in json.loads(capsys.readouterr().out.splitlines()[0])["reason"]


@pytest.mark.parametrize("fault", [ZeroDivisionError("here"), Disagreement("two readings"), RecursionError("deep")])
def test_a_fault_of_the_program_ends_one_line_alone(
    fault: Exception, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    check = Preflight.check

    def broken(self: Preflight, model: str, *rest: Any, **more: Any) -> object:
        if model == "Qwen/Qwen3-32B":
            raise fault
        return check(self, model, *rest, **more)

    monkeypatch.setattr(Preflight, "check", broken)
    cases = [{**BASE, "id": number, "model": f"Qwen/Qwen3-{size}"} for number, size in enumerate(("8B", "32B") * 2)]
    path = tmp_path / "cases.jsonl"
    path.write_text("\n".join(map(json.dumps, cases)))
    assert run(["check", "--batch", str(path)]) == 3
    told = capsys.readouterr()
    answers = [json.loads(line) for line in told.out.splitlines()]
    assert [(one["id"], one["verdict"]) for one in answers] == [
        *((0, "ok"), (1, "internal-fault"), (2, "ok"), (3, "internal-fault"))
    ]
    assert type(fault).__name__ in answers[1]["reason"]
    assert str(fault) in answers[1]["reason"]
    assert "test_batch.py:" in answers[1]["reason"]
    assert told.err.splitlines() == [answers[1]["reason"], "This is a fault of sglang-preflight, please report it."]


def test_all_hold(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert batch(json.dumps(BASE).encode() + b"\r\n", tmp_path, capsys)[0] == 0
    assert batch(b"", tmp_path, capsys) == (0, [])


def test_standard_input(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(json.dumps(BASE).encode())))
    assert run(["check", "--batch", "-"]) == 0
    assert json.loads(capsys.readouterr().out)["verdict"] == "ok"


def test_a_file_that_is_none(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for path in (tmp_path, tmp_path / "missing"):
        assert run(["check", "--batch", str(path)]) == 2
    assert "cannot be read" in capsys.readouterr().err


def test_a_value_that_cannot_be_written_leaves_the_next_answers_as_they_are() -> None:
    lines = Lines()
    lines.line({"id": 0}, {"a": 1, "b": 2})
    with pytest.raises(TypeError):
        lines.line({"id": 0}, {"a": 5, "b": object()})  # type: ignore[dict-item]
    assert json.loads(lines.line({"id": 1}, {"a": 1, "b": 2})) == {"id": 1, "effective": {"a": 1, "b": 2}}
