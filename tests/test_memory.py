"""Parameters against published counts, memory against public start-up logs, and what must hold of any estimate."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from statistics import median
from typing import Any

import pytest
import yaml

from solver import Preflight
from solver.estimate.memory import Memory, memory
from solver.scale import recommend_up_to
from tests.memory_table import DOCUMENT, Startup, startups, table

DATA = Path(__file__).parent / "data"
PUBLISHED: dict[str, dict[str, Any]] = yaml.safe_load((DATA / "published_parameters.yaml").read_text(encoding="utf-8"))[
    "published"
]


@cache
def preflight() -> Preflight:
    return Preflight()


@cache
def measured() -> tuple[Startup, ...]:
    return tuple(startups())


def sizes(model: str) -> dict[str, float]:
    facts = preflight().engine.model_facts(model).values
    return {name.removeprefix("model.size."): value for name, value in facts.items() if name.startswith("model.size.")}  # type: ignore[misc]


def asked(model: str, gpu: str, *words: str) -> Memory:
    engine = preflight().engine
    checked = engine.check(model, preflight().machine(gpu), words)
    assert checked.resolution is not None
    found = memory(preflight().knowledge.names, checked.resolution.values)
    assert found is not None
    return found


@pytest.mark.parametrize("model", PUBLISHED)
def test_parameters_are_as_published(model: str) -> None:
    entry, size = PUBLISHED[model], sizes(model)
    total = size["total"]
    if entry.get("with_draft"):
        total += size["draft"]
    if entry.get("copies"):
        total += size["embedding"] + size["head"]
    assert total / 1e9 == pytest.approx(entry["billions"], rel=0.005)
    assert entry["source"].startswith("https://")


def test_parts_sum_up_to_the_whole() -> None:
    parts = (
        "embedding",
        "head",
        "attention",
        "attention_whole",
        "linear",
        "mlp",
        "experts",
        "router",
        "shared",
        "norms",
    )
    for model in PUBLISHED:
        size = sizes(model)
        assert sum(size[part] for part in (*parts, "vision")) == size["total"]


def test_every_model_of_the_catalogue_has_a_size() -> None:
    for checkpoint in preflight().engine.catalogue.checkpoints:
        assert sizes(checkpoint.id)["total"] > 0, checkpoint.id


def test_estimates_hold_for_logs_they_were_not_made_from() -> None:
    tested = [one for one in measured() if one.tests]
    weights = [abs(one.weights) for one in tested if one.weights is not None]
    # A small model's weights are little beside what the allocator rounds up.
    assert all(abs(one.weights) <= max(0.03, 0.15 / one.entry["weights"]) for one in tested if one.weights is not None)
    assert median(weights) <= 0.02
    assert max(abs(one.row) for one in tested if one.row is not None) <= 0.005
    # A pool of a few GiB is little beside what a host that shares the memory takes meanwhile.
    assert all(abs(one.pool) <= max(0.01, 0.06 / one.entry["kv_gib"]) for one in tested if one.pool is not None)
    assert median([abs(one.tokens) for one in tested if one.tokens is not None]) <= 0.08
    inside = [one.inside for one in tested if one.inside is not None]
    assert sum(inside) >= 0.9 * len(inside)
    assert all(one.estimate.fits in (one.outcome, None) for one in tested if one.outcome is not None)


def test_halves_stand_by_themselves() -> None:
    found = measured()
    assert len({one.entry["id"] for one in found}) == len(found) >= 50
    assert sum("half" in one.entry for one in found) == 32
    assert 0.4 <= sum(one.tests for one in found) / len(found) <= 0.6


def test_the_bytes_of_deepseek_v4_are_what_sglang_prints() -> None:
    older = Preflight("0.5.18")
    checked = older.engine.check("deepseek-ai/DeepSeek-V4-Flash", older.machine("8xH200"), ["--tp", "8"])
    assert checked.resolution is not None
    found = memory(older.knowledge.names, checked.resolution.values)
    assert found is not None
    assert found.token_bytes == pytest.approx(7705.45, abs=0.005)


def test_the_table_is_up_to_date() -> None:
    assert table(list(measured())) in DOCUMENT.read_text(encoding="utf-8")


@pytest.mark.parametrize("model", ["meta-llama/Llama-3.1-70B", "deepseek-ai/DeepSeek-V3", "google/gemma-4-26B-A4B-it"])
def test_more_memory_never_hurts(model: str) -> None:
    before = None
    for gpu in ("8xH100", "8xH200", "8xB200", "8xB300"):
        now = asked(model, gpu, "--tp", "8", "--mem-fraction-static", "0.85")
        if before is not None:
            assert now.pool.least >= before.pool.least
            assert now.pool.most >= before.pool.most
            assert not (before.fits is True and now.fits is not True)
        before = now


@pytest.mark.parametrize("gpu", ["4xA100", "8xH100", "8xB200"])
def test_bounds_are_in_order(gpu: str) -> None:
    for model in PUBLISHED:
        found = asked(model, gpu)
        for interval in (found.weights, found.pool, found.tokens):
            if interval is not None:
                assert interval.least <= interval.likely <= interval.most


def test_a_model_too_large_is_refused_with_a_way_out() -> None:
    found = preflight().recommend("meta-llama/Llama-3.1-70B", "1xH100", top=1)
    assert not found.solutions
    assert found.explanation is not None
    assert any(
        one.rule is not None and one.rule.id == "weights-fit-the-gpu" for one in found.explanation.cores[0].elements
    )
    first = found.explanation.fixes[0]
    assert first.num_gpus == 2
    assert "--tp-size" in first.args


def test_ranks_share_weights_and_copy_kv_heads() -> None:
    one, eight = asked("Qwen/Qwen3-8B", "8xH100"), asked("Qwen/Qwen3-8B", "8xH100", "--tp", "8")
    assert eight.weights.likely < one.weights.likely / 7 + 400
    assert one.token_bytes == 36 * 8 * 128 * 2 * 2
    assert eight.token_bytes == 36 * 128 * 2 * 2
    assert asked("Qwen/Qwen3-8B", "16xH100", "--tp", "16").token_bytes == eight.token_bytes


def test_states_take_their_share_or_their_number() -> None:
    model, words = "Qwen/Qwen3-Next-80B-A3B-Instruct", ("--tp", "2", "--mem-fraction-static", "0.85")
    shared = asked(model, "2xB200", *words)
    some = asked(model, "2xB200", *words, "--max-mamba-cache-size", "64")
    more = asked(model, "2xB200", *words, "--max-mamba-cache-size", "128")
    assert some.pool.likely - more.pool.likely == pytest.approx(64 * 38633472 / 2**20)
    whole = some.pool.likely + 64 * 38633472 / 2**20
    assert shared.pool.likely == pytest.approx(whole / 1.9)


def test_a_limit_caps_the_tokens() -> None:
    found = asked("Qwen/Qwen3-8B", "H100", "--max-total-tokens", "1000")
    assert found.tokens is not None
    assert found.tokens.most == 1000
    requests = found.requests(100)
    assert requests is not None
    assert requests.likely == 10


@pytest.mark.parametrize(
    ("model", "gpu", "fewest"), [("Qwen/Qwen3-8B", "H100", 1), ("meta-llama/Llama-3.1-70B", "H100", 4)]
)
def test_the_fewest_gpus_that_do(model: str, gpu: str, fewest: int) -> None:
    profile = preflight().profile("balanced")
    fewer, found = recommend_up_to(preflight(), 8, model, preflight().machine(gpu), profile, {}, 1)
    assert found.subject.num_gpus == fewest
    assert all(count < fewest for count in fewer)
    memory = found.solutions[0].memory
    assert memory is not None
    assert memory.fits
