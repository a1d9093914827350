"""A decision diagram: the exact count, marginals, and assignments best first, each a pass over it.

A choice has branches, a branch leaves independent parts: deterministic and decomposable, so that counts multiply and
add (Darwiche 2001, d-DNNF).
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from constraints.values import Value


@dataclass(slots=True)
class Branch:
    """One value of a choice: what it gains at once, what else it forces, and the independent parts it leaves."""

    value: Value
    forced: tuple[tuple[str, Value], ...]
    gain: int
    parts: tuple[Choice, ...]
    count: int
    best: int


@dataclass(slots=True)
class Choice:
    """A variable with the values that lead to a solution."""

    variable: str
    branches: list[Branch]
    count: int
    best: int
    ranked: list[tuple[int, int, tuple[int, ...]]] = field(default_factory=list)
    heap: list[tuple[int, int, tuple[int, ...]]] = field(default_factory=list)
    started: bool = False

    def pick(self, rank: int) -> tuple[int, int, tuple[int, ...]] | None:
        """(score, branch, rank of each part) of the solution at ``rank``, best first; None past the last."""
        if not self.started:
            self.started = True
            for index, branch in enumerate(self.branches):
                heapq.heappush(self.heap, (-branch.best, index, (0,) * len(branch.parts)))
        while len(self.ranked) <= rank and self.heap:
            negative, index, ranks = heapq.heappop(self.heap)
            self.ranked.append((-negative, index, ranks))
            self._push_next(index, ranks)
        return self.ranked[rank] if rank < len(self.ranked) else None

    def _push_next(self, index: int, ranks: tuple[int, ...]) -> None:
        # Each rank vector is reached once: only positions from the last raised one on may be raised (Lawler 1972).
        branch = self.branches[index]
        first = max((place for place, rank in enumerate(ranks) if rank), default=0)
        for place in range(first, len(ranks)):
            raised = (*ranks[:place], ranks[place] + 1, *ranks[place + 1 :])
            score = branch.gain
            for part, rank in zip(branch.parts, raised, strict=True):
                picked = part.pick(rank)
                if picked is None:
                    break
                score += picked[0]
            else:
                heapq.heappush(self.heap, (-score, index, raised))

    def read(self, rank: int, into: dict[str, Value]) -> None:
        """Write the assignment at ``rank`` into ``into``."""
        picked = self.pick(rank)
        if picked is None:
            raise IndexError(rank)
        _, index, ranks = picked
        branch = self.branches[index]
        into[self.variable] = branch.value
        into.update(branch.forced)
        for part, inner in zip(branch.parts, ranks, strict=True):
            part.read(inner, into)


@dataclass(frozen=True, slots=True)
class Solution:
    """An assignment of every variable with its score."""

    score: int
    assignment: Mapping[str, Value]


class Diagram:
    """All solutions of a problem, compiled; scores within it are multiples of ``unit`` less what breaks ties."""

    def __init__(self, root: Choice | None, unit: int) -> None:
        self.root = root
        self.unit = unit

    @property
    def count(self) -> int:
        """How many solutions there are, exactly."""
        return self.root.count if self.root else 0

    def ranked(self) -> Iterator[Solution]:
        """The solutions, best score first; of equal scores what comes first in the order of variables and domains."""
        if self.root is None:
            return
        rank = 0
        while (picked := self.root.pick(rank)) is not None:
            assignment: dict[str, Value] = {}
            self.root.read(rank, assignment)
            assignment.pop("", None)
            yield Solution(-(-picked[0] // self.unit), assignment)
            rank += 1

    def marginals(self) -> dict[str, dict[Value, int]]:
        """For each variable, how many solutions hold each of its values."""
        totals: dict[str, dict[Value, int]] = {}
        if self.root is None:
            return totals
        order = _topological(self.root)
        weight = {id(choice): 0 for choice in order}
        weight[id(self.root)] = 1
        for choice in order:
            here = totals.setdefault(choice.variable, {})
            for branch in choice.branches:
                solutions = weight[id(choice)] * branch.count
                here[branch.value] = here.get(branch.value, 0) + solutions
                for name, value in branch.forced:
                    other = totals.setdefault(name, {})
                    other[value] = other.get(value, 0) + solutions
                for part in branch.parts:
                    weight[id(part)] += weight[id(choice)] * (branch.count // part.count)
        totals.pop("", None)
        return totals


def _topological(root: Choice) -> list[Choice]:
    seen: set[int] = set()
    order: list[Choice] = []

    def visit(choice: Choice) -> None:
        if id(choice) in seen:
            return
        seen.add(id(choice))
        for branch in choice.branches:
            for part in branch.parts:
                visit(part)
        order.append(choice)

    visit(root)
    return order[::-1]
