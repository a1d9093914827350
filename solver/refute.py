"""A problem, restrictions and rules switched off -> an assignment, or the parts that forbid every one.

Depth-first search with propagation; each settled value remembers the equations and decisions it came from, so that a
failure is a set of causes, decisions that took no part are skipped (conflict-directed backjumping, Prosser 1993), and
what is left at the root is an unsatisfiable core, small though not yet minimal.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from constraints.tree import FALSE, Const
from constraints.values import Value, same

from .errors import TooLarge
from .narrow import narrow, possible_values
from .problem import Problem
from .propagate import Equations, State

Cause = frozenset[object]
NOTHING: Cause = frozenset()
DEFAULT_LIMIT = 20_000


@dataclass(frozen=True, slots=True)
class Restriction:
    """The values left to a variable, and the demands that leave them."""

    values: tuple[Value, ...]
    causes: Cause


@dataclass(slots=True)
class _Place:
    """Where the search stands: equations left, why each has its form, and what is known with its reasons."""

    state: State
    why: dict[int, Cause]
    known: dict[str, Value]
    reasons: dict[str, Cause]


class Refuter:
    """Answers many questions about one problem; what was folded for one serves the next."""

    def __init__(self, problem: Problem) -> None:
        self._problem = problem
        self._equations = Equations(problem)
        self._labels: list[str] = [
            one.operation.rule.id if one.operation is not None else "" for one in problem.definitions
        ]
        self._labels += [one.operation.rule.id if one.operation is not None else "" for one in problem.constraints]
        self._relaxed: dict[int, int] = {
            index: self._equations.form(one.relaxed)
            for index, one in enumerate(problem.definitions)
            if one.relaxed is not None
        }
        first = len(problem.definitions)
        self._demands = [first + place for place, one in enumerate(problem.constraints) if one.demanded]
        for index, form in self._relaxed.items():
            for name in self._equations.scopes[form]:
                readers = self._equations.readers.setdefault(name, [])
                if index not in readers:
                    readers.append(index)
        self.found: dict[str, Value] = {}
        self.tried = 0
        self._limit = 0

    def rules_of(self, causes: Collection[object]) -> tuple[str, ...]:
        """The ids of the rules among causes, in the order of the problem."""
        return tuple(dict.fromkeys(label for index, label in enumerate(self._labels) if label and index in causes))

    def refute(
        self, restricted: Mapping[str, Restriction], off: Collection[str] = (), limit: int = DEFAULT_LIMIT
    ) -> Cause | None:
        """None when some assignment meets all (it is in ``found``), else causes that cannot hold together.

        Causes are equation numbers and whatever stands in the restrictions. Rules in ``off`` do not bind: their
        constraints are left out, what they write is free. Raises TooLarge after ``limit`` values.
        """
        self.tried, self._limit = 0, limit
        place = _Place({}, {}, {}, {})
        queue: list[tuple[str, Value, Cause]] = []
        for index, form in self._equations.start.items():
            gone = self._labels[index] in off
            if gone and self._equations.defines[index] is None:
                continue
            current = self._relaxed[index] if gone and index in self._relaxed else form
            node = self._equations.forms[current]
            defined = self._equations.defines[index]
            if not isinstance(node, Const):
                place.state[index] = current
            elif defined is not None:
                queue.append((defined, node.value, frozenset((index,))))
            elif not node.value:
                return frozenset((index,))
        for name, restriction in restricted.items():
            if not restriction.values:
                return restriction.causes
            if len(restriction.values) == 1:
                queue.append((name, restriction.values[0], restriction.causes))
        return self._search(place, queue, restricted)

    def _search(
        self,
        place: _Place,
        queue: list[tuple[str, Value, Cause]],
        restricted: Mapping[str, Restriction],
    ) -> Cause | None:
        failed = self._settle(place, queue, restricted) or self._out_of_reach(place, restricted)
        if failed is not None:
            return failed
        name = self._next(place)
        if name is None:
            free = {one: self._values(one, restricted)[0] for one in self._equations.domains if one not in place.known}
            self.found = {**free, **{one: place.known[one] for one in self._equations.domains if one in place.known}}
            return None
        causes: set[object] = set(restricted[name].causes) if name in restricted else set()
        for value in self._values(name, restricted):
            self.tried += 1
            if self.tried > self._limit:
                raise TooLarge(f"more than {self._limit} values tried")
            below = _Place(dict(place.state), dict(place.why), dict(place.known), dict(place.reasons))
            found = self._search(below, [(name, value, frozenset((name,)))], restricted)
            if found is None:
                return None
            if name not in found:
                return found
            causes |= found
        causes.discard(name)
        return frozenset(causes)

    def _values(self, name: str, restricted: Mapping[str, Restriction]) -> Sequence[Value]:
        return restricted[name].values if name in restricted else self._equations.domains[name]

    def _next(self, place: _Place) -> str | None:
        """The variable that most of what some constraint still hangs on reads; None when no constraint is left.

        While a demanded outcome is open only what it hangs on counts.
        """
        demanded = {index for index in self._demands if index in place.state}
        counts: dict[str, int] = {}
        wanted: set[str] = set()
        for index in sorted(place.state, reverse=True):
            scope = self._equations.scopes[place.state[index]]
            defined = self._equations.defines[index]
            if defined in wanted if defined is not None else (index in demanded or not demanded):
                wanted |= scope
                for name in scope:
                    if name in self._equations.domains:
                        counts[name] = counts.get(name, 0) + 1
        return min(counts, key=lambda one: (-counts[one], one)) if counts else None

    def _out_of_reach(self, place: _Place, restricted: Mapping[str, Restriction]) -> Cause | None:
        """Causes that keep a demanded outcome from the value it must have, whatever is still chosen."""
        for index in self._demands:
            form = place.state.get(index)
            if form is None:
                continue
            cone = self._cone(place, index)
            possible: dict[str, tuple[Value, ...] | None] = {}
            for name in self._equations.domains:
                possible[name] = tuple(self._values(name, restricted))
            for one in cone:
                defined = self._equations.defines[one]
                if defined is not None:
                    node = narrow(self._equations.forms[place.state[one]], possible)
                    possible[defined] = possible_values(node, possible)
            if narrow(self._equations.forms[form], possible) == FALSE:
                causes: set[object] = set(place.why.get(index, NOTHING)) | {index}
                for one in cone:
                    causes |= place.why.get(one, NOTHING) | {one}
                    for name in self._equations.scopes[place.state[one]]:
                        if name in restricted:
                            causes |= restricted[name].causes
                return frozenset(causes)
        return None

    def _cone(self, place: _Place, demand: int) -> list[int]:
        """The open definitions that a constraint hangs on, in order."""
        wanted = set(self._equations.scopes[place.state[demand]])
        found = []
        for index in sorted(place.state, reverse=True):
            if self._equations.defines[index] in wanted:
                found.append(index)
                wanted |= self._equations.scopes[place.state[index]]
        return found[::-1]

    def _settle(
        self, place: _Place, queue: list[tuple[str, Value, Cause]], restricted: Mapping[str, Restriction]
    ) -> Cause | None:
        equations = self._equations
        while queue:
            name, value, causes = queue.pop()
            if name in place.known:
                if not same(place.known[name], value):
                    return causes | place.reasons[name]
                continue
            place.known[name] = value
            place.reasons[name] = causes
            if name in restricted and not any(same(value, one) for one in restricted[name].values):
                return causes | restricted[name].causes
            folds = equations.folds(name, value)
            for index, form in equations.meeting(name, place.state):
                found = folds.get(form)
                if found is None:
                    found = equations.fold(folds, form, name, value)
                if found == form:
                    continue
                why = place.why[index] = place.why.get(index, NOTHING) | causes
                defined = equations.defines[index]
                if isinstance(found, int):
                    place.state[index] = found
                    if defined is None and (only := equations.only(found)) is not None:
                        if not only[1]:
                            return why | {index}
                        if len(only[1]) == 1 and only[0] not in place.known:
                            queue.append((only[0], only[1][0], why | {index}))
                    continue
                del place.state[index]
                if defined is not None:
                    queue.append((defined, found.value, why | {index}))
                elif not found.value:
                    return why | {index}
        return None
