"""What a program gives with a question -> what the question means: flags in any spelling, values, words, counts.

Every function raises InputError for what cannot be meant, so that no question is answered as if it had not been said.
"""

from __future__ import annotations

import shlex
from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING

from constraints.plainly import plainly
from constraints.schema import Flags
from constraints.values import Value

from .errors import InputError
from .expected import names, path, several, text, whole
from .intake.command import parse_arguments, read_command, words_of
from .intake.refusal import Refusal
from .near import nearest_names
from .place import ASPECTS, COUNT
from .spell import spell

if TYPE_CHECKING:
    from .estimate.roofline import Workload

_FLAG = "flag"
# What the command line calls a number of GPUs.
_COUNTED = "count"
_MODEL = "Write it as a text, an id or the path of a folder."


def model_given(model: object) -> str:
    """A checkpoint as it is named: a text, or the path of its folder."""
    return path(model, "model", _MODEL)


def workload_given(workload: object) -> Workload:
    """What a server is for: whole numbers."""
    from .estimate.roofline import Workload  # asked for by recommendations alone

    if not isinstance(workload, Workload):
        raise InputError(f"{workload!r} is no workload", "workload", "Write Workload(1024, 256, 32).")
    return Workload(
        whole(workload.input_len, "input_len"),
        whole(workload.output_len, "output_len"),
        whole(workload.concurrency, "concurrency"),
        whole(workload.context, "context_length"),
    )


def aspect_given(aspect: object, where: str) -> str:
    """What of a place is compared, by its own name or that of the command line; another text stays as it is."""
    named = text(aspect, where, "Known: " + ", ".join(ASPECTS))
    return COUNT if named == _COUNTED else named


def flag_named(name: str, flags: Flags) -> str:
    """The field of a flag by any of its spellings, or by the beginning of one that no other flag has: ``tp``."""
    plain = text(name, _FLAG, "Give its name, such as tp_size.").lstrip("-").replace("-", "_")
    if plain in flags:
        return plain
    begun = set()
    for field, flag in flags.items():
        spellings = {option.lstrip("-").replace("-", "_") for action in flag.actions for option in action.options}
        if plain in spellings:
            return field
        if plain and any(spelling.startswith(plain) for spelling in spellings):
            begun.add(field)
    if len(begun) == 1:
        return begun.pop()
    near = nearest_names(plain, flags, 3)
    raise InputError(f"SGLang has no flag {name!r}", None, None, near)


def values_given(values: object, flags: Flags, where: str) -> dict[str, Value]:
    """The values of flags; a text is read as SGLang reads the words of that flag."""
    if not isinstance(values, Mapping):
        raise InputError(f"{values!r} is no mapping of flags to values", where, 'It reads like {"tp_size": 2}.')
    given: dict[str, Value] = {}
    for name, value in values.items():
        field = flag_named(str(name), flags)
        if field in given:
            raise InputError(f"{field} is given twice", where, "Give each flag once.")
        given[field] = _value(field, value, flags, where)
    return given


def _value(field: str, value: object, flags: Flags, where: str) -> Value:
    value = (
        tuple(_plain(field, item, where) for item in value)
        if isinstance(value, list | tuple)
        else _plain(field, value, where)
    )
    words = spell({field: value}, flags)
    if not words:
        return value
    parsed = parse_arguments(words_of(words), flags, needs_model=False)
    if isinstance(parsed, Refusal):
        choices = ", ".join(str(one) for one in parsed.choices)
        takes = f"It takes {choices}." if choices else None
        raise InputError(f"{value!r} is no value of {field}", where, takes, tuple(parsed.near))
    return parsed.typed.get(field)


def _plain(field: str, value: object, where: str) -> Value:
    if value is None or isinstance(value, str | int | float):
        return value
    if hasattr(value, "__index__"):  # whole numbers of other packages
        return whole(value, where)
    raise InputError(f"{value!r} is no value of {field}", where, "Give a text, a number, True, False or None.")


def arguments_given(arguments: object) -> list[str]:
    """The words of a command line; one text is split as a shell splits it."""
    if isinstance(arguments, str):
        try:
            words = shlex.split(arguments)
        except ValueError as fault:
            raise InputError(f"cannot be split into words: {plainly(fault)}", "arguments") from None
        if words and not words[0].startswith("-") and not isinstance(whole_launch := read_command(arguments), Refusal):
            # Its environment and its image would go unheard.
            flags = shlex.join(word.text for word in whole_launch.arguments)
            raise InputError("this is a whole command", "arguments", f"Give its flags alone: {flags}")
        return words
    if not isinstance(arguments, Sequence) or not all(isinstance(word, str) for word in arguments):
        raise InputError(f"{arguments!r} are no words", "arguments", 'They read like ["--tp", "2"].')
    return list(arguments)


def kept_given(keep: Collection[str], flags: Flags) -> frozenset[str]:
    """The names of what may not change: flags in any spelling, and aspects of the place."""
    wanted = names(keep, "keep", 'It reads like ["gpu", "tp_size"].')
    return frozenset(name if name in ASPECTS else flag_named(name, flags) for name in wanted if name)


def listed(values: object, name: str, flags: Flags, where: str) -> tuple[Value, ...]:
    """Several values of a flag or an aspect; what no release's flag takes stays as it is, and will not hold."""
    return tuple(_listed(one, name, flags, where) for one in several(values, where))


def _listed(value: object, name: str, flags: Flags, where: str) -> Value:
    if name not in flags:
        return path(value, where, "Give texts.") if name != COUNT else _plain(name, value, where)
    try:
        return _value(name, value, flags, where)
    except InputError:
        if isinstance(value, str):
            return value
        raise


def count_given(count: object, where: str) -> int:
    """A number of things, at least one."""
    if (number := whole(count, where)) < 1:
        raise InputError(f"{number} is no number of them", where, "Give a whole number from 1.")
    return number
