"""What is written is held against validators that are not ours: JSON schemas, compose, Kubernetes."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from solver.cli.app import run
from solver.render.machine import schema_text

DATA = Path(__file__).parent / "data"
INTAKE = DATA / "intake"
QUESTIONS = [
    ("Qwen/Qwen3-8B", "H100", "0.5.23"),
    ("Qwen/Qwen3-8B", "4xMI300X", "0.5.18"),
    ("deepseek-ai/DeepSeek-V3", "8xB200", "0.5.23"),
    ("openai/gpt-oss-120b", "2xH200", "0.5.23"),
]
ENVIRONMENT = ["SGLANG_USE_AITER=1", 'QUOTES=it\'s "$5" a: {b} #c', "EMPTY=", "NUMBER=0x10", "YES=yes"]


@cache
def answers() -> dict[str, Any]:
    found: dict[str, Any] = json.loads(schema_text())
    return found


def validate(data: Any, name: str) -> None:
    jsonschema = pytest.importorskip("jsonschema")
    jsonschema.validate(data, {**answers(), "anyOf": [{"$ref": f"#/$defs/{name}"}]})


def printed(words: list[str], capsys: pytest.CaptureFixture[str], code: int | None = None) -> str:
    outcome = run(words)
    assert code is None or outcome == code
    return capsys.readouterr().out


MLA = ["--attention-backend", "trtllm_mla"]
SERVE = ["--model-path", "Qwen/Qwen3-8B"]
ASKED = {
    "check that holds": ("check", ["check", "H100", "--facts", "--", *SERVE], 0),
    "check that does not": ("check", ["check", "H100", "--", *SERVE, *MLA], 1),
    "check that is not parsed": ("check", ["check", "H100", "--", *SERVE, "--attention-backend", "none"], 1),
    "resolve": ("check", ["resolve", "H100", "--", *SERVE], 0),
    "recommend": ("recommendation", ["recommend", "Qwen/Qwen3-8B", "H100", "--top", "2"], 0),
    "recommend in vain": (
        "recommendation",
        ["recommend", "Qwen/Qwen3-8B", "H100", "--set", "attention_backend=trtllm_mla"],
        1,
    ),
    "explain": ("explanation", ["explain", "Qwen/Qwen3-8B", "H100", "--set", "attention_backend=trtllm_mla"], 1),
    "which": ("survey", ["explain", "Qwen/Qwen3-8B", "8xH100", "--args", "--tp 4", "--which", "count"], 0),
    "diagnose": ("diagnosis", ["diagnose", str(DATA / "trtllm_mha.log")], 0),
    "diagnose memory": ("diagnosis", ["diagnose", str(DATA / "out_of_memory.log")], None),
    "files": (
        "files",
        ["check", "8xH100", "--model", "Qwen/Qwen3-8B"]
        + [str(INTAKE / name) for name in ("compose-list.yml", "pair-dtype.sh", "helm-template.yaml", "aiter.sh")],
        1,
    ),
}


@pytest.mark.parametrize("name", sorted(ASKED))
def test_answers_fit_their_schema(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    definition, words, code = ASKED[name]
    at = words.index("--") if "--" in words else len(words)
    text = printed([*words[:at], "--format", "json", *words[at:]], capsys, code)
    validate(json.loads(text), definition)
    assert json.loads(text)["schema"] == 1


def test_lines_of_a_batch_fit_their_schema(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    cases = [
        {"id": 1, "model": "Qwen/Qwen3-8B", "gpu": "H100", "args": []},
        {"id": 2, "model": "Qwen/Qwen3-8B", "gpu": "H100", "args": MLA},
        {"id": 3, "model": "Qwen/Qwen3-8B", "gpu": "H100", "args": ["--nonsense"]},
        {"id": "x", "model": "nobody/nothing", "gpu": "H100", "args": []},
        {"gpu": 3},
    ]
    file = tmp_path / "cases.jsonl"
    file.write_text("\n".join(map(json.dumps, cases)) + "\nnot json\n")
    rows = printed(["check", "--batch", str(file)], capsys).splitlines()
    assert len(rows) == 6
    for row in rows:
        validate(json.loads(row), "answer")


def test_the_schema_is_one_and_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    jsonschema = pytest.importorskip("jsonschema")
    jsonschema.Draft202012Validator.check_schema(answers())
    assert printed(["schema"], capsys, 0) == schema_text()
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({"schema": 2}, answers())


def test_yaml_says_what_json_says(capsys: pytest.CaptureFixture[str]) -> None:
    import yaml

    for words in (["recommend", "Qwen/Qwen3-8B", "H100", "--top", "1"], ["check", "H100", str(INTAKE / "aiter.sh")]):
        data = json.loads(printed([*words, "--format", "json"], capsys))
        assert yaml.safe_load(printed([*words, "--format", "yaml"], capsys)) == data


def written(form: str, question: tuple[str, str, str], capsys: pytest.CaptureFixture[str]) -> str:
    model, gpu, release = question
    words = ["recommend", model, gpu, "--release", release, "--top", "3", "--format", form]
    for setting in ENVIRONMENT:
        words += ["--env", setting]
    return printed(words, capsys, 0)


@pytest.mark.parametrize("question", QUESTIONS, ids=["qwen", "amd", "deepseek", "gpt-oss"])
def test_compose_files_are_compose_files(question: tuple[str, str, str], capsys: pytest.CaptureFixture[str]) -> None:
    validator = pytest.importorskip("compose_spec")
    for text in written("compose", question, capsys).split("---\n"):
        # The validator has no home folder, which compose puts in itself.
        text = text.replace("- ~/", "- /root/")
        service = validator.PyCompose.from_yaml(text).to_dict()["services"]["sglang"]
        assert service["environment"]["QUOTES"] == ENVIRONMENT[1].partition("=")[2].replace("$", "$$")


@pytest.mark.parametrize("question", QUESTIONS, ids=["qwen", "amd", "deepseek", "gpt-oss"])
@pytest.mark.filterwarnings("ignore")
def test_manifests_are_manifests(question: tuple[str, str, str], capsys: pytest.CaptureFixture[str]) -> None:
    validator = pytest.importorskip("kubernetes_validate")
    import yaml

    for document in yaml.safe_load_all(written("kubernetes", question, capsys)):
        validator.validate(document, validator.latest_version(), strict=True)
        env = document["spec"]["template"]["spec"]["containers"][0]["env"]
        assert {one["name"]: one["value"] for one in env} == dict(one.split("=", 1) for one in ENVIRONMENT)


def test_mended_files_are_what_they_were(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    compose, kubernetes = pytest.importorskip("compose_spec"), pytest.importorskip("kubernetes_validate")
    import yaml

    for name, gpu in (("compose-list.yml", ["H200"]), ("k8s-service.yaml", [])):
        file = tmp_path / name
        file.write_bytes((INTAKE / name).read_bytes())
        printed(["check", *gpu, str(file), "--fix"], capsys, 0)
        if name.startswith("compose"):
            compose.PyCompose.from_yaml(file.read_text())
        else:
            for document in yaml.safe_load_all(file.read_text()):
                if document["apiVersion"] == "v1":
                    kubernetes.validate(document, kubernetes.latest_version(), strict=True)
