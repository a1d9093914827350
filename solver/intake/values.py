"""One word of a command line -> the value SGLang's converter of that flag makes of it, or what was wrong with it."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any, NamedTuple

from constraints.schema import Action
from constraints.values import Value, frozen

# human_readable_int of sglang/srt/utils/common.py: SI suffixes may have decimals, IEC ones not.
_SCALED = re.compile(r"(\d+(?:\.\d+)?)(Ki|Mi|Gi|Ti|k|M|G|T)")
_SI = {"k": 10**3, "M": 10**6, "G": 10**9, "T": 10**12}
_IEC = {"Ki": 2**10, "Mi": 2**20, "Gi": 2**30, "Ti": 2**40}
# logging.getLevelNamesMapping(), without the import.
_LEVELS = frozenset(("CRITICAL", "FATAL", "ERROR", "WARN", "WARNING", "INFO", "DEBUG", "NOTSET"))


class Unfit(NamedTuple):
    """A word no value can be made of: what was expected; ``crash`` when SGLang does not catch its own failure."""

    expected: str
    crash: bool = False


class Structured(NamedTuple):
    """A value that is an object: its canonical text, and its parts by dotted name."""

    text: Value
    parts: tuple[tuple[str, Value], ...] = ()


def convert(action: Action, word: str) -> Value | Unfit | Structured:
    """What ``word`` becomes under ``action``'s type; never raises for a bad word."""
    if action.converter == "cuda_graph_config":
        return _sections(action, word)
    reader = _CONVERTERS.get(action.converter or action.type)
    if reader is None:
        return word
    try:
        return reader(word)
    except (TypeError, ValueError, RecursionError) as fault:
        return Unfit(action.converter or action.type, crash=isinstance(fault, RecursionError))


def lora_path(word: str) -> Value | Unfit:
    """A LoRA path: `name=path`, a path, or a JSON object, whose faults SGLang does not catch."""
    word = word.strip()
    if not (word.startswith("{") and word.endswith("}")):
        return word
    try:
        data = json.loads(word)
    except (ValueError, RecursionError):
        return Unfit("lora_path", crash=True)
    return frozen(data) if "lora_path" in data and "lora_name" in data else Unfit("lora_path", crash=True)


def is_level(text: Value) -> bool:
    """Whether `logging` knows a level of that name."""
    return isinstance(text, str) and text.upper() in _LEVELS


def _scaled(word: str) -> Value:
    word = word.strip()
    match = _SCALED.fullmatch(word)
    if match is None:
        return int(word)
    number, suffix = match.groups()
    if suffix in _IEC:
        return _printable(int(number) * _IEC[suffix])
    from decimal import Decimal  # 1.1k is 1100 exactly

    return _printable(int(Decimal(number) * _SI[suffix]))


def _printable(number: int) -> int:
    """A number that Python can write out; SGLang, which prints its arguments, fails at another one.

    Raises ValueError.
    """
    str(number)
    return number


def _reject_constant(word: str) -> Any:
    raise ValueError(word)


def _strict_json(word: str) -> Value:
    """JSON as orjson takes it: no NaN, no Infinity, no lone surrogates."""
    data = json.loads(word, parse_constant=_reject_constant)
    json.dumps(data, ensure_ascii=False).encode()
    return frozen(data)


def _sections(action: Action, word: str) -> Value | Unfit | Structured:
    """An object of sections, each an object with the keys its section allows."""
    try:
        data = json.loads(word)
    except ValueError:
        return Unfit("json")
    except RecursionError:
        return Unfit("json", crash=True)
    if not isinstance(data, dict):
        return Unfit("json object")
    parts: list[tuple[str, Value]] = []
    for section, settings in data.items():
        if section not in action.keys:
            return Unfit("section " + " ".join(action.keys))
        if not isinstance(settings, dict):
            return Unfit(f"json object {section}")
        for key, refused in action.refused.items():
            if key in settings and frozen(settings[key]) in refused:
                return Unfit(f"value {section}.{key}")
        for key, value in settings.items():
            if key not in action.keys[section]:
                return Unfit(f"key {section} " + " ".join(action.keys[section]))
            parts.append((f"{section}.{key}", frozen(value)))
    return Structured(frozen(data), tuple(parts))


_CONVERTERS: dict[str, Callable[[str], Value]] = {
    "int": int,
    "float": float,
    "json": lambda word: frozen(json.loads(word)),
    "json_list": _strict_json,
    "human_readable_int": _scaled,
    "nullable": lambda word: None if word in ("", "None") else word,
}
