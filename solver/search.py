"""A problem -> satisfiable or not, the exact count, marginals, and assignments best first.

The problem is compiled, top down, into a decision diagram: choose a variable, fold its value into every equation it
stands in, let settled definitions settle others, split what is left into parts that share nothing, and solve each
part once (component caching as in sharpSAT, Thurley 2006). An equation's folded forms are numbered, so that a part is
known by a tuple of numbers. Count, marginals and k-best are then passes over the diagram (Darwiche, d-DNNF).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from constraints.values import Value

from .diagram import Branch, Choice, Diagram
from .errors import TooLarge
from .problem import Problem
from .propagate import Equations, Known, Part, State
from .tables import tabulated

Terms = Mapping[str, Callable[[Value], int]]
DEFAULT_LIMIT = 400_000


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
