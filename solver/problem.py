"""A constraint problem over typed values: variables with domains, definitions of derived values, constraints."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property

from constraints.evaluate import evaluate
from constraints.schema import Operation
from constraints.tree import Const, Name, Node
from constraints.values import Env, Value


@dataclass(frozen=True, slots=True)
class Variable:
    """What is chosen: a flag as typed (``unset`` is None), or a shape, whose values are tuples over several flags."""

    name: str
    domain: tuple[Value, ...]


@dataclass(frozen=True, slots=True)
class Definition:
    """A derived value: a version of a flag, as a function of variables and earlier definitions.

    ``relaxed`` is what it is when the rule that defines it is switched off: free wherever the rule would write.
    """

    name: str
    node: Node
    operation: Operation | None = None
    relaxed: Node | None = None


@dataclass(frozen=True, slots=True)
class Constraint:
    """What must be true. ``label`` is a rule's id, or says which demand of ours it is (``demanded``: an outcome)."""

    label: str
    node: Node
    operation: Operation | None = None
    demanded: bool = False


class Pending:
    """A constraint of a rule that is worked out when its node is first asked for; it may then say nothing."""

    demanded = False

    def __init__(self, place: int, operation: Operation, said: Callable[[int, Operation], Node]) -> None:
        """``said`` gives what the operation at its place of the program says."""
        self.label = operation.rule.id
        self.operation = operation
        self._place = place
        self._said = said

    @cached_property
    def node(self) -> Node:
        """What must be true."""
        return self._said(self._place, self.operation)


@dataclass(frozen=True, slots=True)
class Problem:
    """A question as a constraint problem.

    ``definitions`` stand in an order in which each reads only variables and earlier ones. ``last`` gives, for each
    flag, the name or the constant that holds its effective value; ``typed`` how each flag's typed value is read off
    an assignment. ``warnings`` need not be true: a solution that breaks one runs badly.
    """

    variables: tuple[Variable, ...]
    definitions: tuple[Definition, ...]
    constraints: tuple[Constraint | Pending, ...]
    last: Mapping[str, Node] = field(default_factory=dict)
    typed: Mapping[str, Node] = field(default_factory=dict)
    warnings: tuple[Constraint, ...] = ()

    def values(self, assignment: Mapping[str, Value]) -> dict[str, Value]:
        """Every variable and derived value under a full assignment."""
        known: dict[str, Value] = dict(assignment)
        for definition in self.definitions:
            known[definition.name] = evaluate(definition.node, known)
        return known

    def broken(self, assignment: Mapping[str, Value]) -> tuple[Constraint | Pending, ...]:
        """The constraints that a full assignment breaks, in order."""
        known = self.values(assignment)
        return tuple(constraint for constraint in self.constraints if not evaluate(constraint.node, known))


def value_of(node: Node, known: Env) -> Value:
    """The value of a constant or of a name that ``known`` holds."""
    if isinstance(node, Const):
        return node.value
    if isinstance(node, Name):
        return known[node.name]
    return evaluate(node, known)
