"""Every form a configuration is written in is read again and launches the same; findings in the forms of CI tools."""

from __future__ import annotations

import json
import random
import shlex
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest
import yaml

from constraints import store
from solver.cli.app import run
from solver.cli.launching import FORMS, Configured, written
from solver.cli.options import LaunchFormat
from solver.file_check import Asked, FileChecker
from solver.machine import platform_of
from tests.gguf_files import gguf_case

DATA = Path(__file__).parent / "data"
QUESTIONS = [
    ("Qwen/Qwen3-8B", "H100", "0.5.23", {}),
    ("Qwen/Qwen3-8B", "4xMI300X", "0.5.18", {"SGLANG_USE_AITER": "1"}),
    ("deepseek-ai/DeepSeek-V3", "8xB200", "0.5.23", {"A": "it's: {x}"}),
    ("Qwen/Qwen3-8B", "2xB200", "0.5.18", {}),
]
NAMES = {LaunchFormat.compose: "compose.yaml", LaunchFormat.kubernetes: "pod.yaml", LaunchFormat.config: "c.yaml"}


@pytest.mark.parametrize("form", FORMS, ids=[form.value for form in FORMS])
@pytest.mark.parametrize(("model", "gpu", "release", "env"), QUESTIONS, ids=["qwen", "amd", "deepseek", "old"])
def test_what_is_written_is_read_again(
    form: LaunchFormat, model: str, gpu: str, release: str, env: dict[str, str]
) -> None:
    checker = FileChecker(Asked(gpu, None, release, why=False))
    preflight = checker.preflight(None)
    platform = platform_of(preflight.knowledge, gpu)
    for one in preflight.recommend(model, platform, top=12).solutions:
        made = Configured(model, one.args, platform.gpu.name, platform.num_gpus, release, one.effective)
        text = written(form, [made], preflight, platform, env)
        report = checker.check(text, NAMES.get(form, "run.sh"))
        assert report.holds
        (launch,) = report.launches
        typed = {name: value for name, value in launch.report.typed.items() if name != "model_path"}
        if form is LaunchFormat.kubernetes:  # a pod that listens to itself alone serves nobody
            assert typed.pop("host") == "0.0.0.0"
        assert typed == dict(one.typed)
        assert launch.report.effective["attention_backend"] == one.effective["attention_backend"]
        if form not in (LaunchFormat.command, LaunchFormat.config):
            assert dict(launch.launch.env) == env
            assert launch.launch.release == release


def test_a_pod_says_its_gpu(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert run(["recommend", "Qwen/Qwen3-8B", "2xH100", "--top", "1", "--format", "kubernetes"]) == 0
    file = tmp_path / "pod.yaml"
    file.write_text(capsys.readouterr().out)
    assert run(["check", str(file)]) == 0
    assert "on 2xH100" in capsys.readouterr().out


BOXES = [LaunchFormat.docker, LaunchFormat.compose, LaunchFormat.kubernetes]


@pytest.mark.parametrize("folder", ["models/mine", "it's a $x {y}"])
@pytest.mark.parametrize("form", BOXES, ids=[form.value for form in BOXES])
def test_a_local_folder_is_shown_to_the_container(
    form: LaunchFormat,
    folder: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    place = tmp_path / folder
    place.mkdir(parents=True)
    (tmp_path / "blobs").mkdir()
    (tmp_path / "blobs" / "1").write_text(store.catalogue().configs["Qwen3-8B.json"])
    (place / "config.json").symlink_to(tmp_path / "blobs" / "1")
    monkeypatch.chdir(tmp_path)
    # The file of the config stands for its folder.
    assert run(["recommend", f"{folder}/config.json", "H100", "--top", "1", "--format", form.value]) == 0
    text = capsys.readouterr().out
    report = FileChecker(Asked("H100", why=False)).check(text, NAMES.get(form, "run.sh"))
    assert report.holds
    assert report.launches[0].report.typed["model_path"] == str(place)
    if form is LaunchFormat.docker:
        words = shlex.split(text)
        assert {f"{place}:{place}:ro", f"{tmp_path}/blobs:{tmp_path}/blobs:ro"} < set(words)
    elif form is LaunchFormat.compose:
        (document,) = yaml.safe_load_all(text)
        bound = document["services"]["sglang"]["volumes"][1:]
        assert [one["source"].replace("$$", "$") for one in bound] == [str(place), f"{tmp_path}/blobs"]
        assert all(one["read_only"] for one in bound)
    else:
        (document,) = yaml.safe_load_all(text)
        pod = document["spec"]["template"]["spec"]
        assert [one["hostPath"]["path"] for one in pod["volumes"][1:]] == [str(place), f"{tmp_path}/blobs"]
        assert all(one["readOnly"] for one in pod["containers"][0]["volumeMounts"][1:])


@pytest.mark.parametrize("form", BOXES, ids=[form.value for form in BOXES])
def test_a_lone_file_is_shown_as_a_file(form: LaunchFormat, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "mine.jinja"
    file.write_text("")
    words = ["recommend", "Qwen/Qwen3-8B", "H100", "--top", "1", "--set", f"chat_template={file}"]
    assert run([*words, "--format", form.value]) == 0
    text = capsys.readouterr().out
    if form is LaunchFormat.docker:
        assert f"-v {file}:{file}:ro" in text
        assert f"-v {tmp_path}:" not in text
    elif form is LaunchFormat.compose:
        (document,) = yaml.safe_load_all(text)
        assert [one["source"] for one in document["services"]["sglang"]["volumes"][1:]] == [str(file)]
    else:
        (document,) = yaml.safe_load_all(text)
        volumes = document["spec"]["template"]["spec"]["volumes"][1:]
        assert [one["hostPath"] for one in volumes] == [{"path": str(file), "type": "File"}]


@pytest.mark.parametrize("form", BOXES, ids=[form.value for form in BOXES])
@pytest.mark.parametrize("named", ["mine={}", "{}", '{{"lora_name": "mine", "lora_path": "{}"}}'])
def test_adapters_are_shown_to_the_container(
    named: str, form: LaunchFormat, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "adapter"
    folder.mkdir()
    words = ["recommend", "Qwen/Qwen3-8B", "H100", "--top", "1"]
    setting = shlex.quote(named.format(folder))
    assert run([*words, "--set", f"lora_paths={setting}", "--format", form.value]) == 0
    text = capsys.readouterr().out
    if form is LaunchFormat.docker:
        assert f"-v {folder}:{folder}:ro" in text
        assert f"-v {tmp_path}:" not in text
    else:
        assert text.count(str(folder)) >= 3


def test_an_adapter_by_a_relative_path_is_named_by_its_full_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "a").mkdir()
    monkeypatch.chdir(tmp_path)
    words = ["recommend", "Qwen/Qwen3-8B", "H100", "--top", "1", "--set", "lora_paths=mine=./a other=none/there"]
    assert run([*words, "--format", "docker"]) == 0
    assert f"--lora-paths mine={tmp_path}/a other=none/there" in capsys.readouterr().out


def test_a_checkpoint_of_one_file_is_shown_alone(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "mine.gguf"
    file.write_bytes(gguf_case("llama"))
    assert run(["recommend", str(file), "H100", "--top", "1", "--format", "docker"]) == 0
    text = capsys.readouterr().out
    assert f"-v {file}:{file}:ro" in text
    assert f"-v {tmp_path}:" not in text


def test_a_file_beside_the_model_is_shown_with_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "config.json").write_text(store.catalogue().configs["Qwen3-8B.json"])
    (tmp_path / "mine.jinja").write_text("")
    words = ["recommend", str(tmp_path), "H100", "--top", "1", "--set", f"chat_template={tmp_path}/mine.jinja"]
    assert run([*words, "--format", "docker"]) == 0
    assert capsys.readouterr().out.count(":ro") == 1


def test_a_name_is_no_path_though_a_folder_is_called_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "org" / "m").mkdir(parents=True)
    monkeypatch.chdir(tmp_path)
    words = ["recommend", "Qwen/Qwen3-8B", "H100", "--top", "1", "--set", "served_model_name=org/m"]
    assert run([*words, "--format", "docker"]) == 0
    text = capsys.readouterr().out
    assert "--served-model-name org/m" in text
    assert str(tmp_path) not in text


@pytest.mark.parametrize("value", ["~nobody-of-that-name/x", "./" + "b" * 300], ids=["home", "long"])
def test_what_cannot_be_a_path_stays_as_it_is(value: str, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["recommend", "Qwen/Qwen3-8B", "H100", "--top", "1", "--set", f"chat_template={value}"]
    assert run([*words, "--format", "docker"]) == 0
    assert value in capsys.readouterr().out


def test_a_model_below_no_home_is_no_model(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["recommend", "~nobody-of-that-name/x", "H100"]) == 2
    assert "~nobody-of-that-name/x" in capsys.readouterr().err


def test_paths_are_flags_of_some_release() -> None:
    known = [store.knowledge_of(release) for release in store.known_releases()]
    named = known[-1].roles["reads"].split()
    assert len(set(named)) == len(named)
    assert all(any(name in one.flags for one in known) for name in named)


def test_fixes_are_written_too(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert run(["explain", "Qwen/Qwen3-8B", "H200", "--set", "attention_backend=trtllm_mla", "--format", "docker"]) == 1
    text = capsys.readouterr().out
    assert text.startswith("docker run")
    file = tmp_path / "run.sh"
    file.write_text(text)
    assert run(["check", "H200", str(file), "--quiet"]) == 0
    assert capsys.readouterr().out == ""


def _answers(form: str, capsys: pytest.CaptureFixture[str]) -> str:
    files = [str(DATA / "intake" / name) for name in ("compose-list.yml", "pair-dtype.sh", "helm-template.yaml")]
    assert run(["check", "8xH100", *files, "--model", "Qwen/Qwen3-8B", "--no-why", "--format", form]) == 1
    return capsys.readouterr().out


def test_sarif_is_valid(capsys: pytest.CaptureFixture[str]) -> None:
    jsonschema = pytest.importorskip("jsonschema")
    log = json.loads(_answers("sarif", capsys))
    jsonschema.validate(log, json.loads((DATA / "sarif-schema-2.1.0.json").read_text(encoding="utf-8")))
    results = log["runs"][0]["results"]
    rules = log["runs"][0]["tool"]["driver"]["rules"]
    assert all(rules[one["ruleIndex"]]["id"] == one["ruleId"] for one in results)
    assert "pair-kv-dtype" in {one["ruleId"] for one in results}
    assert all("region" in one["locations"][0]["physicalLocation"] for one in results)


def test_annotations_keep_to_a_line_each(capsys: pytest.CaptureFixture[str]) -> None:
    rows = _answers("github", capsys).splitlines()
    assert len(rows) >= 5
    assert all(row.startswith(("::error file=", "::warning file=", "::notice file=")) for row in rows)


def test_junit_counts_its_failures(capsys: pytest.CaptureFixture[str]) -> None:
    tree = ElementTree.fromstring(_answers("junit", capsys))
    assert int(tree.attrib["failures"]) == len(tree.findall(".//failure")) == 3
    assert int(tree.attrib["tests"]) == len(tree.findall(".//testcase")) == 5


def test_json_names_places(capsys: pytest.CaptureFixture[str]) -> None:
    data = json.loads(_answers("json", capsys))
    assert [len(one["launches"]) for one in data["files"]] == [1, 2, 1]
    finding = data["files"][0]["launches"][0]["findings"][0]
    assert finding["places"][0]["line"] == 10
    assert data["files"][1]["pairs"][0]["rule"] == "pair-kv-dtype"
    assert data["files"][2]["launches"][0]["unknown"]


def test_tools_take_a_command_as_well(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["check", "H200", "--no-why", "--format", "github", "--", "--model-path", "Qwen/Qwen3-8B"]
    assert run([*words, "--attention-backend", "trtllm_mla"]) == 1
    assert capsys.readouterr().out.startswith("::error file=command,line=1,col=")


def test_quoted_scalars_mean_their_text() -> None:
    from solver.intake.yamltree import read_documents
    from solver.render.launch import quoted

    generator = random.Random(6)
    texts = [
        "yes",
        "No",
        "null",
        "1e3",
        "0x10",
        "1_000",
        "-m",
        "--a-b",
        "~",
        "",
        " a",
        "a: b",
        "#x",
        "é",
        "\U0001f600",
        "a\tb",
    ]
    texts += ["".join(generator.choice("a-:#'\"\\{}[]$%&*!|>@` \n\t0.") for _ in range(8)) for _ in range(300)]
    for text in texts:
        (document,) = read_documents(f"k: {quoted(text)}\n", "x")
        node = document.get("k")
        assert node is not None
        assert node.text == text
        assert node.style or text not in ("yes", "No", "null", "1e3", "0x10", "1_000", "~", "")


def test_a_model_without_flags_is_a_command(capsys: pytest.CaptureFixture[str]) -> None:
    for form in (["--quiet"], ["--format", "github"]):
        assert run(["check", "H100", "--model", "Qwen/Qwen3-8B", *form]) == 0
    assert not capsys.readouterr().err


@pytest.mark.parametrize(
    ("form", "count"), [("docker", "--gpus 1 "), ("kubernetes", "nvidia.com/gpu: 1"), ("compose", "count: 1")]
)
def test_gpus_that_the_server_leaves_idle_are_not_reserved(
    form: str, count: str, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["recommend", "Qwen/Qwen3-8B", "3xH100", "--set", "tp_size=1", "--top", "1", "--format", form]
    assert run(words) == 0
    assert count in capsys.readouterr().out.replace("\\\n", " ")
