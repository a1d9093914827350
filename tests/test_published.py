"""Published launch commands are not refused; field cases from public threads get the answer that was found right."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml

from constraints.models_load import load_catalogue
from solver.check import Checked
from solver.facts import Platform
from solver.gpu import parse_gpu
from tests.conformance.engines import engine_of
from tests.conformance.published import checkpoint, gpu_of, words_of

SHARED = Path(__file__).resolve().parents[2] / "shared"
pytestmark = pytest.mark.skipif(not SHARED.is_dir(), reason="the published commands are not here")

OLDEST, NEWEST = "0.5.18", "0.5.23"
# What the recipes leave open; every one was written for a release up to the oldest we know.
USUAL_GPU = "H200"

# Published commands whose weights cannot fit where they are said to run, so that refusing them is right: the 640 GiB of
# DeepSeek R1 on eight cards of 80 (its authors took it back since), Kimi K2 (and K2 Thinking, read by the config of K2)
# under the share of memory that SGLang computes for attention data parallelism on eight H200, GLM-5 on 16 H100.
TOO_LARGE = {
    "cb-deepseek-r1-0528-h100-high-throughput-dp-engine",
    "cb-deepseek-r1-0528-h100-speculative-mtp-engine",
    "cb-kimi-k2-thinking-h200-high-throughput-dp-engine",
    "cbmd-kimi-k2-82",
    "cb-glm-5-fp8-h100-high-throughput-dp-engine",
    "ix-dsr1-b200-fp4-1k1k-disagg-mtp-1k1k-mtp-lowlat-0-prefill",  # it runs the FP4 sibling of the model it names
}

# Field case -> (release, model, GPU, what is right): `refused` by a rule first, a bad `word`, or an effective value.
Answer = tuple[str, str, str, str, Any]
DECIDED: dict[str, Answer] = {
    "gemma4-deterministic": (
        OLDEST,
        "google/gemma-4-26B-A4B-it",
        "B200",
        "refused",
        "deterministic-attention-backends",
    ),
    "deterministic-default-missing": (NEWEST, "Qwen/Qwen3-8B", "H100", "attention_backend", "fa3"),
    "deterministic-disables-radix": (NEWEST, "Qwen/Qwen3-8B", "H100", "disable_radix_cache", True),
    "triton-cross-attention": (
        NEWEST,
        "meta-llama/Llama-3.2-11B-Vision-Instruct",
        "H100",
        "refused",
        "triton-no-cross-attention",
    ),
    "sm120-trtllm-mla-prefill": (
        NEWEST,
        "deepseek-ai/DeepSeek-V3",
        "RTXPRO6000",
        "breaks",
        "trtllm-mla-prefill-not-on-sm12x",
    ),
    "dsv32-3090-ktransformers": (
        NEWEST,
        "deepseek-ai/DeepSeek-V3.2",
        "8xH200",
        "breaks",
        "dsa-model-on-a-dense-backend",
    ),
    "dsv32-fp8kv-flashmla": (NEWEST, "deepseek-ai/DeepSeek-V3.2", "8xH200", "breaks", "dsa-packed-kv-needs-dsa"),
    "fp8-block-576": (NEWEST, "deepseek-ai/DeepSeek-V3", "32xH200", "breaks", "fp8-dense-blocks"),
    "fp8-block-64-moe": (NEWEST, "deepseek-ai/DeepSeek-V3", "32xH200", "breaks", "fp8-expert-blocks"),
    "qwen3next-fp8-tp8": (NEWEST, "Qwen/Qwen3-Next-80B-A3B-Instruct-FP8", "8xH200", "breaks", "fp8-expert-blocks"),
    "dsv3-on-a100x8": (NEWEST, "deepseek-ai/DeepSeek-V3", "8xA100", "breaks", "fp8-experts-need-ada"),
    "aiter-kimi-k2-tp8": (NEWEST, "moonshotai/Kimi-K2-Instruct", "8xMI355X", "attention_backend", "aiter"),
    "cutlass-mla-tp8-heads": (OLDEST, "deepseek-ai/DeepSeek-V3", "8xB200", "breaks", "cutlass-mla-needs-all-heads"),
    "cutlass-mla-page128-fp16": (OLDEST, "deepseek-ai/DeepSeek-V3", "8xB200", "page_size", 128),
    "cutlass-mla-fp8-kv": (NEWEST, "deepseek-ai/DeepSeek-V3", "8xB200", "word", "cutlass_mla"),
    "cutedsl-mla-decode-only": (NEWEST, "deepseek-ai/DeepSeek-V3", "8xB200", "refused", "cutedsl-mla-decodes-only"),
    "llama4-default-backend": (OLDEST, "meta-llama/Llama-4-Scout-17B-16E-Instruct", "H200", "attention_backend", "fa3"),
    "gptoss-flashinfer-sinks": (NEWEST, "openai/gpt-oss-120b", "RTX5090", "attention_backend", "triton"),
    "qwen35-rtx5090-default": (NEWEST, "Qwen/Qwen3.5-27B", "RTX5090", "attention_backend", "flashinfer"),
    "fp4-dsv4-on-hopper": (NEWEST, "deepseek-ai/DeepSeek-V4-Flash", "8xH200", "attention_backend", "dsv4"),
    "mxfp4-kv-request": (NEWEST, "Qwen/Qwen3-8B", "B200", "word", "mxfp4"),
    "prefill-decode-page-mismatch": (NEWEST, "Qwen/Qwen3-8B", "B200", "page_size", 128),
    "trtllm-page-default-ask": (NEWEST, "deepseek-ai/DeepSeek-V3", "8xB200", "page_size", 64),
    "router-page-coercion": (NEWEST, "deepseek-ai/DeepSeek-V3", "8xB200", "page_size", 64),
    "gptoss-spec-topk": (NEWEST, "openai/gpt-oss-120b", "4xH200", "refused", "eagle-numbers-together"),
    "r1-draft16-steps3": (NEWEST, "deepseek-ai/DeepSeek-V3", "8xH200", "word", "--enable-deepep-moe"),
    "pp-spec-assert": (OLDEST, "Qwen/Qwen3-8B", "2xH100", "refused", "pipeline-excludes-overlap"),
    "dp-lt-tp-warmup": (NEWEST, "deepseek-ai/DeepSeek-V3", "8xH200", "attn_dp_size", 4),
    "epmoe-dpattn-mi300": (OLDEST, "deepseek-ai/DeepSeek-V3", "8xMI300X", "word", "--enable-ep-moe"),
    "aiter-mem-scaling": (NEWEST, "Qwen/Qwen3-8B", "MI300X", "mem_fraction_static", 0.765),
    "deepep-dp-lt-ep": (OLDEST, "deepseek-ai/DeepSeek-V3", "8xH200", "word", "--enable-deepep-moe"),
    "enable-ep-moe-r1": (OLDEST, "deepseek-ai/DeepSeek-V3", "16xH100", "word", "--enable-ep-moe"),
    "auto-default-trtllm-mha-sm120": (
        OLDEST,
        "Qwen/Qwen3-VL-8B-Instruct",
        "RTX5090",
        "attention_backend",
        "flashinfer",
    ),
    "deepseek-do-not-requantize": (NEWEST, "deepseek-ai/DeepSeek-V3", "8xH200", "kv_cache_dtype", "fp8_e5m2"),
    "chunked-prefill-off-flashinfer": (OLDEST, "deepseek-ai/DeepSeek-V3", "8xH200", "word", "--enable-deepep-moe"),
    "default-backend-policy": (NEWEST, "Qwen/Qwen3-8B", "B200", "attention_backend", "trtllm_mha"),
    "llama4-blackwell-slow": (
        NEWEST,
        "meta-llama/Llama-4-Scout-17B-16E-Instruct",
        "B200",
        "refused",
        "llama4-backends",
    ),
    "dsv3-tp14": (NEWEST, "deepseek-ai/DeepSeek-V3", "16xH100", "refused", "nodes-divide-ranks"),
    "rope-mla-mla-env": (NEWEST, "deepseek-ai/DeepSeek-V3", "8xH200", "word", "--enable-mla"),
    "cookbook-tp4-dp8-dpattn": (
        OLDEST,
        "moonshotai/Kimi-K2-Instruct",
        "4xMI355X",
        "refused",
        "attention-dp-divides-tp",
    ),
    "sglang-docs-vs-parser-dsa": (NEWEST, "zai-org/GLM-5-FP8", "8xMI355X", "dsa_decode_backend", "tilelang"),
    "dp-flag-without-attention": (NEWEST, "deepseek-ai/DeepSeek-V3", "16xH200", "attn_dp_size", 4),
    "fa4-b300-sm-range": (OLDEST, "checkpoints/mimo-v2", "8xB300", "page_size", 128),
    "ampere-deepep-deepgemm": (
        OLDEST,
        "Qwen/Qwen3-30B-A3B-FP8",
        "8xRTXA6000",
        "breaks",
        "deepep-low-latency-needs-deep-gemm",
    ),
    "fp4-on-h200": (NEWEST, "nvidia/DeepSeek-V3.2-NVFP4", "8xH200", "attention_backend", "dsa"),
    "kimi-linear-trtllm-mla": (
        NEWEST,
        "moonshotai/Kimi-Linear-48B-A3B-Instruct",
        "4xB200",
        "attention_backend",
        "trtllm_mla",
    ),
    "fa4-prefill-trtllm-mla-decode": (OLDEST, "deepseek-ai/DeepSeek-V3", "4xGB200", "page_size", 64),
    "nextn-page-size-switches-backend": (NEWEST, "Qwen/Qwen3.5-35B-A3B", "B200", "attention_backend", "triton"),
    "mamba-no-buffer-page-128": (
        OLDEST,
        "Qwen/Qwen3-Next-80B-A3B-Instruct",
        "8xH200",
        "refused",
        "ascend-needs-torch-npu",
    ),
    "amd-spec-extra-buffer": (NEWEST, "Qwen/Qwen3.5-35B-A3B", "8xMI355X", "word", "--mamba-scheduler-strategy"),
    "ngram-hicache": (OLDEST, "Qwen/Qwen3-8B", "H100", "attention_backend", "fa3"),
    "tp-heads-28": (NEWEST, "Qwen/Qwen2.5-7B-Instruct", "8xH100", "breaks", "query-heads-divide"),
    "deepep-minimax-m2": (OLDEST, "MiniMaxAI/MiniMax-M2.5", "8xH200", "ep_size", 8),
    "deepep-qwen3vl": (OLDEST, "Qwen/Qwen3-VL-30B-A3B-Instruct", "4xH200", "ep_size", 4),
    "deepep-v2-mimo-inert": (NEWEST, "checkpoints/mimo-v2", "8xH200", "refused", "deepep-v2-prefill-budget"),
    "l4x8-oom": (NEWEST, "Qwen/Qwen3-235B-A22B", "8xL4", "breaks", "weights-fit-the-gpu"),
    "gemma3-27b-awq-oom": (NEWEST, "checkpoints/gemma-3-27b-awq", "L4", "breaks", "weights-leave-a-kv-cache"),
    "fa3-hicache-kernel-ima": (NEWEST, "Qwen/Qwen3-8B", "H200", "hicache_io_backend", "kernel"),
    "step35-fp8-tp4": (OLDEST, "checkpoints/step-3.5-fp8", "4xH200", "breaks", "fp8-shared-expert-blocks"),
    "glm47-fp8-tp32": (OLDEST, "checkpoints/glm-4.7-fp8", "32xH200", "breaks", "fp8-expert-blocks"),
    "qwen3coder480-fp8-tp8": (OLDEST, "checkpoints/qwen3-coder-480b-fp8", "8xH20-3e", "breaks", "fp8-expert-blocks"),
}
# Made-up checkpoints lie beside the recorded verdicts.
MADE_UP = Path(__file__).parent / "conformance"


@cache
def entries(name: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = yaml.safe_load((SHARED / name).read_text(encoding="utf-8"))
    return found


def ask(release: str, model: str, gpu: str, words: tuple[str, ...]) -> Checked:
    engine = engine_of(release)
    if model.startswith("checkpoints/"):
        model = str(MADE_UP / model)
    number, facts = parse_gpu(gpu, engine.knowledge.gpus)
    return engine.check(model, Platform(facts, number or 1), list(words))


def recipes() -> Iterator[tuple[str, str, str, tuple[str, ...]]]:
    catalogue = load_catalogue()
    for entry in entries("recipes/recipes.yaml"):
        model = checkpoint(entry["model"], catalogue)
        gpu = gpu_of(entry["gpu"] or USUAL_GPU, entry["num_gpus"])
        if model is not None and gpu is not None:
            yield entry["id"], model, gpu, words_of(entry["args"])


def test_recipes_are_not_refused() -> None:
    found, asked = [], 0
    for name, model, gpu, words in recipes():
        asked += 1
        checked = ask(OLDEST, model, gpu, words)
        if checked.resolution is None:
            found.append(f"{name}: {checked.refusal}")
        elif name not in TOO_LARGE:
            found += [f"{name}: {one.rule.id}" for one in checked.resolution.refusals]
    assert asked >= 100
    assert not found


@pytest.mark.parametrize("name", DECIDED)
def test_field_case(name: str) -> None:
    release, model, gpu, what, right = DECIDED[name]
    entry = next(one for one in entries("cases/cases.yaml") if one["id"] == name)
    checked = ask(release, model, gpu, words_of(entry["args"]))
    if what == "word":
        assert checked.refusal is not None
        assert checked.refusal.word == right
        return
    assert checked.resolution is not None, checked.refusal
    if what == "refused":
        assert checked.resolution.refusals[0].rule.id == right
    elif what == "breaks":
        assert right in {one.rule.id for one in checked.resolution.broken}
    else:
        value = checked.resolution.values[what]
        assert value == (pytest.approx(right) if isinstance(right, float) else right)
