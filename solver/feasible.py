"""A problem and a few restrictions on what may be chosen -> one assignment, or none: the oracle of conflict search."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from constraints.expression import Value

from .problem import Problem
from .propagate import Equations, Part


class Feasibility:
    """Answers many questions about one problem; what was folded for one serves the next."""

    def __init__(self, problem: Problem) -> None:
        self._equations = Equations(problem)
        self._start = self._equations.settle_all()

    def find(self, allowed: Mapping[str, Sequence[Value]]) -> dict[str, Value] | None:
        """An assignment in which each variable of ``allowed`` has one of its values; None when there is none."""
        if self._start is None:
            return None
        domains = {name: tuple(allowed.get(name, domain)) for name, domain in self._equations.domains.items()}
        if not all(domains.values()):
            return None
        fixed = [(name, domain[0]) for name, domain in domains.items() if len(domain) == 1]
        settled = self._equations.settle(fixed, self._start[1])
        if settled is None:
            return None
        found: dict[str, Value] = dict(settled[0])
        if any(found[name] not in domain for name, domain in domains.items() if name in found):
            return None
        free = frozenset(name for name in domains if name not in found)
        return found if self._parts(self._equations.split(free, settled[1]), domains, found, set()) else None

    def _parts(
        self, parts: list[Part], domains: Mapping[str, tuple[Value, ...]], found: dict[str, Value], failed: set[Part]
    ) -> bool:
        for part in sorted(parts, key=lambda one: -len(one[1])):
            if not self._part(part, domains, found, failed):
                return False
        return True

    def _part(
        self, part: Part, domains: Mapping[str, tuple[Value, ...]], found: dict[str, Value], failed: set[Part]
    ) -> bool:
        free, equations = part
        if not equations:
            found.update({name: domains[name][0] for name in free})
            return True
        if part in failed:
            return False
        scopes = self._equations.scopes
        # The variable that most equations read: its values settle most (dom/deg, Bessiere and Regin 1996, without dom).
        name = min(free, key=lambda one: (-sum(one in scopes[form] for _, form in equations), len(domains[one]), one))
        state = dict(equations)
        for value in domains[name]:
            settled = self._equations.settle([(name, value)], state)
            if settled is None:
                continue
            found.update(settled[0])
            if any(found[one] not in domains[one] for one, _ in settled[0] if one in domains):
                continue
            left = free - {one for one, _ in settled[0]}
            if self._parts(self._equations.split(left, settled[1]), domains, found, failed):
                return True
        failed.add(part)
        return False
