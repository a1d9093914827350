"""One server or several on the same GPUs: each split is asked as a question of its own, and all fits 80 columns."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from solver import Preflight
from solver.cli.app import run
from solver.errors import InputError
from solver.estimate.roofline import Workload
from solver.render import servers as beside
from solver.servers import splits


@pytest.fixture(scope="module")
def preflight() -> Preflight:
    return Preflight()


def test_each_split_is_a_question_of_its_own(preflight: Preflight) -> None:
    profile, served = preflight.profile("throughput"), Workload(1024, 256, 88)
    found = splits(preflight.engine, "Qwen/Qwen3-8B", preflight.machine("4xH100"), profile, {}, served)
    assert [(one.servers, one.num_gpus) for one in found] == [(1, 4), (2, 2), (4, 1)]
    for one in found:
        share = replace(served, concurrency=served.concurrency // one.servers)
        answer = preflight.recommend("Qwen/Qwen3-8B", f"{one.num_gpus}xH100", profile=profile, top=1, workload=share)
        assert answer.solutions[0].args == one.best.args
        assert answer.solutions[0].roofline is not None
        assert one.rate == pytest.approx(answer.solutions[0].roofline.rate * one.servers)


def test_requests_that_do_not_divide_are_counted_once(preflight: Preflight) -> None:
    profile, served = preflight.profile("throughput"), Workload(1024, 256, 3)
    found = splits(preflight.engine, "Qwen/Qwen3-8B", preflight.machine("4xH100"), profile, {}, served)
    # A fourth server would have no request.
    assert [one.servers for one in found] == [1, 2]
    assert found[1].running == pytest.approx(3)
    bounds = []
    for concurrency in (1, 2):
        share = replace(served, concurrency=concurrency)
        answer = preflight.recommend("Qwen/Qwen3-8B", "2xH100", profile=profile, top=1, workload=share)
        assert answer.solutions[0].args == found[1].best.args
        assert answer.solutions[0].roofline is not None
        bounds.append(answer.solutions[0].roofline.rate)
    assert found[1].rate == pytest.approx(sum(bounds))


def test_one_request_has_one_server(preflight: Preflight) -> None:
    profile = preflight.profile("throughput")
    found = splits(preflight.engine, "Qwen/Qwen3-8B", preflight.machine("8xH100"), profile, {}, Workload(1024, 256, 1))
    assert [one.servers for one in found] == [1]


def test_every_even_division_is_held(preflight: Preflight) -> None:
    profile = preflight.profile("throughput")
    found = splits(preflight.engine, "Qwen/Qwen3-8B", preflight.machine("6xH100"), profile, {})
    assert [(one.servers, one.num_gpus) for one in found] == [(1, 6), (2, 3), (3, 2), (6, 1)]


def test_one_of_a_thing_is_said_so(preflight: Preflight, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["recommend", "Qwen/Qwen3-8B", "H100", "--top", "1", "--servers", "--concurrency", "1"]) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert "The same GPU as servers that share nothing, 1 request divided" in said
    assert "tokens a second for 1 request of" in said


@pytest.mark.parametrize("form", ["command", "docker", "compose", "kubernetes", "config"])
def test_a_launch_has_no_place_for_the_table(form: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["recommend", "Qwen/Qwen3-8B", "2xH100", "--servers", "--format", form]) == 2
    assert "--servers" in capsys.readouterr().err


def test_servers_are_as_many_as_the_model_has_room_for(preflight: Preflight) -> None:
    found = splits(
        preflight.engine, "meta-llama/Llama-3.1-70B", preflight.machine("8xH100"), preflight.profile("throughput"), {}
    )
    assert [one.servers for one in found] == [1, 2, 4]


def test_one_node_alone_is_divided(preflight: Preflight) -> None:
    platform = replace(preflight.machine("8xH100"), nodes=2)
    with pytest.raises(InputError):
        splits(preflight.engine, "Qwen/Qwen3-8B", platform, preflight.profile("balanced"), {})


def test_the_table_fits(preflight: Preflight) -> None:
    profile = preflight.profile("throughput")
    found = splits(preflight.engine, "Qwen/Qwen3-30B-A3B-FP8", preflight.machine("4xB200"), profile, {})
    said = beside.table(found, Workload(*profile.workload))
    assert max(map(len, said.splitlines())) <= 80
    assert len(beside.as_data(found)) == len(found)


def test_the_command_line_asks_for_it(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["recommend", "Qwen/Qwen3-8B", "2xH100", "--top", "1", "--servers", "--format", "json"]) == 0
    assert [one["servers"] for one in json.loads(capsys.readouterr().out)["servers"]] == [1, 2]
    assert run(["recommend", "Qwen/Qwen3-8B", "H100", "--servers", "--max-gpus", "2"]) == 2
