"""Rules and steps of a release -> the program that its resolution is: every operation in the order SGLang runs it."""

from __future__ import annotations

from collections.abc import Iterable

from .schema import Case, Operation, Rule
from .steps import Invocation, StepTree, conjunction
from .tree import Node, substitute


def order_program(rules: Iterable[Rule], steps: StepTree) -> tuple[Operation, ...]:
    """Every rule at every run of its step, sorted by call lines, then by own line, then by place in the rule files."""
    placed = [
        (run, (*run.path, (rule.at, number)), rule)
        for number, rule in enumerate(rules)
        for run in steps.invocations(rule.step)
    ]
    placed.sort(key=lambda item: item[1])
    scopes: dict[tuple[tuple[int, int], ...], int] = {}
    operations = []
    for run, path, rule in placed:
        scope = 0 if run.scope is None else scopes.setdefault(run.scope, len(scopes) + 1)
        operations.append(_place(rule, run, path, scope))
    return tuple(operations)


def _place(rule: Rule, run: Invocation, path: tuple[tuple[int, int], ...], scope: int) -> Operation:
    def bound(node: Node | None) -> Node | None:
        return None if node is None else substitute(node, run.bind) if run.bind else node

    guards = tuple(node for node in map(bound, (*run.guards, rule.when)) if node is not None)
    cases = tuple(
        Case(bound(case.when), tuple((target, bound(value) or value) for target, value in case.writes))
        for case in rule.cases
    )
    return Operation(rule, run.step.id, run.label, path, scope, conjunction(guards), bound(rule.require), cases)
