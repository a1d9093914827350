"""A compiled problem and terms over several outcomes at once -> solutions best first, near duplicates passed over.

Terms that read several outcomes (the layout, the cache's format) would tie together in the diagram what is
independent. So the diagram keeps each outcome as a variable of its own, and here the best solution of every combination
of outcomes is found in one pass over it (max-sum elimination on a d-DNNF); then combinations are taken best first, with
their terms.
"""

from __future__ import annotations

import heapq
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from constraints.values import Value

from .diagram import Branch, Choice, Diagram, Solution
from .terms import Joint

# A value stands here as its text: True and 1 are two values.
Pairs = tuple[tuple[str, str], ...]


def ranked(diagram: Diagram, joints: Sequence[Joint] = (), keys: Collection[str] = ()) -> Iterator[Solution]:
    """The solutions, best score first; with ``keys``, of those that agree in these variables the best alone.

    Of equal scores comes first what the diagram's own order puts first.
    """
    if diagram.root is None:
        return
    views = Views(frozenset(name for joint in joints for name in joint.outcomes), frozenset(keys))
    unit = diagram.unit
    heap: list[tuple[int, int, int, Pairs, int]] = []
    for place, (outcomes, best) in enumerate(sorted(views.bests(diagram.root).items())):
        known = views.known(outcomes)
        extra = sum(joint.score(known) for joint in joints)
        heapq.heappush(heap, (-(best + extra * unit), place, 0, outcomes, extra))
    seen: set[object] = set()
    while heap:
        negative, place, rank, outcomes, extra = heapq.heappop(heap)
        view = views.of(diagram.root, outcomes)
        following = view.pick(rank + 1)
        if following is not None:
            heapq.heappush(heap, (-(following.score + extra * unit), place, rank + 1, outcomes, extra))
        picked = view.pick(rank)
        if picked is None or (keys and picked.told in seen):
            continue
        seen.add(picked.told)
        assignment: dict[str, Value] = {}
        view.read(rank, assignment)
        assignment.pop("", None)
        yield Solution(-(negative // unit), assignment)


class Views:
    """The diagram under fixed outcomes; a part that does not meet them is the same under all."""

    def __init__(self, outcomes: frozenset[str], keys: frozenset[str]) -> None:
        self.outcomes = outcomes
        self.keys = keys
        self._values: dict[tuple[str, str], Value] = {}
        self._scopes: dict[int, frozenset[str]] = {}
        self._bests: dict[int, dict[Pairs, int]] = {}
        self._views: dict[tuple[int, Pairs], _View] = {}

    def known(self, outcomes: Pairs) -> dict[str, Value]:
        """The values that pairs stand for."""
        return {name: self._values[name, text] for name, text in outcomes}

    def fixed(self, choice: Choice, branch: Branch) -> list[tuple[str, str]]:
        """The outcomes that a branch settles."""
        found = []
        for name, value in ((choice.variable, branch.value), *branch.forced):
            if name in self.outcomes:
                found.append((name, repr(value)))
                self._values[found[-1]] = value
        return found

    def scope(self, choice: Choice) -> frozenset[str]:
        """The outcomes that a part settles."""
        found = self._scopes.get(id(choice))
        if found is None:
            names = {name for branch in choice.branches for name, _ in self.fixed(choice, branch)}
            names.update(*(self.scope(part) for branch in choice.branches for part in branch.parts))
            self._scopes[id(choice)] = found = frozenset(names)
        return found

    def bests(self, choice: Choice) -> dict[Pairs, int]:
        """The best score within a part for every combination of its outcomes."""
        known = self._bests.get(id(choice))
        if known is not None:
            return known
        found: dict[Pairs, int] = {}
        if not self.scope(choice):
            found[()] = choice.best
        else:
            for branch in choice.branches:
                rows: dict[Pairs, int] = {tuple(self.fixed(choice, branch)): branch.gain}
                for part in branch.parts:
                    inner = self.bests(part)
                    rows = {row + more: score + gain for row, score in rows.items() for more, gain in inner.items()}
                for row, score in rows.items():
                    row = tuple(sorted(row))
                    if score > found.get(row, score - 1):
                        found[row] = score
        self._bests[id(choice)] = found
        return found

    def of(self, choice: Choice, outcomes: Pairs) -> _View:
        """A part under the outcomes that it settles."""
        scope = self.scope(choice)
        own = tuple(pair for pair in outcomes if pair[0] in scope)
        key = (id(choice), own)
        if key not in self._views:
            self._views[key] = _View(self, choice, own)
        return self._views[key]


@dataclass(frozen=True, slots=True)
class _Picked:
    """One solution of a part: its score, its branch, the rank of each inner part, and the values of keys it holds."""

    score: int
    index: int
    ranks: tuple[int, ...]
    told: Pairs


class _View:
    """A part of the diagram under fixed outcomes, its solutions best first."""

    __slots__ = ("_branches", "_heap", "_keys", "_picked", "_seen", "_variable", "best")

    def __init__(self, views: Views, choice: Choice, outcomes: Pairs) -> None:
        wanted = dict(outcomes)
        self._keys = views.keys
        self._variable = choice.variable
        self._branches: list[tuple[Branch, tuple[_View, ...]]] = []
        self._heap: list[tuple[int, int, tuple[int, ...]]] = []
        self._picked: list[_Picked] = []
        self._seen: set[Pairs] = set()
        self.best: int | None = None
        for branch in choice.branches:
            if any(wanted[name] != text for name, text in views.fixed(choice, branch)):
                continue
            parts = tuple(views.of(part, outcomes) for part in branch.parts)
            inner = [part.best for part in parts if part.best is not None]
            if len(inner) < len(parts):
                continue
            best = branch.gain + sum(inner)
            heapq.heappush(self._heap, (-best, len(self._branches), (0,) * len(parts)))
            self._branches.append((branch, parts))
            self.best = best if self.best is None else max(self.best, best)

    def pick(self, rank: int) -> _Picked | None:
        """The solution at ``rank``; None past the last."""
        while len(self._picked) <= rank and self._heap:
            negative, index, ranks = heapq.heappop(self._heap)
            self._push_next(index, ranks)
            told = self._told(index, ranks)
            if self._keys:
                if told in self._seen:
                    continue
                self._seen.add(told)
            self._picked.append(_Picked(-negative, index, ranks, told))
        return self._picked[rank] if rank < len(self._picked) else None

    def _told(self, index: int, ranks: tuple[int, ...]) -> Pairs:
        """The keys that a solution settles, in order of names."""
        if not self._keys:
            return ()
        branch, parts = self._branches[index]
        settled = ((self._variable, branch.value), *branch.forced)
        own = [(name, repr(value)) for name, value in settled if name in self._keys]
        for part, rank in zip(parts, ranks, strict=True):
            picked = part.pick(rank)
            own += picked.told if picked is not None else ()
        return tuple(sorted(own))

    def _push_next(self, index: int, ranks: tuple[int, ...]) -> None:
        # Each rank vector is reached once: only positions from the last raised one on may be raised (Lawler 1972).
        branch, parts = self._branches[index]
        first = max((place for place, rank in enumerate(ranks) if rank), default=0)
        for place in range(first, len(ranks)):
            raised = (*ranks[:place], ranks[place] + 1, *ranks[place + 1 :])
            score = branch.gain
            for part, rank in zip(parts, raised, strict=True):
                picked = part.pick(rank)
                if picked is None:
                    break
                score += picked.score
            else:
                heapq.heappush(self._heap, (-score, index, raised))

    def read(self, rank: int, into: dict[str, Value]) -> None:
        """Write the assignment at ``rank`` into ``into``."""
        picked = self.pick(rank)
        if picked is None:
            raise IndexError(rank)
        branch, parts = self._branches[picked.index]
        into[self._variable] = branch.value
        into.update(branch.forced)
        for part, inner in zip(parts, picked.ranks, strict=True):
            part.read(inner, into)
