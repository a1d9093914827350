"""What the truth report stands on: refusals of the parser, SGLang's own trace, and the report's arithmetic."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from constraints.load import known_releases
from tests.conformance import claims, documentation, traces
from tests.conformance.causes import cause_of
from tests.conformance.compare import records
from tests.conformance.engines import engine_of, knowledge_of
from tests.conformance.figures import Figures, checked_case
from tests.conformance.render_truth import percent

HERE = Path(__file__).resolve().parent / "conformance"
TRACED = "0.5.23"


@pytest.mark.parametrize("release", known_releases())
def test_parser_refuses(release: str) -> None:
    cases = [one | {"args": list(one["args"])} for one in records([HERE / f"refusals-{release}.jsonl.gz"])]
    assert len(cases) >= 300
    assert all(case["verdict"] == "refused" and case["stage"] == "parse" for case in cases)
    accepted = [case["id"] for case in cases if checked_case(engine_of(release), by_id(case), None).refusal is None]
    assert not accepted


def by_id(case: dict[str, Any]) -> dict[str, Any]:
    """The case on a checkpoint of the catalogue; the parser does not look at it."""
    return case | {"model": "Qwen/Qwen3-8B"}


def test_writes_are_those_of_the_trace() -> None:
    tally, different = traces.compare(engine_of(TRACED), records([HERE / f"trace-{TRACED}.jsonl.gz"]), None)
    assert tally["cases"] >= 100
    assert not different


def test_trace_is_cut_to_what_is_modelled() -> None:
    graph = "CudaGraphConfig(decode=PhaseConfig(backend='full', max_bs=1), prefill=PhaseConfig(backend=None))"
    made: list[tuple[str, dict[str, Any]]]
    made = [("f", {"page_size": 64, "other": 1}), ("g", {"cuda_graph_config": graph}), ("h", {"other": 2})]
    assert traces.cut(made, ["page_size"]) == [
        ["f", {"page_size": 64}],
        ["g", {"cuda_graph.decode.backend": "full", "cuda_graph.prefill.backend": None}],
    ]


def test_writes_that_change_nothing_are_dropped() -> None:
    made = [("f", {"page_size": 1}), ("g", {"page_size": 64}), ("g", {"page_size": 32, "tp_size": 2})]
    assert traces.theirs(made, {"page_size": 1, "tp_size": 1}) == [[("page_size", 32), ("tp_size", 2)]]


def test_order_is_free_within_a_function() -> None:
    recorded: list[traces.Group] = [[("a", 1), ("b", 2)], [("c", 3)]]
    assert traces.same_writes([[("b", 2)], [("a", 1), ("c", 3)]], recorded)
    assert not traces.same_writes([[("c", 3)], [("a", 1), ("b", 2)]], recorded)
    assert not traces.same_writes([[("a", 1), ("b", 2)]], recorded)


def test_matrix_asks_what_the_release_has() -> None:
    known = knowledge_of(TRACED)
    cases = list(documentation.cases(known))
    assert len({case["id"] for case in cases}) == len(cases)
    assert all(case["args"][1] in (known.flags["attention_backend"].choices or ()) for case in cases)


def test_percent_never_rounds_to_the_ends() -> None:
    assert [percent(value) for value in (100.0, 99.9999, 0.0, 0.00011, None)] == [
        *("100.00 %", "99.9999 %", "0.00 %", "0.0001 %", "-"),
    ]


def test_share_of_nothing_is_not_a_figure() -> None:
    assert Figures().share("verdicts", "cases") is None


def test_causes_are_found_by_what_a_command_holds() -> None:
    assert "file" in cause_of("x --watermark-config=auto")
    assert cause_of("x") == ""


def test_claims_of_the_documentation() -> None:
    found = {says: does for _, says, _, does in claims.contradictions(TRACED)}
    assert found["trtllm_mha: pages of 16, 32 or 64"].startswith("runs page_size = 128, srt/")
    assert found["FlashAttention 4 is prefill-only"] == "accepts it"
    assert "fa3 is the default on Hopper" not in found
