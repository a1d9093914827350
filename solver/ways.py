"""A question with no answer where it is asked -> the same question in other places: GPU, count, release, checkpoint."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace

from constraints.values import Value

from .moves import Move, moves
from .place import COUNT, Place, World
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


def fewer(question: Question, world: World, keep: Collection[str] = ()) -> tuple[Fix, ...]:
    """The nearest move of each aspect at which part of what was asked for holds, for when no move helps alone."""
    if question.outcome:
        return ()
    found: dict[str, tuple[tuple[Move, ...], Fix]] = {}
    for move in moves(question.start, world, keep):
        if move.aspect not in found and (fix := most_of(question, move.place, keep, (move,))) is not None:
            found[move.aspect] = ((move,), fix)
    return _best(tuple(found.values()))


def most_of(question: Question, place: Place, keep: Collection[str], moved: Sequence[Move] = ()) -> Fix | None:
    """As much of what was asked for as holds at ``place``, what must be kept first."""
    best: Fix | None = None
    typed: Mapping[str, Value] = {}
    for flag in (None, *sorted(question.wanted, key=lambda flag: flag not in keep)):
        more = typed if flag is None else {**typed, flag: question.wanted[flag]}
        part = replace(question, outcome={name: value for name, value in question.outcome.items() if name in more})
        fix = prove(part, place, {name: value for name, value in question.wanted.items() if name in more}, moved)
        if fix is not None:
            best, typed = fix, more
    return best if set(keep) & set(question.wanted) <= set(typed) else None


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
    """The question as it is after the moves, if it holds there; spread over the GPUs where their count has moved."""
    place = moved[-1].place
    if not set(question.outcome) <= set(place.engine.knowledge.flags):
        return None
    for more in ({}, _spread(question, moved)):
        if more is None:
            return None
        typed: Mapping[str, Value] | Refutation | None = {**question.wanted, **more}
        if question.outcome:
            typed = reach(place, {**question.outcome, **more}, search=False)
        if typed is not None and not isinstance(typed, Refutation):
            fix = prove(question, place, typed, moved)
            if fix is not None:
                return fix
    return None


def _spread(question: Question, moved: Sequence[Move]) -> dict[str, Value] | None:
    """The flag that spreads a model over more GPUs, unless it was asked for."""
    place = moved[-1].place
    flag = place.engine.knowledge.roles.get("spread")
    if flag is None or flag in question.wanted or not any(move.aspect == COUNT for move in moved):
        return None
    return {flag: place.platform.num_gpus * place.platform.nodes}


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
