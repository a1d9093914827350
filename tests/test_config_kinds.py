"""A config.json with values of the wrong kind ends in a message or a refusal, as SGLang's recorded answers do."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from constraints import store
from constraints.models_load import ROOT
from solver.api import Preflight
from solver.errors import InputError
from solver.model_config import model_facts
from solver.model_input import ModelInput

WRONG: list[tuple[str, object, str]] = [
    ("num_attention_heads", 0, "num_attention_heads is 0, which no model has"),
    ("num_key_value_heads", 0, "num_key_value_heads is 0"),
    ("head_dim", -1, "head_dim is -1, which no model has"),
    ("rope_scaling", "yarn", "rope_scaling is yarn, and has to be an object"),
    ("quantization_config", 3, "quantization_config is 3, and has to be an object"),
    ("text_config", 3, "text_config is 3, and has to be an object"),
    ("vision_config", [], "vision_config is "),
]
RIGHT: list[tuple[str, object]] = [
    ("rope_scaling", 0),
    ("rope_scaling", []),
    ("rope_parameters", {}),
    ("head_dim", 128),
]


def config(key: str, value: object) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((ROOT / "catalogue" / "Qwen3-8B.json").read_text(encoding="utf-8"))
    return {**found, key: value}


@pytest.mark.parametrize("release", store.known_releases())
@pytest.mark.parametrize(("key", "value", "words"), WRONG, ids=str)
def test_a_value_of_the_wrong_kind_is_named(release: str, key: str, value: object, words: str) -> None:
    with pytest.raises(InputError, match=words) as caught:
        model_facts(ModelInput("x", "config.json", config(key, value)), store.models_of(release))
    assert "architectures" not in caught.value.message


@pytest.mark.parametrize(("key", "value"), RIGHT, ids=str)
def test_what_sglang_takes_is_taken(key: str, value: object) -> None:
    known = store.models_of(store.known_releases()[-1])
    assert model_facts(ModelInput("x", "x", config(key, value)), known).values["model.hidden_size"] == 4096


@pytest.mark.parametrize("over", [{"num_hidden_layers": -4}, {"head_dim": 0}, {"hidden_size": 10**13}], ids=str)
def test_a_fault_of_an_override_is_said_of_the_flag(over: dict[str, Any]) -> None:
    asked = Preflight(store.known_releases()[-1])
    with pytest.raises(InputError, match="which no model has") as caught:
        asked.engine.model_facts("Qwen/Qwen3-8B", overrides=json.dumps(over))
    assert caught.value.where == "--json-model-override-args"
    assert "Fetch" not in (caught.value.hint or "")


def test_a_fault_of_the_file_is_said_of_the_file_whatever_is_overridden() -> None:
    known = store.models_of(store.known_releases()[-1])
    with pytest.raises(InputError, match="head_dim is -1") as caught:
        model_facts(ModelInput("x", "config.json", config("head_dim", -1)), known, over={"vocab_size": 1000})
    assert caught.value.where == "config.json"


@pytest.mark.parametrize("value", [[4096], {"a": 1}, [], True, "4096"], ids=str)
def test_what_is_no_number_is_a_fault_where_no_class_compares(value: object) -> None:
    unchecked = {**config("hidden_size", value), "model_type": "kimi_k2"}
    with pytest.raises(InputError, match=r"hidden_size is .*, not a number"):
        model_facts(ModelInput("x", "x", unchecked), store.models_of(store.known_releases()[-1]))


@pytest.mark.parametrize("over", [{"rope_scaling": 5}, {"rope_parameters": 5}, {"rope_scaling": []}], ids=str)
@pytest.mark.parametrize("name", ["Qwen/Qwen3-8B", "moonshotai/Kimi-K2-Instruct"])
def test_an_override_that_is_no_object_is_refused_where_the_class_declares_one(name: str, over: dict[str, Any]) -> None:
    assert refused_by(name, over) == ["config-overrides-have-types"]
    assert refused_by("Qwen/Qwen3-VL-8B-Instruct", over) == []  # the class at its top has no positions
    assert refused_by("Qwen/Qwen3-VL-8B-Instruct", {"text_config": over}) == ["config-overrides-have-types"]
    assert refused_by("Qwen/Qwen3-VL-8B-Instruct", {key: {} for key in over}) == []


@pytest.mark.parametrize("key", ["text_config", "vision_config"])
def test_an_override_that_is_no_part_is_refused_where_there_is_one(key: str) -> None:
    assert refused_by("Qwen/Qwen3-VL-8B-Instruct", {key: 3})[0] == "config-overrides-have-types"
    assert refused_by("Qwen/Qwen3-8B", {"vision_config": 3}) == []


@pytest.mark.parametrize("key", ["text_config", "quantization_config"])
def test_an_override_that_is_read_whatever_the_class_has_to_be_an_object(key: str) -> None:
    with pytest.raises(InputError, match=f"{key} is 3, and has to be an object") as caught:
        refused_by("Qwen/Qwen3-8B", {key: 3})
    assert caught.value.where == "--json-model-override-args"


@pytest.mark.parametrize(
    ("names", "rule"), [(None, "config-names-architecture"), ([], "config-lists-an-architecture")], ids=str
)
def test_a_config_that_names_no_architecture_is_refused_by_a_rule(names: object, rule: str, tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text(json.dumps(config("architectures", names)), encoding="utf-8")
    assert refused_by(str(tmp_path), {}) == [rule]


def refused_by(model: str, over: dict[str, Any]) -> list[str]:
    words = ["--model-path", model, "--tp", "8", "--json-model-override-args", json.dumps(over)]
    report = Preflight(store.known_releases()[-1]).check(None, "8xH200", words)
    return [one.rule.id for one in report.findings if one.rule.kind == "error"]
