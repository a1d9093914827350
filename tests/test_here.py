"""`--here`: the GPUs that a driver tells, with a driver of our own; without one it is said clearly."""

from __future__ import annotations

import sys
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from constraints import store
from constraints.gpu_names import spelling
from solver.cli.app import run
from solver.errors import InputError
from solver.intake.here import gpus_here

H100, B200, ODD = "NVIDIA H100 80GB HBM3", "NVIDIA B200", "NVIDIA GeForce RTX 7777"
CAPABILITY = {H100: (9, 0), B200: (10, 0), ODD: (8, 9)}


class Fault(Exception):
    """What the driver's library raises."""


def driver(
    *names: str, broken: str = "", memory_mib: int = 81559, sliced: bool = False, old: bool = False
) -> ModuleType:
    """A stand-in for the driver's library; ``broken`` is the call that fails, ``old`` gives bytes for texts."""
    module = ModuleType("pynvml")

    def call(name: str, answer: Any) -> Any:
        def run_it(*given: Any) -> Any:
            if name == broken:
                raise Fault("Driver Not Loaded")
            found = answer(*given)
            return found.encode() if old and isinstance(found, str) else found

        return run_it

    answers = {
        "nvmlInit": lambda: None,
        "nvmlShutdown": lambda: None,
        "nvmlDeviceGetCount": lambda: len(names),
        "nvmlDeviceGetHandleByIndex": lambda place: place,
        "nvmlDeviceGetName": lambda place: names[place],
        "nvmlDeviceGetUUID": lambda place: f"GPU-{place}abc",
        "nvmlDeviceGetCudaComputeCapability": lambda place: CAPABILITY[names[place]],
        "nvmlDeviceGetMemoryInfo": lambda place: SimpleNamespace(total=(memory_mib + place) << 20),
        "nvmlDeviceGetMigMode": lambda place: (int(sliced), 0),
    }
    for name, answer in answers.items():
        setattr(module, name, call(name, answer))
    module.NVMLError = Fault  # type: ignore[attr-defined]
    return module


@pytest.fixture
def machine(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Puts GPUs into this machine."""
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)

    def put(*names: str, visible: str | None = None, **given: Any) -> None:
        monkeypatch.setitem(sys.modules, "pynvml", driver(*names, **given))
        if visible is not None:
            monkeypatch.setenv("CUDA_VISIBLE_DEVICES", visible)

    return put


def test_what_the_driver_tells(machine: Any) -> None:
    machine(*[H100] * 8)
    assert gpus_here() == (8, H100, "sm90", 81559)
    machine(*[H100] * 2, old=True)
    assert gpus_here() == (2, H100, "sm90", 81559)
    machine(*[H100] * 2, broken="nvmlDeviceGetMigMode")
    assert gpus_here().number == 2


@pytest.mark.parametrize(
    ("visible", "number"), [("0,1", 2), ("3", 1), ("GPU-2a", 1), ("0,9,1", 1), ("1, 2 ,3", 3), ("0,-1,2", 1)]
)
def test_hidden_gpus_do_not_count(machine: Any, visible: str, number: int) -> None:
    machine(*[H100] * 4, visible=visible)
    assert gpus_here().number == number


@pytest.mark.parametrize(
    ("names", "given", "said"),
    [
        ((H100,), {"broken": "nvmlInit"}, "no NVIDIA driver that answers"),
        ((H100,), {"broken": "nvmlDeviceGetName"}, "does not tell its GPUs"),
        ((), {}, "has no NVIDIA GPU"),
        ((H100,), {"visible": ""}, "hides every GPU"),
        ((H100, B200), {}, "several kinds of GPU: NVIDIA B200, NVIDIA H100"),
        ((H100,), {"sliced": True}, "cut into slices"),
    ],
)
def test_what_cannot_be_told_is_said(
    machine: Any, names: tuple[str, ...], given: dict[str, Any], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    machine(*names, **given)
    with pytest.raises(InputError, match=said):
        gpus_here()
    assert run(["recommend", "Qwen/Qwen3-8B", "--here"]) == 2
    assert said in capsys.readouterr().err


def test_a_package_that_is_missing_is_named(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "pynvml", None)
    assert run(["check", "--here", "--model", "Qwen/Qwen3-8B"]) == 2
    assert "sglang-preflight[here]" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "code", "shown"),
    [
        (["recommend", "Qwen/Qwen3-8B", "--here", "--top", "1"], 0, "on 2xH100"),
        (["check", "--here", "--", "--model-path", "Qwen/Qwen3-8B", "--tp", "4"], 1, "on 2xH100"),
        (["check", "--here", "--model", "Qwen/Qwen3-8B"], 0, "on 2xH100"),
        (["resolve", "--here", "--model", "Qwen/Qwen3-8B"], 0, "on 2xH100"),
        (["explain", "Qwen/Qwen3-8B", "--here", "--set", "attention_backend=trtllm_mla"], 1, "on 2xH100"),
    ],
    ids=lambda value: value[0] if isinstance(value, list) else None,
)
def test_commands_take_the_gpus_of_this_machine(
    machine: Any, words: list[str], code: int, shown: str, capsys: pytest.CaptureFixture[str]
) -> None:
    machine(H100, H100)
    assert run(words) == code
    assert shown in capsys.readouterr().out


def test_files_run_on_the_gpus_of_this_machine(machine: Any, tmp_path: Any, capsys: pytest.CaptureFixture[str]) -> None:
    machine(H100)
    file = tmp_path / "a.sh"
    file.write_text("python3 -m sglang.launch_server --model-path Qwen/Qwen3-8B\n")
    assert run(["check", "--here", str(file)]) == 0
    assert "on 1xH100" in capsys.readouterr().out


def test_a_gpu_that_is_not_known_by_name_is_one_of_its_capability(
    machine: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    machine(ODD, memory_mib=24_000)
    assert run(["check", "--here", "--facts", "--format", "json", "--model", "Qwen/Qwen3-8B"]) == 0
    answer = capsys.readouterr().out
    assert '"gpu": "sm89"' in answer
    assert '"gpu.memory_mib": 24000' in answer


def test_a_gpu_is_not_named_twice(machine: Any, capsys: pytest.CaptureFixture[str]) -> None:
    machine(H100)
    assert run(["recommend", "Qwen/Qwen3-8B", "B200", "--here"]) == 2
    assert "Leave one out" in capsys.readouterr().err


def test_names_as_drivers_tell_them_are_known() -> None:
    known = store.knowledge_of(store.known_releases()[-1]).gpus.spellings
    told = ["NVIDIA H200", "NVIDIA B200", "NVIDIA A100-SXM4-80GB", "NVIDIA GB200", "NVIDIA L40S", "NVIDIA H20"]
    told += [H100, "NVIDIA GeForce RTX 4090", "NVIDIA GeForce RTX 5090", "Tesla T4", "NVIDIA H100 PCIe", "NVIDIA L4"]
    told += ["NVIDIA RTX PRO 6000 Blackwell Server Edition", "NVIDIA B300 SXM6 AC", "NVIDIA H100 NVL", "NVIDIA A10G"]
    told += ["Tesla V100-SXM2-32GB", "NVIDIA A100 80GB PCIe", "NVIDIA GH200 480GB", "NVIDIA GB10", "NVIDIA A40"]
    assert [name for name in told if spelling(name) not in known] == []


def test_a_matrix_of_this_machine(machine: Any, capsys: pytest.CaptureFixture[str]) -> None:
    machine(B200, B200)
    words = ["matrix", "Qwen/Qwen3-8B", "--here", "--rows", "fa3,fa4", "--no-ways"]
    assert run(words) == 0
    said = capsys.readouterr().out
    assert "B200" in said
    assert "H100" not in said
    assert run([*words, "--by", "release"]) == 0
    assert "0.5.18" in capsys.readouterr().out
    assert run([*words, "--gpu", "H100"]) == 2
    assert "--here means those of this machine" in capsys.readouterr().err
