"""The text of a shell command line -> the launch's words with their places, or a Refusal.

Read as a POSIX shell would: quotes, backslashes, line continuations, comments, operators, redirections. Nothing is
expanded: `$MODEL` stays as it stands.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Literal, NamedTuple

from .refusal import Refusal

Entry = Literal["", "launch_server", "serve"]

_ASSIGNMENT = re.compile(r"([A-Za-z_]\w*)=(.*)", re.DOTALL | re.ASCII)
_COMMAND_TEXT = re.compile(r"-[a-z]*c", re.ASCII)  # of `bash -c` and its kin: the next word is a command of its own
# SGLang's two ways in; the first is a module, and a path to its file is as good.
_MODULE, _SCRIPT, _COMMAND, _VERB = "sglang.launch_server", "sglang/launch_server.py", "sglang", "serve"
_VARIABLE_OPTIONS = ("-e", "--env")  # of docker, podman, env and their kin


class Word(NamedTuple):
    """One word; ``line`` and ``column`` count from 1 where it begins, 0 when it stands in no text.

    ``origin`` is the --config file it comes from; ``open`` says that a shell would have expanded something in it.
    """

    text: str
    line: int = 0
    column: int = 0
    origin: str = ""
    open: bool = False


class CommandLine(NamedTuple):
    """A launch: the words after the entry point, and the environment set for it."""

    arguments: tuple[Word, ...]
    env: Mapping[str, str] = {}
    entry: Entry = ""


class _Operator(NamedTuple):
    text: str


def words_of(arguments: Iterable[str]) -> tuple[Word, ...]:
    """Words that were never one text, as in an argv; the column counts the words."""
    return tuple(Word(text, 0, place) for place, text in enumerate(arguments, 1))


def read_command(text: str) -> CommandLine | Refusal:
    """The launch in ``text``: flags alone, a command, or a script with a launch somewhere in it."""
    commands: list[list[Word]] = [[]]
    try:
        for token in _tokens(text):
            if isinstance(token, Word):
                commands[-1].append(token)
            elif token.text in ("<", ">"):
                commands[-1].append(Word(token.text, -1, 0))
            else:
                commands.append([])
    except _Unbalanced as fault:
        return Refusal(fault.reason, word=fault.mark, line=fault.line, column=fault.column)
    exported: dict[str, str] = {}
    for command in filter(None, map(_without_redirections, commands)):
        found = _launch(command, exported)
        if found is not None:
            return found
        exported |= _assigned(command)
    first = next(filter(None, commands), None)
    if first is None:
        return Refusal("no-command")
    return Refusal("no-command", word=first[0].text, line=first[0].line, column=first[0].column)


def _launch(command: list[Word], exported: Mapping[str, str]) -> CommandLine | None:
    texts = [word.text for word in command]
    env = dict(exported)
    for place, text in enumerate(texts):
        found = _ASSIGNMENT.fullmatch(text)
        if text.startswith("-") and all(_ASSIGNMENT.fullmatch(before) for before in texts[:place]):
            return CommandLine(tuple(command[place:]), env)
        if place and _COMMAND_TEXT.fullmatch(texts[place - 1]) and " " in text:
            inner = read_command(text)
            if isinstance(inner, CommandLine):
                words = tuple(_moved(word, command[place]) for word in inner.arguments)
                return CommandLine(words, env | dict(inner.env), inner.entry)
        entry, length = _entry(texts, place)
        if entry:
            return CommandLine(tuple(command[place + length :]), env, entry)
        if found and _sets_variable(texts, place):
            env[found[1]] = found[2]
    return None


def _moved(word: Word, outer: Word) -> Word:
    """A word of a quoted command at its place in the whole text; right as far as nothing in it was escaped."""
    column = word.column + (outer.column if word.line == 1 else 0)
    return Word(word.text, outer.line + word.line - 1, column, word.origin, word.open)


def _sets_variable(texts: list[str], place: int) -> bool:
    """Whether the assignment at ``place`` reaches the launch: a prefix, or given to env, docker or their kin."""
    before = texts[:place]
    leads = all(_ASSIGNMENT.fullmatch(text) for text in before)
    return leads or before[-1] in _VARIABLE_OPTIONS or any(text.rpartition("/")[2] == "env" for text in before)


def _entry(texts: list[str], place: int) -> tuple[Entry, int]:
    """The entry point that ``texts`` names at ``place``, and how many words it takes."""
    text = texts[place]
    if text == "-m" and texts[place + 1 : place + 2] == [_MODULE]:
        return "launch_server", 2
    if text == _MODULE or text == f"-m{_MODULE}":
        return "launch_server", 1
    if text.endswith(_SCRIPT):
        return "launch_server", 1
    if text.rpartition("/")[2] == _COMMAND and texts[place + 1 : place + 2] == [_VERB]:
        return "serve", 2
    return "", 0


def _assigned(command: list[Word]) -> dict[str, str]:
    """What a command without a launch leaves in the environment: assignments alone, or an export of them."""
    texts = [word.text for word in command]
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


class _Unbalanced(Exception):
    def __init__(self, reason: Literal["unbalanced-quote", "trailing-backslash"], mark: str, at: tuple[int, int]):
        self.reason, self.mark = reason, mark
        self.line, self.column = at


class _Text:
    """A text being read, one character at a time, that knows its place."""

    def __init__(self, text: str) -> None:
        self.text, self.at, self.line, self.begin = text.replace("\r\n", "\n"), 0, 1, 0

    @property
    def place(self) -> tuple[int, int]:
        return self.line, self.at - self.begin + 1

    def peek(self, ahead: int = 0) -> str:
        return self.text[self.at + ahead : self.at + ahead + 1]

    def take(self) -> str:
        found = self.peek()
        self.at += 1
        if found == "\n":
            self.line, self.begin = self.line + 1, self.at
        return found


def _tokens(text: str) -> Iterator[Word | _Operator]:
    source = _Text(text)
    while source.peek():
        mark = source.peek()
        if mark == "\\" and source.peek(1) == "\n":
            source.take(), source.take()
        elif mark in "\n;|&()":
            source.take()
            # `2>&1` and `&>file`: the ampersand belongs to a redirection.
            if mark == "&" and source.peek() == ">":
                continue
            yield _Operator(mark)
        elif mark in "<>":
            while source.peek() and source.peek() in "<>&|":
                source.take()
            yield _Operator(mark)
        elif mark.isspace():
            source.take()
        elif mark == "#":
            while source.peek() not in ("", "\n"):
                source.take()
        else:
            word = _word(source)
            if word.text.isdigit() and source.peek() and source.peek() in "<>":  # the 2 of 2>file
                continue
            yield word


def _word(source: _Text) -> Word:
    line, column = source.place
    parts: list[str] = []
    expands = False
    while (mark := source.peek()) and not mark.isspace() and mark not in ";|&()<>":
        at = source.place
        if mark == "'":
            source.take()
            parts.append(_until(source, "'", at))
        elif mark == '"':
            source.take()
            inside, opened = _double(source, at)
            parts.append(inside)
            expands |= opened
        elif mark == "\\":
            source.take()
            if not source.peek():
                raise _Unbalanced("trailing-backslash", "\\", at)
            following = source.take()
            parts.append("" if following == "\n" else following)
        else:
            if mark == "`" or (mark == "$" and re.match(r"[\w{(]", source.peek(1))):
                expands = True
            if mark == "$" and source.peek(1) in ("{", "("):  # kept whole: what is inside ends no word
                parts.append(_nested(source, at))
                continue
            parts.append(source.take())
    return Word("".join(parts), line, column, open=expands)


def _until(source: _Text, end: str, at: tuple[int, int]) -> str:
    parts: list[str] = []
    while (mark := source.take()) != end:
        if not mark:
            raise _Unbalanced("unbalanced-quote", end, at)
        parts.append(mark)
    return "".join(parts)


def _double(source: _Text, at: tuple[int, int]) -> tuple[str, bool]:
    parts: list[str] = []
    expands = False
    while (mark := source.take()) != '"':
        if not mark:
            raise _Unbalanced("unbalanced-quote", '"', at)
        if mark == "\\" and source.peek() and source.peek() in '$`"\\\n':
            following = source.take()
            parts.append("" if following == "\n" else following)
            continue
        if mark == "`" or (mark == "$" and re.match(r"[\w{(]", source.peek())):
            expands = True
        parts.append(mark)
    return "".join(parts), expands


def _nested(source: _Text, at: tuple[int, int]) -> str:
    parts = [source.take(), source.take()]
    close = {"{": "}", "(": ")"}
    awaited = [close[parts[1]]]
    while awaited:
        mark = source.take()
        if not mark:
            raise _Unbalanced("unbalanced-quote", "$" + parts[1], at)
        if mark == awaited[-1]:
            awaited.pop()
        elif mark in close:
            awaited.append(close[mark])
        parts.append(mark)
    return "".join(parts)
