"""Words whose values a file leaves to somebody else -> the values to try in their place."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from constraints.knowledge import Knowledge
from constraints.schema import Action, Flag, Flags
from constraints.tree import literals

from .intake.tokens import Word
from .operations import reads

MOST_VALUES = 32
MOST_TRIES = 160
_NUMBERS = ("1", "2", "4", "8", "16")


@dataclass(frozen=True, slots=True)
class Hole:
    """An unknown word: at ``index`` of the words, the value of ``flag``, with the texts to try (one: nothing reads it).

    ``head`` is what stands before the value in the same word, as in ``--tp=$TP``.
    """

    index: int
    text: str
    flag: str
    option: str
    texts: tuple[str, ...]
    head: str = ""


def holes_of(words: Sequence[Word], knowledge: Knowledge) -> tuple[tuple[Hole, ...], tuple[Word, ...]]:
    """The unknown values among the words, and unknown words that are no value of an option."""
    holes: list[Hole] = []
    loose: list[Word] = []
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
        if owner is None:
            loose.append(word)
            continue
        flag, action = owner
        texts = _texts(flag, action, value, knowledge)
        holes.append(Hole(index, value, flag.name, action.options[0], texts, prefix))
    return tuple(holes), tuple(loose)


def filled(
    words: Sequence[Word], holes: Sequence[Hole], loose: Sequence[Word]
) -> Iterator[tuple[tuple[str, ...], list[Word]]]:
    """The words with values in the holes, and which: all combinations, or one hole after the other if too many."""
    for values in itertools.islice(_choices(holes), MOST_TRIES):
        by_index = {hole.index: hole.head + value for hole, value in zip(holes, values, strict=True)}
        yield (
            values,
            [
                word._replace(text=by_index.get(index, word.text), open=False)
                for index, word in enumerate(words)
                if word not in loose
            ],
        )


def _choices(holes: Sequence[Hole]) -> Iterable[tuple[str, ...]]:
    whole = 1
    for hole in holes:
        whole *= len(hole.texts)
    if whole <= MOST_TRIES:
        return itertools.product(*(hole.texts for hole in holes))
    first = tuple(hole.texts[0] for hole in holes)
    singles = (
        (*first[:place], text, *first[place + 1 :]) for place, hole in enumerate(holes) for text in hole.texts[1:]
    )
    return itertools.chain([first], singles)


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


def _texts(flag: Flag, action: Action, text: str, knowledge: Knowledge) -> tuple[str, ...]:
    read = {name.removeprefix("typed.") for operation in knowledge.program for name in reads(operation)}
    numeric = flag.type in ("int", "float")
    found: list[str] = [str(one) for one in action.choices or ()]
    for one in knowledge.variables:
        if flag.name in one.flags:
            place = one.flags.index(flag.name)
            found += [str(row[place]) for row in one.values if row[place] is not None]
    if numeric:
        compared = {value for operation in knowledge.program for value in _compared(operation, flag.name)}
        found += [*_NUMBERS, *(str(value) for value in sorted(compared) if value > 0)]
    found = list(dict.fromkeys(found)) or [text]
    if numeric:
        found.sort(key=float)
        if isinstance(flag.default, int | float) and not isinstance(flag.default, bool):
            found.insert(0, str(flag.default))
            found = list(dict.fromkeys(found))
    return tuple(found[:MOST_VALUES]) if flag.name in read else tuple(found[:1])


def _compared(operation: object, flag: str) -> Iterator[float]:
    parts = [getattr(operation, "when", None), getattr(operation, "require", None)]
    for node in (part for part in parts if part is not None):
        for name, value in literals(node):
            if name == flag and isinstance(value, int | float) and not isinstance(value, bool):
                yield value
