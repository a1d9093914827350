"""The text of a script -> its commands in order, with the variables put in as far as they are known there.

Of a shell's grammar this reads what decides which assignments count: lists, conditions, cases, loops and functions. A
body that may not be run is a branch; so is what follows `&&` and `||`, unless the command before cannot well fail.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from ..errors import InputError
from .expand import expanded
from .simple import Commands, Visit
from .tokens import Operator, Unbalanced, Word, tokens
from .variables import Variables

_ARRAY = re.compile(r"([A-Za-z_]\w*)(\+?)=", re.ASCII)
_ENDING = frozenset(("exit", "return", "exec"))
_CLOSES = {"fi": ("if",), "done": ("loop",), "esac": ("case",), "}": ("{", "function")}
_LEADING = frozenset(("if", "while", "until", "then", "do", "elif", "else", "!", "time", "{"))
_DOUBLED = frozenset("&|;")
_DEEPEST, _DEEPEST_TEXT = 100, 3


def read_script(text: str, variables: Variables, visit: Visit, line: int = 1, within: int = 0) -> Unbalanced | None:
    """Show each command that may run something to ``visit``, with the variables as they are there.

    The text begins in ``line``; ``within`` counts the texts around it that were read once more. Gives the fault at
    which reading stopped; the broken command is left out. Raises InputError.
    """
    reader = _Reader(variables, visit, within)
    try:
        for mark in _marks(tokens(text, line)):
            reader.take(mark)
    except Unbalanced as fault:
        return fault
    reader.take("\n")
    return None


def _marks(found: Iterable[Word | Operator]) -> Iterator[Word | str]:
    """Words and operators, these whole: `&&`, `||` and `;;` are one."""
    held = ""
    for token in found:
        text = token.text if isinstance(token, Operator) else ""
        if held and held == text:
            yield held + text
            held = ""
            continue
        if held:
            yield held
        held = text if text in _DOUBLED else ""
        if not held:
            yield token if isinstance(token, Word) else text
    if held:
        yield held


@dataclass(slots=True)
class _Around:
    """A construct around what is read: its kind, and the list of commands that it is part of."""

    kind: str
    forked: bool = False  # whether its branches have begun
    sure: bool = False  # whether one of them is taken whatever comes
    pattern: bool = False  # of a case: whether a pattern is read
    loop: tuple[str, tuple[Word, ...]] = ("", ())
    listed: bool = False
    either: bool = False
    unsure: bool = False


class _Reader:
    """Reads a script from the front."""

    def __init__(self, variables: Variables, visit: Visit, within: int) -> None:
        self.variables, self.within = variables, within
        self.commands = Commands(variables, visit, self._again)
        self.around = [_Around("script")]
        self.words: list[Word] = []
        self.array: tuple[str, bool, list[Word]] | None = None
        self.named = self.going_on = False  # a function was named; an operator wants another command

    @property
    def top(self) -> _Around:
        """The innermost construct."""
        return self.around[-1]

    def take(self, mark: Word | str) -> None:
        """A word, or an operator."""
        if self.array is not None:
            if isinstance(mark, Word):
                self.array[2].append(mark)
            elif mark == ")":
                name, more, words = self.array
                self.variables.fill(name, expanded(words, self.variables), words[0].line if words else 0, more=more)
                self.array = None
        elif isinstance(mark, Word):
            self.words.append(mark)
            self.going_on = False
            if self.named and mark.text == "{":
                self.words = []
                self._enter("function", forked=True)
            self.named = False
        elif mark in ("<", ">"):
            self.words.append(Word(mark, -1, 0))
        elif self.top.pattern:
            self._pattern(mark)
        elif mark == "(":
            self._opened()
        elif mark == ")":
            self._closed()
        else:
            self._operator(mark)

    def _pattern(self, mark: str) -> None:
        """What stands before the commands of a case."""
        if mark == ")":
            self.top.sure = self.top.sure or any(word.text == "*" for word in self.words)
            self.top.pattern = False
            self.variables.begin()
        elif self.words and self.words[0].text == "esac":
            self._leave("case")
        if mark != "|":
            self.words = []

    def _opened(self) -> None:
        last = self.words[-1] if self.words else None
        array = _ARRAY.fullmatch(last.text) if last is not None else None
        if array:
            self.words.pop()
            self._command()  # `then` and its kin may stand before it
            self.array = (array[1], bool(array[2]), [])
        elif (len(self.words) == 1 or [word.text for word in self.words[:-1]] == ["function"]) and (
            self.words[0].text not in _LEADING
        ):
            self.words, self.named = [], True
        else:
            self.named = False
            self._command()
            self._enter("(", forked=True)

    def _closed(self) -> None:
        if self.named and not self.words:
            return
        self._command()
        if self.top.pattern:  # `case x in a)` in one line
            self._pattern(")")
            return
        self._end_list()
        if self.top.kind == "(":
            self.variables.forget()
            self.around.pop()

    def _operator(self, mark: str) -> None:
        self._command()
        if mark in ("&&", "||"):
            self._list(mark)
        elif mark == "|":
            self.top.unsure = True
        elif not (mark == "\n" and self.going_on):
            self._end_list()
            if mark == ";;" and self.top.kind == "case":
                self.variables.other()
                self.variables.end()
                self.top.pattern = True
        self.going_on = mark in ("&&", "||", "|") or (mark == "\n" and self.going_on)

    def _list(self, mark: str) -> None:
        """What follows is done only if what stands before succeeds, or fails."""
        top = self.top
        if mark == "||":
            if not top.listed:
                self.variables.fork()
            self.variables.other()
            top.listed = top.either = True
        elif top.unsure and not top.listed:
            self.variables.fork()
            top.listed = True
        top.unsure = False

    def _end_list(self) -> None:
        top = self.top
        if top.listed:
            self.variables.join(one_is_taken=top.either)
        top.listed = top.either = top.unsure = False

    def _enter(self, kind: str, *, forked: bool = False) -> None:
        if len(self.around) > _DEEPEST:
            raise InputError(f"nested deeper than {_DEEPEST}", None)
        self.around.append(_Around(kind, forked))
        if forked:
            self.variables.fork()

    def _leave(self, *kinds: str) -> None:
        """The innermost construct ends, if it is of this kind."""
        self._end_list()
        if self.top.kind in kinds:
            one = self.around.pop()
            if one.forked:
                self.variables.join(one_is_taken=one.sure)
            self.top.unsure = True

    def _command(self) -> None:
        """The words read so far are a command, with words of the grammar before it."""
        words, self.words = self.words, []
        while words and self._reserved(words):
            pass
        words = _without_redirections(words)
        if words:
            self.top.unsure = self.commands.run(words)
            name = words[0].text
            if name in _ENDING and not (name == "return" and self.top.kind == "function"):
                self.variables.end()

    def _again(self, text: str, visit: Visit) -> None:
        """A text within the script, with the variables as they are here."""
        if self.within < _DEEPEST_TEXT:
            read_script(text, self.variables.copy(), visit, within=self.within + 1)

    def _reserved(self, words: list[Word]) -> bool:
        """Take a word of the grammar from the front; False when there is none."""
        text, top = words[0].text, self.top
        if text in ("if", "while", "until", "{"):
            self._enter("loop" if text in ("while", "until") else text)
        elif text in ("for", "select") and len(words) > 1:
            self._enter("loop")
            listed = words[3:] if [word.text for word in words[2:3]] == ["in"] else []
            self.top.loop = (words[1].text, tuple(listed))
            words.clear()
        elif text == "case":
            at = next((place for place, word in enumerate(words) if word.text == "in"), len(words) - 1)
            self._enter("case", forked=True)
            self.variables.end()
            self.top.pattern = True
            self.words = words[at + 1 :]
            words.clear()
        elif text == "function" and len(words) > 1:
            del words[:2]
            self.named = not words
            if words and words[0].text == "{":
                self._enter("function", forked=True)
                del words[0]
        elif text in ("then", "do") and top.kind in ("if", "loop"):
            self._body(top)
        elif text in ("elif", "else") and top.kind == "if" and top.forked:
            self.variables.other()
            top.sure = text == "else"
        elif text not in ("!", "time", *_CLOSES):
            return False
        elif text in _CLOSES:
            self._leave(*_CLOSES[text])
        if words:
            del words[0]
        return True

    def _body(self, top: _Around) -> None:
        """The branch that a condition leads to, or the body of a loop, begins."""
        if not top.forked:
            self.variables.fork()
            top.forked = True
        name, listed = top.loop
        if name:
            found = [word for word in expanded(listed, self.variables) if not word.among]
            texts = tuple(dict.fromkeys(word.text for word in found if not word.open))
            if texts and len(texts) == len({word.text for word in found}):
                self.variables.choose(name, texts, listed[0].line)
            else:
                self.variables.drop(name)
            top.loop = ("", ())


def _without_redirections(command: Iterable[Word]) -> list[Word]:
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
