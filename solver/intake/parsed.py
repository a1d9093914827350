"""What a command line says, as values: what was typed, where, and what a person may want to know of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, NamedTuple

from constraints.values import Value

Code = Literal["deprecated", "ignored", "abbreviated", "unread-config"]


class Place(NamedTuple):
    """Where a flag was typed last: words ``start`` (its option) to before ``end``, and the place in the text."""

    start: int
    end: int
    line: int
    column: int
    origin: str = ""


@dataclass(frozen=True, slots=True)
class Notice:
    """Something SGLang accepts and a person may want to know of.

    ``deprecated`` (``instead`` says what to write), ``ignored`` (the option does nothing), ``abbreviated`` (for
    ``instead``), ``unread-config`` (a configuration file SGLang does not look at when it is named so). ``key`` as in a
    `Refusal`.
    """

    code: Code
    option: str
    instead: str
    index: int
    line: int
    column: int
    key: str = ""


class Parsed(NamedTuple):
    """What was typed, by field; a value equal to the default is typed all the same.

    ``model`` is the value of the required option. ``config`` names the configuration file whose settings are in.
    """

    typed: Mapping[str, Value]
    model: str | None
    spans: Mapping[str, Place]
    env: Mapping[str, str] = {}
    notices: tuple[Notice, ...] = ()
    config: str = ""
