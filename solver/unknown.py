"""Words whose values a file leaves to somebody else -> the values to try in their place."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

from constraints.knowledge import Knowledge
from constraints.schema import Action, Flag, Flags
from constraints.tree import literals

from .intake.tokens import Word
from .intake.values import Unfit, convert, is_level
from .operations import reads

MOST_VALUES = 32
MOST_TRIES = 128
MOST_HOLES = 32
Answer = TypeVar("Answer")
# One of each form that an option may want: JSON, a number, the name of a level.
_FORMS = ("{}", "[]", "1", "INFO")
_NUMBERS = {"int": ("1", "2", "4", "8", "16"), "float": ("0.25", "0.5", "0.75", "0.85", "0.9", "1", "2", "4")}


@dataclass(frozen=True, slots=True)
class Hole:
    """An unknown word: at ``index`` of the words, the value of ``flag``, with the texts to try (one: nothing reads it).

    ``head`` is what stands before the value in the same word, as in ``--tp=$TP``. ``untried``: there were too many
    holes, and its one text stands for all that it could have. ``words``, for each text, where whole words hang on what
    a script does; ``chosen`` are the lines that decide.
    """

    index: int
    text: str
    flag: str
    option: str
    texts: tuple[str, ...]
    head: str = ""
    untried: bool = False
    words: tuple[tuple[Word, ...], ...] = ()
    chosen: tuple[int, ...] = ()


def holes_of(words: Sequence[Word], knowledge: Knowledge) -> tuple[tuple[Hole, ...], tuple[Word, ...]]:
    """The unknown values among the words, and unknown words that are no value of an option."""
    holes: list[Hole] = []
    loose: list[Word] = []
    if not any(word.open for word in words):
        return (), ()
    read, compared = _what_rules_read(knowledge)
    for index, word in enumerate(words):
        if not word.open:
            continue
        head, equals, value = word.text.partition("=")
        if equals and head.startswith("--"):
            owner, prefix = _owner(head, knowledge.flags), f"{head}="
        else:
            at = next((place for place in range(index - 1, -1, -1) if words[place].text.startswith("--")), 0)
            owner, prefix, value = _owner(words[at].text, knowledge.flags) if index else None, "", word.text
            if owner is not None and not _takes(owner[1], index - at):
                owner = None
        if word.among and (owner is None or not _one_word_each(word, prefix)):
            holes.append(_words_hole(index, word, knowledge))
            continue
        if owner is None:
            loose.append(word)
            continue
        flag, action = owner
        if word.among:
            texts = tuple(dict.fromkeys(one.text.removeprefix(prefix) for (one,) in word.among))
        else:
            texts = _texts(flag, action, value, knowledge, compared.get(flag.name, ()))
        if flag.name not in read and not word.among:
            texts = texts[:1]
        holes.append(Hole(index, value, flag.name, action.options[0], texts, prefix, chosen=word.chosen))
    return _few_enough(_at_most(MOST_HOLES, _last_wins(holes, knowledge))), tuple(loose)


def _one_word_each(word: Word, prefix: str) -> bool:
    """Whether a word stays one, whichever branch is taken, and all of it is known."""
    return all(len(words) == 1 and words[0].text.startswith(prefix) and not words[0].open for words in word.among)


def _words_hole(index: int, word: Word, knowledge: Knowledge) -> Hole:
    """A word that stands for one of several lists of words; what is unknown in these has its first value."""
    lists = tuple(dict.fromkeys(_filled(words, knowledge) for words in word.among))
    texts = tuple(" ".join(one.text for one in words) for words in lists)
    return Hole(index, word.text, "", "", texts, words=lists, chosen=word.chosen)


def _filled(words: Sequence[Word], knowledge: Knowledge) -> tuple[Word, ...]:
    holes, loose = holes_of(words, knowledge)
    found = list(words)
    for hole in holes:
        found[hole.index] = found[hole.index]._replace(text=hole.head + hole.texts[0], open=False)
    return tuple(word for word in found if word not in loose)


def _at_most(number: int, holes: Sequence[Hole]) -> list[Hole]:
    """The holes, no more than ``number`` of them open: the first text stands for the others."""
    kept = [hole for hole in holes if len(hole.texts) > 1][:number]
    return [
        hole if hole in kept or len(hole.texts) == 1 else replace(hole, texts=hole.texts[:1], untried=True)
        for hole in holes
    ]


def _last_wins(holes: Sequence[Hole], knowledge: Knowledge) -> list[Hole]:
    """The holes with one text for each value that a later one of the same flag replaces."""
    last = {hole.flag: hole.index for hole in holes if hole.flag}
    gathered = {name for name, flag in knowledge.flags.items() if any(_gathers(action) for action in flag.actions)}
    return [
        hole
        if hole.index == last.get(hole.flag, hole.index) or hole.flag in gathered
        else replace(hole, texts=hole.texts[:1])
        for hole in holes
    ]


def _gathers(action: Action) -> bool:
    return action.action in ("append", "lora_paths") or action.nargs not in (None, "?")


def _what_rules_read(knowledge: Knowledge) -> tuple[set[str], dict[str, set[float]]]:
    """The flags that some rule reads, and the numbers that each is compared with."""
    read: set[str] = set()
    compared: dict[str, set[float]] = {}
    for operation in knowledge.program:
        read |= {name.removeprefix("typed.") for name in reads(operation)}
        for node in (part for part in (operation.when, operation.require) if part is not None):
            for name, value in literals(node):
                if isinstance(value, int | float) and not isinstance(value, bool):
                    compared.setdefault(name, set()).add(value)
    return read, compared


def tried(
    words: Sequence[Word],
    holes: Sequence[Hole],
    loose: Sequence[Word],
    check: Callable[[list[Word]], Answer],
    holds: Callable[[Answer], bool],
) -> list[tuple[tuple[str, ...], Answer]]:
    """What became of the words with values in the holes: all combinations, or one hole after the other if too many.

    One after the other, the rest has the first values with which the words hold, as soon as some are found.
    """

    unfilled = set(loose)

    def answer(values: tuple[str, ...]) -> tuple[tuple[str, ...], Answer]:
        by_index = {hole.index: _words_of(hole, value, words) for hole, value in zip(holes, values, strict=True)}
        filled = [by_index.get(index, [word]) for index, word in enumerate(words) if word not in unfilled]
        return values, check([word._replace(open=False) for part in filled for word in part])

    if math.prod(len(hole.texts) for hole in holes) <= MOST_TRIES:
        return [answer(values) for values in itertools.product(*(hole.texts for hole in holes))]
    base = answer(tuple(hole.texts[0] for hole in holes))
    found, places = {base[0]: base}, range(len(holes))
    for place in (*places, *places):  # the second time round with a better base, if one was found
        for text in holes[place].texts:
            values = (*base[0][:place], text, *base[0][place + 1 :])
            if values not in found:
                found[values] = answer(values)
            if holds(found[values][1]) and not holds(base[1]):
                base = found[values]
    return list(found.values())


def _words_of(hole: Hole, value: str, words: Sequence[Word]) -> Sequence[Word]:
    if hole.words:
        return hole.words[hole.texts.index(value)]
    return [words[hole.index]._replace(text=hole.head + value)]


def _few_enough(holes: Sequence[Hole]) -> tuple[Hole, ...]:
    """The holes with no more texts than are tried: what is not tried is not said to fail."""
    if math.prod(len(hole.texts) for hole in holes) <= MOST_TRIES:
        return tuple(holes)
    share = max(2, MOST_TRIES // (2 * len(holes)))
    return tuple(replace(hole, texts=hole.texts[:share], words=hole.words[:share]) for hole in holes)


def _takes(action: Action, place: int) -> bool:
    """Whether the word at this distance behind the option is a value of it."""
    if action.action not in ("store", "append", "translate", "lora_paths", "config_file"):
        return False
    return place <= action.nargs if isinstance(action.nargs, int) else action.nargs in ("*", "+") or place == 1


def _owner(option: str, flags: Flags) -> tuple[Flag, Action] | None:
    if not option.startswith("--"):
        return None
    known: Mapping[str, tuple[Flag, Action]] = flags.options
    if option in known:
        return known[option]
    longer = [name for name in known if name.startswith(option)]
    return known[longer[0]] if len(longer) == 1 else None


def _texts(flag: Flag, action: Action, text: str, knowledge: Knowledge, compared: Collection[float]) -> tuple[str, ...]:
    numeric = flag.type in ("int", "float")
    found: list[str] = [str(one) for one in action.choices or ()]
    for one in knowledge.variables:
        if flag.name in one.flags:
            place = one.flags.index(flag.name)
            found += [str(row[place]) for row in one.values if row[place] is not None]
    if numeric:
        found += [*_NUMBERS[flag.type], *(str(value) for value in sorted(compared) if value > 0)]
    found = list(dict.fromkeys(found)) or [_any_value(flag, action, text)]
    if numeric:
        found.sort(key=float)
        if isinstance(flag.default, int | float) and not isinstance(flag.default, bool):
            found.insert(0, str(flag.default))
            found = list(dict.fromkeys(found))
    return tuple(found[:MOST_VALUES])


def _any_value(flag: Flag, action: Action, text: str) -> str:
    """The text itself, or where the option wants one of a form, the first that has it."""
    if isinstance(flag.default, str) and flag.default in _FORMS:  # a text to the parser, read as JSON later
        return flag.default
    if action.converter == "log_level":  # looked up after parsing
        return text if is_level(text) else _FORMS[-1]
    return next((one for one in (text, *_FORMS) if not isinstance(convert(action, one), Unfit)), text)
