"""The text of a shell command line -> words with their places, and operators.

Read as a POSIX shell would: quotes, backslashes, line continuations, comments, operators, redirections, here-documents.
Nothing is expanded: `$MODEL` stays as it stands.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Literal, NamedTuple

from .source import Source

# A here-document is read as commands where it launches something.
_LAUNCHED, _DEEPEST = "sglang.launch_server", 4
_BLANKS = " \t\r\f\v"
_BLANK_RUN = re.compile(r"[ \t\r\f\v]+")
_LINE = re.compile(r"[^\n]*")
# Runs of characters that mean nothing to a shell, among words and between double quotes.
# What begins a variable that another program puts in before a shell reads the text; what no shell sees.
HOST, PAD = "\ue004", "\ue005"
_VARIABLE = ("$", HOST)
_PLAIN = re.compile(rf"[^\s'\"\\{{}}`${HOST}{PAD};|&()<>]+|[^\S \t\r\f\v\n]+")
_QUOTED_RUN = re.compile(rf"[^\"\\`${HOST}\n]*")
_IN_QUOTES = ("", '"', "\\", "`", "$", HOST)
_SIGNS = "$`"  # what begins a variable or a command, unless it is quoted
_ANSI = {"n": "\n", "t": "\t", "r": "\r", "\\": "\\", "'": "'", '"': '"'}


class Word(NamedTuple):
    """One word; ``line`` and ``column`` count from 1 where it begins, 0 when it stands in no text.

    ``origin`` is the file it comes from; ``open`` says that a shell would have expanded something in it. ``stop`` is
    the place behind its last character, ``layout`` how it stands there: among words, or as an item or entry of YAML.
    ``quoted`` are the places in ``text`` of signs that would have begun a variable, had they not been quoted;
    ``solid``: a quote keeps it one word whatever it holds. ``among`` are the words it may stand for, by the branches of
    a script, whose lines are ``chosen``.
    """

    text: str
    line: int = 0
    column: int = 0
    origin: str = ""
    open: bool = False
    stop: tuple[int, int] = (0, 0)
    layout: Literal["words", "block", "flow", "entry"] = "words"
    quoted: tuple[int, ...] = ()
    solid: bool = False
    among: tuple[tuple[Word, ...], ...] = ()
    chosen: tuple[int, ...] = ()


class Operator(NamedTuple):
    """What ends a command or redirects it."""

    text: str


class Unbalanced(Exception):
    """A quote is opened and never closed, or a backslash is last."""

    def __init__(self, reason: Literal["unbalanced-quote", "trailing-backslash"], mark: str, at: tuple[int, int]):
        self.reason, self.mark = reason, mark
        self.line, self.column = at


def tokens(text: str, line: int = 1, depth: int = 0) -> Iterator[Word | Operator]:
    """The words and operators of a text, in order; it begins in ``line``, ``depth`` here-documents deep.

    Raises Unbalanced; InputError when it is longer than any launch.
    """
    source = Source(text, line)
    while source.peek():
        mark = source.peek()
        if mark == "\\" and source.peek(1) == "\n":
            source.take(), source.take()
        elif mark in "\n;|&()":
            source.take()
            if mark == "\n" and source.awaited:
                yield Operator(mark)
                yield from _here_documents(source, depth)
                continue
            # `2>&1` and `&>file`: the ampersand belongs to a redirection.
            if mark == "&" and source.peek() == ">":
                continue
            yield Operator(mark)
        elif mark in "<>":
            begun = source.at
            while source.peek() and source.peek() in "<>&|":
                source.take()
            if source.text[begun : source.at] == "<<":
                source.awaited.append(_delimiter(source))
                continue
            yield Operator(mark)
        elif mark in _BLANKS:
            source.run(_BLANK_RUN)
        elif mark == "#":
            source.run(_LINE)
        else:
            word = _word(source)
            if word.text.isdigit() and source.peek() and source.peek() in "<>":  # the 2 of 2>file
                continue
            yield word


def plain_words(text: str) -> Iterator[Word]:
    """The words of a text in which nothing but blanks parts them, quoted as in a shell.

    Raises Unbalanced.
    """
    source = Source(text)
    while source.peek():
        if source.peek() == "\\" and source.peek(1) == "\n":
            source.take(), source.take()
        elif source.peek() == "\n":
            source.take()
        elif source.peek() in _BLANKS:
            source.run(_BLANK_RUN)
        else:
            yield _word(source, "")


def _delimiter(source: Source) -> str:
    if source.peek() == "-":
        source.take()
    while source.peek() in (" ", "\t"):
        source.take()
    return _word(source).text


def _here_documents(source: Source, depth: int) -> Iterator[Word | Operator]:
    """The words of here-documents in which something is launched; every other body is text."""
    for end in source.awaited:
        line, body = source.line, []
        while source.at < len(source.text):
            stop = source.text.find("\n", source.at)
            row = source.text[source.at : stop if stop >= 0 else len(source.text)]
            source.at += len(row)
            if source.take() == "" or row.strip() == end:
                break
            body.append(row)
        text = "\n".join(body)
        if _LAUNCHED in text and depth < _DEEPEST:
            yield from tokens(text, line, depth + 1)
            yield Operator("\n")
    source.awaited = []


class _Parts:
    """A word that grows: its text so far, and where quoted signs stand in it."""

    def __init__(self) -> None:
        self.texts: list[str] = []
        self.quoted: list[int] = []
        self.length = 0
        self.open = self.solid = False

    def add(self, text: str, *, literal: bool = False) -> None:
        text = text.replace(PAD, "")
        if literal:
            self.quoted.extend(self.length + place for place, one in enumerate(text) if one in _SIGNS)
        self.texts.append(text)
        self.length += len(text)


def _word(source: Source, ends: str = ";|&()<>") -> Word:
    line, column = source.place
    parts = _Parts()
    while (mark := source.peek()) and mark not in _BLANKS and mark != "\n" and mark not in ends:
        _part(source, mark, parts)
    text = "".join(parts.texts)
    return Word(text, line, column, open=parts.open, stop=source.place, quoted=tuple(parts.quoted), solid=parts.solid)


def _part(source: Source, mark: str, parts: _Parts) -> None:
    """The next piece of a word: something quoted, a template, a substitution, or one character."""
    at = source.place
    if mark == "'":
        source.take()
        parts.add(_until(source, "'", at), literal=True)
    elif mark == '"':
        source.take()
        parts.solid = True
        _double(source, at, parts)
    elif mark == "\\":
        source.take()
        if not source.peek():
            raise Unbalanced("trailing-backslash", "\\", at)
        following = source.take()
        parts.add("" if following == "\n" else following, literal=True)
    elif mark == "$" and source.peek(1) == "'":  # ANSI-C quoting
        source.take(), source.take()
        parts.add(_ansi(source, at), literal=True)
    elif mark == "{" and source.peek(1) == "{" and (end := source.template_end()) is not None:
        parts.open = True
        parts.add(source.text[source.at : end])
        source.at = end
    elif plain := source.run(_PLAIN):
        parts.add(plain)
    else:
        if mark == "`" or (mark in _VARIABLE and re.match(r"[\w{(@*]", source.peek(1))):
            parts.open = True
        if mark in _VARIABLE and source.peek(1) in ("{", "("):  # kept whole: what is inside ends no word
            parts.add(_nested(source, at))
        else:
            parts.add(source.take())


def _until(source: Source, end: str, at: tuple[int, int]) -> str:
    found = source.until(end)
    if found is None:
        raise Unbalanced("unbalanced-quote", end, at)
    return found


def _ansi(source: Source, at: tuple[int, int]) -> str:
    parts: list[str] = []
    while (mark := source.take()) != "'":
        if mark == "\\" and source.peek():
            following = source.take()
            mark = _ANSI.get(following, "\\" + following)
        elif not mark:
            raise Unbalanced("unbalanced-quote", "'", at)
        parts.append(mark)
    return "".join(parts)


def _double(source: Source, at: tuple[int, int], parts: _Parts) -> None:
    while (mark := source.take()) != '"':
        if mark not in _IN_QUOTES:
            parts.add(mark + source.run(_QUOTED_RUN))
            continue
        if not mark:
            raise Unbalanced("unbalanced-quote", '"', at)
        if mark == "\\" and source.peek() and source.peek() in '$`"\\\n':
            following = source.take()
            parts.add("" if following == "\n" else following, literal=True)
            continue
        if mark == "`" or (mark in _VARIABLE and re.match(r"[\w{(@*]", source.peek())):
            parts.open = True
        parts.add(mark)


def _nested(source: Source, at: tuple[int, int]) -> str:
    parts = [source.take(), source.take()]
    close = {"{": "}", "(": ")"}
    awaited = [close[parts[1]]]
    while awaited:
        mark = source.take()
        if not mark:
            raise Unbalanced("unbalanced-quote", "$" + parts[1], at)
        if mark == awaited[-1]:
            awaited.pop()
        elif mark in close:
            awaited.append(close[mark])
        parts.append(mark)
    return "".join(parts)
