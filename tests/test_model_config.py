"""Model facts against SGLang's own ModelConfig, and what is said of bad input."""

from __future__ import annotations

import json
import struct
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from constraints.errors import KnowledgeError
from constraints.models_load import ROOT, load_catalogue, load_models
from constraints.models_schema import Catalogue, ModelKnowledge
from solver.cli.app import run
from solver.errors import InputError
from solver.model_config import model_facts
from solver.model_input import MAX_BYTES, ModelInput, read_model
from solver.weights import stored_weights

DATA = Path(__file__).parent / "data"
RELEASES = ("0.5.23", "0.5.18")


@cache
def known(release: str) -> ModelKnowledge:
    return load_models(release)


@cache
def catalogue() -> Catalogue:
    return load_catalogue()


@cache
def recorded(release: str) -> dict[str, Any]:
    text = (DATA / f"model_facts_{release.replace('.', '_')}.json").read_text(encoding="utf-8")
    document: dict[str, Any] = json.loads(text)
    return document


@cache
def synthetic() -> dict[str, Any]:
    configs: dict[str, Any] = json.loads((DATA / "model_configs.json").read_text(encoding="utf-8"))
    return configs


def config_of(name: str) -> dict[str, Any]:
    if name in synthetic():
        return dict(synthetic()[name])
    config: dict[str, Any] = json.loads((ROOT / "catalogue" / f"{name}.json").read_text(encoding="utf-8"))
    return config


def listed(value: object) -> object:
    return [listed(item) for item in value] if isinstance(value, tuple) else value


@pytest.mark.parametrize("release", RELEASES)
def test_every_fact_equals_sglang_s(release: str) -> None:
    document = recorded(release)
    wrong = []
    for place, model in enumerate(document["models"]):
        name = model.removeprefix("draft ")
        draft = model != name
        facts = model_facts(ModelInput(name, name, config_of(name)), known(release), draft).values
        for fact, values in document["facts"].items():
            want = next((json.loads(value) for value, models in values.items() if place in models), None)
            got = listed(facts[("draft." if draft else "model.") + fact])
            if want is None and fact in NOT_EVERYWHERE:
                continue
            if want != got and (want or got):
                wrong.append(f"{model}: {fact} is {want}, not {got}")
    assert wrong == []
    assert len(document["models"]) * len(document["facts"]) > 20_000


# Ours say more than the attribute of that name: under other keys too, or for every model.
NOT_EVERYWHERE = frozenset(
    (
        "num_experts",
        "moe_intermediate_size",
        "num_experts_per_tok",
        "n_shared_experts",
        "swa_num_attention_heads",
        "swa_num_key_value_heads",
        "linear_layer_ids",
        "topk_group",
        "mamba_conv_elements",
        "mamba_temporal_elements",
        "uses_kda_attention",
        "is_qwen_qsa",
        "is_qwen4_exp",
        "is_glm_moe_dsa",
        "is_dspark_draft",
    )
)


@pytest.mark.parametrize("release", RELEASES)
def test_each_checkpoint_of_the_catalogue_is_read(release: str) -> None:
    for checkpoint in catalogue().checkpoints:
        facts = model_facts(read_model(checkpoint.id.upper(), catalogue()), known(release))
        assert facts.values["model.hidden_size"], checkpoint.id
        assert facts.inferred == () or release == "0.5.18", (checkpoint.id, facts.inferred)


def test_a_fact_says_which_keys_it_came_from() -> None:
    facts = model_facts(read_model("deepseek-ai/DeepSeek-V3", catalogue()), known("0.5.23"))
    assert facts.origins["model.kv_lora_rank"].found == ("architectures", "kv_lora_rank")
    facts = model_facts(read_model("Qwen/Qwen3.5-35B-A3B", catalogue()), known("0.5.23"))
    assert "text_config.num_experts" in facts.origins["model.num_experts"].found
    facts = model_facts(read_model("Qwen/Qwen3-8B", catalogue()), known("0.5.23"))
    assert "index_topk" not in facts.origins["model.is_deepseek_dsa"].found


def test_an_architecture_nobody_listed_still_has_facts() -> None:
    config = {"architectures": ["BrandNewForCausalLM"], "model_type": "brand_new", "hidden_size": 512}
    config |= {"num_attention_heads": 8, "num_hidden_layers": 4, "vocab_size": 100}
    facts = model_facts(ModelInput("x", "x", config), known("0.5.23"))
    assert facts.values["model.head_dim"] == 64
    assert facts.values["model.architecture_known"] is False
    assert len(facts.inferred) == 2


def test_a_config_without_its_type_says_so(tmp_path: Path) -> None:
    config = json.loads(catalogue().configs["Qwen3-8B.json"])
    del config["model_type"]
    (tmp_path / "config.json").write_text(json.dumps(config))
    facts = model_facts(read_model(str(tmp_path), catalogue()), known("0.5.23"))
    assert facts.inferred == ("the config has no model_type: keys are read as they stand, nothing is added",)


def test_an_id_that_is_nearly_right_gets_a_suggestion() -> None:
    with pytest.raises(InputError) as caught:
        read_model("Qwen/Qwen3-8b-instruct", catalogue())
    assert "Qwen/Qwen3-8B" in caught.value.near


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("{", "Not JSON"),
        ("[1]", "list"),
        ('{"architectures": "LlamaForCausalLM"}', "not a list of names"),
        ('{"model_type": 3}', "not a text"),
        ("[" * 100_000, "Not"),
    ],
)
def test_a_bad_file_is_named(tmp_path: Path, text: str, words: str) -> None:
    file = tmp_path / "config.json"
    file.write_text(text)
    with pytest.raises(InputError, match=words) as caught:
        read_model(str(file), catalogue())
    assert str(file) in (caught.value.where or "")


def test_a_file_that_is_too_large_is_not_read(tmp_path: Path) -> None:
    file = tmp_path / "config.json"
    with file.open("wb") as stream:
        stream.truncate(MAX_BYTES + 1)
    with pytest.raises(InputError, match="20 MB"):
        read_model(str(tmp_path), catalogue())


def test_a_folder_without_a_config_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"holds no config\.json"):
        read_model(str(tmp_path), catalogue())


def test_what_no_model_has_is_an_error_and_what_a_class_refuses_is_a_fact() -> None:
    config = {**config_of("Qwen3-8B"), "hidden_size": "4096"}
    typed = model_facts(ModelInput("x", "x", config), known("0.5.23")).values
    assert typed["model.config_misfits"] == ("hidden_size",)
    with pytest.raises(InputError, match="hidden_size"):
        model_facts(ModelInput("x", "x", {**config, "model_type": "chatglm"}), known("0.5.23"))
    for size in (-1, 10**400):
        with pytest.raises(InputError, match=r"hidden_size is .* no model has"):
            model_facts(ModelInput("x", "x", {**config, "hidden_size": size}), known("0.5.23"))
    nameless = model_facts(ModelInput("x", "x", {"model_type": "llama"}), known("0.5.23")).values
    assert nameless["model.architecture"] is None


def test_numbers_without_end_are_read(tmp_path: Path) -> None:
    file = tmp_path / "config.json"
    file.write_text(json.dumps({**config_of("Qwen3-8B"), "time_step_limit": [0.0, float("inf")]}))
    assert read_model(str(file), catalogue()).config["time_step_limit"] == [0.0, float("inf")]


def test_overrides_are_compared_with_the_types_of_the_class() -> None:
    model = ModelInput("x", "x", config_of("Qwen3-8B"))
    for over, misfits in (({"num_hidden_layers": "4"}, ("num_hidden_layers",)), ({"num_hidden_layers": 4}, ())):
        assert model_facts(model, known("0.5.23"), over=over).values["model.override_misfits"] == misfits


def test_the_quantization_file_beside_a_config_is_read(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text(json.dumps(config_of("Llama-3.1-8B")))
    (tmp_path / "hf_quant_config.json").write_text('{"quantization": {"quant_algo": "FP8"}}')
    facts = model_facts(read_model(str(tmp_path), catalogue()), known("0.5.23"))
    assert facts.values["model.quantization"] == "modelopt_fp8"


@pytest.mark.parametrize(("stored", "fp8"), [("F8_E4M3", True), ("BF16", False)])
def test_experts_of_an_undeclared_format_are_seen_in_the_weights(tmp_path: Path, stored: str, fp8: bool) -> None:
    config = {name: value for name, value in config_of("DeepSeek-V3").items() if name != "quantization_config"}
    (tmp_path / "config.json").write_text(json.dumps(config))
    index = {"model.norm.weight": "1.safetensors", "model.layers.3.mlp.experts.0.up_proj.weight": "2.safetensors"}
    (tmp_path / "model.safetensors.index.json").write_text(json.dumps({"weight_map": index}))
    header = json.dumps({"__metadata__": {}, "model.layers.3.mlp.experts.0.up_proj.weight": {"dtype": stored}})
    (tmp_path / "2.safetensors").write_bytes(struct.pack("<Q", len(header)) + header.encode())
    facts = model_facts(read_model(str(tmp_path), catalogue()), known("0.5.23"))
    assert facts.values["model.has_fp8_experts"] is fp8


UNREADABLE = {
    "model.safetensors is cut off": b"",
    "its header would have": b"\xff" * 8,
    "the header of model.safetensors is no JSON object": struct.pack("<Q", 2) + b"[]",
    "model.safetensors is cut off within its header": struct.pack("<Q", 9) + b"{",
    "the header of model.safetensors is not JSON": struct.pack("<Q", 1) + b"{",
}
UNREADABLE_INDEX = {
    "index.json is not JSON": b"{",
    "index.json is no JSON object": b"[]",
    "index.json has no weight_map": b'{"weight_map": 3}',
    "names a file outside of the folder": b'{"weight_map": {"a": "../x.safetensors"}}',
}


@pytest.mark.parametrize("words", [*UNREADABLE, *UNREADABLE_INDEX])
def test_weights_that_cannot_be_read_are_said(tmp_path: Path, words: str, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "config.json").write_text(json.dumps(config_of("Qwen3-8B")))
    name = "model.safetensors" if words in UNREADABLE else "model.safetensors.index.json"
    (tmp_path / name).write_bytes({**UNREADABLE, **UNREADABLE_INDEX}[words])
    assert stored_weights(tmp_path).experts is None
    assert run(["check", "H100", "--model", str(tmp_path)]) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert words in said
    assert "what is said of weights rests on config.json alone" in said


def test_a_folder_without_weights_is_nothing_to_say(tmp_path: Path) -> None:
    index = {"model.layers.0.mlp.experts.0.up_proj.weight": "1.safetensors"}
    (tmp_path / "config.json").write_text(json.dumps(config_of("Qwen3-8B")))
    (tmp_path / "model.safetensors.index.json").write_text(json.dumps({"weight_map": index}))
    assert read_model(str(tmp_path), catalogue()).notes == ()


def test_a_config_json_stands_for_its_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "config.json").write_text(json.dumps(config_of("Qwen3-8B")))
    monkeypatch.chdir(tmp_path)
    assert read_model(str(tmp_path / "config.json"), catalogue()).name == str(tmp_path)
    assert read_model("config.json", catalogue()).name == "."
    (tmp_path / "other.json").write_text(json.dumps(config_of("Qwen3-8B")))
    assert "folder" in read_model("other.json", catalogue()).notes[0]


def test_facts_that_read_one_another_or_nothing_are_faults(tmp_path: Path) -> None:
    for folder in ("facts", "families", "defaults"):
        (tmp_path / folder).mkdir()
    (tmp_path / "facts" / "a.yaml").write_text(
        'text_paths: [text_config]\ntext_at_top: "False"\n'
        'facts:\n  model.a: {is: "model.b"}\n  model.b: {is: "model.a"}\n  model.c: {is: "model.d + nonsense"}\n'
    )
    with pytest.raises(KnowledgeError) as caught:
        load_models("0.5.23", tmp_path)
    text = str(caught.value)
    assert all(part in text for part in ("derived from one another", "model.d", "nonsense"))
