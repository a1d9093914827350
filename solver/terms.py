"""The terms of a profile -> what the search adds up: scores of single values, and joint terms over outcomes."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass

from constraints.compose import compose
from constraints.evaluate import fold
from constraints.preferences import Term
from constraints.tree import Compare, Const, Name, Node, names, substitute
from constraints.values import Env, Value

from .narrow import narrow, possible_values
from .problem import Constraint, Definition, Problem, Variable
from .shared import shared_parts

Gain = Callable[[Value], int]


@dataclass(frozen=True, slots=True)
class Joint:
    """A term that reads several outcomes, or none: their names, and its score for a value of each."""

    outcomes: tuple[str, ...]
    score: Callable[[Mapping[str, Value]], int]


class Ranking:
    """What the terms added so far need of a problem.

    A term over one value is a definition, scored where it is settled. One over several of ``outcomes`` is joint: each
    of these gets a variable of its own, which the problem settles, so that the term ties nothing together.
    """

    def __init__(self, problem: Problem, facts: Env, outcomes: Collection[str]) -> None:
        self._problem = problem
        self._facts = facts
        self._outcomes = frozenset(outcomes)
        self._domains: dict[str, tuple[Value, ...] | None] = {one.name: one.domain for one in problem.variables}
        for definition in problem.definitions:
            self._domains[definition.name] = possible_values(definition.node, self._domains)
        self.variables: list[Variable] = []
        self.definitions: list[Definition] = []
        self.constraints: list[Constraint] = []
        self.gains: dict[str, list[tuple[str, Gain]]] = {}
        self.joints: dict[str, Joint] = {}
        self.watched: dict[str, Node] = {}

    def add(self, term: Term) -> None:
        """One term. A joint one takes what is no outcome for left alone; what is no flag is the fact it is."""
        ends: dict[str, Node] = {f"typed.{name}": node for name, node in self._problem.typed.items()}
        ends.update(
            (name, node) for name, node in self._problem.last.items() if not term.joint or name in self._outcomes
        )
        read = names(term.node)
        open_ends = {name for name in read if not isinstance(ends.get(name, Const(None)), Const)}
        domains = {name: self._domain(name) for name in open_ends & self._outcomes}
        joint = term.joint and len(open_ends) > 1 and open_ends <= set(domains) and all(domains.values())
        settled = {name: end.value for name in read if isinstance(end := ends.get(name), Const)}
        settled.update({name: self._facts.get(name) for name in read if name not in ends})
        known = {name: Name(_outcome(name)) if joint else ends[name] for name in open_ends}
        # Constants first: a bound is large, and little of it is left.
        node = substitute(fold(term.node, settled), known)
        node = narrow(node, {_outcome(name): domain for name, domain in domains.items()})
        if isinstance(node, Const):
            same = weighted(term.weight)(node.value)
            self.joints[term.name] = Joint((), lambda _: same)
            return
        if not joint:
            self.definitions.append(Definition(f"term: {term.name}", node))
            self.gains[f"term: {term.name}"] = [(term.name, weighted(term.weight))]
            return
        for name in sorted(open_ends):
            self._watch(name, domains[name] or ())
        read_at_end = tuple(sorted(names(node)))
        self.joints[term.name] = Joint(read_at_end, _scored(node, term))

    def warn(self, weight: int) -> None:
        """Points off for each warning that a configuration earns."""
        for warning in self._problem.warnings if weight else ():
            self.definitions.append(Definition(f"warning: {warning.label}", warning.node))
            self.gains[f"warning: {warning.label}"] = [("warnings", lambda held: 0 if held else -weight)]

    def _domain(self, flag: str) -> tuple[Value, ...] | None:
        return possible_values(self._problem.last[flag], self._domains)

    def _watch(self, flag: str, domain: tuple[Value, ...]) -> None:
        name = _outcome(flag)
        if all(variable.name != name for variable in self.variables):
            self.variables.append(Variable(name, domain))
            self.watched[name] = self._problem.last[flag]
            self.constraints.append(Constraint(name, Compare("==", Name(name), self._problem.last[flag])))


def _scored(node: Node, term: Term) -> Callable[[Mapping[str, Value]], int]:
    """What a term gives for values of its outcomes; a part that occurs often is looked at once."""
    parts, rest = shared_parts(node, term.name)
    steps = [(part.name, compose(part.node)) for part in parts]
    last, points = compose(rest), weighted(term.weight)

    def score(outcomes: Mapping[str, Value]) -> int:
        known = dict(outcomes)
        for name, step in steps:
            known[name] = step(known)
        return points(last(known))

    return score


def weighted(weight: int) -> Gain:
    """The whole points of a term's value."""
    return lambda value: round(weight * value) if isinstance(value, (int, float)) else 0


def _outcome(flag: str) -> str:
    return f"end: {flag}"
