"""A question with no answer where it is asked -> the same question in other places: GPU, count, release, checkpoint."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType

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
    """The nearest move of each aspect at which part of what was asked for holds, for when no move helps alone.

    Where none does, the nearest two moves at which the model is served at all.
    """
    if question.outcome:
        return ()
    found: dict[str, tuple[tuple[Move, ...], Fix]] = {}
    for move in moves(question.start, world, keep):
        if move.aspect not in found:
            spread = _spread(question, (move,), keep)
            tried = [most_of(question, move.place, keep, (move,), more) for more in ({}, spread) if more is not None]
            held = [fix for fix in tried if fix is not None]
            if held:
                found[move.aspect] = ((move,), min(held, key=lambda fix: (fix.cost, fix.args)))
    if found:
        return _best(tuple(found.values()))
    for pair in _by_cost(question, world, keep):
        spread = _spread(question, pair, keep) or {}
        if not pair[-1].place.breaks(spread):
            fix = most_of(question, pair[-1].place, keep, pair, spread)
            if fix is not None:
                return (fix,)
    return ()


def most_of(
    question: Question,
    place: Place,
    keep: Collection[str],
    moved: Sequence[Move] = (),
    spread: Mapping[str, Value] = MappingProxyType({}),
) -> Fix | None:
    """As much of what was asked for as holds at ``place`` beside ``spread``, what must be kept first."""
    best: Fix | None = None
    typed: Mapping[str, Value] = spread
    rest = [flag for flag in question.wanted if flag not in spread]
    for flag in (None, *sorted(rest, key=lambda flag: flag not in keep)):
        more = typed if flag is None else {**typed, flag: question.wanted[flag]}
        part = replace(question, outcome={name: value for name, value in question.outcome.items() if name in more})
        fix = prove(part, place, {name: more[name] for name in (*question.wanted, *spread) if name in more}, moved)
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
    best: tuple[tuple[Move, ...], Fix] | None = None
    for pair in _by_cost(question, world, keep):
        if best is not None and sum(move.cost for move in pair) >= best[1].cost:
            break
        fix = _moved(question, pair, keep)
        if fix is not None and (best is None or (fix.cost, fix.args) < (best[1].cost, best[1].args)):
            best = (pair, fix)
    return [] if best is None else [best]


def _by_cost(question: Question, world: World, keep: Collection[str]) -> list[tuple[Move, Move]]:
    """The cheapest pairs of moves in two aspects."""
    both = [
        (first, second)
        for first in moves(question.start, world, keep)
        for second in moves(first.place, world, (*keep, first.aspect))
        if second.aspect >= first.aspect  # each pair in one order
    ]
    return sorted(both, key=lambda pair: sum(move.cost for move in pair))[:MOST_PAIRS]


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
