"""Words with variables in them, and what is known of these -> words with their values; unknown ones stay open."""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple, Protocol

from ..errors import InputError
from .template import is_template
from .tokens import HOST, Word

_REFERENCE = re.compile(
    rf"\$\$|(?P<sign>[${HOST}])(?:(?P<name>[A-Za-z_]\w*|\d|[@*])|\{{(?P<braced>[A-Za-z_]\w*|\d+)(?P<how>\}}|:?[-=+?])"
    r"|\((?P<round>[A-Za-z_]\w*)\))",
    re.ASCII,
)
_COMMAND = re.compile(rf"[${HOST}][({{]|`")
_LIST = re.compile(r"\$\{([A-Za-z_]\w*)\[[@*]\]\}", re.ASCII)
_PART = re.compile(r"(?:\$\([^()]*\)|\$\{[^{}]*\}|\S)+")
# In place of a sign that a quote keeps from beginning a variable, while the others are put in.
_KEPT = {"$": "\ue002", "`": "\ue003"}
MOST_WORDS, _LONGEST = 4000, 100_000
MOST_CHOICES, _DEEPEST = 8, 8


class Choice(NamedTuple):
    """A part of a value that hangs on which branches a script takes: what it may be, and the lines that set it."""

    texts: tuple[str, ...]
    lines: tuple[int, ...] = ()


Piece = str | Choice
Pieces = tuple[Piece, ...]


class Scope(Protocol):
    """What is known of variables where a word stands."""

    def value(self, name: str) -> tuple[Pieces, bool] | None:
        """The value of a variable, and whether something unknown is in it; None when nothing is known."""

    def words(self, name: str) -> tuple[Word, ...] | None:
        """The words of an array; None when it is none."""

    def default(self, name: str, pieces: Pieces, unknown: bool) -> None:
        """Take note of a value that a word itself gives to a variable."""


class Fixed:
    """Variables with one value each."""

    def __init__(self, env: Mapping[str, str]) -> None:
        self._env = env

    def value(self, name: str) -> tuple[Pieces, bool] | None:
        """As Scope."""
        text = self._env.get(name)
        return None if text is None else ((text,), False)

    def words(self, name: str) -> tuple[Word, ...] | None:
        """As Scope."""
        return None

    def default(self, name: str, pieces: Pieces, unknown: bool) -> None:
        """As Scope."""


def expanded(words: Iterable[Word], scope: Scope) -> tuple[Word, ...]:
    """The words with variables put in; a word that is nothing but a variable may become several, or none.

    Raises InputError when they become more than any launch has.
    """
    found: list[Word] = []
    for word in words:
        named = _LIST.fullmatch(word.text)
        listed = scope.words(named[1]) if named else None
        found += _one(word, scope) if listed is None else listed
        if len(found) > MOST_WORDS:
            raise InputError(f"more than {MOST_WORDS} words in one launch", None)
    return tuple(found)


def _one(word: Word, scope: Scope) -> Iterator[Word]:
    if not word.open or word.among:
        yield word
        return
    text = guarded(word.text, word.quoted)
    whole = word.layout == "words" and not word.solid and _is_reference(text)
    pieces, left = pieces_of(text, scope, split=whole)
    choices = [piece for piece in pieces if isinstance(piece, Choice)]
    if not choices:
        put = shown("".join(pieces))  # type: ignore[arg-type]
        if put == shown(word.text):  # nothing in it is known, and it was not open for nothing
            yield word._replace(text=put)
        elif whole:
            yield from _split(put, word, left)
        else:
            yield word._replace(text=put, open=left or is_template(put), quoted=())
        return
    lines = tuple(sorted({line for choice in choices for line in choice.lines}))
    if whole:
        yield from _chosen(pieces, word, lines, left)
    else:
        among = [(word._replace(text=shown(one), open=left, quoted=()),) for one in flat(pieces)]
        yield word._replace(text=shown(word.text), among=tuple(dict.fromkeys(among)), chosen=lines)


def _split(text: str, word: Word, left: bool) -> Iterator[Word]:
    """The words that a shell makes of a value which nothing quotes."""
    for part in _PART.findall(text) if left else text.split():
        yield word._replace(text=part, open=left and "$" in part, quoted=())


def _chosen(pieces: Pieces, word: Word, lines: tuple[int, ...], left: bool) -> Iterator[Word]:
    """The words of a value that hangs on branches; what all branches share stands by itself."""
    if all(_stands_alone(pieces, at) for at in range(len(pieces))):
        for piece in pieces:
            if isinstance(piece, str):
                yield from _split(shown(piece), word, left)
            else:
                yield chosen_word(word, [tuple(_split(shown(one), word, left)) for one in piece.texts], piece.lines)
        return
    lists = [tuple(_split(shown(one), word, left)) for one in flat(pieces)]
    common = shared(lists)
    yield from lists[0][:common]
    yield chosen_word(word, [one[common:] for one in lists], lines)


def chosen_word(word: Word, lists: Sequence[tuple[Word, ...]], lines: tuple[int, ...]) -> Word:
    """A word that stands for one of several lists of words."""
    return word._replace(open=True, quoted=(), among=tuple(dict.fromkeys(lists)), chosen=lines)


def shared(lists: Sequence[tuple[object, ...]]) -> int:
    """How many items the lists share from the first on."""
    return next((at for at, items in enumerate(zip(*lists, strict=False)) if len(set(items)) > 1), min(map(len, lists)))


def _stands_alone(pieces: Pieces, at: int) -> bool:
    """Whether a piece is parted by blanks from what is around it, whatever it is."""
    piece = pieces[at]
    if isinstance(piece, str) or at == 0:
        return isinstance(piece, str) or _begins_apart(pieces, at)
    before = pieces[at - 1]
    parted = before[-1:].isspace() if isinstance(before, str) else False
    return (parted or all(not one or one[0].isspace() for one in piece.texts)) and _begins_apart(pieces, at)


def _begins_apart(pieces: Pieces, at: int) -> bool:
    """Whether what follows a choice begins with a blank, or nothing does."""
    if at + 1 == len(pieces):
        return True
    after, piece = pieces[at + 1], pieces[at]
    texts = (after,) if isinstance(after, str) else after.texts
    assert isinstance(piece, Choice), "texts are not asked about"
    return all(not one or one[0].isspace() for one in texts) or all(not one or one[-1].isspace() for one in piece.texts)


def flat(pieces: Pieces) -> tuple[str, ...]:
    """All that a value may be; where that is too much, what it is with the first of each choice, and with the last."""
    parts = [(piece,) if isinstance(piece, str) else piece.texts for piece in pieces]
    if math.prod(len(part) for part in parts) > MOST_CHOICES:
        return "".join(part[0] for part in parts), "".join(part[-1] for part in parts)
    return tuple(dict.fromkeys("".join(one) for one in itertools.product(*parts)))


def _is_reference(text: str) -> bool:
    """Whether a text is one variable and nothing else."""
    found = _REFERENCE.match(text)
    if found is None or found[0] == "$$" or found["round"]:
        return False
    return (_closing(text).get(found.start("braced") - 1, -1) + 1 if found["braced"] else found.end()) == len(text)


def _unquoted(text: str) -> str:
    """A default as the shell gives it: quotes around it are not part of it."""
    return text[1:-1] if len(text) > 1 and text[0] == text[-1] and text[0] in ("'", '"') else text


def guarded(text: str, quoted: Iterable[int]) -> str:
    """The text with its quoted signs hidden from `expand`, which shows them again."""
    marks = list(text)
    for place in quoted:
        marks[place] = _KEPT.get(marks[place], marks[place])
    return "".join(marks)


def shown(text: str) -> str:
    """The text with its quoted signs as they stood."""
    for sign, kept in (*_KEPT.items(), ("$", HOST)):
        text = text.replace(kept, sign)
    return text


def expand(text: str, env: Mapping[str, str]) -> tuple[str, bool]:
    """The text with what is known put in, once, and whether something unknown is left."""
    pieces, left = pieces_of(text, Fixed(env))
    return shown("".join(piece for piece in pieces if isinstance(piece, str))), left


def pieces_of(text: str, scope: Scope, *, split: bool = False, depth: int = 0) -> tuple[Pieces, bool]:
    """The text with what is known put in, once, and whether something unknown is left.

    ``split``: values with something unknown in them are put in where they have several words.
    """
    closing = _closing(text)
    found: list[Piece] = []
    at, left = 0, False
    for match in _REFERENCE.finditer(text):
        if match.start() < at:  # inside the braces of one before it
            continue
        end = match.end()
        if match["braced"]:
            end = closing.get(match.start("braced") - 1, -1) + 1
            if not end:  # braces that never close
                left = True
                continue
        plain = text[at : match.start()]
        pieces, unknown = _value(match, text[match.end() : end - 1], scope, split, depth)
        left = left or unknown or _COMMAND.search(plain) is not None
        found += [plain, *((text[match.start() : end],) if pieces is None else pieces)]
        at = end
    rest = text[at:]
    texts = [one for piece in (*found, rest) for one in ((piece,) if isinstance(piece, str) else piece.texts)]
    if sum(map(len, texts)) > _LONGEST:
        return ("".join(texts)[:_LONGEST],), True
    left = left or _COMMAND.search(rest) is not None or is_template("".join(texts))
    return tuple(piece for piece in (*found, rest) if piece != ""), left


def _value(match: re.Match[str], rest: str, scope: Scope, split: bool, depth: int) -> tuple[Pieces | None, bool]:
    """What stands for a reference, None for itself, and whether something unknown is in it."""
    if match[0] == "$$":
        return ("$",), False
    name, how = match["name"] or match["braced"] or match["round"], match["how"] or "}"
    known = None if match["sign"] == HOST else scope.value(name)
    if known is not None and known[1] and not (split and any(len(_PART.findall(one)) > 1 for one in flat(known[0]))):
        return None, True
    empty = known is not None and not any(known[0])
    if how[-1] == "+":
        if known is None or depth >= _DEEPEST:
            return None, True
        return pieces_of(_unquoted(rest), scope, depth=depth + 1) if not empty or how == "+" else ((), False)
    if known is not None and not (empty and how[0] == ":"):
        return known
    if how[-1] in "-=" and depth < _DEEPEST:
        given = pieces_of(_unquoted(rest), scope, depth=depth + 1)
        if how[-1] == "=":
            scope.default(name, *given)
        return (None, True) if given[1] else given
    return None, True


def _closing(text: str) -> dict[int, int]:
    """Where the braces of variables close, by where they open."""
    found: dict[int, int] = {}
    if "{" not in text:
        return found
    waiting: list[int] = []
    for at, mark in enumerate(text):
        if mark == "{" and text[at - 1 : at] in ("$", HOST):
            waiting.append(at)
        elif mark == "}" and waiting:
            found[waiting.pop()] = at
    return found
