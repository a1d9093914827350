"""An open question -> how many configurations hold, and the best as commands, each resolved again as printed."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from dataclasses import dataclass

from constraints.schema import Profile
from constraints.values import Value, same

from .check import Engine
from .errors import Disagreement
from .estimate.memory import memory
from .facts import Platform
from .problem import value_of
from .question import Posed, pose
from .report import RankedSolution
from .search import Solution, solve
from .spell import spell


@dataclass(frozen=True, slots=True)
class Best:
    """The exact ``count`` of configurations, the first of them, and what SGLang runs when nothing is typed."""

    count: int
    solutions: tuple[RankedSolution, ...]
    reference: Mapping[str, Value]


def best(engine: Engine, model: str, platform: Platform, profile: Profile, pins: Mapping[str, Value], top: int) -> Best:
    """The best ``top`` configurations with the effective values ``pins``.

    Raises InputError; Disagreement when a command does not run as promised, which is a fault of this program.
    """
    knowledge = engine.knowledge
    facts = engine.facts(model, platform, pins)
    posed = pose(engine.folded(facts), engine.defaults, knowledge.variables, facts, pins, profile, knowledge.measures)
    diagram = solve(posed.problem, posed.terms)
    return Best(
        diagram.count,
        tuple(
            _printed(engine, model, platform, posed, solution, rank)
            for rank, solution in enumerate(itertools.islice(diagram.ranked(), top), 1)
        ),
        engine.effective(engine.run(facts, {}).values),
    )


def _printed(
    engine: Engine, model: str, platform: Platform, posed: Posed, solution: Solution, rank: int
) -> RankedSolution:
    """A solution as the command that gives it, resolved once more as printed."""
    flags = engine.knowledge.flags
    known = posed.problem.values(solution.assignment)
    typed = {flag: value_of(node, known) for flag, node in posed.problem.typed.items()}
    typed = {flag: value for flag, value in typed.items() if value is not None}
    args = spell(typed, flags)
    checked = engine.check(model, platform, args)
    if checked.resolution is None or checked.refused:
        raise Disagreement(f"a recommended command is refused: {' '.join(args)}")
    for flag, node in posed.problem.last.items():
        if flag in flags and not same(value_of(node, known), checked.resolution.values.get(flag)):
            raise Disagreement(f"{flag} ends otherwise than promised: {' '.join(args)}")
    return RankedSolution(
        rank,
        solution.score,
        posed.shares(known),
        typed,
        engine.effective(checked.resolution.values),
        args,
        memory(engine.knowledge.names, checked.resolution.values),
    )
