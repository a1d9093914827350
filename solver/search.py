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

from constraints.expression import Const, Node, Value, fold, names

from .errors import TooLarge
from .problem import Problem

Terms = Mapping[str, Callable[[Value], int]]
DEFAULT_LIMIT = 400_000


@dataclass(slots=True)
class Branch:
    """One value of a choice: what it gains at once, and the independent parts it leaves."""

    value: Value
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
        for part, inner in zip(branch.parts, ranks, strict=True):
            part.read(inner, into)


@dataclass(frozen=True, slots=True)
class Solution:
    """An assignment of every variable with its score."""

    score: int
    assignment: Mapping[str, Value]


class Diagram:
    """All solutions of a problem, compiled."""

    def __init__(self, root: Choice | None) -> None:
        self._root = root

    @property
    def count(self) -> int:
        """How many solutions there are, exactly."""
        return self._root.count if self._root else 0

    def ranked(self) -> Iterator[Solution]:
        """The solutions, best score first; equal scores in the order of domains."""
        if self._root is None:
            return
        rank = 0
        while (picked := self._root.pick(rank)) is not None:
            assignment: dict[str, Value] = {}
            self._root.read(rank, assignment)
            assignment.pop("", None)
            yield Solution(picked[0], assignment)
            rank += 1

    def marginals(self) -> dict[str, dict[Value, int]]:
        """For each variable, how many solutions hold each of its values."""
        totals: dict[str, dict[Value, int]] = {}
        if self._root is None:
            return totals
        order = _topological(self._root)
        weight = {id(choice): 0 for choice in order}
        weight[id(self._root)] = 1
        for choice in order:
            here = totals.setdefault(choice.variable, {})
            for branch in choice.branches:
                here[branch.value] = here.get(branch.value, 0) + weight[id(choice)] * branch.count
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
    return Diagram(_Compiler(problem, terms or {}, order, limit).root())


class _Compiler:
    """Equations by number (definitions first), their folded forms by number, and the parts solved so far."""

    def __init__(self, problem: Problem, terms: Terms, order: Sequence[str], limit: int) -> None:
        self.terms = terms
        self.limit = limit
        self.tried = 0
        self.domains = {variable.name: variable.domain for variable in problem.variables}
        self.place = {name: index for index, name in enumerate((*order, *self.domains))}
        self.defines: list[str | None] = [definition.name for definition in problem.definitions]
        self.defines += [None] * len(problem.constraints)
        self.forms: list[Node] = []
        self.scopes: list[frozenset[str]] = []
        self.equation: list[int] = []
        self.number: dict[tuple[int, Node], int] = {}
        self.folded: dict[tuple[int, str, str], int | Const] = {}
        self.solved: dict[tuple[frozenset[str], tuple[int, ...]], Choice | None] = {}
        self.start = [
            self._form(index, equation.node)
            for index, equation in enumerate((*problem.definitions, *problem.constraints))
        ]

    def root(self) -> Choice | None:
        """The whole problem as one choice of the empty variable."""
        settled = self._settle([], self.start)
        if settled is None:
            return None
        gain, forms = settled
        parts = self._split(frozenset(self.domains), forms)
        branch = self._branch(None, gain, parts)
        return None if branch is None else Choice("", [branch], branch.count, branch.best)

    def _form(self, equation: int, node: Node) -> int:
        key = (equation, node)
        if key not in self.number:
            self.number[key] = len(self.forms)
            self.forms.append(node)
            self.scopes.append(names(node))
            self.equation.append(equation)
        return self.number[key]

    def _fold(self, form: int, name: str, value: Value) -> int | Const:
        key = (form, name, repr(value))
        found = self.folded.get(key)
        if found is None:
            node = fold(self.forms[form], {name: value})
            found = node if isinstance(node, Const) else self._form(self.equation[form], node)
            self.folded[key] = found
        return found

    def _settle(self, known: list[tuple[str, Value]], forms: list[int]) -> tuple[int, list[int]] | None:
        """Fold ``known`` in, and every definition it settles; None when a constraint fails."""
        gain = 0
        queue = list(known)
        live = forms
        fresh = not known
        while queue or fresh:
            if fresh:
                name, value, fresh = "", None, False
            else:
                name, value = queue.pop()
                term = self.terms.get(name)
                if term is not None:
                    gain += term(value)
            left: list[int] = []
            for form in live:
                found: int | Const = form
                if name in self.scopes[form]:
                    found = self._fold(form, name, value)
                elif not self.scopes[form]:
                    found = self._fold(form, "", None)
                if isinstance(found, int):
                    left.append(found)
                    continue
                defined = self.defines[self.equation[form]]
                if defined is not None:
                    queue.append((defined, found.value))
                elif not found.value:
                    return None
            live = left
        return gain, live

    def _split(self, free: frozenset[str], forms: list[int]) -> list[tuple[frozenset[str], tuple[int, ...]]]:
        """The parts of ``forms`` that share no name; definitions that nothing reads are dropped."""
        needed: list[int] = []
        wanted: set[str] = set(self.terms)
        for form in reversed(forms):
            defined = self.defines[self.equation[form]]
            if defined is None or defined in wanted:
                needed.append(form)
                wanted |= self.scopes[form]
        group: dict[str, str] = {}

        def find(name: str) -> str:
            while group.setdefault(name, name) != name:
                group[name] = name = group[group[name]]
            return name

        for form in needed:
            scope = self.scopes[form]
            first = find(next(iter(scope)))
            for name in scope:
                group[find(name)] = first
            defined = self.defines[self.equation[form]]
            if defined is not None:
                group[find(defined)] = first
        members: dict[str, list[int]] = {}
        for form in needed:
            members.setdefault(find(next(iter(self.scopes[form]))), []).append(form)
        variables: dict[str, set[str]] = {}
        for name in free:
            variables.setdefault(find(name), set()).add(name)
        return [
            (frozenset(inside), tuple(sorted(members.get(key, ()), key=self.equation.__getitem__)))
            for key, inside in variables.items()
        ]

    def _branch(
        self, value: Value, gain: int, parts: list[tuple[frozenset[str], tuple[int, ...]]]
    ) -> Branch | None:
        solved = []
        # The part with most equations first: it is the likeliest to fail.
        for free, forms in sorted(parts, key=lambda part: (-len(part[1]), min(self.place[name] for name in part[0]))):
            part = self._solve(free, forms)
            if part is None:
                return None
            solved.append(part)
        count, best = 1, gain
        for part in solved:
            count *= part.count
            best += part.best
        return Branch(value, gain, tuple(solved), count, best)

    def _solve(self, free: frozenset[str], forms: tuple[int, ...]) -> Choice | None:
        key = (free, forms)
        if key in self.solved:
            return self.solved[key]
        name = min(free, key=self.place.__getitem__)
        branches = []
        for value in self.domains[name]:
            self.tried += 1
            if self.tried > self.limit:
                raise TooLarge(f"more than {self.limit} values tried")
            settled = self._settle([(name, value)], list(forms))
            if settled is None:
                continue
            gain, left = settled
            branch = self._branch(value, gain, self._split(free - {name}, left))
            if branch is not None:
                branches.append(branch)
        found = None
        if branches:
            found = Choice(name, branches, sum(b.count for b in branches), max(b.best for b in branches))
        self.solved[key] = found
        return found
