"""A problem -> satisfiable or not, the exact count, marginals, and assignments best first.

The problem is compiled, top down, into a decision diagram: choose a variable, fold its value into every equation it
stands in, let settled definitions settle others, split what is left into parts that share nothing, and solve each
part once (component caching as in sharpSAT, Thurley 2006). An equation's folded forms are numbered, so that a part is
known by a tuple of numbers. Count, marginals and k-best are then passes over the diagram (Darwiche, d-DNNF).
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from constraints.values import Value

from .errors import TooLarge
from .problem import Problem
from .propagate import Equations, Known, Part, State
from .tables import tabulated

Terms = Mapping[str, Callable[[Value], int]]
DEFAULT_LIMIT = 400_000


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


def solve(
    problem: Problem, terms: Terms | None = None, order: Sequence[str] = (), limit: int = DEFAULT_LIMIT
) -> Diagram:
    """Compile ``problem``.

    ``terms`` gives integer scores of single values by name; ``order`` which variables to choose first. Raises TooLarge
    when more than ``limit`` values would be tried.
    """
    terms = terms or {}
    compiler = _Compiler(tabulated(problem, terms), terms, order, limit)
    return Diagram(compiler.root(), compiler.ties.unit)


@dataclass(frozen=True, slots=True)
class _Value:
    """A value of a variable that can be in some solution; ``gain`` is what it scores by itself."""

    value: Value
    gain: int


class _Ties:
    """What breaks ties: a number below ``unit`` for each assignment, in the order of variables and their domains.

    It is a sum over variables, digits of one number, so that the best of parts make the best of the whole.
    """

    def __init__(self, domains: Mapping[str, Sequence[Value]]) -> None:
        self.unit = 1
        self._weights: dict[str, dict[object, int]] = {}
        for name in reversed(tuple(domains)):
            self._weights[name] = {repr(value): place * self.unit for place, value in enumerate(domains[name])}
            self.unit *= len(domains[name])

    def of(self, name: str, value: Value) -> int:
        """What the value of a variable adds; nothing for a definition."""
        weights = self._weights.get(name)
        return 0 if weights is None else weights[repr(value)]


class _Compiler:
    """The parts of one problem solved so far."""

    def __init__(self, problem: Problem, terms: Terms, order: Sequence[str], limit: int) -> None:
        self.equations = Equations(problem)
        self.terms = terms
        self.ties = _Ties(self.equations.domains)
        self.limit = limit
        self.tried = 0
        self.order = tuple(order)
        self.place: dict[str, int] = {}
        self.classes: dict[str, list[list[_Value]]] = {}
        self.solved: dict[Part, Choice | None] = {}

    def root(self) -> Choice | None:
        """The whole problem as one choice of the empty variable."""
        settled = self.equations.settle_all()
        if settled is None:
            return None
        for name in self.equations.domains:
            self.classes[name] = self._classes(name, settled[1])
        degree = self.equations.degrees(settled[1])
        # Few classes of values that much hangs on first (dom/deg; Bessiere and Regin 1996).
        best = sorted(self.classes, key=lambda one: (len(self.classes[one]) / (1 + degree[one]), one))
        for name in (*self.order, *best):
            self.place.setdefault(name, len(self.place))
        if self.place:
            self._prune(min(self.place, key=self.place.__getitem__), settled[1])
        branch = self._branch(None, settled, frozenset(self.equations.domains))
        return None if branch is None else Choice("", [branch], branch.count, branch.best)

    def _classes(self, name: str, state: State) -> list[list[_Value]]:
        """The values that are possible at all, those together that leave the same equations in the same forms.

        Such values are interchangeable (Freuder 1991): what is solved for one holds for all, up to what each scores
        by itself.
        """
        found: dict[tuple[object, ...], list[_Value]] = {}
        for value in self.equations.domains[name]:
            settled = self.equations.settle([(name, value)], state)
            if settled is not None:
                known, left = settled
                forced = tuple((one, repr(given)) for one, given in known if one in self.equations.domains)
                found.setdefault((forced[1:], frozenset(left.items())), []).append(_Value(value, self._gain(known)))
        return list(found.values())

    def _prune(self, first: str, state: State) -> None:
        """Drop the values that hold with no value of ``first``: its choice settles the most, so most fail at once."""
        possible: dict[str, set[int]] = {name: set() for name in self.classes}
        for values in self.classes[first]:
            settled = self.equations.settle([(first, values[0].value)], state)
            if settled is None:
                continue
            for name, classes in self.classes.items():
                for place, others in enumerate(classes):
                    if place not in possible[name] and self.equations.settle([(name, others[0].value)], settled[1]):
                        possible[name].add(place)
        for name, places in possible.items():
            if name != first:
                self.classes[name] = [self.classes[name][place] for place in sorted(places)]

    def _gain(self, known: Known) -> int:
        score = sum(self.terms[name](value) for name, value in known if name in self.terms)
        return score * self.ties.unit - sum(self.ties.of(name, value) for name, value in known)

    def _branch(self, value: Value, settled: tuple[Known, State], free: frozenset[str]) -> Branch | None:
        known, state = settled
        forced = tuple((name, found) for name, found in known if name in free)
        parts = self.equations.split(free - {name for name, _ in forced}, state, self.terms)
        # The part with most equations first: it is the likeliest to fail.
        parts.sort(key=lambda part: (-len(part[1]), min(self.place[name] for name in part[0])))
        solved = []
        for part in parts:
            choice = self._solve(part)
            if choice is None:
                return None
            solved.append(choice)
        count, best = 1, self._gain(known)
        gain = best
        for choice in solved:
            count *= choice.count
            best += choice.best
        return Branch(value, forced, gain, tuple(solved), count, best)

    def _solve(self, part: Part) -> Choice | None:
        if part in self.solved:
            return self.solved[part]
        free, equations = part
        state = dict(equations)
        name = min(free, key=self.place.__getitem__)
        branches: list[Branch] = []
        for values in self.classes[name]:
            self.tried += 1
            if self.tried > self.limit:
                raise TooLarge(f"more than {self.limit} values tried")
            first = values[0]
            settled = self.equations.settle([(name, first.value)], state)
            if settled is None:
                continue
            branch = self._branch(first.value, settled, free - {name})
            if branch is None:
                continue
            branches.append(branch)
            for other in values[1:]:
                more = other.gain - first.gain
                branches.append(
                    Branch(
                        other.value, branch.forced, branch.gain + more, branch.parts, branch.count, branch.best + more
                    )
                )
        found = None
        if branches:
            places = {repr(value): place for place, value in enumerate(self.equations.domains[name])}
            branches.sort(key=lambda one: places[repr(one.value)])
            found = Choice(name, branches, sum(one.count for one in branches), max(one.best for one in branches))
        self.solved[part] = found
        return found
