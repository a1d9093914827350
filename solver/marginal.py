"""An open question -> how many of its configurations hold each value of what can be chosen."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from constraints.preferences import Profile
from constraints.values import Value

from .check import Engine
from .facts import Platform
from .question import pose
from .report import Subject
from .search import solve


@dataclass(frozen=True, slots=True)
class Marginals:
    """The exact ``count`` of configurations, and for each choice how many of them type each of its values.

    A choice is a flag, or flags that are chosen as one; ``flags`` names them, and a value of several is a tuple.
    """

    subject: Subject
    pins: Mapping[str, Value]
    count: int
    flags: Mapping[str, tuple[str, ...]]
    choices: Mapping[str, Mapping[Value, int]]


# A count asks for no order.
_ANY = Profile("any", "", 0, (), ())


def marginals(engine: Engine, subject: Subject, model: str, platform: Platform, pins: Mapping[str, Value]) -> Marginals:
    """The marginals of all configurations that hold with the effective values ``pins``.

    Raises InputError.
    """
    knowledge = engine.knowledge
    facts = engine.facts(model, platform, pins)
    posed = pose(engine.prepared(facts), engine.defaults, knowledge.variables, pins, _ANY, knowledge.measures)
    diagram = solve(posed.problem, {})
    found = diagram.marginals()
    units = {unit.name: unit for unit in posed.units if unit.name in found}
    return Marginals(
        subject,
        pins,
        diagram.count,
        {name: unit.flags for name, unit in units.items()},
        {
            name: {value: found[name][value] for value in unit.domain if found[name].get(value)}
            for name, unit in units.items()
        },
    )
