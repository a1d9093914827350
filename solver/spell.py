"""Typed values of flags -> the words of a command line."""

from __future__ import annotations

import json
from collections.abc import Mapping

from constraints.schema import Flag
from constraints.values import Value


def option_of(flag: Flag) -> str | None:
    """The spelling to print: the first that is not deprecated; None when the command line cannot say it."""
    for action in flag.actions:
        if action.options and not action.deprecated and action.action != "refuse":
            return next((option for option in action.options if option.startswith("--")), action.options[0])
    for action in flag.actions:
        if action.options and action.action not in ("refuse", "ignore"):
            return action.options[0]
    return None


def spell(typed: Mapping[str, Value], flags: Mapping[str, Flag]) -> tuple[str, ...]:
    """The words that type these values, in the order of the mapping; unset ones are left out."""
    words: list[str] = []
    for name, value in typed.items():
        flag = flags.get(name)
        if value is None or flag is None:
            continue
        option = option_of(flag)
        if option is None:
            continue
        words.extend(_words(option, flag, value))
    return tuple(words)


def _words(option: str, flag: Flag, value: Value) -> list[str]:
    action = next((one for one in flag.actions if option in one.options), None)
    if action is None or action.action in ("store_true", "store_const") or (value is True and action.nargs == 0):
        return [option] if value not in (False,) else []
    if action.action == "boolean_optional":
        return [option if value else "--no-" + option.removeprefix("--")]
    if isinstance(value, tuple):
        return [option, *(str(item) for item in value)]
    if isinstance(value, bool):
        return [option, json.dumps(value)]
    return [option, str(value)]
