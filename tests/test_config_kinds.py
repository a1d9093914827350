"""A config.json with values of the wrong kind ends in a message that names the key, and no other config does."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from constraints import store
from constraints.errors import Fault
from constraints.models_kinds import kinds_of
from constraints.models_load import ROOT
from constraints.read import read_text
from solver.api import Preflight
from solver.cli.app import run
from solver.errors import InputError
from solver.model_config import model_facts
from solver.model_input import ModelInput

RELEASES = store.known_releases()


@cache
def config_of(name: str) -> Any:
    return json.loads((ROOT / "catalogue" / f"{name}.json").read_text(encoding="utf-8"))


def changed(name: str, key: str, value: object) -> dict[str, Any]:
    config = json.loads(json.dumps(config_of(name)))
    *path, last = key.split(".")
    part = config
    for step in path:
        part = part[step]
    part[last] = value
    return dict(config)


# SGLang's verdict on each was recorded: its config class refuses the value, or nothing with it can be loaded.
WRONG: list[tuple[str, str, object, str]] = [
    ("Qwen3-8B", "num_attention_heads", 0, "num_attention_heads is 0, which no model has"),
    ("Qwen3-8B", "num_attention_heads", [8], r"num_attention_heads is \[8\], and has to be a whole number"),
    ("Qwen3-8B", "num_attention_heads", None, "num_attention_heads is null"),
    ("Qwen3-8B", "num_hidden_layers", 2.5, "num_hidden_layers is 2.5, and has to be a whole number"),
    ("Qwen3-8B", "num_hidden_layers", 36.0, "num_hidden_layers is 36.0, and has to be a whole number"),
    ("Qwen3-8B", "num_key_value_heads", [8], r"num_key_value_heads is \[8\]"),
    ("Qwen3-8B", "num_key_value_heads", 0, "num_key_value_heads is 0"),
    ("Qwen3-8B", "intermediate_size", "8", 'intermediate_size is "8"'),
    ("Qwen3-8B", "head_dim", None, "head_dim is null"),
    ("Qwen3-8B", "head_dim", -1, "head_dim is -1, which no model has"),
    ("Qwen3-8B", "rope_scaling", "yarn", 'rope_scaling is "yarn", and has to be an object'),
    ("Qwen3-8B", "rope_scaling", {"rope_type": "yarn", "original_max_position_embeddings": "3"}, "rope_scaling.orig"),
    ("Qwen3-8B", "rope_parameters", [1], "rope_parameters is"),
    ("Qwen3-8B", "layer_types", {}, "layer_types is {}, and has to be a list of texts"),
    ("Qwen3-8B", "layer_types", [8], "layer_types is"),
    ("Qwen3-8B", "layer_types", ["full_attention"] * 35, "layer_types has 35 members, and num_hidden_layers is 36"),
    ("Qwen3-8B", "use_sliding_window", 0, "use_sliding_window is 0, and has to be true or false"),
    ("Qwen3-8B", "quantization_config", 3, "quantization_config is 3, and has to be an object"),
    ("Qwen3-8B", "quantization_config", {"quant_method": None}, "quantization_config.quant_method is null"),
    ("Qwen3-8B", "hf_quant_config", {"quantization": 3}, "hf_quant_config.quantization is 3"),
    ("Qwen3-8B", "max_window_layers", [1], "max_window_layers is"),
    ("Qwen3-8B", "bos_token_id", 2.5, "bos_token_id is 2.5"),
    ("Qwen3-8B", "rms_norm_eps", "x", "rms_norm_eps is"),
    ("Gemma-3-27B", "text_config", 3, "text_config is 3, and has to be an object"),
    ("Gemma-3-27B", "text_config", [], r"text_config is \[\]"),
    ("Gemma-3-27B", "vision_config", "x", "vision_config is"),
    ("Gemma-3-27B", "vision_config.hidden_size", "8", 'vision_config.hidden_size is "8"'),
    ("Gemma-3-27B", "text_config.num_attention_heads", 0, "text_config.num_attention_heads is 0"),
    ("Gemma-3-27B", "text_config.layer_types", 3, "text_config.layer_types is 3"),
    ("Qwen3-30B-A3B", "num_experts", 2.5, "num_experts is 2.5"),
    ("Qwen3-30B-A3B", "mlp_only_layers", 3, "mlp_only_layers is 3, and has to be a list of whole numbers"),
    ("DeepSeek-V3", "kv_lora_rank", "8", 'kv_lora_rank is "8"'),
    ("DeepSeek-V3.2", "index_topk", "abc", 'index_topk is "abc"'),
    ("Qwen3-Next-80B-A3B", "full_attention_interval", 0, "full_attention_interval is 0, and has to be .* above zero"),
    ("Nemotron-3-Nano-30B-A3B", "hybrid_override_pattern", 3, "hybrid_override_pattern is 3"),
    ("Kimi-Linear-48B-A3B", "linear_attn_config", 3, "linear_attn_config is 3"),
]
# SGLang takes these, as recorded.
RIGHT: list[tuple[str, str, object]] = [
    ("Qwen3-8B", "num_key_value_heads", None),
    ("Qwen3-8B", "rope_scaling", 0),
    ("Qwen3-8B", "rope_scaling", []),
    ("Qwen3-8B", "rope_parameters", {}),
    ("Qwen3-8B", "sliding_window", 0),
    ("Qwen3-8B", "layer_types", None),
    ("Qwen3-8B", "layer_types", ["full_attention"] * 36),
    ("Qwen3-8B", "mlp_bias", 3),
    ("Qwen3-8B", "rope_theta", "x"),
    ("Qwen3-8B", "quantization_config", {"bits": 4}),
    ("Gemma-3-27B", "text_config", None),
    ("DeepSeek-V3", "q_lora_rank", None),
    ("DeepSeek-V3", "moe_layer_freq", [1]),
    ("Gemma-2-9B", "final_logit_softcapping", None),
]


@pytest.mark.parametrize("release", RELEASES)
@pytest.mark.parametrize(("name", "key", "value", "words"), WRONG, ids=str)
def test_a_value_of_the_wrong_kind_is_named(release: str, name: str, key: str, value: object, words: str) -> None:
    with pytest.raises(InputError, match=words) as caught:
        model_facts(ModelInput(name, "config.json", changed(name, key, value)), store.models_of(release))
    assert "architectures" not in caught.value.message
    assert caught.value.where == "config.json"


@pytest.mark.parametrize("release", RELEASES)
@pytest.mark.parametrize(("name", "key", "value"), RIGHT, ids=str)
def test_what_sglang_takes_is_taken(release: str, name: str, key: str, value: object) -> None:
    assert model_facts(ModelInput(name, "config.json", changed(name, key, value)), store.models_of(release)).values


def test_every_fault_of_a_file_is_told_at_once() -> None:
    config = changed("Qwen3-8B", "num_hidden_layers", 2.5) | {"layer_types": 3}
    with pytest.raises(InputError, match=r"layer_types is 3, .*; num_hidden_layers is 2\.5"):
        model_facts(ModelInput("x", "x", config), store.models_of(RELEASES[-1]))


def test_a_class_nobody_knows_is_held_to_its_sizes_alone() -> None:
    config = {"architectures": ["NewForCausalLM"], "model_type": "new", "num_key_value_heads": [4, 8], "layer_types": 3}
    config |= {"hidden_size": 512, "num_attention_heads": 8, "num_hidden_layers": 2, "vocab_size": 100}
    known = store.models_of(RELEASES[-1])
    assert model_facts(ModelInput("x", "x", config), known).values["model.hidden_size"] == 512
    with pytest.raises(InputError, match=r"hidden_size is 512\.5, and has to be a whole number"):
        model_facts(ModelInput("x", "x", {**config, "hidden_size": 512.5}), known)


def test_what_is_typed_over_a_config_is_held_to_the_same() -> None:
    typed = ["--json-model-override-args", '{"num_hidden_layers": 2.5}']
    with pytest.raises(InputError, match=r"num_hidden_layers is 2\.5"):
        Preflight().check("Qwen/Qwen3-8B", "H100", typed)
    fewer = ["--json-model-override-args", '{"num_hidden_layers": 24}']  # as a published log has it
    assert Preflight().check("openai/gpt-oss-120b", "H100", fewer).effective


def test_a_size_that_is_made_of_others_names_them() -> None:
    config = changed("Qwen3-8B", "rope_scaling", {"rope_type": "linear", "factor": -2.0})
    with pytest.raises(InputError, match="context_len, made of max_position_embeddings, rope_scaling, is -81920"):
        model_facts(ModelInput("x", "x", config), store.models_of(RELEASES[-1]))


def test_a_quantization_without_a_method_is_said_so(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "config.json").write_text(json.dumps(changed("Qwen3-8B", "quantization_config", {"bits": 4})))
    assert run(["check", "H100", "--model", str(tmp_path)]) == 1
    assert "without quant_method" in " ".join(capsys.readouterr().out.split())


def test_the_file_s_own_faults_are_found() -> None:
    faults: list[Fault] = []
    document = read_text("kinds:\n  a: {kind: whole|half}\n  b: {is: text}\n", "x")
    kinds_of("x", document, faults)
    assert [one.line for one in faults] == [2, 3]
