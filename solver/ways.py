"""A question with no answer where it is asked -> the same question in other places: GPU, count, release, checkpoint."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

from .moves import Move, moves
from .place import World
from .proof import Question, prove
from .report import Fix
from .witness import Refutation, reach

MOST_PAIRS = 400


def ways(question: Question, world: World, keep: Collection[str] = ()) -> tuple[Fix, ...]:
    """The nearest move of each aspect that helps, with the others of the aspect that do."""
    return _best(_single(question, moves(question.start, world, keep)))


def pairs(question: Question, world: World, keep: Collection[str] = ()) -> tuple[Fix, ...]:
    """The nearest two moves that help together, for when nothing simpler does."""
    return _best(_pairs(question, world, keep))[:1]


def _single(question: Question, group: Iterable[Move]) -> list[tuple[tuple[Move, ...], Fix]]:
    found: list[tuple[tuple[Move, ...], Fix]] = []
    for move in group:
        fix = _moved(question, (move,))
        if fix is not None:
            found.append(((move,), fix))
    return found


def _pairs(question: Question, world: World, keep: Collection[str]) -> list[tuple[tuple[Move, ...], Fix]]:
    found: list[tuple[tuple[Move, ...], Fix]] = []
    tried = 0
    for first in moves(question.start, world, keep):
        for second in moves(first.place, world, (*keep, first.aspect)):
            if second.aspect < first.aspect:  # each pair in one order
                continue
            tried += 1
            if tried > MOST_PAIRS:
                return found
            both = (first, second)
            fix = _moved(question, both)
            if fix is not None:
                found.append((both, fix))
    return found


def _moved(question: Question, moved: Sequence[Move]) -> Fix | None:
    """The question as it is after the moves, if it holds there."""
    place = moved[-1].place
    if not question.outcome:
        return prove(question, place, question.wanted, moved)
    if not set(question.outcome) <= set(place.engine.knowledge.flags):
        return None
    typed = reach(place, question.outcome, search=False)
    return None if typed is None or isinstance(typed, Refutation) else prove(question, place, typed, moved)


def _best(found: Sequence[tuple[tuple[Move, ...], Fix]]) -> tuple[Fix, ...]:
    """The cheapest fix of each set of aspects; the others of it are named beside."""
    groups: dict[tuple[str, ...], list[tuple[tuple[Move, ...], Fix]]] = {}
    for moved, fix in sorted(found, key=lambda one: (one[1].cost, one[1].args)):
        groups.setdefault(tuple(move.aspect for move in moved), []).append((moved, fix))
    best = []
    for aspects, group in groups.items():
        fix = group[0][1]
        others = tuple(str(moved[0].after) for moved, _ in group[1:]) if len(aspects) == 1 else ()
        best.append(fix._replace(also=others))
    return tuple(best)
