"""Failures that users met after SGLang had taken their arguments: what we say of them, and of the way out."""

from __future__ import annotations

import json
import shlex
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from solver.api import Preflight
from solver.machine import platform_of

RELEASES = ("0.5.23", "0.5.18")
BLOCKS = {"quant_method": "fp8", "fmt": "e4m3", "activation_scheme": "dynamic", "weight_block_size": [128, 128]}

# Values as published, of models that the catalogue does not have.
QWEN_7B = {
    "architectures": ["Qwen2ForCausalLM"],
    "model_type": "qwen2",
    "hidden_size": 3584,
    "intermediate_size": 18944,
    "num_attention_heads": 28,
    "num_key_value_heads": 4,
    "num_hidden_layers": 28,
    "vocab_size": 152064,
    "torch_dtype": "bfloat16",
}
QWEN_CODER_480B = {
    "architectures": ["Qwen3MoeForCausalLM"],
    "model_type": "qwen3_moe",
    "hidden_size": 6144,
    "intermediate_size": 8192,
    "num_attention_heads": 96,
    "num_key_value_heads": 8,
    "head_dim": 128,
    "num_hidden_layers": 62,
    "num_experts": 160,
    "num_experts_per_tok": 8,
    "moe_intermediate_size": 2560,
    "vocab_size": 151936,
    "torch_dtype": "bfloat16",
    "quantization_config": BLOCKS,
}
GLM_47 = {
    "architectures": ["Glm4MoeForCausalLM"],
    "model_type": "glm4_moe",
    "hidden_size": 5120,
    "intermediate_size": 12288,
    "num_attention_heads": 96,
    "num_key_value_heads": 8,
    "head_dim": 128,
    "num_hidden_layers": 92,
    "n_routed_experts": 160,
    "n_shared_experts": 1,
    "num_experts_per_tok": 8,
    "moe_intermediate_size": 1536,
    "first_k_dense_replace": 3,
    "vocab_size": 151552,
    "torch_dtype": "bfloat16",
    "quantization_config": BLOCKS,
}
STEP_35 = {
    "architectures": ["Step3p5ForCausalLM"],
    "model_type": "step3p5",
    "auto_map": {"AutoConfig": "configuration_step3p5.Step3p5Config"},
    "hidden_size": 4096,
    "intermediate_size": 11264,
    "num_attention_heads": 64,
    "num_attention_groups": 8,
    "head_dim": 128,
    "num_hidden_layers": 4,
    "moe_num_experts": 288,
    "moe_top_k": 8,
    "moe_intermediate_size": 1280,
    "share_expert_dim": 1280,
    "vocab_size": 128896,
    "sliding_window": 512,
    "layer_types": ["full_attention", "sliding_attention", "sliding_attention", "sliding_attention"],
    "attention_other_setting": {"num_attention_heads": 96, "num_attention_groups": 8, "head_dim": 128},
    "torch_dtype": "bfloat16",
    "quantization_config": BLOCKS,
}

ANY = "*"  # each release

# (report, release, model, GPUs, arguments, the rules it breaks; none: it runs)
CASES = [
    ("sglang 4791", ANY, "deepseek-ai/DeepSeek-V3", "32xH100", "--tp 32", {"fp8-dense-blocks", "fp8-expert-blocks"}),
    (
        "sglang 10641",
        ANY,
        "deepseek-ai/DeepSeek-V3",
        "32xH100",
        "--tp 32 --dp 8 --enable-dp-attention",
        {"fp8-dense-blocks", "fp8-expert-blocks"},
    ),
    (
        "sglang 4836",
        ANY,
        "deepseek-ai/DeepSeek-V3",
        "32xH100",
        "--tp 32 --dp 8 --enable-dp-attention --moe-dense-tp-size 1 --ep 32 --moe-a2a-backend deepep",
        set(),
    ),
    (
        "sglang 26107",
        ANY,
        STEP_35,
        "4xH200",
        "--tp 4 --trust-remote-code",
        {"fp8-shared-expert-blocks", "fp8-expert-blocks"},
    ),
    ("sglang 26107, way out", ANY, STEP_35, "2xH200", "--tp 2 --trust-remote-code", set()),
    ("slime 1796", ANY, GLM_47, "32xH200", "--tp-size 32", {"fp8-expert-blocks"}),
    ("slime 1796, 192 wide", ANY, GLM_47, "8xH200", "--tp-size 8", {"fp8-expert-blocks"}),
    ("slime 1796, way out", ANY, GLM_47, "4xH200", "--tp-size 4", set()),
    ("sglang 8344", ANY, QWEN_CODER_480B, "8xH20", "--tp 8 --mem-fraction-static 0.7", {"fp8-expert-blocks"}),
    ("sglang 8344, way out", ANY, QWEN_CODER_480B, "8xH20", "--tp 8 --ep-size 8", set()),
    ("vllm 25292", ANY, "Qwen/Qwen3-30B-A3B-FP8", "4xH100", "--tp 4", {"fp8-expert-blocks"}),
    ("vllm 25292, way out", ANY, "Qwen/Qwen3-30B-A3B-FP8", "4xH100", "--tp 2", set()),
    ("miles 303", ANY, "Qwen/Qwen3-Next-80B-A3B-Instruct-FP8", "8xH100", "--tp 8", {"fp8-expert-blocks"}),
    ("AdaptThink 1", ANY, QWEN_7B, "8xH100", "--tp 8", {"query-heads-divide"}),
    ("AdaptThink 1, way out", ANY, QWEN_7B, "4xH100", "--tp 4", set()),
    (
        "vllm 52435",
        ANY,
        "deepseek-ai/DeepSeek-V4-Flash",
        "3xH200",
        "--tp 3 --ep 3",
        {"experts-divide", "query-heads-divide"},
    ),
    (
        "sglang 2591",
        ANY,
        "deepseek-ai/DeepSeek-V3",
        "14xH100",
        "--tp 14",
        {"mla-heads-divide", "dense-width-divides", "fp8-dense-blocks", "expert-width-divides", "fp8-expert-blocks"},
    ),
    (
        "sglang 6096",
        "0.5.18",
        "deepseek-ai/DeepSeek-V3",
        "8xB200",
        "--tp 8 --attention-backend cutlass_mla",
        {"cutlass-mla-needs-all-heads"},
    ),
    ("aiter 726", ANY, "moonshotai/Kimi-K2-Instruct", "8xMI355X", "--tp 8 --attention-backend aiter", set()),
    ("aiter 1468", ANY, "deepseek-ai/DeepSeek-V3", "4xMI355X", "--tp 4", set()),
    (
        "sglang 24633",
        ANY,
        "deepseek-ai/DeepSeek-V2-Lite",
        "RTXPRO6000",
        "--attention-backend trtllm_mla",
        {"trtllm-mla-prefill-not-on-sm12x"},
    ),
    (
        "sglang 12320",
        ANY,
        "Qwen/Qwen3-30B-A3B-FP8",
        "8xL40S",
        "--tp 8 --moe-a2a-backend deepep",
        {"deepep-low-latency-needs-deep-gemm"},
    ),
    (
        "sglang 14691",
        ANY,
        "deepseek-ai/DeepSeek-V3.2",
        "8xH200",
        "--tp 8 --attention-backend flashmla --kv-cache-dtype fp8_e4m3",
        {"dsa-packed-kv-needs-dsa"},
    ),
]


@cache
def preflight(release: str) -> Preflight:
    return Preflight(release)


@pytest.mark.parametrize("release", RELEASES)
@pytest.mark.parametrize(
    ("report", "only", "model", "gpus", "arguments", "expected"), CASES, ids=[case[0] for case in CASES]
)
def test_report(
    report: str,
    only: str,
    model: str | dict[str, Any],
    gpus: str,
    arguments: str,
    expected: set[str],
    release: str,
    tmp_path: Path,
) -> None:
    if only not in (ANY, release):
        pytest.skip("another release")
    if isinstance(model, dict):
        file = tmp_path / "config.json"
        file.write_text(json.dumps(model), encoding="utf-8")
        model = str(file)
    engine = preflight(release)
    number, _, name = gpus.rpartition("x") if gpus[0].isdigit() else ("1", "", gpus)
    platform = platform_of(engine.knowledge, name, num_gpus=int(number))
    answer = engine.check(model, platform, shlex.split(arguments))
    assert not answer.refused
    hard = {finding.rule.id for finding in answer.findings if finding.severity == "error"}
    assert hard == expected
    assert answer.holds == (not expected)


@pytest.mark.parametrize("release", RELEASES)
def test_decode_context_parallelism_moves_no_kv_heads(release: str, tmp_path: Path) -> None:
    """Five KV heads on four ranks are refused with --dcp-size too: its layers still deal heads out over all ranks."""
    config = {**QWEN_CODER_480B, "num_attention_heads": 40, "num_key_value_heads": 5, "num_hidden_layers": 8}
    (tmp_path / "config.json").write_text(json.dumps(config), encoding="utf-8")
    preflight = Preflight(release)
    for more in ([], ["--dcp-size", "2"]):
        found = preflight.check(str(tmp_path), platform_of(preflight.knowledge, "4xH100"), ["--tp", "4", *more])
        assert "kv-heads-divide" in [one.rule.id for one in found.findings]
