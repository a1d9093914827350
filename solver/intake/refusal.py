"""Why a command line cannot be read, as a value: codes and places, no sentences."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from constraints.schema import Elsewhere
from constraints.values import Value

Reason = Literal[
    # the text
    "unbalanced-quote",
    "trailing-backslash",
    "no-command",
    # the words, as argparse sees them
    "ambiguous-option",
    "unknown-option",
    "unexpected-word",
    "missing-value",
    "takes-no-value",
    "bad-value",
    "bad-choice",
    "retired-option",
    "missing-required",
    "help",
    "crash",
    # a configuration file
    "config-twice",
    "config-missing-name",
    "config-not-yaml",
    "config-not-found",
    "config-unreadable",
    "config-not-mapping",
    "config-bad-key",
]


@dataclass(frozen=True, slots=True)
class Refusal:
    """The first thing SGLang would refuse while it parses.

    ``option`` is the spelling SGLang matched, ``flag`` its field, ``word`` the word at fault with its place and
    its ``index`` among the arguments. ``expected`` names the type, the converter or the number of values,
    ``choices`` the values allowed, ``candidates`` the options an abbreviation may mean, ``near`` the options or
    choices spelled alike, ``extras`` every word left over, ``elsewhere`` what other releases make of
    the option or choice. ``key``: what stands in place of the option where a file of SGLang's options says it.
    """

    reason: Reason
    option: str = ""
    flag: str = ""
    word: str = ""
    line: int = 0
    column: int = 0
    index: int = -1
    origin: str = ""
    expected: str = ""
    choices: tuple[Value, ...] = ()
    candidates: tuple[str, ...] = ()
    near: tuple[str, ...] = ()
    extras: tuple[str, ...] = ()
    elsewhere: Elsewhere | None = None
    key: str = ""
