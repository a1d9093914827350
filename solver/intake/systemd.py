"""A systemd unit -> its launches: ExecStart with Environment."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from ..errors import InputError
from .launch import Launch, launch_from
from .refusal import Refusal
from .words import read_commands

_SETTING = re.compile(r"[ \t]*(ExecStart|Environment)[ \t]*=[ \t]*", re.ASCII)
_PAIR = re.compile(
    r"""(?:"([A-Za-z_]\w*)=((?:\\.|[^"\\])*)"|'([A-Za-z_]\w*)=([^']*)'|([A-Za-z_]\w*)=(\S*))""", re.ASCII
)
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
    rows = text.replace("\r\n", "\n").split("\n")
    at = 0
    while at < len(rows):
        found = _SETTING.match(rows[at])
        begun = at
        while rows[at].rstrip().endswith("\\") and at + 1 < len(rows):
            at += 1
        at += 1
        if found is None:
            continue
        body = "\n".join([rows[begun][found.end() :], *rows[begun + 1 : at]])
        if found[1] == "Environment":
            for match in _PAIR.finditer(body):
                name = match[1] or match[3] or match[5]
                env[name] = match[2] or match[4] or match[6] or ""
                where[name] = (begun + 1, found.end() + 1)
        else:
            prefix = _PREFIX.match(body)
            skipped = prefix.end() if prefix else 0
            starts.append("\n" * begun + " " * (found.end() + skipped) + body[skipped:])
    for start in starts:
        commands = read_commands(start, bare=False)
        if isinstance(commands, Refusal):
            if commands.reason == "no-command":
                continue
            raise InputError("a quote is opened and never closed", f"{file}:{commands.line}:{commands.column}")
        for command in commands:
            opened = tuple(
                word._replace(open=word.open or bool(_SPECIFIER.search(word.text))) for word in command.arguments
            )
            launch = launch_from(command._replace(arguments=opened), "systemd", file, env)
            yield replace(launch, where=where)
