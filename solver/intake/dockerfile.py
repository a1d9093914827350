"""A Dockerfile -> its launch: the last ENTRYPOINT and CMD, with ENV, ARG defaults and the image of FROM."""

from __future__ import annotations

import json
import re
from collections import ChainMap
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from ..errors import InputError
from .broken import broken_off
from .expand import expand, guarded
from .launch import Launch, launch_from
from .refusal import Refusal
from .simple import COMMAND_TEXT
from .tokens import Unbalanced, Word, plain_words
from .variables import Variables
from .words import launch_of, read_commands

MOST_INSTRUCTIONS = 5000
_INSTRUCTION = re.compile(r"[ \t]*([A-Za-z]+)[ \t]+", re.ASCII)
_STRING = re.compile(r'"(?:\\.|[^"\\])*"', re.DOTALL)
# In place of the end of a line that goes on, which Docker takes away before it reads a list.
_GOES_ON = "\ue006"


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
    unset: dict[str, str] = {}
    where: dict[str, tuple[int, int]] = {}
    image, last = "", {"ENTRYPOINT": None, "CMD": None}  # type: tuple[str, dict[str, _Instruction | None]]
    for number, one in enumerate(_instructions(text)):
        if number > MOST_INSTRUCTIONS:
            raise InputError(f"more than {MOST_INSTRUCTIONS} instructions", f"{file}:{one.line}")
        if one.name == "FROM":
            image, env, where = expand(one.body.split()[0] if one.body.split() else "", known)[0], {}, {}
            unset = {}
            last = {"ENTRYPOINT": None, "CMD": None}
        elif one.name in ("ENV", "ARG"):
            pairs, left = _pairs(file, one, ChainMap(env, known))
            if one.name == "ARG":
                known.update(pairs)
                continue
            env.update(pairs)
            unset.update(left)
            for name in left:
                env.pop(name, None)
            for name in pairs:
                unset.pop(name, None)
            where.update(dict.fromkeys((*pairs, *left), (one.line, one.column)))
        elif one.name in last:
            last[one.name] = one
            if one.name == "ENTRYPOINT":
                last["CMD"] = None
    words: list[Word] = []
    for part in (last["ENTRYPOINT"], last["CMD"]):
        if part is None:
            continue
        if not _is_list(part.body):
            launches = _shell(file, part, env)
            if not launches and part.body.lstrip().startswith("["):
                raise InputError(
                    f"{part.name} begins as a list and is none: Docker hands it to a shell, which cannot run it",
                    f"{file}:{part.line}:{part.column}",
                    'A list reads like ["python3", "-m", "..."]; it may be cut off.',
                )
            for launch in launches:
                yield replace(launch, image=image, where=where, unset={**unset, **launch.unset})
            return
        words += _listed(file, part)
    command = launch_of(words, Variables(env), bare=False)
    if command is not None:
        yield replace(launch_from(command, "dockerfile", file), image=image, where=where, unset=unset)


def _shell(file: str, part: _Instruction, env: Mapping[str, str]) -> list[Launch]:
    text = "\n" * (part.line - 1) + " " * (part.column - 1) + part.body
    found = read_commands(text, bare=False, known=env)
    if isinstance(found, Refusal):
        if found.reason == "no-command":
            return []
        raise broken_off(found.reason, f"{file}:{found.line}:{found.column}")
    return [launch_from(one, "dockerfile", file) for one in found]


def _is_list(body: str) -> bool:
    """Whether a command is a list of words; what is no JSON is a command for the shell, whatever it begins with."""
    try:
        found = json.loads(body.replace("\\\n", ""))
    except (ValueError, RecursionError):
        return False
    return isinstance(found, list) and all(isinstance(word, str) for word in found)


def _listed(file: str, part: _Instruction) -> Iterator[Word]:
    before_it = ""
    for match in _STRING.finditer(part.body):
        before = part.body[: match.start() + 1]
        line = part.line + before.count("\n")
        column = len(before) - before.rfind("\n") - 1
        column += part.column if "\n" not in before else 1
        try:
            text = str(json.loads(match[0].replace("\\\n", _GOES_ON)))
        except ValueError:
            text = match[0][1:-1]
        # A shell that is given the text goes on behind the end of the line as well, and counts its lines.
        script = COMMAND_TEXT.fullmatch(before_it) is not None
        before_it = text
        text = text.replace(_GOES_ON, "\\\n" if script else "")
        yield Word(text, line, column, file, False, (line, column + len(match[0]) - 1), "flow")


def _pairs(file: str, one: _Instruction, known: Mapping[str, str]) -> tuple[dict[str, str], dict[str, str]]:
    """What an ENV or ARG sets, and what of it cannot be known."""
    try:
        words = list(plain_words(one.body))
    except Unbalanced as fault:
        line, column = one.line + fault.line - 1, fault.column + (one.column - 1 if fault.line == 1 else 0)
        raise broken_off(fault.reason, f"{file}:{line}:{column}") from None
    found: dict[str, str] = {}
    unset: dict[str, str] = {}
    if words and "=" not in words[0].text:  # the older form: a name, and all that follows
        name, _, rest = one.body.strip().partition(" ")
        pairs = [(name, rest.strip())] if rest.strip() else []
    else:
        texts = [guarded(word.text, word.quoted) for word in words]
        pairs = [(name, value) for name, equals, value in (text.partition("=") for text in texts) if equals]
    for name, value in pairs:
        text, left = expand(value, known)  # an instruction reads what stood before it
        (unset if left else found)[name] = text
    return found, unset


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
