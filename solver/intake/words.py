"""The text of a shell command line -> the launch's words with their places, or a Refusal."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Literal, NamedTuple

from ..errors import InputError
from .expand import MOST_WORDS
from .refusal import Refusal
from .script import read_script
from .simple import COMMAND_TEXT
from .tokens import Word
from .variables import Variables

Entry = Literal["", "launch_server", "serve", "worker"]

_ASSIGNMENT = re.compile(r"([A-Za-z_]\w*)=(.*)", re.DOTALL | re.ASCII)
# SGLang's two ways in; the first is a module, and a path to its file is as good.
_MODULE, _SCRIPT, _COMMAND, _VERB = "sglang.launch_server", "sglang/launch_server.py", "sglang", "serve"
# Dynamo's worker hands its options on to the same parser.
_WORKERS = ("dynamo.sglang", "dynamo.sglang.worker")
_VARIABLE_OPTIONS = ("-e", "--env")  # of docker, podman, env and their kin


class CommandLine(NamedTuple):
    """A launch: the words after the entry point, the environment set for it, and the words before, such as docker's.

    Variables are put in, as far as they are known; ``unset`` are those that are set to what cannot be known.
    """

    arguments: tuple[Word, ...]
    env: Mapping[str, str] = {}
    entry: Entry = ""
    before: tuple[Word, ...] = ()
    unset: Mapping[str, str] = {}


def words_of(arguments: Iterable[str]) -> tuple[Word, ...]:
    """Words that were never one text, as in an argv; the column counts the words."""
    return tuple(Word(text, 0, place) for place, text in enumerate(arguments, 1))


def read_command(text: str) -> CommandLine | Refusal:
    """The first launch in ``text``: flags alone, a command, or a script with a launch somewhere in it."""
    found = read_commands(text)
    return found if isinstance(found, Refusal) else found[0]


def read_commands(
    text: str, *, bare: bool = True, known: Mapping[str, str] | Variables | None = None, line: int = 1
) -> tuple[CommandLine, ...] | Refusal:
    """Every launch in ``text``, at least one; flags alone are one where ``bare``; ``known`` is set before it begins.

    The text begins in ``line`` of its file. Raises InputError.
    """
    return _read(text, known if isinstance(known, Variables) else Variables(known), bare, line)


def _read(text: str, variables: Variables, bare: bool, line: int = 1) -> tuple[CommandLine, ...] | Refusal:
    launches: list[CommandLine] = []
    first: list[Word] = []

    def visit(words: tuple[Word, ...], at: Variables) -> None:
        found = launch_of(words, at, bare=bare)
        if found is not None:
            launches.append(found)
        else:  # the branches may hold whole commands
            for place, word in enumerate(words):
                each = (launch_of((*words[:place], *some, *words[place + 1 :]), at, bare=bare) for some in word.among)
                launches.extend(one for one in each if one is not None)
        first.extend(words[:1])

    fault = read_script(text, variables, visit, line)
    if fault is not None and (bare or not launches):
        return Refusal(fault.reason, word=fault.mark, line=fault.line, column=fault.column)
    if launches:
        return tuple(launches)
    if not first:
        return Refusal("no-command")
    return Refusal("no-command", word=first[0].text, line=first[0].line, column=first[0].column)


def launch_of(command: Sequence[Word], variables: Variables, *, bare: bool = True) -> CommandLine | None:
    """The launch that one command is, with what the ``variables`` are there; None when it is none."""
    texts = [word.text for word in command]
    own: dict[str, Word] = {}
    leading, under_env = True, False  # whether assignments alone stood before, and whether `env` did
    for place, text in enumerate(texts):
        found = _ASSIGNMENT.fullmatch(text)
        if bare and leading and text.startswith("-"):
            return _line(command[place:], variables, own)
        if place and COMMAND_TEXT.fullmatch(texts[place - 1]) and " " in text:
            inside = variables.copy()
            for name, word in own.items():
                inside.assign(name, (_value(word),), word.open, 0)
            inner = _read(text, inside, True)
            if not isinstance(inner, Refusal):
                words = tuple(_moved(word, command[place]) for word in inner[0].arguments)
                return inner[0]._replace(arguments=words, before=tuple(command[:place]))
        entry, length = _entry(texts, place)
        if entry:
            line = _line(command[place + length :], variables, own)
            return line._replace(entry=entry, before=tuple(command[: place + length]))
        if found and (leading or under_env or texts[place - 1] in _VARIABLE_OPTIONS):
            own[found[1]] = command[place]
        leading = leading and found is not None
        under_env = under_env or text.rpartition("/")[2] == "env"
    return None


def _line(arguments: Sequence[Word], variables: Variables, own: Mapping[str, Word]) -> CommandLine:
    """A launch with its environment: what the script knows, and below it what is set for the launch alone."""
    if len(arguments) > MOST_WORDS:
        raise InputError(f"more than {MOST_WORDS} words in one launch", None)
    known, unset = variables.environment()
    for name, word in own.items():
        known.pop(name, None)
        unset.pop(name, None)
        (unset if word.open else known)[name] = _value(word)
    return CommandLine(tuple(arguments), known, unset=unset)


def _value(word: Word) -> str:
    return word.text.partition("=")[2]


def _moved(word: Word, outer: Word) -> Word:
    """A word of a quoted command at its place in the whole text; right as far as nothing in it was escaped."""
    column = word.column + (outer.column if word.line == 1 else 0)
    stop = (outer.line + word.stop[0] - 1, word.stop[1] + (outer.column if word.stop[0] == 1 else 0))
    lines = tuple(outer.line + row - 1 for row in word.chosen)
    return word._replace(line=outer.line + word.line - 1, column=column, stop=stop, chosen=lines)


def _entry(texts: list[str], place: int) -> tuple[Entry, int]:
    """The entry point that ``texts`` names at ``place``, and how many words it takes."""
    text = texts[place]
    if text == "-m" and texts[place + 1 : place + 2] == [_MODULE]:
        return "launch_server", 2
    if text == "-m" and place + 1 < len(texts) and texts[place + 1] in _WORKERS:
        return "worker", 2
    if text == _MODULE or text == f"-m{_MODULE}":
        return "launch_server", 1
    if text.endswith(_SCRIPT):
        return "launch_server", 1
    if text.rpartition("/")[2] == _COMMAND and texts[place + 1 : place + 2] == [_VERB]:
        return "serve", 2
    return "", 0
