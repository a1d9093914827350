"""What a script assigns, branch by branch -> what is known of its variables where a command stands.

A branch that may not be taken leaves a variable with all that it may be then. What branches share is kept as it is, so
that words which are added under conditions, one after the other, stay as many choices and do not multiply.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from ..errors import InputError
from .expand import MOST_CHOICES, MOST_WORDS, Choice, Pieces, chosen_word, flat, shared, shown
from .tokens import Word

# All that a script may copy from variable to variable; the longest that launch a server copy some thousand characters.
_MOST_WORK, _WORD = 20_000_000, 50


class _Held(NamedTuple):
    """A variable: its text, or the words of an array; ``left`` when something unknown is in it."""

    pieces: Pieces = ()
    words: tuple[Word, ...] | None = None
    left: bool = False
    lines: tuple[int, ...] = ()


_Changes = dict[str, "_Held | None"]


@dataclass(slots=True)
class _Fork:
    """Branches of which one is taken: what each left changed, and what the one being read found when it began."""

    done: list[_Changes] = field(default_factory=list)
    before: _Changes = field(default_factory=dict)
    ended: bool = False


class Variables:
    """The variables of a script while it is read from the front; ``known`` before it begins."""

    def __init__(self, known: Mapping[str, str] | None = None) -> None:
        self._held: dict[str, _Held] = {name: _Held((text,)) for name, text in (known or {}).items()}
        self._forks: list[_Fork] = []
        self._work = 0

    def value(self, name: str) -> tuple[Pieces, bool] | None:
        """As Scope."""
        found = self._held.get(name)
        if found is None or found.words is not None:
            return None
        self._spend(sum(len(one) if isinstance(one, str) else sum(map(len, one.texts)) for one in found.pieces) + 1)
        return found.pieces, found.left

    def words(self, name: str) -> tuple[Word, ...] | None:
        """As Scope."""
        found = self._held.get(name)
        if found is None or found.words is None:
            return None
        self._spend(_WORD * len(found.words))
        return found.words

    def default(self, name: str, pieces: Pieces, unknown: bool) -> None:
        """As Scope."""
        self.assign(name, pieces, unknown, 0)

    def assign(self, name: str, pieces: Pieces, left: bool, line: int) -> None:
        """A text for a variable."""
        self._set(name, _Held(pieces, None, left, (line,) if line else ()))

    def fill(self, name: str, words: tuple[Word, ...], line: int, *, more: bool = False) -> None:
        """Words for an array, or ``more`` of them.

        Raises InputError when they are more than any launch has.
        """
        held = self._held.get(name)
        before = held.words or () if more and held is not None else ()
        if len(before) + len(words) > MOST_WORDS:
            raise InputError(f"more than {MOST_WORDS} words in one launch", None)
        self._set(name, _Held((), (*before, *words), False, (line,) if line else ()))

    def choose(self, name: str, texts: tuple[str, ...], line: int) -> None:
        """One text after the other for a variable, as a loop gives them."""
        kept = texts if len(texts) <= MOST_CHOICES else (texts[0], texts[-1])
        self._set(name, _Held(kept if len(kept) == 1 else (Choice(kept, (line,)),), None, False, (line,)))

    def copy(self) -> Variables:
        """The variables as they are now, for a script within the script."""
        made = Variables()
        made._held, made._work = dict(self._held), self._work
        return made

    def drop(self, name: str) -> None:
        """Nothing is known of a variable any more."""
        if name in self._held:
            self._set(name, None)

    def environment(self) -> tuple[dict[str, str], dict[str, str]]:
        """The texts that are known, and what is assigned without being known, as it stands."""
        known: dict[str, str] = {}
        unknown: dict[str, str] = {}
        for name, held in self._held.items():
            if held.words is None:
                texts = [shown(one) for one in flat(held.pieces)]
                if held.left or _hangs(held.pieces):
                    unknown[name] = " or ".join(text or "nothing" for text in texts)
                else:
                    known[name] = texts[0]
        return known, unknown

    def fork(self) -> None:
        """A branch begins that may not be taken."""
        self._forks.append(_Fork())

    def other(self) -> None:
        """The branch ends, and another begins that is taken in its place."""
        fork = self._forks[-1]
        if not fork.ended:
            fork.done.append({name: self._held.get(name) for name in fork.before})
        for name, held in fork.before.items():
            self._put(name, held)
        fork.before, fork.ended = {}, False

    def begin(self) -> None:
        """The script goes on in this branch."""
        self._forks[-1].ended = False

    def end(self) -> None:
        """The script goes no further in this branch."""
        if self._forks:
            self._forks[-1].ended = True

    def forget(self) -> None:
        """The branch ends, and nothing is left of it."""
        fork = self._forks.pop()
        for name, held in fork.before.items():
            self._put(name, held)

    def join(self, *, one_is_taken: bool) -> None:
        """The branches meet; ``one_is_taken``: it is never none of them."""
        self.other()
        fork = self._forks.pop()
        branches: list[_Changes] = ([] if one_is_taken else [{}]) + fork.done
        if not branches:
            self.end()
        for name in dict.fromkeys(name for changes in branches for name in changes):
            before = self._held.get(name)
            self._set(name, _merged([changes.get(name, before) for changes in branches], before))

    def _spend(self, characters: int) -> None:
        self._work += characters
        if self._work > _MOST_WORK:
            raise InputError("its variables grow without end", None)

    def _set(self, name: str, held: _Held | None) -> None:
        if self._forks:
            self._forks[-1].before.setdefault(name, self._held.get(name))
        self._put(name, held)

    def _put(self, name: str, held: _Held | None) -> None:
        if held is None:
            self._held.pop(name, None)
        else:
            self._held[name] = held


def _merged(branches: Sequence[_Held | None], before: _Held | None) -> _Held | None:
    """What a variable is where branches meet: with all branches it is known in, as far as they differ."""
    lines = tuple(sorted({line for one in branches if one is not None and one is not before for line in one.lines}))
    held = list(dict.fromkeys(one for one in branches if one is not None))
    if not held:
        return None
    missing = len([one for one in branches if one is None])
    if any(one.words is not None for one in held):
        lists = [one.words or () for one in held if one.words is not None] + [()] * bool(missing)
        return _Held((), _merged_words(lists, lines), False, lines)
    values = [one.pieces for one in held if not one.left or _has_words(one)]
    if not values:
        return held[0] if len(held) == 1 else None
    left = any(one.left for one in held if one.pieces in values)
    if missing and any(text[:1] in ("-", " ") for pieces in values for text in flat(pieces)):
        values.insert(0, ())
    pieces = _merged_pieces(values, lines)
    open_ended = missing or len(values) < len(held) or any(map(_hangs, values))
    if open_ended and not _hangs(pieces):
        pieces = (Choice(flat(pieces), lines),)  # it may be something that the script does not say
    return _Held(pieces, None, left, lines)


def _hangs(pieces: Pieces) -> bool:
    """Whether a value hangs on branches."""
    return any(isinstance(piece, Choice) for piece in pieces)


def _has_words(held: _Held) -> bool:
    """Whether a value with something unknown in it says more than that."""
    return any(" " in text for text in flat(held.pieces))


def _merged_words(lists: Sequence[tuple[Word, ...]], lines: tuple[int, ...]) -> tuple[Word, ...]:
    common = shared(lists)
    rest = list(dict.fromkeys(one for words in lists for one in _unfolded(words[common:])))
    if rest == [()]:
        return lists[0][:common]
    if len(rest) > MOST_CHOICES:
        rest = [rest[0], rest[-1]]
    at = next(word for words in rest for word in words)
    return (*lists[0][:common], chosen_word(at, rest, lines))


def _unfolded(words: tuple[Word, ...]) -> list[tuple[Word, ...]]:
    """What words with choices among them may be."""
    found: list[tuple[Word, ...]] = [()]
    for word in words:
        found = [(*head, *tail) for head in found for tail in (word.among or ((word,),))]
        if len(found) > MOST_CHOICES:
            found = [found[0], found[-1]]
    return found


def _merged_pieces(values: Sequence[Pieces], lines: tuple[int, ...]) -> Pieces:
    common = shared(values)
    texts = list(dict.fromkeys(text for pieces in values for text in flat(pieces[common:])))
    base = min(texts, key=len)
    # What one branch adds to the words of another is a choice by itself.
    if base and all(text.startswith(base) and text[len(base) :][:1] in ("", " ") for text in texts):
        texts = [text[len(base) :] for text in texts]
        head: Pieces = (*values[0][:common], base)
    else:
        head = values[0][:common]
    if len(texts) == 1:
        return (*head, *texts) if texts[0] else head
    if len(texts) > MOST_CHOICES:
        texts = [texts[0], texts[-1]]
    return (*head, Choice(tuple(texts), lines))
