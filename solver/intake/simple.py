"""One simple command of a script -> what it assigns, or its words with the variables put in, shown to who asked."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable

from .expand import MOST_CHOICES, Pieces, expanded, flat, guarded, pieces_of, shown
from .tokens import Word
from .variables import Variables

Visit = Callable[[tuple[Word, ...], Variables], None]
COMMAND_TEXT = re.compile(r"-[a-z]*c", re.ASCII)  # of `bash -c` and its kin: the next word is a command of its own
_ASSIGNMENT = re.compile(r"([A-Za-z_]\w*)(\+?)=(.*)", re.DOTALL | re.ASCII)
_HERE_TEXT = re.compile(r"\$\(\s*cat\s*<<-?\s*(['\"]?)(\w+)\1[ \t]*\n(.*?)\n?[ \t]*\2\s*\)", re.DOTALL | re.ASCII)
_DECLARING = frozenset(("export", "declare", "typeset", "local", "readonly", "set"))
# What does not fail unless something is broken: what `&&` leads on to from these is done.
_SURE = _DECLARING | set("cd echo printf source . mkdir shopt unset ulimit pushd popd true :".split())  # noqa: SIM905
_SURE |= set("sleep conda module pip shift trap umask".split())  # noqa: SIM905
# Commands that speak of others, or look for them, and run none.
_TELLING = frozenset(("echo", "printf", "pkill", "pgrep", "killall", "kill", "grep", "egrep", "ps", "alias"))
_FORGETTING = ("unset", "read", "mapfile", "readarray")


class Commands:
    """Runs commands as far as variables go; ``again`` reads a text that a command asks to be read."""

    def __init__(self, variables: Variables, visit: Visit, again: Callable[[str, Visit], None]) -> None:
        self.variables, self.visit, self.again = variables, visit, again

    def run(self, words: list[Word]) -> bool:
        """A simple command; gives whether it may well fail."""
        name = words[0].text
        found = [_assignment(word) for word in words]
        if all(found) or name in _DECLARING:
            for word, one in zip(words, found, strict=True):
                if one is not None:
                    self._assign(word, one)
        elif name in _FORGETTING:
            for word in words[1:]:
                self.variables.drop(word.text)
        elif name == "eval":
            self._read_again(words)
        elif name not in _TELLING:
            self.visit(self._put_in(words), self.variables)
        return not (all(found) or name in _SURE)

    def _read_again(self, words: list[Word]) -> None:
        """Words that are a text of their own once they are put in, each at the place where this is asked for."""
        at = words[0]

        def visit(found: tuple[Word, ...], variables: Variables) -> None:
            self.visit(tuple(_at(word, at) for word in found), variables)

        for text in _texts(expanded(words[1:], self.variables)):
            self.again(text, visit)

    def _assign(self, word: Word, one: re.Match[str]) -> None:
        text, here = one[3], _HERE_TEXT.fullmatch(one[3])
        if here:  # what `cat` prints is what stands there
            text = guarded(here[3], range(len(here[3])) if here[1] else ()).replace("\\\n", " ")
        pieces, left = pieces_of(text, self.variables, split=True)
        if one[2]:
            before = self.variables.value(one[1])
            pieces, left = (*(before[0] if before else ()), *pieces), left or bool(before and before[1])
        self.variables.assign(one[1], pieces, left, word.line)

    def _put_in(self, words: list[Word]) -> tuple[Word, ...]:
        """The words of a command with its variables put in; a script among them is left for its own reader."""
        scope = _Own(self.variables)
        found: list[Word] = []
        leading = True
        for place, word in enumerate(words):
            one = _assignment(word) if leading else None
            if one is not None:
                pieces, left = pieces_of(one[3], scope)
                texts = flat(pieces)
                scope.own[one[1]] = (pieces, left)
                text = f"{one[1]}={' or '.join(map(shown, texts))}"
                found.append(word._replace(text=text, open=left or len(texts) > 1, quoted=(), solid=True))
            elif place and COMMAND_TEXT.fullmatch(words[place - 1].text) and re.search(r"\s", word.text):
                found.append(word)
            else:
                found += expanded((word,), self.variables)
            leading = leading and one is not None
        return tuple(found)


def _at(word: Word, place: Word) -> Word:
    """A word as if it stood at another one's place."""
    among = tuple(tuple(_at(one, place) for one in words) for words in word.among)
    lines = (place.line,) if word.chosen else ()
    return word._replace(line=place.line, column=place.column, stop=place.stop, among=among, chosen=lines)


def _texts(words: Iterable[Word]) -> list[str]:
    """The texts that words are together, with each of the choices among them."""
    found = [""]
    for word in words:
        each = [" ".join(one.text for one in some) for some in word.among] or [word.text]
        found = [f"{head} {tail}" for head in found for tail in each]
        if len(found) > MOST_CHOICES:
            found = [found[0], found[-1]]
    return list(dict.fromkeys(found))


class _Own:
    """The variables of a script below those that a command is given by itself."""

    def __init__(self, variables: Variables) -> None:
        self.variables = variables
        self.own: dict[str, tuple[Pieces, bool]] = {}

    def value(self, name: str) -> tuple[Pieces, bool] | None:
        """As Scope."""
        return self.own.get(name) or self.variables.value(name)

    def words(self, name: str) -> tuple[Word, ...] | None:
        """As Scope."""
        return self.variables.words(name)

    def default(self, name: str, pieces: Pieces, unknown: bool) -> None:
        """As Scope."""
        self.variables.default(name, pieces, unknown)


def _assignment(word: Word) -> re.Match[str] | None:
    return _ASSIGNMENT.fullmatch(guarded(word.text, word.quoted)) if "=" in word.text else None
