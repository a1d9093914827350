"""What was typed -> the values a program starts from: every flag, what was typed, the keys of typed JSON objects."""

from __future__ import annotations

import json
from collections.abc import Mapping

from constraints.values import Value


def initial_values(defaults: Mapping[str, Value], typed: Mapping[str, Value]) -> dict[str, Value]:
    """A value for every flag, ``typed.x`` for what was typed, and ``x.key`` for the keys of a typed JSON object."""
    values: dict[str, Value] = {**defaults, **typed}
    for flag, value in typed.items():
        values[f"typed.{flag}"] = value
        if isinstance(value, str) and value.startswith("{"):
            values.update(_flatten(flag, value))
    return values


def json_object(text: str) -> Mapping[str, object] | None:
    """The JSON object that a text is; None for any other, which a rule refuses."""
    try:
        data = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return data if isinstance(data, dict) else None


def _flatten(flag: str, text: str) -> dict[str, Value]:
    found: dict[str, Value] = {}

    def walk(prefix: str, part: object) -> None:
        if isinstance(part, dict):
            for key, inner in part.items():
                walk(f"{prefix}.{key}", inner)
        elif isinstance(part, list):
            found[prefix] = tuple(
                item if isinstance(item, (str, int, float, bool)) else json.dumps(item) for item in part
            )
        elif part is None or isinstance(part, (str, int, float, bool)):
            found[prefix] = part

    walk(flag, json_object(text) or {})
    return found
