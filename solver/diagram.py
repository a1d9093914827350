"""A decision diagram: the exact count and marginals, each a pass over it; `rank` takes its solutions best first.

A choice has branches, a branch leaves independent parts: deterministic and decomposable, so that counts multiply and
add (Darwiche 2001, d-DNNF).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

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
