"""GPUs, releases and platform names: against what SGLang's own probes answered, and as a person writes them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import constraints
from constraints.compose import compose
from constraints.errors import Fault
from constraints.gpu_names import spelling
from constraints.gpu_schema import Gpus
from constraints.hardware import load_gpus
from constraints.names import load_names
from constraints.read import read_file, read_text
from constraints.releases import load_releases
from constraints.tree import names
from constraints.values import Value
from solver.errors import InputError
from solver.gpu import nearest, parse_gpu, with_memory

HOME = Path(constraints.__file__).parent
PROBES: dict[str, Any] = json.loads((Path(__file__).parent / "data" / "gpu-probes.json").read_text(encoding="utf-8"))

# The environment variables that names read, with SGLang's defaults.
ENV: dict[str, Value] = {
    "env.SGLANG_USE_CPU_ENGINE": False,
    "env.SGLANG_USE_AITER": False,
    "env.SGLANG_IS_FLASHINFER_AVAILABLE": True,
    "env.SGLANG_ENABLE_JIT_DEEPGEMM": True,
    "env.SGLANG_DSA_HIP_DISABLE_PRESHUFFLE": False,
    "env.AITER_ENABLE_AOT_GLUON_PA_MQA_LOGITS": False,
}
FLAGS: dict[str, Value] = {"device": "cuda", "tp_size": 1, "pp_size": 1, "nnodes": 1, "dcp_size": 1}
RAW = ("gpu.vendor", "gpu.name", "gpu.major", "gpu.minor", "gpu.memory_mib", "gpu.sm_count", "gpu.gcn_arch")

# SGLang's probe -> our name; `platform.*` is PlatformContext of srt/runtime_context.py.
NAMED = {
    "is_hip": "gpu.is_hip",
    "is_cuda": "gpu.is_cuda",
    "is_cuda_alike": "gpu.is_cuda_alike",
    "is_hpu": "gpu.is_hpu",
    "is_xpu": "gpu.is_xpu",
    "is_npu": "gpu.is_npu",
    "is_host_cpu_x86": "gpu.host_x86",
    "is_host_cpu_arm64": "gpu.host_arm64",
    "is_cpu": "gpu.is_cpu",
    "is_musa": "gpu.is_musa",
    "is_mps": "gpu.is_mps",
    "is_sail": "gpu.is_sail",
    "is_ampere_with_cuda_12_3": "gpu.ampere_cuda_12_3",
    "is_hopper_with_cuda_12_3": "gpu.hopper_cuda_12_3",
    "is_blackwell_supported": "gpu.blackwell",
    "is_sm120_supported": "gpu.sm120",
    "is_sm100_supported": "gpu.sm100",
    "is_sm100_or_sm110_supported": "gpu.sm100_or_sm110",
    "is_sm110_supported": "gpu.sm110",
    "is_sm80_supported": "gpu.sm80",
    "is_sm90_supported": "gpu.sm90",
    "is_sm120": "gpu.exactly_sm120",
    "is_sm121": "gpu.exactly_sm121",
    "cpu_has_amx_support": "gpu.has_amx",
    "xpu_has_xmx_support": "gpu.has_xmx",
    "is_flashinfer_available": "gpu.has_flashinfer",
    "is_nvidia_cublas_version_ge_12_9": "gpu.cublas_12_9",
    "is_mnnvl_fabric_device": "gpu.mnnvl",
    "is_gfx95_supported": "gpu.gfx95",
    "is_gfx942_supported": "gpu.gfx942",
    "is_gfx1250_supported": "gpu.gfx1250",
    "is_triton_kernels_available": "gpu.has_triton_kernels",
    "is_tokenspeed_mla_available": "gpu.has_tokenspeed_mla",
    "mxfp8_block_convert_required": "gpu.mxfp8_block_convert",
    "support_triton(triton)": "gpu.supports_triton",
    "ENABLE_JIT_DEEPGEMM": "gpu.deep_gemm",
    "DEEPGEMM_BLACKWELL": "gpu.deep_gemm_blackwell",
    "DEEPGEMM_SCALE_UE8M0": "gpu.deep_gemm_ue8m0",
    "DEEPGEMM_NEED_TMA_ALIGNED_SCALES": "gpu.deep_gemm_aligned_scales",
    "_use_aiter": "gpu.use_aiter",
    "_use_aiter_gfx95": "gpu.use_aiter_gfx95",
    "_is_fp8_fnuz": "gpu.fp8_fnuz",
    "cutlass_fp8_supported": "gpu.cutlass_fp8",
    "flashinfer_per_tensor_fp8_supported": "gpu.flashinfer_fp8",
    "USE_ROWWISE_TORCH_SCALED_MM": "gpu.rowwise_scaled_mm",
    "aiter_can_use_preshuffle_paged_mqa": "gpu.aiter_preshuffle",
    "is_wo_a_fp8_mxscale_supported": "gpu.rocm_wo_a_fp8",
    "get_device_sm": "gpu.sm",
    "get_device": "gpu.device",
    "get_device_core_count": "gpu.core_count",
    "get_device_capability": "gpu.capability",
    "platform_name": "gpu.platform",
    "platform.is_cuda": "gpu.is_cuda",
    "platform.is_hip": "gpu.is_hip",
    "platform.is_npu": "gpu.is_npu",
    "platform.is_xpu": "gpu.is_xpu",
    "platform.is_musa": "gpu.is_musa",
    "platform.is_mps": "gpu.is_mps",
    "platform.is_sm90": "gpu.sm90",
    "platform.is_sm100": "gpu.sm100",
    "platform.is_sm100_or_sm110": "gpu.sm100_or_sm110",
    "platform.is_sm110": "gpu.sm110",
    "platform.is_sm120": "gpu.sm120",
    "platform.is_blackwell": "gpu.blackwell",
    "platform.is_hopper_with_cuda_12_3": "gpu.hopper_cuda_12_3",
    "platform.has_amx": "gpu.has_amx",
    "platform.has_flashinfer": "gpu.has_flashinfer",
    "platform.device_sm": "gpu.sm",
    "platform.device_capability": "gpu.capability",
}
ASKED = "get_device_memory_capacity("
FABRIC = "is_fi_a2a_supported("


def documents(pattern: str) -> dict[str, Any]:
    return {str(path.relative_to(HOME)): read_file(path) for path in sorted(HOME.glob(pattern))}


def sound_gpus() -> Gpus:
    faults: list[Fault] = []
    gpus = load_gpus(documents("gpus/*.yaml"), faults)
    assert faults == []
    return gpus


GPUS = sound_gpus()


def facts_of(run: dict[str, Any]) -> dict[str, Value]:
    faults: list[Fault] = []
    release = load_releases(documents("sglang/releases.yaml"), faults)[run["release"]]
    assert faults == []
    gpu = GPUS[run.get("like", run["gpu"])]
    facts: dict[str, Value] = {**FLAGS, **ENV, **gpu.facts, **release.images[str(gpu.facts["gpu.vendor"])]}
    facts.update(run.get("facts", {}))
    if "cuda" in run:
        facts["runtime.cuda"] = float(run["cuda"])
    facts.update({f"env.{name}": value == "1" for name, value in run.get("env", {}).items()})
    return facts


def question(probe: str) -> tuple[str, dict[str, Value]]:
    """Our name of a recorded probe and the flags it was asked with."""
    if probe.startswith(ASKED):
        return "gpu.memory_capacity", {"device": probe.removeprefix(ASKED).rstrip(")")}
    if probe.startswith(FABRIC):
        numbers = [int(number) for number in probe.removeprefix(FABRIC).rstrip(")").split(",")]
        return "gpu.fi_a2a", dict(zip(("dcp_size", "tp_size", "pp_size", "nnodes"), numbers, strict=True))
    return NAMED[probe], {}


def plain(answer: Any) -> Any:
    if isinstance(answer, list):  # (major, minor)
        return None if answer[0] is None else answer[0] * 10 + answer[1]
    return answer


@pytest.mark.parametrize("run", PROBES["runs"], ids=lambda run: f"{run['release']}-{run['gpu']}")
def test_names_agree_with_the_probes(run: dict[str, Any]) -> None:
    faults: list[Fault] = []
    trees = load_names(documents("sglang/names*.yaml"), run["release"], faults)
    assert faults == []
    facts = facts_of(run)
    true = run["true"].split()
    answers = {probe: probe in true for probe in PROBES["probes"][run["release"]]} | run["values"]
    wrong = {}
    for probe, answer in answers.items():
        name, flags = question(probe)
        ours = compose(trees[name])({**facts, **flags})
        if ours != plain(answer) or (isinstance(answer, bool) and not isinstance(ours, bool)):
            wrong[probe] = (ours, answer)
    assert wrong == {}


def test_images_hold_the_modules_that_a_process_finds() -> None:
    faults: list[Fault] = []
    releases = load_releases(documents("sglang/releases.yaml"), faults)
    assert list(releases) == ["0.5.18", "0.5.23"]
    for key, found in PROBES["packages"].items():
        release, vendor = key.split()
        image = releases[release].images[vendor]
        ours = {name for name, value in image.items() if name.startswith("package.") and value is True}
        told = {f"package.{name}" for name in found}
        # Nobody asks for the last two; cuBLAS is a distribution, not a module.
        assert ours - {"package.nvidia_cublas"} == told - {"package.cuda", "package.torchvision"}, key
        for other in releases.values():
            for facts in other.images.values():  # a rule may read any of them anywhere
                assert {name for name in facts if not name.startswith("env.")} <= image.keys()


def test_every_platform_name_reads_facts_alone() -> None:
    known = {*FLAGS, *ENV, *GPUS["CPU"].facts}
    for release in ("0.5.18", "0.5.23"):
        images = load_releases(documents("sglang/releases.yaml"), [])[release].images
        trees = load_names(documents("sglang/names*.yaml"), release, [])
        for name, tree in trees.items():
            if name.startswith("gpu."):
                for image in images.values():
                    assert names(tree) <= known | set(image), name


def test_every_gpu_has_the_facts_and_is_found_by_each_spelling() -> None:
    for name, gpu in GPUS.items():
        assert all(fact in gpu.facts for fact in RAW), name
        assert gpu.sources
        assert gpu.measures.bandwidth_gbs > 0
        for text in (name, name.lower(), name.replace("-", " "), *gpu.aliases):
            assert GPUS[GPUS.spellings[spelling(text)]] is gpu, text
        if not gpu.generic:
            found = GPUS[GPUS.spellings[spelling(str(gpu.facts["gpu.name"]))]]
            assert found is not None
            assert found.facts == gpu.facts


@pytest.mark.parametrize(
    ("text", "count", "name"),
    [
        ("8xB200", 8, "B200"),
        ("B200", None, "B200"),
        ("sm100", None, "sm100"),
        ("2 x H100", 2, "H100"),
        ("8 × h100-80gb", 8, "H100"),
        ("4*L40S", 4, "L40S"),
        ("8 H200", 8, "H200"),
        ("H200:8", 8, "H200"),
        ("B200x8", 8, "B200"),
        ("4090", None, "RTX4090"),
        ("2x4090", 2, "RTX4090"),
        ("NVIDIA GeForce RTX 5090", None, "RTX5090"),
        ("nvidia a100", None, "A100"),
        ("AMD Instinct MI355X", None, "MI355X"),
        ("4x GB200 NVL72", 4, "GB200"),
        ("cpu", None, "CPU"),
    ],
)
def test_reads_what_people_write(text: str, count: int | None, name: str) -> None:
    assert parse_gpu(text, GPUS) == (count, GPUS[name])


@pytest.mark.parametrize(
    ("text", "near"), [("8xB2000", "B200"), ("H10O", "H100"), ("mi35x", "MI355X"), ("RTX 4O90", "RTX4090")]
)
def test_says_what_was_perhaps_meant(text: str, near: str) -> None:
    with pytest.raises(InputError) as caught:
        parse_gpu(text, GPUS)
    assert near in caught.value.near
    assert caught.value.where == text


@pytest.mark.parametrize("text", ["", "  ", "8x", "x", "0xB200", "8xnothing", "-1xB200", "9999999xB200", "x" * 5000])
def test_refuses_what_is_no_gpu(text: str) -> None:
    with pytest.raises(InputError):
        parse_gpu(text, GPUS)


def test_memory_can_be_given() -> None:
    count, gpu = parse_gpu("2xH20", GPUS, memory_mib=143771)
    assert count == 2
    assert gpu.facts == {**GPUS["H20"].facts, "gpu.memory_mib": 143771}
    assert with_memory(GPUS["H20"], None) is GPUS["H20"]
    with pytest.raises(InputError):
        with_memory(gpu, 0)


def test_spellings_and_nearest_are_stable() -> None:
    assert spelling(" NVIDIA H100_80GB-HBM3 ") == "h10080gbhbm3"
    assert spelling("nvidia") == "nvidia"
    assert GPUS.spellings[spelling("H100")] == "H100"
    assert nearest("h1000", GPUS)[0] == "H100"


def test_bad_gpus_are_faults() -> None:
    text = """gpus:
  A: {like: B}
  B: {like: A}
  C: {like: nothing}
  D: {facts: {gpu.vendor: nvidia, gpu.major: "9"}, measures: {bandwidth_gbs: -1}, colour: green}
"""
    faults: list[Fault] = []
    assert load_gpus({"g.yaml": read_text(text, "g.yaml")}, faults) == {}
    assert {"A is like itself", "C is like nothing, which is no GPU here"} <= {fault.message for fault in faults}
    assert {"D: 'colour' is no field of a GPU", "D: gpu.major cannot be '9'"} <= {fault.message for fault in faults}


def test_one_spelling_of_two_gpus_is_a_fault() -> None:
    faults: list[Fault] = []
    text = "gpus:\n  X1: {like: H100, aliases: [h-100]}\n"
    load_gpus({**documents("gpus/hopper.yaml"), "g.yaml": read_text(text, "g.yaml")}, faults)
    assert [str(fault) for fault in faults] == ["g.yaml:2: X1 and H100 are both spelled 'h100'"]
