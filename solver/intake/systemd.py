"""A systemd unit -> its launches: ExecStart with Environment."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from ..errors import InputError
from .broken import broken_off
from .launch import Launch, launch_from
from .refusal import Refusal
from .tokens import Unbalanced, Word, plain_words
from .words import read_commands

MOST_SETTINGS = 5000

_SETTING = re.compile(r"[ \t]*(ExecStart|EnvironmentFile|Environment)[ \t]*=[ \t]*", re.ASCII)
_PREFIX = re.compile(r"[@\-:+!]+")  # of ExecStart: how it is run
_SPECIFIER = re.compile(r"%[A-Za-z]")


def is_unit(text: str) -> bool:
    """Whether the text has the section that starts a service."""
    return re.search(r"^\[Service\][ \t]*\r?$", text, re.MULTILINE) is not None


def systemd_launches(file: str, text: str) -> Iterator[Launch]:
    """Every launch of a unit.

    Raises InputError.
    """
    env: dict[str, str] = {}
    where: dict[str, tuple[int, int]] = {}
    starts: list[str] = []
    unseen: list[Word] = []
    rows = text.replace("\r\n", "\n").split("\n")
    at = settings = 0
    while at < len(rows):
        found = _SETTING.match(rows[at])
        begun = at
        while rows[at].rstrip().endswith("\\") and at + 1 < len(rows):
            at += 1
        at += 1
        if found is None:
            continue
        settings += 1
        if settings > MOST_SETTINGS:
            raise InputError(f"more than {MOST_SETTINGS} settings", f"{file}:{begun + 1}")
        body = "\n".join([rows[begun][found.end() :], *rows[begun + 1 : at]])
        if found[1] == "EnvironmentFile":
            unseen.append(Word(f"the file {body.strip().lstrip('-')}", begun + 1, found.end() + 1))
        elif found[1] == "Environment":
            for name, value in _pairs(body, file, begun + 1):
                env[name], where[name] = value, (begun + 1, found.end() + 1)
        else:
            prefix = _PREFIX.match(body)
            skipped = prefix.end() if prefix else 0
            starts.append("\n" * begun + " " * (found.end() + skipped) + body[skipped:])
    for start in starts:
        commands = read_commands(start, bare=False, known=env)
        if isinstance(commands, Refusal):
            if commands.reason == "no-command":
                continue
            raise broken_off(commands.reason, f"{file}:{commands.line}:{commands.column}")
        for command in commands:
            opened = tuple(
                word._replace(open=word.open or bool(_SPECIFIER.search(word.text))) for word in command.arguments
            )
            launch = launch_from(command._replace(arguments=opened), "systemd", file)
            yield replace(launch, where=where, unseen=tuple(unseen))


def _pairs(body: str, file: str, line: int) -> Iterator[tuple[str, str]]:
    """The variables of an Environment setting: quotes keep blanks together, and nothing is put in."""
    try:
        for word in plain_words(body):
            name, equals, value = word.text.partition("=")
            if equals:
                yield name, value
    except Unbalanced as fault:
        raise broken_off(fault.reason, f"{file}:{line}") from None
