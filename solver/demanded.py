"""What can be chosen and what is demanded of it -> the problem that an explanation refutes part by part."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cache

from constraints.tree import Any_, Compare, Const, Name, Not
from constraints.values import Value, twin

from .forms import Forms
from .pins import Asked, Pin
from .problem import Constraint, Problem, Variable
from .question import idle_constraints
from .unit import Unit
from .unroll import unroll


def demanded(
    asked: Asked,
    units: Sequence[Unit],
    outcome: Sequence[Pin],
    pins: Mapping[str, Value],
    ends: Mapping[str, Value] | None,
    *,
    later: bool,
) -> Problem:
    """The problem of the units, with a variable for each demand on an outcome that puts it in force.

    ``later``: what each check says is worked out when it is first asked about.
    """
    problem = unroll(
        asked.operations,
        asked.defaults,
        units,
        {},
        shadows=False,
        blame=_vocabulary(asked, units),
        remembered=asked.prepared.blamed,
        later=later,
    )
    demands = (
        Constraint(
            pin.selector,
            Any_((Not(Name(pin.selector)), Compare("==", problem.last[pin.flag], Const(pin.value)))),
            demanded=True,
        )
        for pin in outcome
    )
    idle = idle_constraints(asked.knowledge.variables, problem, pins, ends)
    whole = replace(
        problem,
        variables=(*problem.variables, *(Variable(pin.selector, (True, False)) for pin in outcome)),
        constraints=(*problem.constraints, *idle, *demands),
        warnings=(),
    )
    return whole if later else _cone(whole, asked.prepared.forms)


def _vocabulary(asked: Asked, units: Sequence[Unit]) -> Callable[[str], tuple[Value, ...]]:
    """The values a flag could have if no rule wrote it: its choices, and whatever rules write or pins ask for."""
    unit_of = {flag: unit for unit in units for flag in unit.flags}

    @cache
    def values(name: str) -> tuple[Value, ...]:
        flag, unit = asked.knowledge.flags.get(name), unit_of.get(name)
        found = [] if flag is None else [None, flag.default, *(flag.choices or ())]
        if unit is not None:
            found += [value for row in unit.domain for other, value in unit.typed(row) if other == name]
        found += asked.prepared.written.get(name, ())
        apart: dict[object, Value] = {}
        for value in found:
            apart.setdefault(twin(value), value)
        return tuple(apart.values()) or (None,)

    return values


def _cone(problem: Problem, forms: Forms) -> Problem:
    """Only the definitions that some constraint hangs on."""
    wanted: set[str] = set()
    for constraint in problem.constraints:
        wanted |= forms.names(constraint.node)
    needed = []
    for definition in reversed(problem.definitions):
        if definition.name in wanted:
            needed.append(definition)
            wanted |= forms.names(definition.node)
            if definition.relaxed is not None:
                wanted |= forms.names(definition.relaxed)
    variables = tuple(one for one in problem.variables if one.name in wanted or not one.name.startswith("free "))
    return Problem(variables, tuple(reversed(needed)), problem.constraints, problem.last, problem.typed)
