"""Words of the command line -> values: GPUs and platforms, pins, launch commands, batch lines."""

from __future__ import annotations

import re
import shlex
import stat
import sys
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import BinaryIO

from constraints.gpu_names import spelling
from constraints.gpu_schema import Gpus
from constraints.knowledge import Knowledge
from constraints.plainly import plainly
from constraints.schema import Flags
from constraints.values import Value, same

from ..errors import InputError
from ..facts import Platform
from ..given import flag_named, kept_given
from ..gpu import parse_gpu
from ..intake.command import parse_arguments, read_command, typed_words, words_of
from ..intake.refusal import Refusal
from ..machine import platform_of
from ..render.sentence import refusal_hint, refusal_message

MAX_LOG = 20_000_000
_DESCRIPTORS = ("/dev/fd/", "/dev/stdin", "/proc/self/fd/")


def text_of(file: str) -> str:
    """The text of a log, or of standard input for ``-``; what is no text in it is marked, not refused.

    Raises InputError.
    """
    data = bytes_of(file, MAX_LOG)
    if len(data) > MAX_LOG:
        raise InputError(
            f"larger than {MAX_LOG // 1_000_000} MB", file, "Give its end: tail -c 1000000 FILE | preflight diagnose -"
        )
    return data.decode("utf-8", errors="replace")


def bytes_of(file: str, most: int) -> bytes:
    """A file, or standard input for ``-``: no more than one byte over ``most``.

    Raises InputError.
    """
    try:
        with opened(file) as stream:
            return stream.read(most + 1)
    except OSError as fault:
        raise InputError(f"cannot be read: {plainly(fault)}", file, _cure(fault)) from None


def _cure(fault: OSError) -> str | None:
    """What to do about a file that the system does not give."""
    if isinstance(fault, PermissionError):
        return "Send it as a user who may read it: sudo cat FILE | preflight ... -"
    if isinstance(fault, FileNotFoundError):
        return "Look for its name, and for the folder you are in."
    return None


def opened(file: str) -> AbstractContextManager[BinaryIO]:
    """A file to read bytes of, or standard input for ``-``.

    Raises InputError when standard input is closed; OSError.
    """
    if file != "-":
        _expect_end(file)
        return Path(file).open("rb")
    if sys.stdin is None:
        raise InputError("standard input is closed", "-", "Name a file, or send something to it.")
    return nullcontext(sys.stdin.buffer)


def _expect_end(file: str) -> None:
    """Refuse what is not a file, and may wait or go on for ever; what a shell puts in for ``<(...)`` is read.

    Raises InputError; OSError.
    """
    mode = Path(file).stat().st_mode
    if stat.S_ISREG(mode) or stat.S_ISDIR(mode) or (stat.S_ISFIFO(mode) and file.startswith(_DESCRIPTORS)):
        return
    what = "pipe" if stat.S_ISFIFO(mode) else "socket" if stat.S_ISSOCK(mode) else "device"
    raise InputError(f"is a {what}, no file: it may never end", file, "Give a file, or - for standard input.")


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
    num_gpus: int | None = None,
) -> Platform:
    """The machine that the options of a command describe; ``given`` is set by the launch command itself, below ``env``.

    ``num_gpus`` is how many GPUs it is given.

    Raises InputError.
    """
    return platform_of(
        knowledge,
        gpu,
        nodes=nodes,
        env=settings_of(env),
        num_gpus=num_gpus,
        given=given,
        without=without or (),
        cuda=cuda,
        memory_gib=memory_gib,
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


def pins_of(settings: Sequence[str], flags: Flags, option: str = "--set") -> dict[str, Value]:
    """``flag=value`` words of ``option``, read as SGLang would read the flag's value.

    Raises InputError.
    """
    pins: dict[str, Value] = {}
    for setting in settings:
        name, separator, text = setting.partition("=")
        field = flag_named(name.strip(), flags)
        if not separator:
            raise InputError(f"{setting!r} sets nothing", option, "Write flag=value.")
        value = _value(field, text.strip(), flags, f"{option} {field}")
        if field in pins and not same(pins[field], value):
            raise InputError(f"{field} is asked to be two values", option, "Give each flag once.")
        pins[field] = value
    return pins


def kept_of(text: str | None, flags: Flags) -> frozenset[str]:
    """The names of ``--keep``: flags in any spelling, and aspects of the place.

    Raises InputError.
    """
    return kept_given(text or "", flags)


def _value(field: str, text: str, flags: Flags, where: str) -> Value:
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
        raise InputError(f"the value {text!r} cannot be split into words: {plainly(fault)}", where) from None
    parsed = parse_arguments(words_of([option, *words]), flags, needs_model=False)
    if isinstance(parsed, Refusal):
        raise InputError(refusal_message(parsed, "of this release"), where, None, tuple(parsed.near))
    return parsed.typed.get(field)


def arguments_of(words: Sequence[str], flags: Flags) -> tuple[list[str], dict[str, str]]:
    """The flags of a launch and the environment set for it, from flags alone or from a whole command.

    Raises InputError.
    """
    if not words or words[0].startswith("-"):
        return list(words), {}
    found = read_command(words[0] if len(words) == 1 else shlex.join(words))
    if isinstance(found, Refusal):
        if len(words) == 1 and found.reason == "no-command" and not re.search(r"\s", words[0]):
            raise _no_file(words[0])
        usual = "Give SGLang's flags, or a launch command."
        raise InputError(refusal_message(found, ""), "the command", refusal_hint(found) or usual)
    return typed_words(found, flags), dict(found.env)


def flags_of(text: str, flags: Flags) -> tuple[list[str], dict[str, str]]:
    """The same of ``--args``: one text with the flags of a launch, or a whole command, in the shell's quoting.

    Raises InputError.
    """
    if not text.strip():
        return [], {}
    found = read_command(text)
    if isinstance(found, Refusal):
        none = found.reason == "no-command"
        said = "this is no launch command, and no flags" if none else refusal_message(found, "")
        raise InputError(said, "--args", 'Write: --args "--tp-size 8".' if none else refusal_hint(found) or None)
    return typed_words(found, flags), dict(found.env)


def _no_file(word: str) -> InputError:
    """What a single word is not: a file, or a command."""
    hint = "Give a file that launches SGLang, a launch command, or --model MODEL and SGLang's flags after --."
    try:
        is_folder = Path(word).is_dir()
    except (OSError, ValueError):
        is_folder = False
    if is_folder:
        return InputError(f"{word} is a folder: it launches nothing", "the command", hint)
    return InputError(f"{word!r} is no launch command, and there is no such file", "the command", hint)
