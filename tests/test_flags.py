"""The flags and environment variables of the knowledge: well formed, complete, and every fault named."""

from __future__ import annotations

from pathlib import Path

import pytest

from constraints.environment import parse_environment, parse_value
from constraints.environment_load import load_environment
from constraints.errors import Fault
from constraints.flags import known_elsewhere, load_flags
from constraints.read import Mapped, read_file, read_text
from constraints.schema import EnvVar, Flag

ROOT = Path(__file__).resolve().parent.parent / "constraints" / "sglang"
RELEASES = ("0.5.18", "0.5.23")
DOCUMENTS: dict[str, Mapped] = {path.name: read_file(path) for path in sorted((ROOT / "flags").glob("*.yaml"))}


def flags(release: str) -> dict[str, Flag]:
    faults: list[Fault] = []
    found = load_flags(DOCUMENTS, release, faults)
    assert not faults
    return found


def environment(release: str) -> dict[str, EnvVar]:
    faults: list[Fault] = []
    found = load_environment(read_file(ROOT / "env.yaml"), "env.yaml", release, faults)
    assert not faults
    return found


@pytest.mark.parametrize(("release", "count"), [("0.5.18", 477), ("0.5.23", 548)])
def test_every_flag(release: str, count: int) -> None:
    found = flags(release)
    assert len(found) == count
    assert all(name == flag.name and release in flag.span for name, flag in found.items())
    assert [flag.name for flag in found.values() if any(action.required for action in flag.actions)] == ["model_path"]
    for flag in found.values():
        if flag.choices is not None and flag.default is not None and flag.nargs is None:
            assert flag.default in flag.choices, flag.name


def test_spellings() -> None:
    found = flags("0.5.23")
    assert found["tp_size"].options == ("--tp-size", "--tensor-parallel-size")  # --tp is an abbreviation
    assert found["enable_tf32_matmul"].negative == ("--no-enable-tf32-matmul",)
    assert found["watermark_key"].options == ()
    assert not found["config"].in_record
    older = flags("0.5.18")["cuda_graph_backend_prefill"]
    assert [action.const for action in older.actions] == [None, "breakable", "disabled", "tc_piecewise"]
    assert all(action.deprecated and action.new_flag for action in older.actions[1:])


def test_between_two_releases_read() -> None:
    faults: list[Fault] = []
    assert load_flags(DOCUMENTS, "0.5.20", faults).keys() == flags("0.5.18").keys()


def test_known_elsewhere() -> None:
    gone = known_elsewhere(DOCUMENTS, "0.5.23", [])
    assert gone["--nsa-prefill-cp-mode"].new_flag == "--cp-strategy"
    assert gone["--nsa-prefill-cp-mode"].values == {"in-seq-split": "zigzag", "round-robin-split": "interleave"}
    assert gone["--elastic-ep-rejoin"].values == {"true": "recover"}
    assert "--tp" not in gone
    coming = known_elsewhere(DOCUMENTS, "0.5.18", [])
    assert coming["--attn-dp-size"].span.since == "0.5.23"


def test_successors_exist() -> None:
    options = {option for flag in flags("0.5.23").values() for action in flag.actions for option in action.options}
    for spelling, gone in known_elsewhere(DOCUMENTS, "0.5.23", []).items():
        if not spelling.startswith("-"):  # a choice, such as attention_backend=cutlass_mla
            continue
        assert gone.new_flag == "" or gone.new_flag.partition("=")[0] in options, gone
        assert gone.new_flag or gone.note, f"{gone.option} is gone: say what instead, or why not"


def test_every_fault_is_named() -> None:
    text = """
group: g
flags:
  a: {options: [--a], typo: 1}
  b: {options: [b], type: number, action: jump}
  c: 3
  d:
    options: [--a]
    revisions: [{since: "0.5.23"}, {since: "<=0.5.18"}]
  e: {options: [--e], since: soon}
"""
    faults: list[Fault] = []
    load_flags({"g.yaml": read_text(text, "g.yaml"), "h.yaml": read_text("x: 1", "h.yaml")}, "0.5.23", faults)
    said = " ".join(map(str, faults))
    for words in (
        *(
            "'typo' is unknown",
            "'number' is none of",
            "'jump' is none of",
            "c must be a mapping",
            "words that start with -",
        ),
        *("two revisions hold", "'soon' is not a release", "h.yaml:1: needs", "--a belongs to a and to d"),
    ):
        assert words in said
    assert {fault.line for fault in faults if fault.message.startswith("a:")} == {4}


# --------------------------------------------------------------------------- the environment


@pytest.mark.parametrize("release", RELEASES)
def test_environment(release: str) -> None:
    found = environment(release)
    assert found["SGLANG_USE_AITER"].type == "bool"
    assert parse_environment({}, found) == {name: variable.default for name, variable in found.items()}


@pytest.mark.parametrize(
    ("name", "text", "value"),
    [
        ("SGLANG_USE_AITER", "YES", True),
        ("SGLANG_USE_AITER", "n", False),
        ("SGLANG_USE_AITER", "on", False),  # the default
        ("SGLANG_OPT_USE_TOPK_V2", "on", True),  # the default
        ("SGLANG_IS_FLASHINFER_AVAILABLE", "yes", False),  # read by a stricter reader
        ("SGLANG_IS_FLASHINFER_AVAILABLE", "TRUE", True),
        ("SGLANG_USE_CPU_ENGINE", "true", False),
        ("SGLANG_GRPC_PORT", "30000", 30000),
        ("SGLANG_GRPC_PORT", "x", None),
        ("SGLANG_MAMBA_SSM_DTYPE", "float32", "float32"),
    ],
)
def test_environment_values(name: str, text: str, value: object) -> None:
    variable = environment("0.5.23")[name]
    assert parse_value(variable, text) == value


def test_older_names() -> None:
    found = environment("0.5.18")
    assert parse_environment({"SGLANG_NSA_FUSE_TOPK": "0"}, found)["SGLANG_DSA_FUSE_TOPK"] is False
    assert parse_environment({"SGL_USE_AITER": "1"}, found)["SGLANG_USE_AITER"] is True
    assert environment("0.5.18")["SGLANG_FLASHINFER_MOE_FUSED_FINALIZE"].default is True
    assert environment("0.5.23")["SGLANG_FLASHINFER_MOE_FUSED_FINALIZE"].default is False


def test_environment_faults() -> None:
    faults: list[Fault] = []
    text = "env:\n  A: {type: number, default: 1}\n  B: 2\n  C: {type: int, default: 1, typo: 1}\n"
    load_environment(read_text(text, "env.yaml"), "env.yaml", "0.5.23", faults)
    assert [fault.line for fault in faults] == [2, 3, 4]
