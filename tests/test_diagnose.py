"""Logs -> rules: recorded refusals wrapped as SGLang prints them, messages of other releases, and what is unknown."""

from __future__ import annotations

import json
import random
from functools import cache
from pathlib import Path

import pytest

from constraints import store, symptoms
from constraints.errors import KnowledgeError
from constraints.messages import tokens
from solver.api import Preflight
from solver.cli.app import run
from solver.errors import InputError
from solver.intake.log import read_log
from tests.conformance.corpus import read
from tests.conformance.logs import expected, named, printed, wrap

HERE = Path(__file__).resolve().parent
SEEDS = sorted((HERE.parents[1] / "shared" / "seeds").glob("*.json"))
RELEASES = ("0.5.18", "0.5.23")
FRAME = '  File "/x/sglang/srt/layers/attention/attention_registry.py", line 280, in create_trtllm_mha_backend'


@cache
def preflight(release: str) -> Preflight:
    return Preflight(release)


@pytest.mark.parametrize("style", ["traceback and values", "traceback and command"])
@pytest.mark.parametrize("release", RELEASES)
def test_recorded_refusals(release: str, style: str) -> None:
    """Records hold the first words of a message only: a log is cut short more often than not."""
    asked = preflight(release)
    cases = [
        {**case, "message": case.get("words", "").removeprefix("ValueError: "), "error_type": "ValueError"}
        for case in read(HERE / "conformance" / f"corpus-{release}.jsonl.gz")
        if case["verdict"] == "refused" and expected(asked, case.get("where", ""))
    ]
    wrong = []
    drawn = random.Random(5).sample(cases, 40)
    for case in drawn:
        case["args"] = [word.removeprefix("@") for word in case["args"]]
        found = asked.diagnose(wrap(case, printed(asked, case), style), why=False)
        if named(found) not in expected(asked, case["where"]):
            wrong.append((case["id"], case["where"], named(found)))
        elif found.finding is not None:
            assert found.report is not None
            assert found.finding in found.report.findings
    assert len(wrong) <= len(drawn) * 0.02, wrong


@pytest.mark.skipif(not SEEDS, reason="the field cases are not beside this repository")
@pytest.mark.parametrize("path", SEEDS, ids=lambda path: path.stem)
def test_seeds(path: Path) -> None:
    record = json.loads(path.read_text(encoding="utf-8"))["record"]
    file = record["filePath"].removeprefix("python/")
    log = f'Traceback (most recent call last):\n  File "/x/{file}", line {record["lineNumber"]}, in check\n    raise\n'
    found = preflight("0.5.23").diagnose(f"{log}{record['errorClass']}: {record['errorMessage']}\n", why=False)
    assert found.recognised
    assert named(found).startswith(record["slug"].split("-backend")[0].replace("tensorrt-llm", "trtllm"))


def test_the_cause_the_way_out_and_what_comes_next() -> None:
    text = (
        "+ python3 -m sglang.launch_server --model-path deepseek-ai/DeepSeek-V3 --tp 8 "
        "--attention-backend trtllm_mla --kv-cache-dtype fp8_e5m2\n8x NVIDIA H200\n"
        "Traceback (most recent call last):\n"
        '  File "/x/sglang/srt/arg_groups/overrides.py", line 1211, in _mla_kv_cache_dtype_checks\n'
        "ValueError: backend is only supported on Blackwell GPUs (SM100/SM12x).\n"
    )
    found = preflight("0.5.23").diagnose(text)
    assert named(found) == "trtllm-mla-needs-blackwell"
    assert found.finding is not None
    assert [one.rule.id for one in found.following] == ["trtllm-mla-kv-dtypes"]
    assert found.report is not None
    assert found.report.explanation is not None
    assert found.report.explanation.fixes


@pytest.mark.parametrize(
    "message",
    [
        "RuntimeError: NCCL error in: ProcessGroupNCCL.cpp:3356, unhandled cuda error",
        "FileNotFoundError: [Errno 2] No such file or directory: 'model.safetensors.index.json'",
        "KeyError: 'lm_head.weight'",
    ],
)
def test_unknown_messages_are_not_guessed(message: str) -> None:
    log = f'Traceback (most recent call last):\n  File "/x/sglang/srt/a.py", line 1, in f\n    f()\n{message}\n'
    found = preflight("0.5.23").diagnose(log)
    assert not found.recognised
    assert all(match.how == "near" and 0 < match.distance < 1 for match in found.matches)
    assert found.finding is None


LOADING = '  File "/x/sglang/srt/model_loader/loader.py", line 1, in load_model'
GRAPHS = '  File "/x/sglang/srt/model_executor/runner/prefill_cuda_graph_runner.py", line 1, in capture'
SERVING = '  File "/x/sglang/srt/managers/scheduler.py", line 1, in run_batch'
FORWARD = '  File "/x/sglang/srt/models/qwen3.py", line 1, in forward'
GENERATION = '  File "/x/sglang/srt/managers/tp_worker.py", line 1, in forward_batch_generation'
CACHE = '  File "/x/sglang/srt/mem_cache/memory_pool.py", line 1, in __init__'
REPLAY = '  File "/x/sglang/srt/model_executor/runner/decode_cuda_graph_runner.py", line 1, in execute'
# Messages as both releases and public logs have them, cut to what tells them.
OUT_OF_MEMORY = (
    "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 3.50 GiB. GPU 0 has a total capacity of 1"
)
MEMORY: list[tuple[str, str, str, str | None]] = [
    (OUT_OF_MEMORY, LOADING, "gpu-out-of-memory", "while the weights load"),
    (OUT_OF_MEMORY.replace("torch.", "torch.cuda."), GRAPHS, "gpu-out-of-memory", "while CUDA graphs are captured"),
    (OUT_OF_MEMORY.replace("CUDA", "HIP"), SERVING, "gpu-out-of-memory", "while requests are served"),
    # The code of a model runs while requests are served, graphs are captured, and never while its weights load.
    (OUT_OF_MEMORY, f"{GENERATION}\n    f()\n{FORWARD}", "gpu-out-of-memory", "while requests are served"),
    (OUT_OF_MEMORY, f"{GENERATION}\n    f()\n{REPLAY}", "gpu-out-of-memory", "while requests are served"),
    (OUT_OF_MEMORY, f"{GRAPHS}\n    f()\n{FORWARD}", "gpu-out-of-memory", "while CUDA graphs are captured"),
    (OUT_OF_MEMORY, FORWARD, "gpu-out-of-memory", None),
    (OUT_OF_MEMORY, CACHE, "gpu-out-of-memory", "while the KV cache is laid out"),
    (f"Exception: Capture CUDA graph failed: {OUT_OF_MEMORY[24:]}", GRAPHS, "gpu-out-of-memory", "while CUDA graphs"),
    (
        "RuntimeError: Not enough memory. Please try to increase --mem-fraction-static. Current value: x=0.5",
        '  File "/x/sglang/srt/model_executor/pool_configurator.py", line 99, in __post_init__',
        "no-room-for-kv-cache",
        "",
    ),
    ("AssertionError: Memory pool size is too small", SERVING, "pool-for-no-request", ""),
    ("RuntimeError: Prefill out of memory. Try to lower your batch size.", SERVING, "kv-cache-full", ""),
    ("RuntimeError: Decode out of memory. Try to lower your batch size.", SERVING, "kv-cache-full", ""),
    ("RuntimeError: alloc_req_slots runs out of memory. Please set", SERVING, "request-slots-full", ""),
]


@pytest.mark.parametrize("release", RELEASES)
@pytest.mark.parametrize(("message", "frame", "symptom", "moment"), MEMORY)
def test_a_lack_of_memory_is_known(release: str, message: str, frame: str, symptom: str, moment: str | None) -> None:
    log = f"Traceback (most recent call last):\n{frame}\n    f()\n{message}\n"
    found = preflight(release).diagnose(log, why=False)
    assert found.recognised
    assert found.symptom is not None
    assert found.symptom.id == symptom
    if moment is None:
        assert found.moment is None
    else:
        assert (found.moment.title if found.moment else "").startswith(moment)
    assert found.matches == ()
    assert set(found.missing) == {"configuration", "gpu", "model"}


def test_what_would_fit_is_said(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    file = tmp_path / "a.log"
    file.write_text(f"Traceback (most recent call last):\n{LOADING}\n    f()\n{OUT_OF_MEMORY}\n")
    given = ["--gpu", "4xH100", "--args", "--model-path deepseek-ai/DeepSeek-V3 --tp 4"]
    assert run(["diagnose", str(file), *given]) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert "No mem_fraction_static makes it fit. On 16 GPUs it fits, with --tp-size 16:" in said
    found = preflight("0.5.23").diagnose(
        file.read_text(), gpu="H100", command="--model-path Qwen/Qwen3-32B --mem-fraction-static 0.5", why=False
    )
    assert found.room is not None
    assert found.room.now is not None
    assert found.room.now.share is not None
    assert 0.75 < found.room.now.share[0] < found.room.now.share[1] < 0.95
    assert found.room.larger is not None
    assert found.room.larger.num_gpus == 2


HEADS = """--json-model-override-args '{"num_attention_heads": 40, "num_hidden_layers": 1280}'"""


@pytest.mark.parametrize(
    ("gpu", "command", "number"),
    [
        ("H100", "--model-path Qwen/Qwen3-235B-A22B --tp 2 --pp-size 2", 8),
        ("H100", "--model-path deepseek-ai/DeepSeek-V3 --tp 4 --pp-size 2", 16),
        ("H100", f"--model-path Qwen/Qwen3-32B --tp 4 {HEADS}", None),  # heads that 32 ranks cannot share
    ],
)
def test_what_is_advised_holds(gpu: str, command: str, number: int | None) -> None:
    """The advice is the command with its other flags: a rule of any stage may forbid what the memory allows."""
    asked = preflight("0.5.23")
    log = f"Traceback (most recent call last):\n{LOADING}\n    f()\n{OUT_OF_MEMORY}\n"
    found = asked.diagnose(log, gpu=gpu, command=command, why=False)
    assert found.room is not None
    larger = found.room.larger
    assert (larger.num_gpus if larger is not None else None) == number
    if larger is not None:
        report = asked.check(None, f"{number}x{gpu}", [*found.args, *larger.args], why=False)
        assert not [one for one in report.findings if one.severity == "error"]


def test_a_small_model_fits_by_the_estimate(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    file = tmp_path / "a.log"
    file.write_text(f"Traceback (most recent call last):\n{SERVING}\n    f()\n{OUT_OF_MEMORY}\n")
    assert run(["diagnose", str(file), "--gpu", "H100", "--args", "--model-path Qwen/Qwen3-8B"]) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert "It fits with mem_fraction_static between" in said
    assert "GPUs it fits" not in said


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (["--gpu", "XYZ"], "no GPU is called 'XYZ'"),
        (["--model", "no/such"], "no/such is not in the catalogue"),
        (["--args", "ls -l"], "--args: this is no launch command, and no flags"),
        (["--args", "--tp 8 --bogus"], "--args: SGLang 0.5.23 has no option --bogus"),
        (["--args", "--model-path Qwen/Qwen3-8B --tp x", "--gpu", "H100"], "'x' is no value for --tp"),
        (["--args", '--model-path "x'], "--args: a quote is opened and never closed"),
    ],
)
def test_what_is_given_beside_a_log_is_held_to_be_known(
    given: list[str], words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    log = HERE / "data" / "out_of_memory.log"
    assert run(["diagnose", str(log), *given]) == 2
    assert words in capsys.readouterr().err
    assert run(["diagnose", str(log)]) == 0
    assert '--args "FLAGS"' in capsys.readouterr().out.replace("\n", " ")


def test_flags_may_come_without_their_model(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["diagnose", str(HERE / "data" / "out_of_memory.log"), "--args", "--tp 8"]
    for more, lacks in (
        ([], "the GPU (--gpu 8xB200), the model (--model)."),
        (["--gpu", "H100"], "the model (--model)."),
    ):
        assert run([*words, *more]) == 0
        said = " ".join(capsys.readouterr().out.split())
        assert "What happened: a GPU has less memory free" in said
        assert f"What is missing to look into this configuration: {lacks}" in said
        assert "parsed" not in said
    assert run([*words, "--gpu", "H100", "--model", "Qwen/Qwen3-8B"]) == 0
    assert "In this configuration (Qwen/Qwen3-8B on 8xH100" in capsys.readouterr().out


def test_what_happened_comes_before_a_command_that_cannot_be_parsed(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    file = tmp_path / "a.log"
    log = (HERE / "data" / "out_of_memory.log").read_text()
    file.write_text(f"+ python3 -m sglang.launch_server --model-path Qwen/Qwen3-8B --bogus\n{log}")
    assert run(["diagnose", str(file), "--gpu", "H100"]) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert 0 < said.find("What happened: a GPU has less memory") < said.find("has no option --bogus")


@pytest.mark.parametrize("command", [["explain", "Qwen/Qwen3-8B", "H100"], ["diagnose", "-"]])
def test_an_open_quote_has_one_answer(command: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert run([*command, "--args", "--tp '8"]) == 2
    assert "--args: a quote is opened and never closed" in capsys.readouterr().err


def test_symptoms_are_read_with_every_fault(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "sglang").mkdir()
    (tmp_path / "sglang" / "symptoms.yaml").write_text("symptoms:\n  - {id: a}\n  - {title: b}\n")
    monkeypatch.setattr(symptoms, "HOME", tmp_path)
    with pytest.raises(KnowledgeError) as caught:
        symptoms.load_symptoms()
    assert [one.line for one in caught.value.faults] == [2, 3]


def test_a_text_without_a_failure() -> None:
    with pytest.raises(InputError):
        preflight("0.5.23").diagnose("INFO: server started\n" * 200)


def test_another_prefix_on_every_line() -> None:
    lines = ["Traceback (most recent call last):", FRAME, "    raise", "ValueError: only non-MLA models"]
    plain, prefixed = read_log("\n".join(lines)), read_log("\n".join(f"sglang-1  | {line}" for line in lines))
    assert plain.frames == prefixed.frames != ()
    assert plain.message == prefixed.message


def test_arguments_of_both_forms() -> None:
    form = "server_args=ServerArgs(model_path='a', tp_size=8, x=<O a=1>, stop=[1, 2], text='a, b=1', end=None)"
    object_ = (
        "server_args={'model_path': 'a', 'tp_size': 8, 'x': <O a=1>, 'stop': [1, 2], 'text': 'a, b=1', 'end': None}"
    )
    wanted = {"model_path": "a", "tp_size": 8, "stop": (1, 2), "text": "a, b=1", "end": None}
    assert read_log(form + "\n").arguments == wanted
    assert read_log(object_ + "\n").arguments == wanted


def test_numbers_and_values_are_masked() -> None:
    assert tokens("needs 8 GPUs, got 4.5 of x=`fp8`.") == ("needs", "gpus", "got", "of", "fp8")
    assert tokens("size \0 of tp\0 is bad") == ("size", "of", "is", "bad")


def test_few_words_a_site() -> None:
    printed_ = store.messages()
    assert {one.release for one in printed_} == set(RELEASES)
    assert max(len(one.words) for one in printed_) <= 6
    for release in RELEASES:
        rules = preflight(release).knowledge.rules
        assert all(one.rule in rules for one in printed_ if one.release == release and one.rule)


@pytest.mark.parametrize("release", RELEASES)
def test_failures_after_the_start(release: str) -> None:
    """What fails while weights load or requests are served is known by line and words like what is refused early."""
    asked = preflight(release)
    words = {one.rule: one.words for one in store.messages() if one.release == release}
    late = [rule for rule in asked.knowledge.rules.values() if rule.stage in ("model-load", "serving")]
    tried = 0
    for rule in late:
        source = rule.source(release)
        if rule.id not in words or source is None or source.release != release:
            continue
        tried += 1
        frame = f'  File "/x/sglang/{source.file}", line {source.line}, in load'
        message = f"ValueError: {' '.join(words[rule.id])}"
        found = asked.diagnose(f"Traceback (most recent call last):\n{frame}\n    raise\n{message}\n", why=False)
        place = f"{source.file}:{source.line}"
        assert named(found) in expected(asked, place), (rule.id, named(found))
    assert tried > 30
