"""An open question -> how many configurations hold, and the best as commands, each resolved again as printed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from constraints.evaluate import evaluate
from constraints.knowledge import Knowledge
from constraints.preferences import Profile
from constraints.tree import names
from constraints.values import Value, same

from .answers import RankedSolution, Recommendation
from .check import Engine
from .diagram import Solution
from .errors import Disagreement, InputError
from .estimate.memory import memory
from .estimate.roofline import Workload, roofline
from .facts import Platform
from .pareto import coded, pareto
from .problem import value_of
from .published import published
from .question import Posed, pose
from .rank import ranked
from .report import Subject
from .search import solve
from .siblings import siblings
from .spell import spell
from .why import terms_named

# Tokens, or requests at once: past this a number is a slip.
MOST = 10**9


@dataclass(frozen=True, slots=True)
class Best:
    """The exact ``count`` of configurations, the first of them, and what SGLang runs when nothing is typed."""

    count: int
    solutions: tuple[RankedSolution, ...]
    reference: Mapping[str, Value]


@dataclass(frozen=True, slots=True)
class Wish:
    """What a recommendation is for: what better means, what is served, which values must come out, how many to show.

    ``alike``: also such as differ from a better one in nothing that a person chooses by. ``front``: the terms whose
    Pareto front is asked for, instead of the best.
    """

    profile: Profile
    workload: Workload
    pins: Mapping[str, Value]
    top: int
    alike: bool = False
    front: tuple[str, ...] = ()


def recommended(engine: Engine, subject: Subject, model: str, platform: Platform, wish: Wish) -> Recommendation:
    """The answer to a wish, without why there is none if there is none.

    Raises InputError; Disagreement as `best`.
    """
    wish = replace(wish, front=terms_named(wish.profile, wish.front))
    load = wish.workload
    for name, value in (
        ("input_len", load.input_len),
        ("output_len", load.output_len),
        ("concurrency", load.concurrency),
        ("context_length", load.context or 1),
    ):
        if not 0 < value <= MOST:
            size = f"{value:,} is too few" if value < 1 else "more than any server has"
            raise InputError(size, name, f"Give 1 to {MOST:,}.")
    served = wish.workload.facts["workload.context"]
    limit = engine.facts(model, platform, wish.pins).get(engine.knowledge.roles["context_limit"])
    usual = wish.workload == Workload(*wish.profile.workload)  # a profile is for every model
    if not usual and isinstance(limit, int) and isinstance(served, int) and served > limit:
        raise InputError(
            f"{subject.model} takes requests of at most {limit:,} tokens, and these grow to "
            + (f"{served:,}" if served <= MOST else "more than a billion"),
            "the workload",
            "Ask for shorter prompts and answers, or for a smaller context.",
        )
    found = best(engine, model, platform, wish)
    return Recommendation(
        subject=subject,
        profile=wish.profile.name,
        pins=wish.pins,
        count=found.count,
        solutions=found.solutions,
        lacks=wish.profile.lacks,
        defaults=found.reference,
        terms=wish.profile.terms,
        workload=wish.workload,
        front=wish.front,
        siblings=siblings(engine, model, platform),
    )


def best(engine: Engine, model: str, platform: Platform, wish: Wish) -> Best:
    """The best configurations with the effective values that are pinned.

    Raises InputError; Disagreement when a command does not run as promised, which is a fault of this program.
    """
    knowledge = engine.knowledge
    facts = engine.facts(model, platform, wish.pins)
    posed = pose(
        engine.prepared(facts),
        engine.defaults,
        knowledge.variables,
        wish.pins,
        wish.profile,
        knowledge.measures,
        wish.workload.facts,
        knowledge.outcomes,
    )
    diagram = solve(posed.problem, coded(posed.gains, wish.front) if wish.front else posed.terms)
    keys = () if wish.alike else _told_apart(posed, knowledge)
    found: list[RankedSolution] = []
    seen: set[object] = set()
    if wish.front:
        best_first: Iterable[Solution] = pareto(diagram, posed.joints, wish.front)
    else:
        best_first = ranked(diagram, tuple(posed.joints.values()), keys)
    for solution in best_first:
        if len(found) == wish.top:
            break
        # What is typed differently may end alike.
        ends = _ends(posed, knowledge, facts, solution)
        if wish.alike or wish.front or ends not in seen:
            seen.add(ends)
            found.append(_printed(engine, model, platform, posed, solution, wish.workload, len(found) + 1))
    return Best(diagram.count, tuple(found), engine.effective(engine.run(facts, {}).values))


def _own(posed: Posed, knowledge: Knowledge, typed: Mapping[str, Value]) -> Mapping[str, int] | None:
    """What the terms give a layout with all else left to SGLang; None where that does not hold."""
    spread = knowledge.roles["spread"]
    layout = {flag for one in knowledge.variables if spread in one.flags for flag in one.flags}
    assignment: dict[str, Value] = {}
    for unit in posed.units:
        values = tuple(typed.get(flag) if flag in layout else None for flag in unit.flags)
        assignment[unit.name] = values if isinstance(unit.domain[0], tuple) else values[0]
    known = posed.problem.values(assignment)
    ends = {name: value_of(node, known) for name, node in posed.outcomes.items()}
    if posed.problem.broken({**assignment, **ends}):
        return None
    return posed.shares({**known, **ends})


def _told_apart(posed: Posed, knowledge: Knowledge) -> frozenset[str]:
    """The variables that hold a flag which configurations are told apart by."""
    read = {name for node in knowledge.apart.values() for name in names(node)}
    return frozenset(unit.name for unit in posed.units if read & set(unit.flags))


def _ends(posed: Posed, knowledge: Knowledge, facts: Mapping[str, Value], solution: Solution) -> tuple[str, ...]:
    """What configurations are told apart by, as it ends."""
    known, last = posed.problem.values(solution.assignment), posed.problem.last
    read = {name for node in knowledge.apart.values() for name in names(node)}
    values = {name: value_of(last[name], known) if name in last else facts.get(name) for name in read}
    return tuple(repr(evaluate(node, values)) for node in knowledge.apart.values())


def _printed(
    engine: Engine, model: str, platform: Platform, posed: Posed, solution: Solution, workload: Workload, rank: int
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
    values, shared = checked.resolution.values, engine.knowledge.names
    return RankedSolution(
        rank,
        solution.score,
        posed.shares(known),
        typed,
        engine.effective(values),
        args,
        memory(shared, values),
        roofline(shared, values, workload),
        _own(posed, engine.knowledge, typed),
        published(engine.knowledge.evidence, shared, values, typed),
    )
