"""A Dockerfile -> its launch: the last ENTRYPOINT and CMD, with ENV, ARG defaults and the image of FROM."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from ..errors import InputError
from .expand import expand
from .launch import Launch, launch_from
from .refusal import Refusal
from .tokens import Word
from .words import launch_of, read_commands

_INSTRUCTION = re.compile(r"[ \t]*([A-Za-z]+)[ \t]+", re.ASCII)
_STRING = re.compile(r'"(?:\\.|[^"\\])*"')
_PAIR = re.compile(r"""([A-Za-z_]\w*)=("(?:\\.|[^"\\])*"|'[^']*'|\S*)""", re.ASCII)


@dataclass(frozen=True, slots=True)
class _Instruction:
    name: str
    line: int
    column: int
    body: str  # its lines, comments blanked


def is_dockerfile(text: str) -> bool:
    """Whether the first instruction is FROM, or ARGs before it."""
    for row in text.splitlines():
        if row.strip() and not row.lstrip().startswith("#"):
            if re.match(r"\s*FROM\s+\S", row, re.IGNORECASE):
                return True
            if not re.match(r"\s*ARG\s+\w", row, re.IGNORECASE):
                return False
    return False


def dockerfile_launches(file: str, text: str) -> Iterator[Launch]:
    """The launch of the last stage, if it has one.

    Raises InputError.
    """
    known: dict[str, str] = {}
    env: dict[str, str] = {}
    where: dict[str, tuple[int, int]] = {}
    image, last = "", {"ENTRYPOINT": None, "CMD": None}  # type: tuple[str, dict[str, _Instruction | None]]
    for one in _instructions(text):
        if one.name == "FROM":
            image, env, where = expand(one.body.split()[0] if one.body.split() else "", known)[0], {}, {}
            last = {"ENTRYPOINT": None, "CMD": None}
        elif one.name in ("ENV", "ARG"):
            pairs = _pairs(one.body, {**known, **env})
            (env if one.name == "ENV" else known).update(pairs)
            where.update(dict.fromkeys(pairs, (one.line, one.column)) if one.name == "ENV" else {})
        elif one.name in last:
            last[one.name] = one
            if one.name == "ENTRYPOINT":
                last["CMD"] = None
    words: list[Word] = []
    for part in (last["ENTRYPOINT"], last["CMD"]):
        if part is None:
            continue
        if not part.body.lstrip().startswith("["):
            for launch in _shell(file, part, env):
                yield replace(launch, image=image, where=where)
            return
        words += _listed(file, part)
    command = launch_of(words, {}, bare=False)
    if command is not None:
        launch = launch_from(command, "dockerfile", file, {})
        yield replace(launch, image=image, env=env, where=where)


def _shell(file: str, part: _Instruction, env: Mapping[str, str]) -> list[Launch]:
    text = "\n" * (part.line - 1) + " " * (part.column - 1) + part.body
    found = read_commands(text, bare=False)
    if isinstance(found, Refusal):
        if found.reason == "no-command":
            return []
        raise InputError("a quote is opened and never closed", f"{file}:{found.line}:{found.column}")
    return [launch_from(one, "dockerfile", file, env) for one in found]


def _listed(file: str, part: _Instruction) -> Iterator[Word]:
    for match in _STRING.finditer(part.body):
        before = part.body[: match.start() + 1]
        line = part.line + before.count("\n")
        column = len(before) - before.rfind("\n") - 1
        column += part.column if "\n" not in before else 1
        try:
            text = str(json.loads(match[0]))
        except ValueError:
            text = match[0][1:-1]
        yield Word(text, line, column, file, False, (line, column + len(match[0]) - 1), "flow")


def _pairs(body: str, known: Mapping[str, str]) -> dict[str, str]:
    found: dict[str, str] = {}
    joined = body.replace("\\\n", " ")
    for name, value in _PAIR.findall(joined):
        text = value[1:-1] if value[:1] in ("'", '"') else value
        expanded, left = expand(text, {**known, **found})
        if not left:
            found[name] = expanded
    if not found and len(parts := joined.split(None, 1)) == 2 and "=" not in parts[0]:
        found[parts[0]] = parts[1].strip()
    return found


def _instructions(text: str) -> Iterator[_Instruction]:
    rows = text.replace("\r\n", "\n").split("\n")
    at = 0
    while at < len(rows):
        begun = _INSTRUCTION.match(rows[at])
        if begun is None or rows[at].lstrip().startswith("#"):
            at += 1
            continue
        line, body = at + 1, [rows[at][begun.end() :]]
        while rows[at].rstrip().endswith("\\") and at + 1 < len(rows):
            at += 1
            row = rows[at]
            if row.lstrip().startswith("#"):  # Docker takes comments out of the middle of an instruction
                row = " " * (len(row) - 1) + "\\"
                rows[at] = row
            body.append(row)
        yield _Instruction(begun[1].upper(), line, begun.end() + 1, "\n".join(body))
        at += 1
