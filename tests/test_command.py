"""Command lines against SGLang's own parser, as recorded by `record_parse.py`, and what the reader adds to it."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from constraints.flags import known_elsewhere, load_flags
from constraints.read import Mapped, read_file
from constraints.schema import Elsewhere, Flags
from constraints.values import frozen
from solver.intake.command import Parsed, Refusal, parse_arguments, read_command, words_of

ROOT = Path(__file__).resolve().parent.parent
SHARED = next((path for path in (ROOT.parent / "shared", ROOT / "shared") if path.is_dir()), ROOT.parent / "shared")
RELEASES = ("0.5.18", "0.5.23")


def documents() -> dict[str, Mapped]:
    return {path.name: read_file(path) for path in sorted((ROOT / "constraints/sglang/flags").glob("*.yaml"))}


FLAGS: dict[str, Flags] = {release: load_flags(documents(), release, []) for release in RELEASES}
ELSEWHERE: dict[str, dict[str, Elsewhere]] = {
    release: known_elsewhere(documents(), release, []) for release in RELEASES
}


def lines(path: Path) -> Iterator[dict[str, Any]]:
    with gzip.open(path, "rt", encoding="utf-8") as file:
        yield from map(json.loads, file)


def parse(text: str, release: str = "0.5.23", **how: Any) -> Parsed | Refusal:
    command = read_command(text)
    if isinstance(command, Refusal):
        return command
    how.setdefault("needs_model", False)
    return parse_arguments(
        command.arguments,
        FLAGS[release],
        env=command.env,
        entry=command.entry,
        elsewhere=ELSEWHERE[release],
        **how,
    )


def parsed(text: str, release: str = "0.5.23", **how: Any) -> Parsed:
    found = parse(text, release, **how)
    assert isinstance(found, Parsed), found
    return found


def refused(text: str, release: str = "0.5.23", **how: Any) -> Refusal:
    found = parse(text, release, **how)
    assert isinstance(found, Refusal), found
    return found


# --------------------------------------------------------------------------- as SGLang's parser


def same_verdict(case: dict[str, Any], found: Parsed | Refusal) -> bool:
    """Whether the reader says what was recorded: the same typed values, or the same first refusal."""
    if case["verdict"] == "ok":
        if isinstance(found, Refusal):
            return False
        plain = {name: value for name, value in found.typed.items() if "." not in name}
        recorded = {name: frozen(value) for name, value in case["typed"].items() if name != "config"}
        return repr(sorted(plain.items())) == repr(sorted(recorded.items()))
    if not isinstance(found, Refusal):
        return False
    reason = case["reason"]
    if reason == "left-over":
        return found.reason in ("unknown-option", "unexpected-word") and " ".join(found.extras) == str(case["extras"])
    if reason == "crash":
        return found.reason == "crash" or found.reason.startswith("config-")
    if reason == "ambiguous-option":
        return found.reason == reason and found.candidates == tuple(case["candidates"])
    # argparse names an option by all its spellings.
    named = str(case.get("option", "")).split("/")
    return found.reason == reason and ("option" not in case or found.option in named)


@pytest.mark.parametrize("release", RELEASES)
def test_recorded_cases(release: str, tmp_path: Path) -> None:
    differing, count, reasons = [], 0, set()
    for case in lines(ROOT / "tests" / "data" / f"parse-{release}.jsonl.gz"):
        folder = tmp_path / str(count)
        count += 1
        reasons.add(case.get("reason", "ok"))
        if case.get("files"):
            folder.mkdir()
        for name, text in case.get("files", {}).items():
            (folder / name).write_text(text, encoding="utf-8")
        found = parse_arguments(words_of(case["args"]), FLAGS[release], folder=folder)
        if not same_verdict(case, found):
            differing.append((case, found))
    assert not differing[:20]
    assert count > 2000
    assert len(reasons) >= 9  # every kind of refusal was met


@pytest.mark.skipif(not SHARED.is_dir(), reason="the recorded corpus lies beside the repository")
def test_corpus() -> None:
    differing, count = [], 0
    for path in sorted((SHARED / "oracle" / "corpus").glob("*.jsonl.gz")):
        for case in lines(path):
            count += 1
            found = parse_arguments(words_of(["--model-path", "m", *case["args"]]), FLAGS[case["release"]])
            stopped = case["verdict"] == "refused" and case["stage"] in ("parse", "argparse")
            if stopped != isinstance(found, Refusal):
                differing.append((case["id"], case.get("words"), found))
    assert not differing[:20]
    assert count > 1000


# --------------------------------------------------------------------------- what is typed


def test_typed_values() -> None:
    found = parsed(
        "--tp 8 --page-size=64 --max-total-tokens 8k --trust-remote-code --cuda-graph-bs-decode 1 2 "
        """--json-model-override-args '{"b": 1, "a": [2]}' --cuda-graph-config '{"prefill": {"backend": "full"}}'"""
    )
    assert found.typed == {
        "tp_size": 8,
        "page_size": 64,
        "max_total_tokens": 8000,
        "trust_remote_code": True,
        "cuda_graph_bs_decode": (1, 2),
        "json_model_override_args": '{"b": 1, "a": [2]}',
        "cuda_graph_config": '{"prefill":{"backend":"full"}}',
        "cuda_graph.prefill.backend": "full",
    }
    assert found.model is None


def test_last_one_wins() -> None:
    found = parsed("--tp 2 --tensor-parallel-size 4")
    assert found.typed["tp_size"] == 4
    assert found.spans["tp_size"].column == 8
    again = parsed("""--cuda-graph-config '{"decode": {"bs": [1]}}' --cuda-graph-config '{"prefill": {"max_bs": 2}}'""")
    assert again.typed.keys() == {"cuda_graph_config", "cuda_graph.prefill.max_bs"}


def test_a_default_counts_as_typed() -> None:
    assert parsed("--tp 1").typed == {"tp_size": 1}


def test_serve() -> None:
    found = parsed("sglang serve org/m --model-type llm --tp 2", needs_model=True)
    assert (found.model, found.typed["tp_size"]) == ("org/m", 2)
    assert refused("sglang serve org/m --model-type").reason == "missing-value"
    assert refused("python -m sglang.launch_server --model-path a org/m").reason == "unexpected-word"


def test_notices() -> None:
    found = parsed("--enable-dp-attention --disable-cuda-graph --trust-rem --config=x.yaml")
    assert [(notice.code, notice.option, notice.column) for notice in found.notices] == [
        ("abbreviated", "--trust-rem", 44),
        ("deprecated", "--enable-dp-attention", 1),
        ("deprecated", "--disable-cuda-graph", 23),
        ("unread-config", "--config", 56),
    ]
    assert found.notices[0].instead == "--trust-remote-code"
    ignored = parsed("--collect-tokens-histogram", "0.5.18")
    assert (ignored.typed, ignored.notices[0].code) == ({}, "ignored")


def test_config_file(tmp_path: Path) -> None:
    (tmp_path / "c.yaml").write_text("tp: 2\npage-size: 64\ntrust-remote-code: true\n", encoding="utf-8")
    found = parsed("--tp 4 --config c.yaml", folder=tmp_path)
    assert found.typed == {"tp_size": 4, "page_size": 64, "trust_remote_code": True}
    file = str(tmp_path / "c.yaml")
    assert (found.config, found.spans["page_size"].origin, found.spans["tp_size"].origin) == ("c.yaml", file, "")
    assert refused("--config n.yaml", folder=tmp_path).reason == "config-not-found"


# --------------------------------------------------------------------------- what is refused


def test_bad_choice() -> None:
    found = refused("--tp 2 --attention-backend trtlm_mla")
    assert (found.reason, found.option, found.flag) == ("bad-choice", "--attention-backend", "attention_backend")
    assert (found.word, found.column, found.index) == ("trtlm_mla", 28, 3)
    assert "trtllm_mla" in found.near
    assert "trtllm_mla" in found.choices


def test_bad_value() -> None:
    found = refused("--tp 0x10")
    assert (found.reason, found.expected, found.word, found.column) == ("bad-value", "int", "0x10", 6)


def test_ambiguous_and_gone() -> None:
    found = refused("--cuda-graph-max-bs 8")
    assert found.reason == "ambiguous-option"
    assert found.candidates == ("--cuda-graph-max-bs-decode", "--cuda-graph-max-bs-prefill")
    assert found.elsewhere is not None
    assert found.elsewhere.new_flag == "--cuda-graph-max-bs-decode"
    assert parsed("--cuda-graph-max-bs 8", "0.5.18").typed == {"cuda_graph_max_bs_decode": 8}


def test_unknown_and_gone() -> None:
    found = refused("--nsa-decode-backend fa3 --tp 2")
    assert (found.reason, found.option, found.extras) == (
        "unknown-option",
        "--nsa-decode-backend",
        ("--nsa-decode-backend", "fa3"),
    )
    assert found.elsewhere is not None
    assert (found.elsewhere.new_flag, found.elsewhere.span.until) == ("--dsa-decode-backend", "0.5.23")


def test_near_names() -> None:
    found = refused("--kv_cache_dtype fp8_e4m3")
    assert found.reason == "unknown-option"
    assert found.near[0] == "--kv-cache-dtype"


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("--tp", "missing-value"),
        ("--tp --trust-remote-code", "missing-value"),
        ("--trust-remote-code=true", "takes-no-value"),
        ("--trust-remote-code true", "unexpected-word"),
        ("--help", "help"),
        ("--log-level loud", "crash"),
        ("--tp two --t", "ambiguous-option"),  # noticed first, though it stands last
        ("--no-such --tp two", "bad-value"),  # words left over are noticed last
    ],
)
def test_reasons(text: str, reason: str) -> None:
    assert refused(text).reason == reason


def test_required_model() -> None:
    found = refused("--tp 2", needs_model=True)
    assert (found.reason, found.option, found.flag) == ("missing-required", "--model-path", "model_path")
    assert refused("--enable-expert-distribution-metrics", "0.5.18").reason == "retired-option"
