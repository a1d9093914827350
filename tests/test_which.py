"""Reverse questions: for which GPUs, counts, releases and checkpoints something holds; refutations that are carried."""

from __future__ import annotations

from functools import cache

import pytest

from solver.api import Preflight
from solver.machine import platform_of
from solver.place import Place, at_gpu
from solver.witness import Refutation, reach

DEEPSEEK = "deepseek-ai/DeepSeek-V3"


@cache
def preflight() -> Preflight:
    return Preflight("0.5.23")


def test_gpus_of_a_backend() -> None:
    found = preflight().which("gpu", DEEPSEEK, "8xB200", pins={"attention_backend": "trtllm_mla"})
    works = {one.value for one in found.answers if one.works}
    assert {"B200", "GB200", "B300"} <= works
    assert not {"H100", "H200", "A100", "MI300X"} & works
    for one in found.answers:
        if one.works:
            assert one.command is not None
            machine = platform_of(preflight().knowledge, str(one.value), num_gpus=8)
            again = preflight().check(DEEPSEEK, machine, one.command.args)
            assert again.holds
            assert again.effective["attention_backend"] == "trtllm_mla"
        else:
            assert one.works is False
            assert one.because
    reasons = {one.value: {hit.rule.id for hit in one.because} for one in found.answers}
    assert "trtllm-mla-needs-blackwell" in reasons["H200"]
    assert "weights-fit-the-gpu" in reasons["RTX5090"]


def test_counts_of_a_command() -> None:
    found = preflight().which("num_gpus", DEEPSEEK, "8xH200", arguments=["--tp", "4"])
    assert {one.value: one.works for one in found.answers} == {1: False, 2: False, 4: False, 8: False}


def test_releases_of_a_value_that_is_gone() -> None:
    found = preflight().which("release", DEEPSEEK, "8xB200", pins={"attention_backend": "tokenspeed_mla"})
    answers = {one.value: one for one in found.answers}
    assert answers["0.5.18"].works
    assert not answers["0.5.23"].works
    assert [hit.rule.id for hit in answers["0.5.23"].because] == ["alias-attention-backend"]


@pytest.mark.parametrize("name", ["H100", "A100", "L40S"])
def test_a_carried_refutation_is_found_again(name: str) -> None:
    start = Place(preflight().engine, DEEPSEEK, preflight().machine("8xH200"))
    outcome = {"attention_backend": "trtllm_mla"}
    found = reach(start, outcome)
    assert isinstance(found, Refutation)
    other = at_gpu(start, name)
    if found.stands_at(other):
        assert isinstance(reach(other, outcome), Refutation)
    assert not found.stands_at(at_gpu(start, "B200"))
