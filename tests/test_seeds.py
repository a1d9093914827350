"""The attention backends people ask about first: verdict, cited line and ways out, on both releases."""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from functools import cache

import pytest

from constraints.gpu_schema import Gpu
from solver.api import Preflight
from solver.facts import Platform
from solver.gpu import parse_gpu

DEEPSEEK, QWEN = "deepseek-ai/DeepSeek-V3", "Qwen/Qwen3-8B"
OVERRIDES, REGISTRY = "srt/arg_groups/overrides.py", "srt/layers/attention/attention_registry.py"


@dataclass(frozen=True, slots=True)
class Refused:
    """A command that SGLang refuses, and by which rule at which line of each release (none: accepted there)."""

    model: str
    gpu: str
    args: str
    rules: dict[str, tuple[str, str]]

    @property
    def name(self) -> str:
        return f"{self.model.split('/')[1]}-{self.gpu}-{self.args.replace(' ', '')}"


def both(rule: str, newest: str, older: str) -> dict[str, tuple[str, str]]:
    return {"0.5.23": (rule, newest), "0.5.18": (rule, older)}


REFUSED = (
    # The three seeds.
    Refused(
        DEEPSEEK,
        "8xB200",
        "--tp 8 --attention-backend trtllm_mla --kv-cache-dtype fp8_e5m2",
        both("trtllm-mla-kv-dtypes", f"{OVERRIDES}:1215", f"{OVERRIDES}:2223"),
    ),
    Refused(
        DEEPSEEK,
        "8xB200",
        "--tp 8 --decode-attention-backend trtllm_mla --kv-cache-dtype fp8_e5m2",
        both("trtllm-mla-kv-dtypes", f"{OVERRIDES}:1215", f"{OVERRIDES}:2223"),
    ),
    Refused(
        DEEPSEEK,
        "8xB200",
        "--tp 8 --attention-backend trtllm_mha",
        both("trtllm-mha-needs-ordinary-heads", f"{REGISTRY}:280", f"{REGISTRY}:254"),
    ),
    Refused(
        QWEN,
        "B200",
        "--attention-backend cutedsl_mla",
        both("cutedsl-mla-needs-mla", f"{REGISTRY}:121", f"{REGISTRY}:104"),
    ),
    # Their neighbours.
    Refused(
        QWEN,
        "B200",
        "--attention-backend trtllm_mla",
        both("trtllm-mla-needs-mla", f"{REGISTRY}:97", f"{REGISTRY}:72"),
    ),
    Refused(
        DEEPSEEK,
        "8xH200",
        "--tp 8 --attention-backend trtllm_mla",
        both("trtllm-mla-needs-blackwell", f"{OVERRIDES}:1211", f"{OVERRIDES}:2219"),
    ),
    Refused(
        DEEPSEEK,
        "8xH200",
        "--tp 8 --decode-attention-backend trtllm_mla",
        both("trtllm-mla-needs-blackwell", f"{OVERRIDES}:1211", f"{OVERRIDES}:2219"),
    ),
    Refused(
        QWEN,
        "B200",
        "--attention-backend tokenspeed_mla",
        {
            # An alias of cutedsl_mla by now, which takes its own checks.
            "0.5.23": ("cutedsl-mla-needs-mla", f"{REGISTRY}:121"),
            "0.5.18": ("tokenspeed-mla-needs-fp8", f"{OVERRIDES}:2235"),
        },
    ),
    Refused(
        DEEPSEEK,
        "8xH200",
        "--tp 8 --attention-backend hpc_ops",
        both("hpc-ops-needs-ordinary-heads", f"{REGISTRY}:289", f"{REGISTRY}:263"),
    ),
    Refused(
        QWEN,
        "B200",
        "--attention-backend fa3",
        both("fa3-gpus", f"{REGISTRY}:243", f"{REGISTRY}:214"),
    ),
    Refused(
        DEEPSEEK,
        "8xB200",
        "--tp 8 --attention-backend trtllm_mla --kv-cache-dtype fp4_e2m1",
        {"0.5.18": ("kv-cache-fp4-e2m1-renamed", "srt/mem_cache/kv_cache_dtype.py:63")},
    ),
)
ACCEPTED = (
    (DEEPSEEK, "8xB200", "--tp 8 --attention-backend trtllm_mla --kv-cache-dtype fp8_e4m3"),
    (DEEPSEEK, "8xB200", "--tp 8 --attention-backend trtllm_mla"),
    (DEEPSEEK, "8xB200", "--tp 8 --attention-backend cutedsl_mla"),
    (DEEPSEEK, "8xB200", "--tp 8 --attention-backend tokenspeed_mla --kv-cache-dtype fp8_e4m3"),
    (QWEN, "B200", "--attention-backend trtllm_mha"),
    (QWEN, "H200", "--attention-backend hpc_ops"),
    (QWEN, "B200", "--attention-backend fa4"),
    (QWEN, "H200", "--attention-backend fa4"),
    (QWEN, "H200", "--attention-backend fa3"),
)
CASES = [pytest.param(release, one, id=f"{release}-{one.name}") for one in REFUSED for release in sorted(one.rules)]
# One of each kind: solving for ways out takes a second or two.
EXPLAINED = [
    pytest.param(release, one, id=f"{release}-{one.name}")
    for one in (*REFUSED[:1], *REFUSED[2:6])
    for release in sorted(one.rules)
]


@cache
def preflight(release: str) -> Preflight:
    return Preflight(release)


def platform(release: str, gpu: str) -> Platform:
    count, found = parse_gpu(gpu, preflight(release).knowledge.gpus)
    return Platform(found, count or 1)


def gpu_called(release: str, name: str) -> Gpu:
    return parse_gpu(name, preflight(release).knowledge.gpus)[1]


@pytest.mark.parametrize(("release", "case"), CASES)
def test_refused_where_sglang_refuses(release: str, case: Refused) -> None:
    report = preflight(release).check(case.model, platform(release, case.gpu), shlex.split(case.args))
    assert report.refused
    assert not report.holds
    first = next(one for one in report.findings if one.rule.kind == "error")
    assert not first.hidden
    assert first.source is not None
    rule, place = case.rules[release]
    assert (first.rule.id, f"{first.source.file}:{first.source.line}") == (rule, place)
    assert first.rule.reason
    assert first.rule.fix


@pytest.mark.parametrize("release", ["0.5.18", "0.5.23"])
@pytest.mark.parametrize(("model", "gpu", "args"), ACCEPTED)
def test_accepted(release: str, model: str, gpu: str, args: str) -> None:
    report = preflight(release).check(model, platform(release, gpu), shlex.split(args))
    assert not report.refused, [one.rule.id for one in report.findings]


def test_the_alias_becomes_its_heir() -> None:
    args = shlex.split("--tp 8 --attention-backend tokenspeed_mla --kv-cache-dtype fp8_e4m3")
    newest = preflight("0.5.23").check(DEEPSEEK, platform("0.5.23", "8xB200"), args)
    assert newest.effective["attention_backend"] == "cutedsl_mla"
    older = preflight("0.5.18").check(DEEPSEEK, platform("0.5.18", "8xB200"), args)
    assert older.effective["attention_backend"] == "tokenspeed_mla"


@pytest.mark.parametrize(("flag", "value"), [("--attention-backend", "cutlass_mla"), ("--kv-cache-dtype", "fp4_e2m1")])
def test_a_value_that_is_gone_says_since_when(flag: str, value: str) -> None:
    args = ["--tp", "8", flag, value]
    report = preflight("0.5.23").check(DEEPSEEK, platform("0.5.23", "8xB200"), args)
    assert report.refused
    assert report.refusal is not None
    assert (report.refusal.reason, report.refusal.word) == ("bad-choice", value)
    assert report.refusal.elsewhere is not None
    assert report.refusal.elsewhere.span.until == "0.5.23"
    assert report.refusal.elsewhere.option == value


def test_cutlass_mla_was_a_backend() -> None:
    args = ["--tp", "8", "--attention-backend", "cutlass_mla"]
    assert not preflight("0.5.18").check(DEEPSEEK, platform("0.5.18", "8xB200"), args).refused


@pytest.mark.parametrize(("release", "case"), EXPLAINED)
def test_ways_out_hold(release: str, case: Refused) -> None:
    asked = preflight(release)
    found = asked.explain_command(case.model, platform(release, case.gpu), shlex.split(case.args))
    assert not found.satisfiable
    assert found.cores
    rules = {element.rule.id for core in found.cores for element in core.elements if element.rule is not None}
    assert case.rules[release][0] in rules
    assert found.fixes
    assert [fix.cost for fix in found.fixes] == sorted(fix.cost for fix in found.fixes)
    for fix in found.fixes:
        answering = preflight(fix.release)
        machine = Platform(gpu_called(fix.release, fix.gpu), fix.num_gpus)
        again = answering.check(fix.model, machine, list(fix.args))
        assert again.holds, fix.args
        assert again.effective == fix.effective
