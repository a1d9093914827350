"""Words of the command line -> values: GPUs and platforms, pins, launch commands, batch lines."""

from __future__ import annotations

import json
import shlex
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from constraints.gpu_names import spelling
from constraints.gpu_schema import Gpus
from constraints.knowledge import Knowledge
from constraints.schema import Flags
from constraints.values import Value, same

from ..errors import InputError
from ..facts import Platform
from ..gpu import parse_gpu
from ..intake.command import parse_arguments, read_command, words_of
from ..intake.launch import known_environment
from ..intake.refusal import Refusal
from ..machine import platform_of
from ..near import nearest_names
from ..place import ASPECTS
from ..render.sentence import refusal_message


def text_of(file: str) -> str:
    """The text of a file, or of standard input for ``-``; what is no text in it is marked, not refused.

    Raises InputError.
    """
    try:
        data = sys.stdin.buffer.read() if file == "-" else Path(file).read_bytes()
    except OSError as fault:
        raise InputError(f"cannot be read: {fault.strerror or fault}", file) from None
    return data.decode("utf-8", errors="replace")


def machine_asked(
    knowledge: Knowledge,
    gpu: str,
    *,
    nodes: int,
    env: Sequence[str] | None,
    without: Sequence[str] | None,
    cuda: str | None,
    memory_gib: float | None = None,
    given: Mapping[str, str] | None = None,
) -> Platform:
    """The machine that the options of a command describe; ``given`` is set by the launch command itself, below ``env``.

    Raises InputError.
    """
    variables = {**(given or {}), **settings_of(env)}
    return platform_of(
        knowledge, gpu, nodes=nodes, env=variables, without=without or (), cuda=cuda, memory_gib=memory_gib
    )


def gpu_asked(
    gpu: str | None, here: bool, known: Gpus, memory_gib: float | None, example: str
) -> tuple[str, float | None]:
    """The text of the GPU and the memory of one: as named, or with ``here`` as the driver of this machine tells.

    Raises InputError when it is named twice, or not at all.
    """
    if here:
        if gpu is not None:
            raise InputError(f"{gpu!r} names a GPU, and --here means those of this machine", "--here", "Leave one out.")
        from ..intake.here import gpus_here

        found = gpus_here()
        name = found.name if spelling(found.name) in known.spellings else found.capability
        return f"{found.number}x{name}", memory_gib or found.memory_mib / 1024
    if gpu is None:
        raise InputError("no GPU is named", None, f"Write: {example}, or --here for the GPUs of this machine.")
    return gpu, memory_gib


def is_gpu(word: str, known: Gpus) -> bool:
    """Whether a word names a GPU, or some of them."""
    try:
        parse_gpu(word, known)
    except InputError:
        return False
    return True


def settings_of(env: Sequence[str] | None) -> dict[str, str]:
    """``NAME=VALUE`` words of ``--env``.

    Raises InputError.
    """
    variables: dict[str, str] = {}
    for setting in env or ():
        name, separator, value = setting.partition("=")
        if not separator or not name:
            raise InputError(f"{setting!r} sets nothing", "--env", "Write NAME=VALUE.")
        variables[name] = value
    return variables


def pins_of(settings: Sequence[str], flags: Flags) -> dict[str, Value]:
    """``flag=value`` words of ``--set``, read as SGLang would read the flag's value.

    Raises InputError.
    """
    pins: dict[str, Value] = {}
    for setting in settings:
        name, separator, text = setting.partition("=")
        field = flag_named(name.strip(), flags)
        if not separator:
            raise InputError(f"{setting!r} sets nothing", "--set", "Write flag=value.")
        value = _value(field, text.strip(), flags)
        if field in pins and not same(pins[field], value):
            raise InputError(f"{field} is asked to be two values", "--set", "Give each flag once.")
        pins[field] = value
    return pins


def kept_of(text: str | None, flags: Flags) -> frozenset[str]:
    """The names of ``--keep``: flags in any spelling, and aspects of the place.

    Raises InputError.
    """
    names = [name.strip() for name in (text or "").split(",") if name.strip()]
    return frozenset(name if name in ASPECTS else flag_named(name, flags) for name in names)


def flag_named(name: str, flags: Flags) -> str:
    """The field of a flag by any of its spellings.

    Raises InputError.
    """
    plain = name.lstrip("-").replace("-", "_")
    if plain in flags:
        return plain
    for field, flag in flags.items():
        for action in flag.actions:
            if any(option.lstrip("-").replace("-", "_") == plain for option in action.options):
                return field
    near = nearest_names(plain, flags, 3)
    raise InputError(f"SGLang has no flag {name!r}", None, None, near)


def _value(field: str, text: str, flags: Flags) -> Value:
    flag = flags[field]
    if text.lower() in ("true", "false"):
        return text.lower() == "true"
    if text.lower() in ("unset", "null", "none"):
        return None
    option = next((action.options[0] for action in flag.actions if action.options), None)
    if option is None:
        return text
    try:
        words = shlex.split(text)
    except ValueError as fault:
        raise InputError(f"the value {text!r} cannot be split into words: {fault}", f"--set {field}") from None
    parsed = parse_arguments(words_of([option, *words]), flags, needs_model=False)
    if isinstance(parsed, Refusal):
        raise InputError(refusal_message(parsed, "of this release"), f"--set {field}", None, tuple(parsed.near))
    return parsed.typed.get(field)


def arguments_of(words: Sequence[str]) -> tuple[list[str], dict[str, str]]:
    """The flags of a launch and the environment set for it, from flags alone or from a whole command.

    Raises InputError.
    """
    if not words or words[0].startswith("-"):
        return list(words), {}
    found = read_command(words[0] if len(words) == 1 else shlex.join(words))
    if isinstance(found, Refusal):
        raise InputError(refusal_message(found, ""), "the command", "Give SGLang's flags, or a launch command.")
    return [word.text for word in found.arguments], known_environment(found.env, {})[0]


def launch_asked(
    knowledge: Knowledge,
    words: Sequence[str],
    *,
    nodes: int,
    env: Sequence[str] | None,
    without: Sequence[str] | None,
    cuda: str | None,
    memory_gib: float | None,
) -> tuple[Platform, list[str]]:
    """The machine and the flags of words that name a GPU and then a launch; its own environment counts below ``env``.

    Raises InputError.
    """
    arguments, given = arguments_of(words[1:])
    machine = machine_asked(
        knowledge, words[0], nodes=nodes, env=env, without=without, cuda=cuda, memory_gib=memory_gib, given=given
    )
    return machine, arguments


def batch_case(line: str) -> dict[str, Any]:
    """One line of a batch, not held against anything yet: its id is needed to say what is wrong.

    Raises InputError.
    """
    try:
        case = json.loads(line)
    except (ValueError, RecursionError) as fault:
        raise InputError(f"not JSON: {fault}", "the line") from None
    if not isinstance(case, dict):
        raise InputError("a case is an object", "the line")
    return case


def expect_case(case: Mapping[str, Any]) -> None:
    """Hold a case against what it must say.

    Raises InputError.
    """
    for key, kind in (("model", str), ("gpu", str), ("args", list)):
        if not isinstance(case.get(key), kind):
            raise InputError(f"{key!r} is missing or of another type", "the line")
    if not all(isinstance(word, (str, int, float)) for word in case["args"]):
        raise InputError("args are words", "the line")
    env, without, release = case.get("env"), case.get("without"), case.get("release")
    if not isinstance(env or {}, dict) or not all(
        isinstance(value, (str, int, float)) for value in (env or {}).values()
    ):
        raise InputError("env is an object of texts", "the line")
    if not isinstance(without or [], list) or not all(isinstance(name, str) for name in without or []):
        raise InputError("without is a list of packages", "the line")
    if not isinstance(release or "", str):
        raise InputError("release is a text such as 0.5.23", "the line")
