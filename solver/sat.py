"""A problem as clauses: the same questions as `refute.Refuter`, answered by a SAT solver (extra ``sat``: python-sat).

Every name has a literal for each of its values. An expression over few combinations of values is a table of clauses;
a larger one is cut at its parts (Tseitin 1968). Rules and restrictions stand under literals that are assumed, so that
the solver's failed assumptions are the causes.
"""

from __future__ import annotations

import itertools
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from constraints.evaluate import evaluate
from constraints.tree import (
    All,
    Any_,
    Arithmetic,
    Call,
    Choice,
    Compare,
    Const,
    Group,
    Name,
    Node,
    Not,
    children,
    names,
)
from constraints.values import Value

from .errors import TooLarge
from .problem import Constraint, Definition, Pending, Problem
from .refute import DEFAULT_LIMIT, Cause, Restriction

# An expression is written as one table while it has no more rows; a part that cannot be cut may have as many as MOST.
ROWS, MOST = 500, 200_000

_Literals = dict[object, int]


class SatRefuter:
    """Answers many questions about one problem with one incremental solver.

    Raises ModuleNotFoundError without python-sat, TooLarge for an expression of too many values.
    """

    def __init__(self, problem: Problem) -> None:
        from pysat.solvers import Cadical153  # an extra: nobody else pays for it

        self._solver: Any = Cadical153()
        self._count = 1
        self._values: dict[object, Value] = {}
        self._names: dict[str, _Literals] = {}
        self._encoded: dict[Node, _Literals] = {}
        self._switches: dict[str, int] = {}
        self._limits: dict[tuple[str, tuple[object, ...]], int] = {}
        self.found: dict[str, Value] = {}
        self._solver.add_clause([1])  # literal 1 is true
        self._variables = {variable.name: variable.domain for variable in problem.variables}
        equations: tuple[Definition | Constraint | Pending, ...] = (*problem.definitions, *problem.constraints)
        self._labels = [one.operation.rule.id if one.operation is not None else "" for one in equations]
        for name, domain in self._variables.items():
            self._names[name] = self._one_of(domain)
        for definition in problem.definitions:
            choices = [(definition.node, self._on(definition.operation))]
            if definition.relaxed is not None:
                choices.append((definition.relaxed, -choices[0][1]))
            encoded = [(self._literals(node), when) for node, when in choices]
            keys = dict.fromkeys(key for literals, _ in encoded for key in literals)
            mine = self._one_of([self._values[key] for key in keys])
            self._names[definition.name] = mine
            for literals, when in encoded:
                for key, literal in literals.items():
                    guard = [] if definition.relaxed is None else [-when]
                    self._solver.add_clause([*guard, -literal, mine[key]])
        for constraint in problem.constraints:
            self._solver.add_clause([-self._on(constraint.operation), self._truth(constraint.node)])

    def rules_of(self, causes: Collection[object]) -> tuple[str, ...]:
        """The ids of the rules among causes, in the order of the problem."""
        return tuple(dict.fromkeys(label for index, label in enumerate(self._labels) if label and index in causes))

    def refute(
        self, restricted: Mapping[str, Restriction], off: Collection[str] = (), limit: int = DEFAULT_LIMIT
    ) -> Cause | None:
        """None when some assignment meets all (it is in ``found``), else causes that cannot hold together.

        As `refute.Refuter.refute`, but every equation of a rule in the core is among the causes; ``limit`` is not
        needed.
        """
        assumed: dict[int, Cause] = {}
        for rule, literal in self._switches.items():
            if rule in off:
                assumed[-literal] = frozenset()
            else:
                assumed[literal] = frozenset(index for index, label in enumerate(self._labels) if label == rule)
        for name, restriction in restricted.items():
            literal = self._limited(name, restriction.values)
            assumed[literal] = assumed.get(literal, frozenset()) | restriction.causes
        if self._solver.solve(assumptions=list(assumed)):
            true = set(self._solver.get_model())
            self.found = {
                name: self._values[next(key for key, literal in self._names[name].items() if literal in true)]
                for name in self._variables
            }
            return None
        return frozenset(cause for literal in self._solver.get_core() or () for cause in assumed[literal])

    def _fresh(self) -> int:
        self._count += 1
        return self._count

    def _key(self, value: Value) -> object:
        key = value if value is None or isinstance(value, str) else (value.__class__, repr(value))
        self._values.setdefault(key, value)
        return key

    def _on(self, operation: Any) -> int:
        """The literal under which a rule is in force; what is no rule always is."""
        if operation is None:
            return 1
        rule = operation.rule.id
        if rule not in self._switches:
            self._switches[rule] = self._fresh()
        return self._switches[rule]

    def _one_of(self, values: Sequence[Value]) -> _Literals:
        """A literal for each value, exactly one of which is true."""
        literals = {self._key(value): self._fresh() for value in values}
        self._solver.add_clause(list(literals.values()))
        # A ladder: one auxiliary literal for each value says that an earlier one is true.
        before = None
        for literal in literals.values():
            now = self._fresh()
            self._solver.add_clause([-literal, now])
            if before is not None:
                self._solver.add_clause([-before, now])
                self._solver.add_clause([-before, -literal])
            before = now
        return literals

    def _limited(self, name: str, values: Iterable[Value]) -> int:
        """A literal that leaves these values to a variable."""
        keys = tuple(self._key(value) for value in values)
        literal = self._limits.get((name, keys))
        if literal is None:
            literal = self._limits[name, keys] = self._fresh()
            self._solver.add_clause([-literal, *(self._names[name][key] for key in keys if key in self._names[name])])
        return literal

    def _truth(self, node: Node) -> int:
        """A literal that is true where the expression is."""
        if isinstance(node, Not):
            return -self._truth(node.operand)
        if isinstance(node, (All, Any_)) and self._rows(names(node)) > ROWS:
            sign = 1 if isinstance(node, All) else -1
            parts = [sign * self._truth(part) for part in node.parts]
            whole = self._fresh()
            self._solver.add_clause([whole, *(-part for part in parts)])
            for part in parts:
                self._solver.add_clause([-whole, part])
            return sign * whole
        literals = self._literals(node)
        whole = self._fresh()
        for key, literal in literals.items():
            self._solver.add_clause([-literal, whole if self._values[key] else -whole])
        return whole

    def _literals(self, node: Node) -> _Literals:
        """For each value the expression can have, a literal that is true where it has it."""
        if isinstance(node, Const):
            return {self._key(node.value): 1}
        if isinstance(node, Name):
            return self._names[node.name]
        if node not in self._encoded:
            self._encoded[node] = self._encode(node)
        return self._encoded[node]

    def _encode(self, node: Node) -> _Literals:
        read = sorted(names(node))
        if self._rows(read) <= ROWS:
            return self._table(node, [Name(name) for name in read])
        if isinstance(node, (All, Any_, Not)):
            truth = self._truth(node)
            return {self._key(True): truth, self._key(False): -truth}
        if isinstance(node, Choice):
            return self._choice(node)
        if isinstance(node, Compare) and isinstance(node.right, Group) and node.operator.endswith("in"):
            inside = Any_(tuple(Compare("==", node.left, item) for item in node.right.items))
            return self._literals(inside if node.operator == "in" else Not(inside))
        parts = children(node)
        stands = [Name(f"part {place}") for place in range(len(parts))]
        literals = [self._literals(part) for part in parts]  # all of them first: they use these names as well
        self._names.update((stand.name, one) for stand, one in zip(stands, literals, strict=True))
        return self._table(_with_parts(node, stands), stands)

    def _choice(self, node: Choice) -> _Literals:
        test = self._truth(node.test)
        sides = ((test, self._literals(node.then)), (-test, self._literals(node.otherwise)))
        mine = self._one_of([self._values[key] for key in dict.fromkeys(key for _, side in sides for key in side)])
        for when, side in sides:
            for key, literal in side.items():
                self._solver.add_clause([-when, -literal, mine[key]])
        return mine

    def _rows(self, read: Iterable[str]) -> int:
        rows = 1
        for name in read:
            rows *= len(self._names[name])
        return rows

    def _table(self, node: Node, read: Sequence[Name]) -> _Literals:
        if self._rows(name.name for name in read) > MOST:
            raise TooLarge(f"an expression of more than {MOST} combinations of values")
        columns = [list(self._names[name.name].items()) for name in read]
        rows = []
        for row in itertools.product(*columns):
            known = {name.name: self._values[key] for name, (key, _) in zip(read, row, strict=True)}
            rows.append((self._key(evaluate(node, known)), [-literal for _, literal in row]))
        mine = self._one_of([self._values[key] for key in dict.fromkeys(key for key, _ in rows)])
        for key, clause in rows:
            self._solver.add_clause([*clause, mine[key]])
        return mine


def _with_parts(node: Node, parts: Sequence[Node]) -> Node:
    """The same kind of expression over other parts."""
    match node:
        case Compare(sign):
            return Compare(sign, *parts)
        case Arithmetic(sign):
            return Arithmetic(sign, *parts)
        case Call(function):
            return Call(function, tuple(parts))
        case _:
            return Group(tuple(parts))
