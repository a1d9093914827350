"""Explanations on real commands: cores by definition, fixes that hold when checked again, what may not change, JSON."""

from __future__ import annotations

import ast
import random
import shlex
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from constraints.tree import Name
from constraints.values import Value, same
from solver.api import Preflight
from solver.check import MOST_PREPARED
from solver.cli.app import run
from solver.machine import platform_of
from solver.place import Place
from solver.proof import Question, prove
from solver.render import machine
from solver.render.conflict import changes
from solver.report import Adjustment, Explanation, Fix
from tests.conformance.ways_out import explained, names_the_line, refused

SOLVER = Path(__file__).resolve().parents[1] / "solver"
DEEPSEEK, QWEN = "deepseek-ai/DeepSeek-V3", "Qwen/Qwen3-8B"
TRTLLM = ["--tp", "8", "--attention-backend", "trtllm_mla"]
DRAWN = [
    pytest.param(release, case, id=case["id"]) for release in ("0.5.18", "0.5.23") for case in refused(release, 6, 21)
]


@cache
def preflight(release: str = "0.5.23") -> Preflight:
    return Preflight(release)


def checked_again(found: Explanation) -> None:
    for fix in found.fixes:
        asked = preflight(fix.release)
        place = platform_of(asked.knowledge, fix.gpu, num_gpus=fix.num_gpus)
        again = asked.check(fix.model, place, fix.args)
        assert again.holds, fix
        assert all(same(value, fix.effective[flag]) for flag, value in again.effective.items())


@pytest.mark.parametrize(("release", "case"), DRAWN)
def test_drawn_commands(release: str, case: dict[str, Any]) -> None:
    found = explained(preflight(release), case)
    assert not found.satisfiable
    assert found.fixes
    checked_again(found)
    assert names_the_line(found, case["where"])
    assert [fix.cost for fix in found.fixes] == sorted(fix.cost for fix in found.fixes)
    for core in found.cores:
        checks = [one for one in core.elements if one.kind == "rule"]
        assert len(checks) == 1, "a command's conflict is told by one rule"


def test_only_the_proof_makes_a_fix() -> None:
    makers = {
        path.name
        for path in SOLVER.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "Fix"
    }
    assert makers == {"proof.py"}


def test_what_does_not_hold_is_no_fix() -> None:
    asked = preflight()
    start = Place(asked.engine, DEEPSEEK, asked.machine("8xH200"))
    typed: dict[str, Value] = {"tp_size": 8, "attention_backend": "trtllm_mla"}
    assert prove(Question(start, typed), start, typed) is None
    blackwell = Place(asked.engine, DEEPSEEK, asked.machine("8xB200"))
    assert prove(Question(start, typed), blackwell, typed) is not None
    lost = Question(start, typed, {"attention_backend": "fa3"})
    assert prove(lost, blackwell, typed) is None, "an effective value that must be kept is lost"
    unsayable: dict[str, Value] = {"tp_size": 8, "no_such_flag": 1}
    assert prove(Question(start, unsayable), blackwell, unsayable) is None, "the words must say what is meant"


def test_what_a_run_alone_sees_is_told_with_its_rule() -> None:
    """A search knows nothing of the keys of typed JSON."""
    found = preflight().explain_command(QWEN, "1xH100", ["--mm-process-config", '{"image": 3}'])
    assert [one.name for one in found.cores[0].elements] == ["mm_process_config", "mm-process-config-inner"]
    assert found.fixes[0].args == ()


def test_another_gpu() -> None:
    found = preflight().explain_command(DEEPSEEK, "8xH200", TRTLLM)
    moved = [fix for fix in found.fixes if fix.gpu != "H200"]
    assert moved
    assert {"B200", "GB200"} <= {moved[0].gpu, *moved[0].also}
    checked_again(found)


def test_more_gpus() -> None:
    found = preflight().explain_command(QWEN, "1xH100", ["--tp", "2"])
    counts = [fix for fix in found.fixes if fix.num_gpus != 1]
    assert counts[0].num_gpus == 2
    assert [one.what for one in counts[0].changes] == ["num_gpus"]


def test_another_release() -> None:
    args = ["--tp", "8", "--attention-backend", "trtllm_mla", "--kv-cache-dtype", "fp8_e5m2"]
    found = preflight().explain_command(DEEPSEEK, "8xB200", args)
    assert all(fix.release == "0.5.23" for fix in found.fixes), "0.5.18 refuses it as well"


def test_what_is_kept_stays() -> None:
    found = preflight().explain_command(DEEPSEEK, "8xH200", TRTLLM, ["attention_backend", "num_gpus"])
    assert found.fixes
    for fix in found.fixes:
        assert not {"attention_backend", "num_gpus"} & {one.what for one in fix.changes}
    everything = ["attention_backend", "tp_size", "gpu", "num_gpus", "release", "model"]
    assert not preflight().explain_command(DEEPSEEK, "8xH200", TRTLLM, everything).fixes


def test_every_broken_rule_in_order() -> None:
    report = preflight().check(DEEPSEEK, "8xH200", [*TRTLLM, "--kv-cache-dtype", "fp8_e5m2"])
    found = [(one.rule.id, one.hidden, one.behind) for one in report.findings if one.severity == "error"]
    assert found == [
        ("trtllm-mla-needs-blackwell", False, ""),
        ("trtllm-mla-kv-dtypes", True, "trtllm-mla-needs-blackwell"),
    ]


ELEMENT: dict[str, Any] = {
    "kind": str,
    "name": str,
    "value": object,
    "rule": (str, type(None)),
    "source": (dict, type(None)),
}
FIX: dict[str, Any] = {
    "cost": int,
    "changes": list,
    "model": str,
    "gpu": str,
    "num_gpus": int,
    "release": str,
    "args": list,
}


@pytest.mark.parametrize("command", [True, False], ids=["command", "outcome"])
def test_json(command: bool) -> None:
    asked = preflight()
    if command:
        data = machine.check(asked.check(DEEPSEEK, "8xH200", TRTLLM, why=True))
    else:
        data = machine.explanation(asked.explain(QWEN, "H200", {"attention_backend": "trtllm_mla"}))
    assert data["satisfiable"] is False
    assert isinstance(data["complete"], bool)
    assert data["release"] == "0.5.23"
    assert data["cores"]
    for core in data["cores"]:
        for element in core["elements"]:
            assert all(isinstance(element[key], kind) for key, kind in ELEMENT.items()), element
            assert element["kind"] in ("pin", "fact", "rule", "default", "release")
            if element["source"] is not None:
                assert set(element["source"]) == {"release", "file", "line"}
    assert data["fixes"]
    for fix in data["fixes"]:
        assert all(isinstance(fix[key], kind) for key, kind in FIX.items()), fix
        assert "--model-path" not in fix["args"]
        assert isinstance(fix["effective"], dict)
        assert fix["gpu"] in asked.knowledge.gpus
        assert all({"what", "from", "to"} <= set(change) for change in fix["changes"])
    assert machine.as_json(data)


def test_values_nobody_listed_change_no_conflict() -> None:
    """A conflict must not rest on a value that was not tried: each core still forbids with many more values in play."""
    asked = preflight()
    wide = random.Random(3)
    args = "--tp 8 --attention-backend trtllm_mla --page-size {} --chunked-prefill-size {} --kv-cache-dtype fp8_e5m2"
    for _ in range(6):
        page, chunk = wide.choice([1, 16, 32, 64, 128]), wide.choice([512, 1024, 3072, 16384])
        found = asked.explain_command(DEEPSEEK, "8xB200", shlex.split(args.format(page, chunk)))
        for core in found.cores:
            asked_for = {one.name: one.value for one in core.elements if one.kind == "pin" and one.value is not None}
            rules = {one.rule.id for one in core.elements if one.kind == "rule" and one.rule is not None}
            for _ in range(20):
                typed = {"page_size": wide.randint(1, 256), "chunked_prefill_size": wide.randint(1, 9000), **asked_for}
                facts = asked.engine.facts(DEEPSEEK, asked.machine("8xB200"))
                broken = {one.rule.id for one in asked.engine.run(facts, typed).broken}
                assert rules & broken, (core.pins, typed)


def test_one_gpu_is_said_as_one(capsys: pytest.CaptureFixture[str]) -> None:
    fix = Fix(1, (Adjustment("num_gpus", 2, 1),), QWEN, "H100", 1, "0.5.23", (), {})
    assert changes(fix) == ["use 1 GPU instead of 2"]
    fix = fix._replace(changes=(Adjustment("num_gpus", 1, 2),))
    assert changes(fix) == ["use 2 GPUs instead of 1"]
    assert run(["explain", QWEN, "H100", "--which", "gpu", "--set", "tp_size=1"]) in (0, 1)
    assert capsys.readouterr().out.startswith("Qwen/Qwen3-8B on 1 GPU of each kind")


@pytest.mark.parametrize(
    ("model", "gpu", "words", "told"),
    [
        (QWEN, "8xH100", ["--tp", "3"], None),  # its rules ask no more than that a CUDA is there, and NVIDIA says so
        (QWEN, "B200", ["--attention-backend", "trtllm_mha"], 12.4),
    ],
)
def test_what_goes_without_saying_is_not_told(model: str, gpu: str, words: list[str], told: float | None) -> None:
    asked = preflight()
    machine_ = platform_of(asked.knowledge, gpu, cuda="12.4")
    found = asked.explain_command(model, machine_, words)
    assert found.cores
    for core in found.cores:
        facts = {one.name: one.value for one in core.elements if one.kind == "fact"}
        assert facts.get("runtime.cuda") == told


def test_what_is_kept_for_the_next_question_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    engine = preflight().engine
    many = [{"gpu.sm90": True} for _ in range(MOST_PREPARED + 1)]
    first = engine.prepared(many[0])
    assert engine.prepared(many[0]) is first
    for facts in many[1:]:
        engine.prepared(facts)
    assert engine.prepared(many[0]) is not first
    forms = first.forms
    forms.number(Name("a"))
    assert first.forms is forms
    monkeypatch.setattr("solver.prepared.MOST_FORMS", 0)
    assert first.forms is not forms


@pytest.mark.parametrize(
    ("model", "machine", "args"),
    [
        ("deepseek-ai/DeepSeek-V3.2", "1xMI300X", "--tp-size 1 --kv-cache-dtype bf16 --speculative-num-steps -2"),
        ("zai-org/GLM-5-FP8", "2xRTX4090", "--tp-size 2 --ep-size 3"),
    ],
)
def test_a_model_too_large_for_the_place_is_told_where_it_is_served(model: str, machine: str, args: str) -> None:
    """Neither flags nor one move are enough: the way out moves, spreads, and leaves out what holds nowhere."""
    asked = preflight()
    found = asked.explain_command(model, machine, args.split())
    assert found.fixes
    best = found.fixes[0]
    assert best.num_gpus > asked.machine(machine).num_gpus
    again = asked.check(best.model, f"{best.num_gpus}x{best.gpu}", list(best.args))
    assert again.holds


def test_a_spread_that_is_too_wide_is_narrowed() -> None:
    """Who spreads a model over GPUs that are not there has some: the nearest count that holds is told first."""
    asked = preflight()
    found = asked.explain_command(
        "Qwen/Qwen3-32B", platform_of(asked.knowledge, "H100", num_gpus=4), ["--tp-size", "8"]
    )
    assert found.fixes[0].args == ("--tp-size", "4")


def test_no_way_out_does_what_less_would_do() -> None:
    """What some changes do alone is not told again with others beside them."""
    asked = preflight()
    found = asked.explain_command(QWEN, platform_of(asked.knowledge, "H100", num_gpus=8), ["--tp-size", "3"])
    changed = [set(fix.changes) for fix in found.fixes]
    assert changed
    assert not any(one < other for one in changed for other in changed)
