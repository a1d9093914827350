"""Equations and values put in -> all that follows, each value with the equations and demands it comes from.

Causes are sets, kept as the bits of a whole number: they are joined millions of times.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import chain

from constraints.tree import Const, Node
from constraints.values import Value, same, twin

from .forms import Forms
from .problem import Problem
from .propagate import Equations, State

Bits = int
# A name, a value it has, and why.
Finding = tuple[str, Value, Bits]


@dataclass(frozen=True, slots=True)
class Allowed:
    """The values left to a variable, and the demands that leave them, as bits."""

    values: tuple[Value, ...]
    causes: Bits

    def has(self, value: Value) -> bool:
        """Whether a value is left."""
        return any(same(value, one) for one in self.values)


@dataclass(slots=True)
class Standing:
    """Where a search stands: equations left, why each has its form, and what is known with its reasons.

    ``changed``: the equations that have another form since the last choice. ``is_``: parts of constraints, by form,
    and the value each must have; ``is_not``: values it must not have.
    """

    state: State
    why: dict[int, Bits]
    known: dict[str, Value]
    reasons: dict[str, Bits]
    changed: dict[int, None]
    is_: dict[int, tuple[Value, Bits]]
    is_not: dict[int, tuple[tuple[Value, Bits], ...]]

    def copy(self) -> Standing:
        """The same, to be gone on from; nothing has changed yet."""
        return Standing(
            self.state.copy(),
            self.why.copy(),
            self.known.copy(),
            self.reasons.copy(),
            {},
            self.is_.copy(),
            self.is_not.copy(),
        )


class Deducer:
    """The equations of one problem, folded as values become known.

    Equation ``i`` is bit ``i``. A definition whose value is known before its parts are stands on as a constraint, the
    equation ``total + i``, whose cause is that of ``i``.
    """

    def __init__(self, problem: Problem, forms: Forms | None = None) -> None:
        """``forms``: those of other problems on the same facts."""
        self.equations = Equations(problem, forms)
        self.forms = self.equations.forms
        self.total = len(self.equations.defines)
        self.definitions = len(problem.definitions)
        self.equations.defines += [None] * self.definitions
        self._problem = problem
        operations = [one.operation for one in problem.definitions] + [one.operation for one in problem.constraints]
        self._rules = ["" if one is None else one.rule.id for one in operations]
        self._checks: dict[str, list[int]] = {}
        for index in range(self.definitions, self.total):
            self._checks.setdefault(self._rules[index], []).append(index)
        self._definer = {one.name: index for index, one in enumerate(problem.definitions)}
        self._domains: dict[str, frozenset[object]] = {}
        self._starts: dict[frozenset[str], Standing | Bits] = {}

    def rule(self, index: int) -> str:
        """The id of the rule that an equation stands for, empty for one of ours."""
        return self._rules[index]

    def derived(self) -> Iterator[tuple[str, tuple[Node, ...]]]:
        """Each derived value, in order, with what it is by its rule and without it."""
        for one in self._problem.definitions:
            yield one.name, (one.node,) if one.relaxed is None else (one.node, one.relaxed)

    def start(self, off: frozenset[str]) -> Standing | Bits:
        """What follows from the equations alone, without the rules in ``off``; causes where they cannot all hold.

        The constraints of such a rule are left out, what it writes is free; so is what no constraint hangs on.
        """
        if off not in self._starts:
            self._starts[off] = self._begun(off)
        return self._starts[off]

    def _begun(self, off: frozenset[str]) -> Standing | Bits:
        begun = Standing({}, {}, {}, {}, {}, {}, {})
        queue: list[Finding] = []
        wanted = 0
        checks = sorted(chain.from_iterable(self._checks[rule] for rule in self._checks.keys() - off), reverse=True)
        for index in chain(checks, reversed(range(self.definitions))):
            defined = self.equations.defines[index]
            if defined is not None and not wanted & self.equations.own[index]:
                continue
            gone = self._rules[index] in off
            current = self._without(index) if gone else self.equations.first(index)
            node = self.forms.nodes[current]
            if not isinstance(node, Const):
                begun.state[index] = current
                wanted |= self.forms.masks[current]
                if defined is None and (failed := self._claimed(begun, queue, current, 1 << index)) is not None:
                    return failed
            elif defined is not None:
                queue.append((defined, node.value, 1 << index))
            elif not node.value:
                return 1 << index
        begun.state = dict(reversed(begun.state.items()))  # as every state, in ascending order
        for index, form in begun.state.items():
            self.equations.take(index, form)
            if index < self.definitions:
                self.equations.take(self.total + index, form)
        failed = self.settle(begun, queue, {})
        return begun if failed is None else failed

    def _without(self, index: int) -> int:
        """The form of a definition whose rule is switched off."""
        relaxed = self._problem.definitions[index].relaxed
        return self.equations.first(index) if relaxed is None else self.forms.number_of(relaxed)

    def settle(self, place: Standing, queue: list[Finding], allowed: Mapping[str, Allowed]) -> Bits | None:
        """Put in what is queued, and all that follows from it; causes where that cannot be, else None."""
        equations, state, known = self.equations, place.state, place.known
        while queue:
            name, value, causes = queue.pop()
            if name in known:
                if not same(known[name], value):
                    return causes | place.reasons[name]
                continue
            known[name] = value
            place.reasons[name] = causes
            failed = self._fits(place, queue, (name, value, causes), allowed)
            if failed is not None:
                return failed
            folds = self.forms.folds(name, value)
            for index, form in equations.meeting(name, state):
                found = folds.get(form)
                if found is None:
                    found = self.forms.fold(folds, form, name, value)
                if found == form:
                    continue
                why = place.why[index] = place.why.get(index, 0) | causes
                because = why | (1 << (index if index < self.total else index - self.total))
                defined = equations.defines[index]
                if isinstance(found, int):
                    state[index] = found
                    place.changed[index] = None
                    if defined is None:
                        only = equations.only(found)
                        if only is not None and len(only[1]) < 2:
                            if not only[1]:
                                return because
                            queue.append((only[0], only[1][0], because))
                        failed = self._claimed(place, queue, found, because)
                        if failed is not None:
                            return failed
                    continue
                del state[index]
                if defined is not None:
                    queue.append((defined, found.value, because))
                elif not found.value:
                    return because
        return None

    def _fits(
        self, place: Standing, queue: list[Finding], found: Finding, allowed: Mapping[str, Allowed]
    ) -> Bits | None:
        """Hold a new value against the domain of its variable, or against its definition."""
        name, value, causes = found
        if name in self.equations.domains:
            if name in allowed and not allowed[name].has(value):
                return causes | allowed[name].causes
            return None if self._listed(name, value) else causes
        definer = self._definer[name]
        return self._hold(place, queue, definer, value, causes) if definer in place.state else None

    def _listed(self, name: str, value: Value) -> bool:
        if name not in self._domains:
            self._domains[name] = frozenset(map(twin, self.equations.domains[name]))
        if twin(value) in self._domains[name]:
            return True
        return any(same(value, one) for one in self.equations.domains[name])

    def _hold(self, place: Standing, queue: list[Finding], index: int, value: Value, causes: Bits) -> Bits | None:
        """Turn a definition that must give ``value`` into a constraint on its parts."""
        form = place.state.pop(index)
        found = self.forms.equal(form, value)
        why = place.why.get(index, 0) | causes
        if isinstance(found, int):
            place.state[self.total + index] = found
            place.why[self.total + index] = why
            place.changed[self.total + index] = None
            return self._claimed(place, queue, found, why | 1 << index)
        return None if found.value else why | 1 << index

    def _claimed(self, place: Standing, queue: list[Finding], form: int, because: Bits) -> Bits | None:
        """Queue what a constraint forces; causes where it claims what another one denies."""
        for part, value, truth in self.forms.claims(form):
            is_ = place.is_.get(part)
            if is_ is not None:
                if same(is_[0], value) is not truth:
                    return because | is_[1]
                continue
            others = place.is_not.get(part, ())
            if not truth:
                place.is_not[part] = (*others, (value, because))
                continue
            for other, denied in others:
                if same(other, value):
                    return because | denied
            place.is_[part] = value, because
        queue += [(name, value, because) for name, value in self.forms.forced(form)]
        return None
