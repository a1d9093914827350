"""Bounds against sums made by hand for three models, and what must hold of any bound."""

from __future__ import annotations

from functools import cache

import pytest

from solver import Preflight
from solver.estimate.roofline import Roofline, Workload, roofline

SERVED = Workload(1024, 1024, 64)
MEAN = 1024 + 512  # tokens that a request holds on average
NEAR = 0.002  # parts of a model are counted in whole MiB


@cache
def preflight() -> Preflight:
    return Preflight()


def bounds(model: str, gpu: str, words: str = "", workload: Workload = SERVED) -> Roofline:
    checked = preflight().engine.check(model, preflight().machine(gpu), words.split())
    assert checked.resolution is not None
    found = roofline(preflight().knowledge.names, checked.resolution.values, workload)
    assert found is not None
    return found


def test_a_dense_model_by_hand() -> None:
    """Llama 3.1 8B on an H100 (3,350 GB/s, 989 TFLOPS): 32 layers of 4096, 32 heads, 8 KV heads of 128, MLP 14336."""
    attention = 32 * (2 * 4096 * 4096 + 2 * 4096 * 1024)
    mlp = 32 * 3 * 4096 * 14336
    head = 128256 * 4096
    norms = 65 * 4096
    row = 32 * 2 * 8 * 128 * 2
    found = bounds("meta-llama/Llama-3.1-8B", "H100")
    assert found.step.memory == pytest.approx(
        (2 * (attention + mlp + head + norms) + 64 * MEAN * row) / 3350e9, rel=NEAR
    )
    pairs = 32 * 32 * 2 * 2 * 128
    assert found.step.compute == pytest.approx(
        (64 * 2 * (attention + mlp + head) + 64 * MEAN * pairs) / 989e12, rel=NEAR
    )
    assert found.step.link == 0
    # Each query of a prompt sees half of it on average; the head is needed for the last token alone.
    assert found.first.compute == pytest.approx(1024 * (2 * (attention + mlp) + 512 * pairs) / 989e12, rel=NEAR)
    assert found.first.memory == pytest.approx(2 * (attention + mlp + head + norms) / 3350e9, rel=NEAR)
    assert (found.step.limit, found.first.limit) == ("memory", "compute")
    assert found.rate == pytest.approx(64 / found.step.memory, rel=NEAR)


# DeepSeek V3: 61 layers of 7168, 128 heads; 3 dense MLPs of 18432, 58 layers of 256 experts of 2048 (8 for a token).
MLA_WHOLE = 61 * (7168 * (1536 + 512 + 64) + 1536 + 512)
MLA_CUT = 61 * 128 * (192 * 1536 + 512 * 256 + 128 * 7168)
DENSE, SHARED = 3 * 3 * 7168 * 18432, 58 * 3 * 7168 * 2048
EXPERTS, HEAD = 256 * SHARED, 7168 * 129280
BESIDE = 2 * (7168 * 123 + 58 * 256 * 7168)  # norms and routers, in half precision
FP8 = 1.0003  # a byte and a scale for each block of 128 x 128


def touched(tokens: float) -> float:
    return float(1 - (1 - 8 / 256) ** tokens)


def test_latent_attention_and_experts_by_hand() -> None:
    """DeepSeek V3 on eight B200 (8,000 GB/s, 4,500 TFLOPS in FP8, NVLink 900 GB/s), tensor parallel."""
    found = bounds("deepseek-ai/DeepSeek-V3", "8xB200", "--tp 8")
    weights = FP8 * (MLA_WHOLE + (MLA_CUT + DENSE + SHARED + EXPERTS * touched(64)) / 8) + BESIDE + 2 * HEAD / 8
    latent = 61 * (512 + 64) * 2  # every rank holds the whole row
    assert found.step.memory == pytest.approx((weights + 64 * MEAN * latent) / 8000e9, rel=NEAR)
    products = 2 * 64 * ((MLA_WHOLE + MLA_CUT / 8) + (DENSE + SHARED + EXPERTS * 8 / 256) / 8) / 4500e12
    products += 2 * 64 * HEAD / 8 / 2250e12 + 64 * MEAN * 61 * 2 * (128 / 8) * (2 * 512 + 64) / 2250e12
    # The norms of the latents are counted as weights, not as products: a few parts in ten thousand.
    assert found.step.compute == pytest.approx(products, rel=0.01)
    # Two sums over eight ranks a layer, each 2 x 7/8 of 64 rows of 7168 halves.
    assert found.step.link == pytest.approx(64 * 61 * 2 * (2 * 7 / 8) * 7168 * 2 / 900e9, rel=NEAR)
    assert found.step.seconds == found.step.memory + found.step.link


def test_attention_data_parallelism_shares_the_cache_and_copies_the_weights() -> None:
    found = bounds("deepseek-ai/DeepSeek-V3", "8xB200", "--tp 8 --attn-dp-size 8")
    weights = FP8 * (MLA_WHOLE + MLA_CUT + (DENSE + SHARED + EXPERTS * touched(64)) / 8) + BESIDE + 2 * HEAD / 8
    latent = 61 * (512 + 64) * 2
    assert found.step.memory == pytest.approx((weights + 8 * MEAN * latent) / 8000e9, rel=NEAR)
    # Many requests: the shared cache wins; few: the shared weights do.
    many, few = Workload(1024, 1024, 512), Workload(1024, 1024, 4)
    apart, together = "--tp 8 --attn-dp-size 8", "--tp 8"
    model = "deepseek-ai/DeepSeek-V3"
    assert bounds(model, "8xB200", apart, many).rate > bounds(model, "8xB200", together, many).rate
    assert bounds(model, "8xB200", apart, few).rate < bounds(model, "8xB200", together, few).rate


def test_windows_and_packed_experts_by_hand() -> None:
    """gpt-oss-120b on two H100 (NVLink 450 GB/s): 18 layers see all, 18 a window of 128; 128 experts in MXFP4."""
    found = bounds("openai/gpt-oss-120b", "2xH100", "--tp 2")
    kv = 36 * 2880 * 2 * 8 * 64
    attention = 36 * 2880 * (2 * 64 * 64) + kv
    experts = 36 * 128 * (3 * 2880 * 2880 + 3 * 2880)
    share = 1 - (1 - 4 / 128) ** 64
    weights = (2 * attention + 0.53125 * experts * share + 2 * 2880 * 201088) / 2 + 2 * (2880 * 73 + 36 * 128 * 2880)
    cache = 64 * 4 * (64 + 64) * 2 * (18 * MEAN + 18 * 128)
    assert found.step.memory == pytest.approx((weights + cache) / 3350e9, rel=0.01)


def test_states_are_read_and_written() -> None:
    """Qwen3-Next on four H100: 36 layers keep a state of 32 heads x 128 x 128 and 3 columns of 8192."""
    one, two = (bounds("Qwen/Qwen3-Next-80B-A3B-Instruct", "4xH100", "--tp 4", Workload(8, 8, n)) for n in (400, 401))
    values = preflight().engine.facts("Qwen/Qwen3-Next-80B-A3B-Instruct", preflight().machine("4xH100"))
    assert values["model.mamba_temporal_elements"] == 32 * 128 * 128
    assert values["model.mamba_conv_elements"] == 3 * 8192
    state = 36 * (32 * 128 * 128 * 4 + 3 * 8192 * 2) / 4
    row = 12 * 1 * 2 * 256 * 2 * (8 + 4)
    experts = 48 * 512 * 3 * 2048 * 512 * 2 / 4 * ((1 - 10 / 512) ** 400 - (1 - 10 / 512) ** 401)
    assert (two.step.memory - one.step.memory) * 3350e9 == pytest.approx(2 * state + row + experts, rel=NEAR)


def test_units_of_the_gpu_decide() -> None:
    """FP8 weights on a GPU without FP8 units are unpacked: the same products at the peak of half precision."""
    model = "Qwen/Qwen3-30B-A3B-FP8"
    ampere, hopper = bounds(model, "4xA100", "--tp 4"), bounds(model, "4xH100", "--tp 4")
    assert ampere.first.compute / hopper.first.compute > 2.5 * 989 / 624 / 1.3
    half = bounds("Qwen/Qwen3-30B-A3B", "4xA100", "--tp 4")
    assert ampere.first.compute == pytest.approx(half.first.compute, rel=NEAR)


def test_keys_in_eight_bits_halve_the_cache() -> None:
    usual, small = (bounds("Qwen/Qwen3-8B", "H100", words) for words in ("", "--kv-cache-dtype fp8_e4m3"))
    row = 36 * 2 * 8 * 128
    assert (usual.step.memory - small.step.memory) * 3350e9 == pytest.approx(64 * MEAN * row, rel=NEAR)


def test_ranks_beyond_the_kv_heads_copy_them() -> None:
    eight, sixteen = (bounds("Qwen/Qwen3-8B", "16xH100", f"--tp {ranks}") for ranks in (8, 16))
    cache = 64 * MEAN * 36 * 2 * 128 * 2 / 3350e9  # one head on each rank, on eight as on sixteen
    assert sixteen.step.memory - cache < (eight.step.memory - cache) * 0.65


def test_a_cache_that_holds_fewer_serves_fewer() -> None:
    found = bounds("meta-llama/Llama-3.1-8B", "RTX4090", "", Workload(4096, 1024, 256))
    assert found.running < 256
    assert found.rate == pytest.approx(found.running / found.step.seconds, rel=NEAR)


def test_two_batches_hide_what_is_exchanged() -> None:
    plain = bounds("deepseek-ai/DeepSeek-V3", "8xH200", "--tp 8 --attn-dp-size 8 --moe-a2a-backend deepep")
    turns = bounds(
        "deepseek-ai/DeepSeek-V3",
        "8xH200",
        "--tp 8 --attn-dp-size 8 --moe-a2a-backend deepep --enable-two-batch-overlap",
    )
    assert plain.step.seconds == plain.step.memory + plain.step.link
    assert turns.step.seconds == max(turns.step.memory, turns.step.compute, turns.step.link)


@pytest.mark.parametrize("gpu", ["H100", "8xB200", "8xMI300X", "4xRTX4090"])
def test_every_model_of_the_catalogue_has_bounds(gpu: str) -> None:
    for checkpoint in preflight().engine.catalogue.checkpoints:
        found = bounds(checkpoint.id, gpu)
        assert found.step.memory > 0
        assert found.step.compute > 0
        assert found.first_token > 0
        assert 0 < found.running <= 64
