"""GGUF files with a header and no weights, for tests: what they say, and the bytes of it."""

from __future__ import annotations

import struct
from collections.abc import Mapping
from typing import Any

_SHARED: dict[str, Any] = {
    "context_length": 32768,
    "block_count": 24,
    "feed_forward_length": 4096,
    "embedding_length": 2048,
    "attention.head_count": 32,
    "attention.head_count_kv": 8,
    "attention.layer_norm_rms_epsilon": 1e-6,
    "rope.freq_base": 1e6,
}
_EXPERTS = {"expert_count": 64, "expert_used_count": 8}
_WINDOW = {"attention.key_length": 256, "attention.sliding_window": 1024}
_SSM = {"ssm.conv_kernel": 4, "ssm.state_size": 128, "ssm.group_count": 16, "ssm.time_step_rank": 32}
_ROPE = {"rope.dimension_count": 64, "rope.dimension_sections": [11, 11, 10, 0]}
_LINEAR = {
    **_SSM,
    **_ROPE,
    "attention.key_length": 256,
    "full_attention_interval": 4,
    "ssm.inner_size": 4096,
    "nextn_predict_layers": 1,
}
# By name: the architecture, and what its header has beside the shared keys; `general` keys stand at the top.
CASES: dict[str, tuple[str, dict[str, Any]]] = {
    "llama": ("llama", {}),
    "llama-rope": ("llama", {"rope.dimension_count": 128, "vocab_size": 1234}),
    "llama-mistral": ("llama", {"general.name": "mistral", "attention.sliding_window": 4096}),
    "mistral": ("mistral", {}),
    "qwen2": ("qwen2", {}),
    "qwen3": ("qwen3", {}),
    "qwen2moe": ("qwen2moe", _EXPERTS),
    "qwen3moe": ("qwen3moe", {**_EXPERTS, "attention.key_length": 128, "expert_feed_forward_length": 768}),
    "gpt-oss": ("gpt-oss", {**_EXPERTS, "sliding_window": 128}),
    "gpt-oss-yarn": ("gpt-oss", {**_EXPERTS, "rope.scaling.type": "yarn", "rope.scaling.factor": 32.0}),
    "minimax-m2": (
        "minimax-m2",
        {**_EXPERTS, "attention.key_length": 128, "rope.dimension_count": 64, "expert_gating_func": 2},
    ),
    "lfm2": ("lfm2", {"attention.head_count_kv": [0, 0, 8, 0] * 6, "shortconv.l_cache": 3}),
    "falcon": ("falcon", {}),
    "phi3": ("phi3", {}),
    "stablelm": ("stablelm", {}),
    "starcoder2": ("starcoder2", {}),
    "nemotron": ("nemotron", {}),
    "gemma2": ("gemma2", _WINDOW),
    "gemma3": ("gemma3", _WINDOW),
    "gemma4": ("gemma4", {**_WINDOW, "attention.key_length": 512}),
    "bloom": ("bloom", {}),
    "mamba": ("mamba", {}),
    "gpt2": ("gpt2", {}),
    "qwen35": ("qwen35", _LINEAR),
    "qwen35moe": (
        "qwen35moe",
        {**_LINEAR, **_EXPERTS, "expert_feed_forward_length": 512, "expert_shared_feed_forward_length": 512},
    ),
    "qwen35-short": ("qwen35", {}),
    "muse-glimmer": (
        "muse-glimmer",
        {**_WINDOW, "attention.key_length": 128, "attention.sliding_window_pattern": [True, True, False, True] * 6},
    ),
    "deci": ("deci", {}),
    "deepseek2": ("deepseek2", {}),
    "t5": ("t5", {}),
}


def gguf_case(name: str, *, tied: bool = False, order: str = "<") -> bytes:
    """The file of a case."""
    architecture, own = CASES[name]
    fields: dict[str, Any] = {"general.architecture": architecture, "general.name": "A Model"}
    for key, value in {**_SHARED, **own}.items():
        fields[key if key.startswith("general.") else f"{architecture}.{key}"] = value
    fields["tokenizer.ggml.model"] = "gpt2"
    fields["tokenizer.ggml.tokens"] = [f"t{number}" for number in range(1000)]
    tensors = {"token_embd.weight": (2048, 1000)} | ({} if tied else {"output.weight": (2048, 1000)})
    return gguf_bytes(fields, tensors, order=order)


def gguf_bytes(
    fields: Mapping[str, Any], tensors: Mapping[str, tuple[int, ...]], *, version: int = 3, order: str = "<"
) -> bytes:
    """A file of these fields and tensors; ``order`` as struct writes it."""

    def text(value: str) -> bytes:
        return struct.pack(f"{order}Q", len(value.encode())) + value.encode()

    def value(one: Any) -> bytes:
        if isinstance(one, list):
            items = [value(item) for item in one]
            return struct.pack(f"{order}IIQ", 9, _kind(one[0]), len(one)) + b"".join(item[4:] for item in items)
        kind = _kind(one)
        body = text(one) if kind == 8 else struct.pack(order + {7: "?", 6: "f", 5: "i", 4: "I"}[kind], one)
        return struct.pack(f"{order}I", kind) + body

    parts = [b"GGUF", struct.pack(f"{order}IQQ", version, len(tensors), len(fields))]
    parts += [text(key) + value(one) for key, one in fields.items()]
    for place, (name, shape) in enumerate(tensors.items()):
        parts.append(text(name) + struct.pack(f"{order}I{len(shape)}QIQ", len(shape), *shape, 0, place * 8192000))
    whole = b"".join(parts)
    # The weights that would follow are no part of the header.
    return whole + b"\0" * (-len(whole) % 32)


def _kind(value: object) -> int:
    if isinstance(value, bool):
        return 7
    return 8 if isinstance(value, str) else 6 if isinstance(value, float) else 4
