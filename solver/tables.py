"""A problem -> the same problem with its small equations written as decision trees over variables alone.

What an equation says is found by evaluating it for every value of the variables behind it, where these are few enough;
variables that make no difference fall away. Arithmetic on measures then becomes "tp_size is 4", and two forms that mean
the same become one form, which is what lets the search solve a part once (Darwiche and Marquis 2002: a canonical form).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass, replace

from constraints.compose import compose_row
from constraints.tree import FALSE, TRUE, All, Any_, Choice, Compare, Const, Name, Node, Not, names
from constraints.values import Value, twin

from .problem import Constraint, Problem

# Larger tables and trees cost more than they save: measured in docs/decisions/002-search.md.
MAX_ROWS = 3_000
MAX_BRANCHES = 40
MAX_ANSWERS = 4


@dataclass(frozen=True, slots=True)
class _Table:
    """The values of an expression, by number: a row for each combination of ``variables``, the last varying fastest."""

    variables: tuple[int, ...]
    rows: list[int]


def tabulated(problem: Problem, wanted: Collection[str] = ()) -> Problem:
    """The same variables, solutions and names; ``wanted`` names definitions whose values are asked for."""
    tables = _Tables(problem)
    constraints = []
    for constraint in problem.constraints:
        node = tables.truth(constraint.node)
        if node != TRUE:
            said = constraint.node if node is None else node
            constraints.append(Constraint(constraint.label, said, constraint.operation, constraint.demanded))
    definitions = []
    for definition in problem.definitions:
        node = None
        if definition.name in wanted or isinstance(definition.node, (All, Any_, Compare, Not)):
            node = tables.definition(definition.name)
        definitions.append(definition if node is None else replace(definition, node=node))
    return replace(problem, definitions=tuple(definitions), constraints=tuple(constraints))


class _Tables:
    """The tables of one problem; values are numbered, so that rows compare fast and keep their types apart."""

    def __init__(self, problem: Problem) -> None:
        self.names = [variable.name for variable in problem.variables]
        self.domains = [variable.domain for variable in problem.variables]
        self.nodes = {definition.name: definition.node for definition in problem.definitions}
        self.values: list[Value] = []
        self._numbers: dict[object, int] = {}
        self._places: dict[tuple[tuple[int, ...], tuple[int, ...]], list[int]] = {}
        self._known: dict[str, _Table | None] = {
            name: _Table((place,), [self._number(value) for value in self.domains[place]])
            for place, name in enumerate(self.names)
        }

    def truth(self, node: Node) -> Node | None:
        """A constraint as a tree, or None when it is too large."""
        table = self._table(node)
        if table is None:
            return None
        truths = {number: self._number(bool(self.values[number])) for number in set(table.rows)}
        return self._tree(_Table(table.variables, [truths[number] for number in table.rows]))

    def definition(self, name: str) -> Node | None:
        """A definition of few values as a tree, or None when it is too large."""
        table = self._of(name)
        if table is None or len(set(table.rows)) > MAX_ANSWERS:
            return None
        return self._tree(table)

    def _number(self, value: Value) -> int:
        key = twin(value)
        number = self._numbers.get(key)
        if number is None:
            number = self._numbers[key] = len(self.values)
            self.values.append(value)
        return number

    def _of(self, name: str) -> _Table | None:
        if name not in self._known:
            self._known[name] = self._table(self.nodes[name])
        return self._known[name]

    def _table(self, node: Node) -> _Table | None:
        read = sorted(names(node))
        tables = []
        for name in read:
            table = self._of(name)
            if table is None:
                return None
            tables.append(table)
        over = tuple(sorted({variable for table in tables for variable in table.variables}))
        if self._size(over) > MAX_ROWS:
            return None
        rows = list(zip(*(self._spread(table, over) for table in tables), strict=True)) or [()]
        answer, values = compose_row(node, read), self.values
        answers = {row: self._number(answer(*[values[number] for number in row])) for row in dict.fromkeys(rows)}
        return self._least(over, [answers[row] for row in rows])

    def _size(self, over: Iterable[int]) -> int:
        size = 1
        for variable in over:
            size *= len(self.domains[variable])
        return size

    def _spread(self, table: _Table, over: tuple[int, ...]) -> list[int]:
        """The rows of ``table``, repeated for the variables of ``over`` that it does not look at."""
        if table.variables == over:
            return table.rows
        places = self._places.get((table.variables, over))
        if places is None:
            places = [0]
            step = len(table.rows)
            for variable in over:
                size = len(self.domains[variable])
                if variable in table.variables:
                    step //= size
                    places = [place + step * value for place in places for value in range(size)]
                else:
                    places = [place for place in places for _ in range(size)]
            self._places[table.variables, over] = places
        return [table.rows[place] for place in places]

    def _least(self, over: tuple[int, ...], rows: list[int]) -> _Table:
        """The table without the variables that make no difference."""
        kept: list[int] = []
        step = len(rows)
        for variable in over:
            size = len(self.domains[variable])
            block, step = step, step // size
            starts = range(0, len(rows), block)
            if all(rows[start : start + block] == rows[start : start + step] * size for start in starts):
                rows = [number for start in starts for number in rows[start : start + step]]
            else:
                kept.append(variable)
        return _Table(tuple(kept), rows)

    def _tree(self, table: _Table) -> Node | None:
        builder = _Builder(self, table.variables)
        node = builder.build(0, tuple(table.rows))
        return None if builder.branches > MAX_BRANCHES else node

    def choice(self, variable: int, values: tuple[Value, ...], then: Node, otherwise: Node) -> Node:
        """``then`` where the variable has one of the values."""
        name = Name(self.names[variable])
        test = Compare("==", name, Const(values[0])) if len(values) == 1 else Compare("in", name, Const(values))
        if then == TRUE and otherwise == FALSE:
            return test
        return Not(test) if then == FALSE and otherwise == TRUE else Choice(test, then, otherwise)


class _Builder:
    """One table as a tree that asks for one variable after the other; equal parts are built once."""

    def __init__(self, tables: _Tables, variables: tuple[int, ...]) -> None:
        self.tables = tables
        self.variables = variables
        self.branches = 0
        self._built: dict[tuple[int, ...], Node] = {}

    def build(self, depth: int, rows: tuple[int, ...]) -> Node:
        """The tree of these rows, which vary over the variables from ``depth`` on; cut off when it grows too large."""
        if depth == len(self.variables) or self.branches > MAX_BRANCHES:
            return Const(self.tables.values[rows[0]])
        if rows in self._built:
            return self._built[rows]
        domain = self.tables.domains[self.variables[depth]]
        step = len(rows) // len(domain)
        groups: dict[tuple[int, ...], list[Value]] = {}
        for place, value in enumerate(domain):
            groups.setdefault(rows[place * step : (place + 1) * step], []).append(value)
        # The commonest answer stands last, as what holds otherwise.
        (most, _), *others = sorted(groups.items(), key=lambda group: -len(group[1]))
        node = self.build(depth + 1, most)
        for inner, values in others:
            self.branches += 1
            node = self.tables.choice(self.variables[depth], tuple(values), self.build(depth + 1, inner), node)
        self._built[rows] = node
        return node
