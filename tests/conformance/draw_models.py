"""Checkpoints -> as many that nobody published: their config.json with other sizes, formats, families and missing keys.

    python -m tests.conformance.draw_models --from FOLDER... --seed 1 --count 200 --out MODELS

FOLDER holds a folder with a `config.json` for each checkpoint. Every drawn one has a line in MODELS/changes.txt that
says what was changed. Same arguments, same checkpoints.
"""

from __future__ import annotations

import argparse
import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

from constraints.models_load import load_models
from tests.conformance.draw_formats import FILES, FORMATS

Config = dict[str, Any]
TEXT = ("text_config", "llm_config", "language_config", "thinker_config")
SIZES: dict[str, tuple[Any, ...]] = {
    "num_attention_heads": (8, 10, 12, 14, 16, 20, 24, 28, 30, 32, 40, 48, 64, 71, 96, 128),
    "num_key_value_heads": (1, 2, 3, 4, 5, 6, 8, 10, 16, 32, None),
    "head_dim": (48, 64, 72, 80, 96, 112, 128, 160, 192, 256, 512, None),
    "hidden_size": (576, 1024, 1536, 2048, 2560, 3072, 3584, 4096, 5120, 6144, 7168, 8192),
    "intermediate_size": (1408, 1536, 2816, 4864, 8960, 11008, 14336, 18944, 27648),
    "moe_intermediate_size": (320, 384, 512, 704, 768, 1408, 1536, 2048),
    "num_hidden_layers": (1, 2, 12, 24, 30, 48, 61, 94),
    "vocab_size": (32000, 32001, 50257, 65536, 100278, 151936, 262144),
    "max_position_embeddings": (512, 2048, 8192, 32768, 40960, 131072, 1048576),
    "num_experts": (1, 8, 16, 60, 64, 72, 96, 128, 160, 256, 384),
    "n_routed_experts": (8, 64, 72, 128, 160, 256, 384, None),
    "num_local_experts": (4, 8, 16, 32, 40, 128, 256),
    "num_experts_per_tok": (1, 2, 4, 6, 8, 10),
    "kv_lora_rank": (256, 512, 576, None),
    "q_lora_rank": (None, 768, 1024, 1536),
    "qk_rope_head_dim": (32, 64, 128),
    "qk_nope_head_dim": (64, 128, 192),
    "v_head_dim": (64, 128, 192, 256),
    "num_nextn_predict_layers": (0, 1, 2, None),
    "n_shared_experts": (0, 1, 2, None),
    "index_topk": (512, 1024, 2048, None),
    "index_head_dim": (64, 128),
    "index_n_heads": (16, 32, 64),
    "sliding_window": (None, 128, 1024, 4096, 32768),
    "use_sliding_window": (True, False),
    "max_window_layers": (0, 12, 28),
    "full_attention_interval": (2, 3, 4, 8),
    "linear_num_key_heads": (8, 12, 16),
    "linear_num_value_heads": (16, 24, 32, 48),
    "linear_key_head_dim": (64, 128, 256),
    "mamba_num_heads": (48, 64, 128),
    "mamba_head_dim": (64, 80),
    "ssm_state_size": (64, 128, 256),
    "attention_chunk_size": (None, 4096, 8192),
    "tie_word_embeddings": (True, False),
    "original_max_position_embeddings": (4096, 8192),
}
DTYPES = ("bfloat16", "float16", "float32", None)


class Draw:
    """Changed checkpoints, drawn from a seed."""

    def __init__(self, seed: int, architectures: list[str]) -> None:
        self.random = random.Random(f"models-{seed}")
        self.architectures = architectures
        self.changes: list[Callable[[Config], str]] = [
            self.size, self.size, self.size, self.format, self.format, self.dtype, self.drop, self.null, self.nest,
            self.architecture, self.layers, self.rope,
        ]  # fmt: skip

    def change(self, config: Config) -> str:
        """Change a config one to four times; say how."""
        count = self.random.choice((1, 1, 2, 3, 4))
        return "; ".join(self.random.choice(self.changes)(config) for _ in range(count))

    def text(self, config: Config) -> Config:
        """Where the sizes of the language model stand."""
        parts = [config[name] for name in TEXT if isinstance(config.get(name), dict)]
        return parts[0] if parts and self.random.random() < 0.9 else config

    def size(self, config: Config) -> str:
        """Another size, mostly of a key that is there."""
        text = self.text(config)
        there = [name for name in SIZES if name in text]
        name = self.random.choice(there) if there and self.random.random() < 0.85 else self.random.choice(list(SIZES))
        text[name] = self.random.choice(SIZES[name])
        return f"{name}={text[name]}"

    def format(self, config: Config) -> str:
        """Another format of the weights."""
        if self.random.random() < 0.2:
            name = self.random.choice(list(FILES))
            config["<file>"] = FILES[name]
            config.pop("quantization_config", None)
            return f"hf_quant_config {name}"
        name = self.random.choice(list(FORMATS))
        there = self.random.choice(("quantization_config",) * 9 + ("compression_config",))
        where = self.text(config) if self.random.random() < 0.15 else config
        config.pop("quantization_config", None)
        if FORMATS[name] is not None:
            where[there] = FORMATS[name]
        return f"{there} {name}{'' if where is config else ' of the text'}"

    def dtype(self, config: Config) -> str:
        """Another data type, by either name."""
        where = self.text(config)
        for one in (config, where):
            one.pop("torch_dtype", None), one.pop("dtype", None)
        name, value = self.random.choice(("torch_dtype", "dtype")), self.random.choice(DTYPES)
        where[name] = value
        return f"{name}={value}"

    def drop(self, config: Config) -> str:
        """A key is missing."""
        where = self.text(config)
        name = self.random.choice([key for key in where if key != "<file>"] or ["x"])
        where.pop(name, None)
        return f"without {name}"

    def null(self, config: Config) -> str:
        """A key is null."""
        where = self.text(config)
        name = self.random.choice([key for key in where if key != "<file>"] or ["x"])
        where[name] = None
        return f"{name}=null"

    def nest(self, config: Config) -> str:
        """Sizes move below ``text_config``, or out of it."""
        if part := next((name for name in TEXT if isinstance(config.get(name), dict)), None):
            inner = config.pop(part)
            config.update({key: value for key, value in inner.items() if key not in config})
            return f"flat {part}"
        kept = ("architectures", "model_type", "quantization_config", "torch_dtype", "dtype", "<file>", "auto_map")
        inner = {key: config.pop(key) for key in list(config) if key not in kept}
        inner["model_type"] = config.get("model_type")
        config["text_config"] = inner
        return "nested"

    def architecture(self, config: Config) -> str:
        """Another architecture, two, or none."""
        name = self.random.choice(self.architectures)
        draw = self.random.random()
        config["architectures"] = [name] if draw < 0.7 else [name, *(config.get("architectures") or ())]
        if draw > 0.9:
            config["architectures"] = [*(config["architectures"][1:] or ["NeverHeardOfForCausalLM"]), name]
        return f"architectures={','.join(config['architectures'])}"

    def layers(self, config: Config) -> str:
        """Which layers attend how."""
        where = self.text(config)
        count = where.get("num_hidden_layers") or 24
        kinds = self.random.choice(
            (["sliding_attention", "full_attention"], ["linear_attention"] * 3 + ["full_attention"], ["full_attention"],
             ["mamba"] * 4 + ["attention"], ["conv", "full_attention"], ["sliding_attention"])
        )  # fmt: skip
        where["layer_types"] = (kinds * count)[:count]
        return f"layer_types={'+'.join(kinds)}"

    def rope(self, config: Config) -> str:
        """Another scaling of positions."""
        where = self.text(config)
        kind = self.random.choice(("yarn", "linear", "dynamic", "llama3", "longrope", "mrope", "default", ""))
        factor = self.random.choice((1.0, 2.0, 4.0, 40))
        name = self.random.choice(("rope_scaling", "rope_parameters"))
        value: Config = {"rope_type": kind, "type": kind, "factor": factor}
        if self.random.random() < 0.6:
            value["original_max_position_embeddings"] = 4096
        where[name] = value if kind else None
        return f"{name} {kind} {factor}"


def main() -> None:
    """Write the checkpoints."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--from", dest="sources", required=True, nargs="+", type=Path)
    parser.add_argument("--release", default="0.5.23", help="whose architectures")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--out", required=True, type=Path)
    options = parser.parse_args()
    draw = Draw(options.seed, sorted(load_models(options.release).sets["supported"]))
    sources = sorted(path for source in options.sources for path in source.glob("*/config.json"))
    lines = []
    for number in range(options.count):
        source = draw.random.choice(sources)
        config = json.loads(source.read_text(encoding="utf-8"))
        beside = source.with_name("hf_quant_config.json")
        if beside.exists():
            config["<file>"] = json.loads(beside.read_text(encoding="utf-8"))
        change = draw.change(config)
        file = config.pop("<file>", None)
        folder = options.out / f"s{options.seed}-{number:04d}-{source.parent.name}"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "config.json").write_text(json.dumps(config, indent=1), encoding="utf-8")
        if file is not None:
            (folder / "hf_quant_config.json").write_text(json.dumps(file), encoding="utf-8")
        lines.append(f"{folder.name}: {change}\n")
    (options.out / "changes.txt").write_text("".join(lines), encoding="utf-8")


if __name__ == "__main__":
    main()
