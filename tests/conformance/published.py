"""Published launch commands and field cases -> commands we can be asked: a checkpoint, a GPU, words.

Names of checkpoints that the catalogue does not hold are replaced by one of the same architecture and precision;
what has none is left out. GPUs that SGLang names in prose are read by the first name that occurs.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable
from dataclasses import dataclass

from constraints.models_schema import Catalogue

# The beginning of a name -> a checkpoint of the catalogue that SGLang treats alike; the longest beginning counts.
LIKE = {
    "zai-org/GLM-5.1": "zai-org/GLM-5",
    "zai-org/GLM-5.1-FP8": "zai-org/GLM-5-FP8",
    "GLM-5-FP8": "zai-org/GLM-5-FP8",
    "GLM-5.1-FP8": "zai-org/GLM-5-FP8",
    "Qwen/Qwen3-235B-A22B-Instruct-2507-FP8": "Qwen/Qwen3-235B-A22B-FP8",
    "Qwen/Qwen3-235B-A22B-Thinking-2507-FP8": "Qwen/Qwen3-235B-A22B-FP8",
    "Qwen/Qwen3.5-397B-A17B": "Qwen/Qwen3.5-35B-A3B",
    "Qwen/Qwen3.6-35B-A3B": "Qwen/Qwen3.5-35B-A3B",
    "Qwen/Qwen3.5 family": "Qwen/Qwen3.5-27B",
    "deepseek-ai/DeepSeek-Math-V2": "deepseek-ai/DeepSeek-V3.2",
    "deepseek-ai/DeepSeek-V4-Flash-0731": "deepseek-ai/DeepSeek-V4-Flash",
    "moonshotai/Kimi-K2-Thinking": "moonshotai/Kimi-K2-Instruct",
    "openai/gpt-oss-20b": "openai/gpt-oss-120b",
    "google/gemma-4-12B-it": "google/gemma-4-26B-A4B-it",
    "deepseek-ai/DeepSeek-R1": "deepseek-ai/DeepSeek-V3",
    "deepseek-ai/DeepSeek-V3.1": "deepseek-ai/DeepSeek-V3",
}
# Checkpoints whose precision none of the catalogue has.
NOT_LIKE = ("Qwen/Qwen3.5-397B-A17B-FP8", "Qwen/Qwen3.5-397B-A17B-NVFP4")
GPUS = (
    *("RTX PRO 6000", "RTX6000PRO", "RTX 5090", "GB300", "GB200", "B300", "B200", "H200", "H100", "A100"),
    *("MI355X", "MI350X", "MI325X", "MI300X", "GB10"),
)
_KNOWN_AS = {"RTX PRO 6000": "RTXPRO6000", "RTX6000PRO": "RTXPRO6000", "RTX 5090": "RTX5090", "MI350X": "MI355X"}
_PATHS = ("--trust-remote-code",)


@dataclass(frozen=True, slots=True)
class Published:
    """A command as it can be asked."""

    id: str
    model: str
    gpu: str
    args: tuple[str, ...]


def checkpoint(name: object, catalogue: Catalogue) -> str | None:
    """The checkpoint of the catalogue that a published name stands for."""
    text = str(name)
    if text.lower() in catalogue.names:
        return catalogue.names[text.lower()].id
    if text.startswith(NOT_LIKE):
        return None
    likes = [start for start in LIKE if text.lower().startswith(start.lower())]
    return LIKE[max(likes, key=len)] if likes else None


def gpu_of(text: object, count: int | None = None) -> str | None:
    """``RTX 5090 x1`` -> ``1xRTX5090``."""
    name = next((one for one in GPUS if one.lower() in str(text).lower()), None)
    if name is None:
        return None
    stated = re.search(r"x(\d+)\s*$", str(text))
    number = count or (int(stated[1]) if stated else 1)
    return f"{number}x{_KNOWN_AS.get(name, name)}"


def words_of(lines: Iterable[object]) -> tuple[str, ...]:
    """Arguments as words, without code of the checkpoint, which is not there; JSON stays one word."""
    words: list[str] = []
    for line in lines:
        flag, _, value = str(line).strip().partition(" ")
        value = value.strip()
        if value.strip("'").startswith(("{", "[")):
            words += [flag, value.strip("'")]
        elif value:
            words += [flag, *shlex.split(value)]
        else:
            words.append(flag)
    return tuple(word for word in words if word not in _PATHS)
