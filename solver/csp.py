"""A problem in python-constraint2's words -> its assignments by plain backtracking; the only file importing constraint.

It shares nothing with `search` but the problem itself, so that each can be held against the other.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from constraints.compose import Closure, compose
from constraints.tree import names
from constraints.values import Value

from .problem import Problem


def enumerate_with_backtracking(problem: Problem) -> Iterator[dict[str, Value]]:
    """Every assignment that breaks no constraint, in the order of domains, the first variable slowest."""
    if any(not variable.domain for variable in problem.variables):
        return
    if not problem.variables:
        if not problem.broken({}):
            yield {}
        return
    yield from _solutions(problem)


def _solutions(problem: Problem) -> Iterator[dict[str, Value]]:
    from constraint import FunctionConstraint, OptimizedBacktrackingSolver
    from constraint import Problem as Question

    # A fresh Problem for each question: preprocessing drops constraints and values for good.
    question = Question(OptimizedBacktrackingSolver(False))
    chosen = [variable.name for variable in problem.variables]
    # Values travel as their places: True is not 1 to us, and to a domain of values it is.
    # The solver takes the last value of a domain first.
    for variable in problem.variables:
        question.addVariable(variable.name, list(reversed(range(len(variable.domain)))))
    domains = {variable.name: variable.domain for variable in problem.variables}
    for node_names, holds in _demands(problem):
        scope = [name for name in chosen if name in node_names] or chosen[:1]
        question.addConstraint(FunctionConstraint(_test(scope, domains, holds)), scope)
    try:
        for found in question.getSolutionIter():
            yield {name: domains[name][found[name]] for name in chosen}
    except ValueError as fault:
        # python-constraint2 2.9 takes the maximum of nothing once preprocessing has emptied a domain.
        if "empty" not in str(fault):
            raise


Holds = Callable[[dict[str, Value]], bool]


def _demands(problem: Problem) -> Iterator[tuple[frozenset[str], Holds]]:
    """Each constraint with the variables it hangs on and a test that computes the definitions it needs."""
    reach: dict[str, frozenset[str]] = {variable.name: frozenset({variable.name}) for variable in problem.variables}
    needed: dict[str, tuple[str, ...]] = {variable.name: () for variable in problem.variables}
    compute: dict[str, Closure] = {}
    place = {definition.name: index for index, definition in enumerate(problem.definitions)}
    for definition in problem.definitions:
        reads = [name for name in names(definition.node) if name in reach]
        reach[definition.name] = frozenset().union(*(reach[name] for name in reads))
        wanted = {other for name in reads for other in needed[name]} | {definition.name}
        needed[definition.name] = tuple(sorted(wanted, key=place.__getitem__))
        compute[definition.name] = compose(definition.node)
    for constraint in problem.constraints:
        reads = [name for name in names(constraint.node) if name in reach]
        wanted = {other for name in reads for other in needed[name]}
        steps = tuple((name, compute[name]) for name in sorted(wanted, key=place.__getitem__))
        yield frozenset().union(*(reach[name] for name in reads)), _holds(compose(constraint.node), steps)


def _holds(demand: Closure, steps: tuple[tuple[str, Closure], ...]) -> Holds:
    def holds(known: dict[str, Value]) -> bool:
        for name, compute in steps:
            known[name] = compute(known)
        return bool(demand(known))

    return holds


def _test(scope: list[str], domains: dict[str, tuple[Value, ...]], holds: Holds) -> Callable[..., bool]:
    def test(*places: int) -> bool:
        return holds({name: domains[name][place] for name, place in zip(scope, places, strict=True)})

    return test
