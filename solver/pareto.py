"""A compiled problem and a few terms -> the solutions that no other one beats in one of them without losing in another.

Scores of several terms are digits of one number while the problem is compiled. One pass over the diagram then keeps,
for every part and every combination of outcomes, the vectors that nothing dominates; of equal ones the best total.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple, TypeVar

from constraints.values import Value

from .diagram import Branch, Choice, Diagram, Solution
from .rank import Pairs, Views
from .terms import Gain, Joint

# More than any sum of points.
BASE = 1 << 32
Vector = tuple[int, ...]
Way = TypeVar("Way")


class _Entry(NamedTuple):
    """One way through a part: its total and its points by term, and how it goes on inside."""

    vector: Vector
    choice: Choice
    branch: Branch
    inner: tuple[_Entry, ...]

    def read(self, into: dict[str, Value]) -> None:
        """Write the assignment into ``into``."""
        into[self.choice.variable] = self.branch.value
        into.update(self.branch.forced)
        for part in self.inner:
            part.read(into)


def coded(gains: Mapping[str, tuple[tuple[str, Gain], ...]], front: Sequence[str]) -> dict[str, Gain]:
    """For each name its total, and above it the points of each term of ``front``, as one number."""
    places = {term: BASE ** (place + 1) for place, term in enumerate(front)}

    def code(group: tuple[tuple[str, Gain], ...]) -> Gain:
        return lambda value: sum(gain(value) * (1 + places.get(term, 0)) for term, gain in group)

    return {name: code(group) for name, group in gains.items()}


def pareto(diagram: Diagram, joints: Mapping[str, Joint], front: Sequence[str]) -> list[Solution]:
    """The front of a diagram that was compiled with `coded` terms, best total first."""
    if diagram.root is None:
        return []
    views = Views(frozenset(name for joint in joints.values() for name in joint.outcomes), frozenset())
    found: list[tuple[Vector, _Entry]] = []
    for outcomes, entries in _Fronts(views, diagram.unit, len(front)).of(diagram.root).items():
        known = views.known(outcomes)
        points = {term: joint.score(known) for term, joint in joints.items()}
        extra = (sum(points.values()), *(points.get(term, 0) for term in front))
        found += [(_sum(entry.vector, extra), entry) for entry in entries]
    solutions = []
    for vector, entry in sorted(_undominated(found), key=lambda pair: pair[0], reverse=True):
        assignment: dict[str, Value] = {}
        entry.read(assignment)
        assignment.pop("", None)
        solutions.append(Solution(vector[0], assignment))
    return solutions


class _Fronts:
    """The undominated ways through each part, by its outcomes."""

    def __init__(self, views: Views, unit: int, terms: int) -> None:
        self._views = views
        self._unit = unit
        self._terms = terms
        self._known: dict[int, dict[Pairs, list[_Entry]]] = {}

    def of(self, choice: Choice) -> dict[Pairs, list[_Entry]]:
        """For each combination of outcomes of a part, its front."""
        if id(choice) in self._known:
            return self._known[id(choice)]
        ways: dict[Pairs, list[tuple[Vector, _Entry]]] = {}
        for branch in choice.branches:
            start = _digits(-(-branch.gain // self._unit), self._terms + 1)
            rows: dict[Pairs, list[tuple[Vector, tuple[_Entry, ...]]]] = {
                tuple(self._views.fixed(choice, branch)): [(start, ())]
            }
            for part in branch.parts:
                inside = self.of(part)
                rows = {
                    outcomes + more: _undominated(
                        [
                            (_sum(vector, entry.vector), (*inner, entry))
                            for vector, inner in partial
                            for entry in entries
                        ]
                    )
                    for outcomes, partial in rows.items()
                    for more, entries in inside.items()
                }
            for outcomes, partial in rows.items():
                made = [(vector, _Entry(vector, choice, branch, inner)) for vector, inner in partial]
                ways.setdefault(tuple(sorted(outcomes)), []).extend(made)
        found = {outcomes: [entry for _, entry in _undominated(some)] for outcomes, some in ways.items()}
        self._known[id(choice)] = found
        return found


def _undominated(ways: list[tuple[Vector, Way]]) -> list[tuple[Vector, Way]]:
    """The ways whose points (the total aside) nothing beats; of equal points the first with the best total."""
    kept: list[tuple[Vector, Way]] = []
    for vector, way in sorted(ways, key=lambda pair: (pair[0][1:], pair[0][0]), reverse=True):
        if not any(all(a >= b for a, b in zip(other[1:], vector[1:], strict=True)) for other, _ in kept):
            kept.append((vector, way))
    return kept


def _sum(one: Vector, other: Vector) -> Vector:
    return tuple(a + b for a, b in zip(one, other, strict=True))


def _digits(number: int, count: int) -> Vector:
    found = []
    for _ in range(count):
        digit = (number + BASE // 2) % BASE - BASE // 2
        found.append(digit)
        number = (number - digit) // BASE
    return tuple(found)
