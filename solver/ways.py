"""A question with no answer where it is asked -> the same question in other places: GPU, count, release, checkpoint."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType

from constraints.values import Value

from .failures import Failures
from .moves import Move, moves
from .place import COUNT, Place, World
from .proof import Question, changed, cost, prove
from .report import Fix
from .witness import Refutation, reach

MOST_PAIRS = 400


class Ways:
    """The question in the places that some moves lead to; what ``keep`` names stays as it is."""

    def __init__(
        self, question: Question, world: World, keep: Collection[str] = (), failures: Failures | None = None
    ) -> None:
        """``failures``: what is known to break."""
        self._question = question
        self._world = world
        self._keep = keep
        self._failures = failures or Failures()

    def nearest(self) -> tuple[Fix, ...]:
        """The nearest move of each aspect that helps, with the others of the aspect that do.

        What is only named beside a fix is not proved as a command: the rules are seen to hold there.
        """
        found: dict[str, list[tuple[int, Move, Mapping[str, Value]]]] = {}
        for move in moves(self._question.start, self._world, self._keep):
            typed = next(self._holding((move,)), None)
            if typed is not None:
                group = found.setdefault(move.aspect, [])
                group.append((cost(self._question, typed, (move,)), move, typed))
        best = (self._best(sorted(group, key=lambda one: one[0])) for group in found.values())
        return tuple(fix for fix in best if fix is not None)

    def _best(self, group: Sequence[tuple[int, Move, Mapping[str, Value]]]) -> Fix | None:
        """The first fix of a group that can be proved, with the others that change the same beside their move."""
        for place, (_, move, typed) in enumerate(group):
            fix = prove(self._question, move.place, typed, (move,))
            if fix is not None:
                flags = changed(self._question, typed)
                others = [
                    other
                    for _, other, words in group[place + 1 :]
                    if changed(self._question, words) == flags and self._takes(other, words)
                ]
                return fix._replace(also=tuple(str(other.after) for other in others))
        return None

    def _takes(self, move: Move, typed: Mapping[str, Value]) -> bool:
        """Whether what is typed can be said after a move: rules know nothing of words that another release lacks."""
        if move.place.engine is self._question.start.engine:
            return True
        return prove(self._question, move.place, typed, (move,)) is not None

    def pairs(self) -> tuple[Fix, ...]:
        """The nearest two moves that help together, for when nothing simpler does.

        Pairs are tried by cost, and what costs more than a fix is not tried any more.
        """
        best: Fix | None = None
        for pair in self._by_cost():
            if best is not None and sum(move.cost for move in pair) >= best.cost:
                break
            proved = (prove(self._question, pair[-1].place, typed, pair) for typed in self._holding(pair))
            fix = next((one for one in proved if one is not None), None)
            if fix is not None and (best is None or (fix.cost, fix.args) < (best.cost, best.args)):
                best = fix
        return () if best is None else (best,)

    def fewer(self) -> tuple[Fix, ...]:
        """The nearest move of each aspect at which part of what was asked for holds, for when no move helps alone.

        Where none does, the nearest two moves at which the model is served at all.
        """
        if self._question.outcome:
            return ()
        found: dict[str, Fix] = {}
        for move in moves(self._question.start, self._world, self._keep):
            if move.aspect not in found:
                spread = self._spread((move,))
                tried = [self._most((move,), more) for more in ({}, spread) if more is not None]
                held = [fix for fix in tried if fix is not None]
                if held:
                    found[move.aspect] = min(held, key=lambda fix: (fix.cost, fix.args))
        if found:
            return tuple(found.values())
        for pair in self._by_cost():
            spread = self._spread(pair) or {}
            if not self._failures.breaks(pair[-1].place, spread):
                fix = self._most(pair, spread)
                if fix is not None:
                    return (fix,)
        return ()

    def _most(self, moved: Sequence[Move], spread: Mapping[str, Value]) -> Fix | None:
        return most_of(self._question, moved[-1].place, self._keep, self._failures, moved, spread)

    def _by_cost(self) -> list[tuple[Move, Move]]:
        """The cheapest pairs of moves in two aspects."""
        both = [
            (first, second)
            for first in moves(self._question.start, self._world, self._keep)
            for second in moves(first.place, self._world, (*self._keep, first.aspect))
            if second.aspect >= first.aspect  # each pair in one order
        ]
        return sorted(both, key=lambda pair: sum(move.cost for move in pair))[:MOST_PAIRS]

    def _holding(self, moved: Sequence[Move]) -> Iterator[Mapping[str, Value]]:
        """What breaks nothing after the moves: what is typed as it is, or spread over the GPUs."""
        question, place = self._question, moved[-1].place
        if not set(question.outcome) <= set(place.engine.knowledge.flags):
            return
        for more in ({}, self._spread(moved)):
            if more is None:
                return
            typed: Mapping[str, Value] | Refutation | None = {**question.wanted, **more}
            if question.outcome:
                typed = reach(place, {**question.outcome, **more}, search=False)
            if typed is not None and not isinstance(typed, Refutation) and not self._failures.breaks(place, typed):
                yield typed

    def _spread(self, moved: Sequence[Move]) -> dict[str, Value] | None:
        """The flag that spreads a model over more GPUs, unless it must stay as it is.

        What was typed about it stands, unless the count of GPUs has moved.
        """
        place = moved[-1].place
        flag = place.engine.knowledge.roles.get("spread")
        if flag is None or flag in self._keep or flag in self._question.outcome:
            return None
        if flag in self._question.wanted and not any(move.aspect == COUNT for move in moved):
            return None
        return {flag: place.platform.num_gpus * place.platform.nodes}


def most_of(
    question: Question,
    place: Place,
    keep: Collection[str],
    failures: Failures,
    moved: Sequence[Move] = (),
    spread: Mapping[str, Value] = MappingProxyType({}),
) -> Fix | None:
    """As much of what was asked for as holds at ``place`` beside ``spread``, what must be kept first."""
    best: Fix | None = None
    typed: Mapping[str, Value] = spread
    rest = [flag for flag in question.wanted if flag not in spread]
    for flag in (None, *sorted(rest, key=lambda flag: flag not in keep)):
        more = typed if flag is None else {**typed, flag: question.wanted[flag]}
        if failures.breaks(place, more):
            continue
        part = replace(question, outcome={name: value for name, value in question.outcome.items() if name in more})
        fix = prove(part, place, {name: more[name] for name in (*question.wanted, *spread) if name in more}, moved)
        if fix is not None:
            best, typed = fix, more
    return best if set(keep) & set(question.wanted) <= set(typed) else None
