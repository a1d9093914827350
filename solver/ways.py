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
    return _best(_single(question, moves(question.start, world, keep), keep))


def pairs(question: Question, world: World, keep: Collection[str] = ()) -> tuple[Fix, ...]:
    """The nearest two moves that help together, for when nothing simpler does."""
    return _best(_pairs(question, world, keep))


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


def _single(question: Question, group: Iterable[Move], keep: Collection[str]) -> list[tuple[tuple[Move, ...], Fix]]:
    found: list[tuple[tuple[Move, ...], Fix]] = []
    for move in group:
        fix = _moved(question, (move,), keep)
        if fix is not None:
            found.append(((move,), fix))
    return found


def _pairs(question: Question, world: World, keep: Collection[str]) -> list[tuple[tuple[Move, ...], Fix]]:
    """The cheapest pair that helps, if one does: pairs are tried by cost, and what costs more is not tried any more."""
    both = [
        (first, second)
        for first in moves(question.start, world, keep)
        for second in moves(first.place, world, (*keep, first.aspect))
        if second.aspect >= first.aspect  # each pair in one order
    ]
    both.sort(key=lambda pair: sum(move.cost for move in pair))
    best: tuple[tuple[Move, ...], Fix] | None = None
    for pair in both[:MOST_PAIRS]:
        if best is not None and sum(move.cost for move in pair) >= best[1].cost:
            break
        fix = _moved(question, pair, keep)
        if fix is not None and (best is None or (fix.cost, fix.args) < (best[1].cost, best[1].args)):
            best = (pair, fix)
    return [] if best is None else [best]


def _moved(question: Question, moved: Sequence[Move], keep: Collection[str]) -> Fix | None:
    """The question as it is after the moves, if it holds there, as it is or spread over the GPUs.

    What was typed about the spread stands, unless the count of GPUs has moved.
    """
    place = moved[-1].place
    if not set(question.outcome) <= set(place.engine.knowledge.flags):
        return None
    for more in ({}, _spread(question, moved, keep)):
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


def _spread(question: Question, moved: Sequence[Move], keep: Collection[str]) -> dict[str, Value] | None:
    """The flag that spreads a model over more GPUs, unless it must stay as it is."""
    place = moved[-1].place
    flag = place.engine.knowledge.roles.get("spread")
    if flag is None or flag in keep or flag in question.outcome:
        return None
    if flag in question.wanted and not any(move.aspect == COUNT for move in moved):
        return None
    return {flag: place.platform.num_gpus * place.platform.nodes}


def _best(found: Sequence[tuple[tuple[Move, ...], Fix]]) -> tuple[Fix, ...]:
    """The cheapest fix of each set of aspects; others that change the same beside their move are named with it."""
    groups: dict[tuple[str, ...], list[tuple[tuple[Move, ...], Fix]]] = {}
    for moved, fix in sorted(found, key=lambda one: (one[1].cost, one[1].args)):
        groups.setdefault(tuple(move.aspect for move in moved), []).append((moved, fix))
    best = []
    for aspects, group in groups.items():
        fix = group[0][1]
        alike = [moved for moved, other in group[1:] if _changed(other) == _changed(fix)]
        others = tuple(str(moved[0].after) for moved in alike) if len(aspects) == 1 else ()
        best.append(fix._replace(also=others))
    return tuple(best)


def _changed(fix: Fix) -> set[str]:
    return {change.what for change in fix.changes}
