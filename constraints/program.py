"""Rules and steps of a release -> the program that its resolution is: every operation in the order SGLang runs it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from .evaluate import fold
from .schema import FACTS, Case, Operation, Rule
from .steps import Invocation, StepTree, conjunction
from .tree import FALSE, TRUE, All, Node, names, substitute
from .values import Value


def order_program(rules: Iterable[Rule], steps: StepTree, defaults: Mapping[str, Value]) -> tuple[Operation, ...]:
    """Every rule at every run of its step, sorted by call lines, then by own line, then by place in the rule files.

    ``defaults`` are the flags' declared defaults.
    """
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
    written = {target for operation in operations for case in operation.cases for target, _ in case.writes}
    standing = {flag: value for flag, value in defaults.items() if flag not in written}
    return tuple(_asleep(_split(operation, written), standing) for operation in operations)


def _asleep(operation: Operation, standing: Mapping[str, Value]) -> Operation:
    """The operation with the flags that must be typed for it to do anything; ``standing`` ones nothing writes."""
    for node, idle in ((operation.when, FALSE), (operation.require, TRUE)):
        if node is None:
            continue
        known = {name: standing.get(name) for name in names(node) if name in standing or name.startswith("typed.")}
        if known and fold(node, known) == idle:
            return operation._replace(asleep=frozenset(known))
    return operation


def _split(operation: Operation, written: set[str]) -> Operation:
    fixed: list[Node] = []
    rest: list[Node] = []
    for part in _conjuncts(operation.when):
        settled = all(name.partition(".")[0] in FACTS and name not in written for name in names(part))
        (fixed if settled else rest).append(part)
    return operation._replace(fixed=conjunction(tuple(fixed)), open=conjunction(tuple(rest)))


def _conjuncts(node: Node | None) -> Iterator[Node]:
    if isinstance(node, All):
        for part in node.parts:
            yield from _conjuncts(part)
    elif node is not None:
        yield node


def _place(rule: Rule, run: Invocation, path: tuple[tuple[int, int], ...], scope: int) -> Operation:
    def bound(node: Node | None) -> Node | None:
        return None if node is None else substitute(node, run.bind) if run.bind else node

    guards = tuple(node for node in map(bound, (*run.guards, rule.when)) if node is not None)
    cases = tuple(
        Case(bound(case.when), tuple((target, bound(value) or value) for target, value in case.writes))
        for case in rule.cases
    )
    return Operation(rule, run.step.id, run.label, path, scope, conjunction(guards), bound(rule.require), cases)
