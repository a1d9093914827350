"""The problem of a question in CPMpy: each name a whole number that counts its values, each expression a table.

What `solver.sat` does in clauses is done here in the words of a constraint solver; larger expressions are cut at their
parts in the same way. Both are yardsticks: CPMpy is no dependency, and needs the extra ``bench``.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any, NamedTuple

import cpmpy as cp

from constraints.evaluate import evaluate
from constraints.tree import All, Any_, Choice, Compare, Const, Group, Name, Node, Not, children, names, rebuilt
from constraints.values import Value, twin
from solver.case import Case
from solver.errors import TooLarge
from solver.pins import rows_with

# An expression is written as one table while it has no more rows; a part that cannot be cut may have as many as MOST.
ROWS, MOST = 500, 20_000


class Column(NamedTuple):
    """A variable and the value that each of its numbers stands for."""

    variable: Any
    values: tuple[Value, ...]


class Model:
    """The pins of a case as ``soft`` constraints, everything else as ``hard`` ones.

    Raises TooLarge for an expression of too many values.
    """

    def __init__(self, case: Case) -> None:
        self.hard: list[Any] = []
        self._columns: dict[str, Column] = {}
        self._made: dict[Node, Column] = {}
        for variable in case.problem.variables:
            if not variable.name.startswith("free "):
                self._columns[variable.name] = self._column(variable.domain)
        for definition in case.problem.definitions:
            self._columns[definition.name] = self._expression(definition.node)
        for constraint in case.problem.constraints:
            self.hard.append(self._truth(constraint.node))
        units = {flag: unit for unit in case.units for flag in unit.flags}
        self.soft = []
        for pin in case.soft:
            unit = units[pin.flag]
            column = self._columns[unit.name]
            allowed = {twin(value) for value in rows_with(unit, {pin.flag: pin.value})}
            numbers = [number for number, value in enumerate(column.values) if twin(value) in allowed]
            self.soft.append(_one_of(column, numbers))

    def _column(self, values: Sequence[Value]) -> Column:
        distinct = tuple({twin(value): value for value in values}.values())
        return Column(cp.intvar(0, max(len(distinct) - 1, 0)), distinct)

    def _truth(self, node: Node) -> Any:
        if isinstance(node, Not):
            return ~self._truth(node.operand)
        if isinstance(node, (All, Any_)) and self._rows(names(node)) > ROWS:
            parts = [self._truth(part) for part in node.parts]
            return cp.all(parts) if isinstance(node, All) else cp.any(parts)
        column = self._expression(node)
        return _one_of(column, [number for number, value in enumerate(column.values) if value])

    def _expression(self, node: Node) -> Column:
        if isinstance(node, Name):
            return self._columns[node.name]
        if node not in self._made:
            self._made[node] = self._encoded(node)
        return self._made[node]

    def _encoded(self, node: Node) -> Column:
        if isinstance(node, Const):
            return self._column((node.value,))
        read = sorted(names(node))
        if self._rows(read) <= ROWS:
            return self._table(node, [Name(name) for name in read])
        if isinstance(node, (All, Any_, Not)):
            column = self._column((False, True))
            self.hard.append(self._truth(node) == (column.variable == 1))
            return column
        if isinstance(node, Choice):
            return self._choice(node)
        if isinstance(node, Compare) and isinstance(node.right, Group) and node.operator.endswith("in"):
            inside = Any_(tuple(Compare("==", node.left, item) for item in node.right.items))
            return self._expression(inside if node.operator == "in" else Not(inside))
        parts = [self._expression(part) for part in children(node)]
        stands = tuple(Name(f"part {place}") for place in range(len(parts)))
        self._columns.update((stand.name, part) for stand, part in zip(stands, parts, strict=True))
        return self._table(rebuilt(node, stands), stands)

    def _choice(self, node: Choice) -> Column:
        test = self._truth(node.test)
        sides = ((test, self._expression(node.then)), (~test, self._expression(node.otherwise)))
        mine = self._column([value for _, side in sides for value in side.values])
        place = {twin(value): number for number, value in enumerate(mine.values)}
        for when, side in sides:
            for number, value in enumerate(side.values):
                self.hard.append((when & (side.variable == number)).implies(mine.variable == place[twin(value)]))
        return mine

    def _rows(self, read: Sequence[str] | frozenset[str]) -> int:
        rows = 1
        for name in read:
            rows *= len(self._columns[name].values)
        return rows

    def _table(self, node: Node, read: Sequence[Name]) -> Column:
        columns = [self._columns[name.name] for name in read]
        if self._rows([name.name for name in read]) > MOST:
            raise TooLarge(f"an expression of more than {MOST} combinations of values")
        found = []
        for row in itertools.product(*(range(len(column.values)) for column in columns)):
            known = {name.name: column.values[number] for name, column, number in zip(read, columns, row, strict=True)}
            found.append((row, evaluate(node, known)))
        mine = self._column([value for _, value in found])
        place = {twin(value): number for number, value in enumerate(mine.values)}
        self.hard.append(
            cp.Table(
                [*(column.variable for column in columns), mine.variable],
                [[*row, place[twin(value)]] for row, value in found],
            )
        )
        return mine


def _one_of(column: Column, numbers: Sequence[int]) -> Any:
    """Whether a variable has one of some numbers, always as an expression."""
    return cp.any([cp.BoolVal(False), *(column.variable == number for number in numbers)])
