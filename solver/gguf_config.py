"""The head of a GGUF file and what a release makes of such heads -> the config values SGLang builds from it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from constraints.models_schema import GgufHeader
from constraints.values import Value

from .errors import InputError
from .intake.gguf import GgufFile

ARCHITECTURE = "general.architecture"
_TOP = ("general.",)
_TOKENS, _OUTPUT, _EMBEDDING = "tokenizer.ggml.tokens", "output.weight", "token_embd.weight"
_HINT = "Put the checkpoint's config.json beside it: SGLang takes that one then, and so does preflight."


def gguf_config(head: GgufFile, headers: Mapping[str, GgufHeader], where: str) -> dict[str, Any]:
    """The config of a file that has no config.json beside it; `gguf` in it says where it is from.

    Raises InputError where SGLang cannot build one.
    """
    architecture = head.fields.get(ARCHITECTURE)
    if not isinstance(architecture, str):
        raise InputError(f"its header has no {ARCHITECTURE}", where, _HINT)
    header = headers.get(architecture)
    if header is None:
        raise InputError(f"SGLang cannot build a config from a GGUF file of {architecture}", where, _HINT)
    values = _Head(head, architecture)
    for refused in header.refuses:
        if refused.when is None or refused.when(values):
            raise InputError(
                f"SGLang cannot build a config from a GGUF file of {architecture}: {refused.why}", where, _HINT
            )
    if header.unread:
        raise InputError(f"how SGLang reads a GGUF file of {architecture} is not known here", where, _HINT)
    lacking = [name for name in header.needs if values[name] is None and f"{architecture}.{name}" not in head.lengths]
    if lacking:
        raise InputError(f"its header lacks {architecture}.{lacking[0]}, without which SGLang stops", where, _HINT)
    config: dict[str, Any] = {name: run(values) for name, run in header.config.items()}
    return {**{name: value for name, value in config.items() if value is not None}, "gguf": {"header": architecture}}


class _Head(Mapping[str, Value]):
    """The names that expressions read: keys below the architecture, those of the top, and three of our own."""

    def __init__(self, head: GgufFile, architecture: str) -> None:
        self._head, self._lead = head, architecture + "."

    def __getitem__(self, name: str) -> Value:
        if name == "tokens":
            return self._head.lengths.get(_TOKENS)
        if name == "has_output":
            return _OUTPUT in self._head.tensors
        if name == "embedding_rows":  # the format states dimensions from the innermost out
            shape = self._head.tensors.get(_EMBEDDING, ())
            return shape[1] if len(shape) > 1 else None
        return self._head.fields.get(name if name.startswith(_TOP) else self._lead + name)

    def __iter__(self) -> Iterator[str]:
        return iter(self._head.fields)

    def __len__(self) -> int:
        return len(self._head.fields)
