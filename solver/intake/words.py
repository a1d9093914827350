"""The text of a shell command line -> the launch's words with their places, or a Refusal."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Literal, NamedTuple

from .expand import guarded
from .refusal import Refusal
from .tokens import Unbalanced, Word, tokens

Entry = Literal["", "launch_server", "serve", "worker"]

_ASSIGNMENT = re.compile(r"([A-Za-z_]\w*)=(.*)", re.DOTALL | re.ASCII)
_ARRAY = re.compile(r"([A-Za-z_]\w*)(\+?)=", re.ASCII)
_COMMAND_TEXT = re.compile(r"-[a-z]*c", re.ASCII)  # of `bash -c` and its kin: the next word is a command of its own
# SGLang's two ways in; the first is a module, and a path to its file is as good.
_MODULE, _SCRIPT, _COMMAND, _VERB = "sglang.launch_server", "sglang/launch_server.py", "sglang", "serve"
# Dynamo's worker hands its options on to the same parser.
_WORKERS = ("dynamo.sglang", "dynamo.sglang.worker")
_VARIABLE_OPTIONS = ("-e", "--env")  # of docker, podman, env and their kin


class CommandLine(NamedTuple):
    """A launch: the words after the entry point, the environment set for it, and the words before, such as docker's.

    ``lists`` are the arrays that the script has filled by then. Values of ``env`` are as `expand` takes them: nothing
    is put in yet, and quoted signs are hidden.
    """

    arguments: tuple[Word, ...]
    env: Mapping[str, str] = {}
    entry: Entry = ""
    before: tuple[Word, ...] = ()
    lists: Mapping[str, tuple[Word, ...]] = {}


def words_of(arguments: Iterable[str]) -> tuple[Word, ...]:
    """Words that were never one text, as in an argv; the column counts the words."""
    return tuple(Word(text, 0, place) for place, text in enumerate(arguments, 1))


def read_command(text: str) -> CommandLine | Refusal:
    """The first launch in ``text``: flags alone, a command, or a script with a launch somewhere in it."""
    found = read_commands(text)
    return found if isinstance(found, Refusal) else found[0]


def read_commands(text: str, *, bare: bool = True) -> tuple[CommandLine, ...] | Refusal:
    """Every launch in ``text``, at least one; flags alone are one where ``bare``."""
    commands, lists, fault = _commands(text)
    exported: dict[str, str] = {}
    launches: list[CommandLine] = []
    for command in filter(None, map(_without_redirections, commands)):
        found = launch_of(command, exported, bare=bare)
        if found is not None:
            launches.append(found._replace(lists=lists))
        else:
            exported |= _assigned(command)
    if fault is not None and (bare or not launches):
        return Refusal(fault.reason, word=fault.mark, line=fault.line, column=fault.column)
    if launches:
        return tuple(launches)
    first = next(filter(None, commands), None)
    if first is None:
        return Refusal("no-command")
    return Refusal("no-command", word=first[0].text, line=first[0].line, column=first[0].column)


def _commands(text: str) -> tuple[list[list[Word]], dict[str, tuple[Word, ...]], Unbalanced | None]:
    """The commands of a text, its arrays, and the fault at which reading stopped; the broken command is left out."""
    commands: list[list[Word]] = [[]]
    lists: dict[str, tuple[Word, ...]] = {}
    filling: tuple[str, list[Word]] | None = None
    try:
        for token in tokens(text):
            if filling is not None:
                if isinstance(token, Word):
                    filling[1].append(token)
                elif token.text == ")":
                    lists[filling[0]] = (*lists.get(filling[0], ()), *filling[1])
                    filling = None
                continue
            if isinstance(token, Word):
                commands[-1].append(token)
            elif token.text in ("<", ">"):
                commands[-1].append(Word(token.text, -1, 0))
            elif token.text == "(" and commands[-1] and (named := _ARRAY.fullmatch(commands[-1][-1].text)):
                commands[-1].pop()
                if not named[2]:
                    lists.pop(named[1], None)
                filling = (named[1], [])
            else:
                commands.append([])
    except Unbalanced as fault:
        return commands[:-1], lists, fault
    return commands, lists, None


def launch_of(command: Sequence[Word], exported: Mapping[str, str], *, bare: bool = True) -> CommandLine | None:
    """The launch that one command is, with what was ``exported`` before; None when it is none."""
    texts = [word.text for word in command]
    own: dict[str, str] = {}
    leading, under_env = True, False  # whether assignments alone stood before, and whether `env` did
    for place, text in enumerate(texts):
        found = _ASSIGNMENT.fullmatch(guarded(text, command[place].quoted))
        if bare and leading and text.startswith("-"):
            return CommandLine(tuple(command[place:]), {**exported, **own})
        if place and _COMMAND_TEXT.fullmatch(texts[place - 1]) and " " in text:
            inner = read_command(text)
            if isinstance(inner, CommandLine):
                words = tuple(_moved(word, command[place]) for word in inner.arguments)
                env = {**exported, **own, **inner.env}
                return CommandLine(words, env, inner.entry, tuple(command[:place]))
        entry, length = _entry(texts, place)
        if entry:
            before = tuple(command[: place + length])
            return CommandLine(tuple(command[place + length :]), {**exported, **own}, entry, before)
        if found and (leading or under_env or texts[place - 1] in _VARIABLE_OPTIONS):
            own[found[1]] = found[2]
        leading = leading and found is not None
        under_env = under_env or text.rpartition("/")[2] == "env"
    return None


def _moved(word: Word, outer: Word) -> Word:
    """A word of a quoted command at its place in the whole text; right as far as nothing in it was escaped."""
    column = word.column + (outer.column if word.line == 1 else 0)
    stop = (outer.line + word.stop[0] - 1, word.stop[1] + (outer.column if word.stop[0] == 1 else 0))
    return word._replace(line=outer.line + word.line - 1, column=column, stop=stop)


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


def _assigned(command: list[Word]) -> dict[str, str]:
    """What a command without a launch leaves in the environment: assignments alone, or an export of them."""
    texts = [guarded(word.text, word.quoted) for word in command]
    if texts and texts[0] in ("export", "declare", "typeset", "set"):
        texts = texts[1:]
    found = [_ASSIGNMENT.fullmatch(text) for text in texts if not text.startswith("-")]
    return {match[1]: match[2] for match in found if match} if all(found) else {}


def _without_redirections(command: list[Word]) -> list[Word]:
    kept: list[Word] = []
    skip = False
    for word in command:
        if word.line == -1:
            skip = True
        elif skip:
            skip = False
        else:
            kept.append(word)
    return kept
