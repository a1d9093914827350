"""A problem, restrictions and rules switched off -> an assignment, or the parts that forbid every one.

Depth-first search with propagation; each settled value remembers the equations and decisions it came from, so that a
failure is a set of causes, decisions that took no part are skipped (conflict-directed backjumping, Prosser 1993), what
failed once is known when it is met again, in this question and in later ones, and what is left at the root is an
unsatisfiable core, small though not yet minimal.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain

from constraints.tree import FALSE
from constraints.values import Value

from .alike import Alike
from .deduce import Allowed, Bits, Deducer, Finding, Standing
from .errors import TooLarge
from .forms import Forms
from .learned import Learned, Nogood
from .narrow import narrow, possible_values
from .problem import Problem

Cause = frozenset[object]
DEFAULT_LIMIT = 20_000


@dataclass(frozen=True, slots=True)
class Restriction:
    """The values left to a variable, and the demands that leave them."""

    values: tuple[Value, ...]
    causes: Cause


class Refuter:
    """Answers many questions about one problem; what was folded or learned for one serves the next."""

    def __init__(self, problem: Problem, forms: Forms | None = None) -> None:
        """``forms``: those of other problems on the same facts."""
        self._deducer = Deducer(problem, forms)
        self._equations = self._deducer.equations
        self._learned = Learned()
        self._alike = Alike(self._deducer)
        # Causes by bit: equations, choices of the search, then demands as they are met.
        self._causes: list[object] = list(range(self._deducer.total))
        self._bits: dict[object, Bits] = {}
        self._choices: dict[str, Bits] = {}
        self._demands = [
            self._deducer.definitions + place for place, one in enumerate(problem.constraints) if one.demanded
        ]
        self._variables: dict[int, tuple[str, ...]] = {}
        self.found: dict[str, Value] = {}
        self.tried = 0
        self._limit = 0

    def _bit(self, cause: object = None) -> Bits:
        self._causes.append(cause)
        return 1 << (len(self._causes) - 1)

    def rules_of(self, causes: Collection[object]) -> tuple[str, ...]:
        """The ids of the rules among causes, in the order of the problem."""
        equations = sorted(one for one in causes if isinstance(one, int))
        return tuple(dict.fromkeys(rule for one in equations if (rule := self._deducer.rule(one))))

    def refute(
        self, restricted: Mapping[str, Restriction], off: Collection[str] = (), limit: int = DEFAULT_LIMIT
    ) -> Cause | None:
        """None when some assignment meets all (it is in ``found``), else causes that cannot hold together.

        Causes are equation numbers and whatever stands in the restrictions. Rules in ``off`` do not bind: their
        constraints are left out, what they write is free. Raises TooLarge after ``limit`` values.
        """
        self.tried, self._limit = 0, limit
        begun = self._deducer.start(frozenset(off))
        if not isinstance(begun, Standing):
            return self._named(begun)
        allowed = {name: Allowed(one.values, self._demanded(one.causes)) for name, one in restricted.items()}
        place = begun.copy()
        place.changed.update(dict.fromkeys(place.state))
        queue: list[Finding] = []
        for name, one in allowed.items():
            if not one.values:
                return self._named(one.causes)
            if name in place.known:
                if not one.has(place.known[name]):
                    return self._named(one.causes | place.reasons[name])
            elif len(one.values) == 1:
                queue.append((name, one.values[0], one.causes))
        # What is unset is put in first: questions share most of it, and so the forms that it leaves.
        queue.sort(key=lambda one: one[1] is None)
        failed = self._search(place, queue, allowed)
        return None if failed is None else self._named(failed)

    def _demanded(self, causes: Cause) -> Bits:
        bits = 0
        for cause in causes:
            if cause not in self._bits:
                self._bits[cause] = self._bit(cause)
            bits |= self._bits[cause]
        return bits

    def _named(self, causes: Bits) -> Cause:
        return frozenset(self._causes[place] for place in _places(causes))

    def _search(self, place: Standing, queue: list[Finding], allowed: Mapping[str, Allowed]) -> Bits | None:
        failed = self._deducer.settle(place, queue, allowed)
        if failed is None:
            failed = self._met_again(place, allowed)
        if failed is None:
            failed = self._out_of_reach(place, allowed)
        if failed is not None:
            return failed
        name = self._next(place)
        if name is None:
            free = {one: self._values(one, allowed)[0] for one in self._equations.domains if one not in place.known}
            self.found = {**free, **{one: place.known[one] for one in self._equations.domains if one in place.known}}
            return None
        choice = self._choices[name] if name in self._choices else self._choices.setdefault(name, self._bit())
        causes = allowed[name].causes if name in allowed else 0
        left = self._values(name, allowed)
        while left:
            value = left[0]
            self.tried += 1
            if self.tried > self._limit:
                raise TooLarge(f"more than {self._limit} values tried")
            found = self._search(place.copy(), [(name, value, choice)], allowed)
            if found is None:
                return None
            if not found & choice:
                return found
            causes |= found
            left = left[1:]
            if left:
                left = self._alike.others(name, value, left, self._forms(place, found), allowed, found)
        causes &= ~choice
        self._learn(place, causes, allowed)
        return causes

    def _values(self, name: str, allowed: Mapping[str, Allowed]) -> Sequence[Value]:
        return allowed[name].values if name in allowed else self._equations.domains[name]

    def _learn(self, place: Standing, causes: Bits, allowed: Mapping[str, Allowed]) -> None:
        """Keep the equations that forbid every choice left, as they stand here."""
        forms = self._forms(place, causes)
        scope = frozenset().union(*(self._equations.forms.scopes[form] for form in forms.values()))
        self._learned.add(Nogood(forms, {name: allowed[name].values for name in sorted(scope) if name in allowed}))

    def _forms(self, place: Standing, causes: Bits) -> dict[int, int]:
        """The equations among causes that are still open, as they stand here."""
        total, state, forms = self._deducer.total, place.state, {}
        for index in _places(causes & ((1 << total) - 1)):
            for one in (index, total + index):
                if one in state:
                    forms[one] = state[one]
        return forms

    def _met_again(self, place: Standing, allowed: Mapping[str, Allowed]) -> Bits | None:
        """Causes of a failure that is known already."""
        nogood = self._learned.met(place.state, place.changed, allowed)
        if nogood is None:
            return None
        causes = 0
        for index in nogood.forms:
            causes |= self._because(place, index)
        for name in nogood.domains:
            causes |= allowed[name].causes
        return causes

    def _because(self, place: Standing, index: int) -> Bits:
        """An equation, and why it has its form."""
        return place.why.get(index, 0) | 1 << index % self._deducer.total

    def _next(self, place: Standing) -> str | None:
        """The variable that most of what some constraint still hangs on reads; None when no constraint is left.

        While a demanded outcome is open only what it hangs on counts. What nothing hangs on any more is dropped.
        """
        state, equations = place.state, self._equations
        defines, own, masks = equations.defines, equations.own, equations.forms.masks
        demanded = [index for index in self._demands if index in state]
        read: list[tuple[str, ...]] = []
        wanted = first = 0
        idle = []
        for index in reversed(state):
            form = state[index]
            if defines[index] is None:
                counted = not demanded or index in demanded
            elif not own[index] & wanted:
                idle.append(index)
                continue
            else:
                counted = not demanded or bool(own[index] & first)
            wanted |= masks[form]
            if counted:
                first |= masks[form]
                read.append(self._variables[form] if form in self._variables else self._read(form))
        for index in idle:
            del state[index]
        counts = Counter(chain.from_iterable(read))
        return min(counts, key=lambda one: (-counts[one], one)) if counts else None

    def _read(self, form: int) -> tuple[str, ...]:
        """The variables that a form reads."""
        scope = self._equations.forms.scopes[form]
        found = self._variables[form] = tuple(name for name in scope if name in self._equations.domains)
        return found

    def _out_of_reach(self, place: Standing, allowed: Mapping[str, Allowed]) -> Bits | None:
        """Causes that keep a demanded outcome from the value it must have, whatever is still chosen."""
        for index in self._demands:
            form = place.state.get(index)
            if form is None:
                continue
            cone = self._cone(place, index)
            possible: dict[str, tuple[Value, ...] | None] = {}
            for name in self._equations.domains:
                possible[name] = tuple(self._values(name, allowed))
            for one in cone:
                defined = self._equations.defines[one]
                if defined is not None:
                    node = narrow(self._equations.forms.nodes[place.state[one]], possible)
                    possible[defined] = possible_values(node, possible)
            if narrow(self._equations.forms.nodes[form], possible) == FALSE:
                causes = 0
                for one in (*cone, index):
                    causes |= self._because(place, one)
                    for name in self._equations.forms.scopes[place.state[one]]:
                        if name in allowed:
                            causes |= allowed[name].causes
                return causes
        return None

    def _cone(self, place: Standing, demand: int) -> list[int]:
        """The open definitions that a constraint hangs on, in order."""
        wanted = set(self._equations.forms.scopes[place.state[demand]])
        found = []
        for index in reversed(place.state):
            if self._equations.defines[index] in wanted:
                found.append(index)
                wanted |= self._equations.forms.scopes[place.state[index]]
        return found[::-1]


def _places(bits: Bits) -> Iterator[int]:
    while bits:
        low = bits & -bits
        yield low.bit_length() - 1
        bits ^= low
