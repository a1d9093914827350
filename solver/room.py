"""A configuration that ran out of memory -> what it needs of each GPU, and on how many GPUs it would surely fit."""

from __future__ import annotations

from collections.abc import Container, Mapping
from dataclasses import replace

from constraints.values import Value

from .answers import Fitting, Room
from .check import VERDICT_STAGES, Engine
from .estimate.memory import Memory, memory
from .facts import Platform
from .spell import spell

# How far a number of GPUs is looked for, by doubling.
MOST_GPUS = 512


def room(engine: Engine, model: str, platform: Platform, typed: Mapping[str, Value]) -> Room:
    """What is known of the memory of a command, and the fewest GPUs, by doubling, on which it fits at the worst.

    A number counts only where the command breaks no rule at all on it. Raises InputError.
    """
    now = _needed(engine, model, platform, typed, VERDICT_STAGES)
    count, larger = platform.num_gpus, None
    while now is not None and not now.fits and count < MOST_GPUS and larger is None:
        count *= 2
        larger = _fitting(engine, model, replace(platform, num_gpus=count, counted=True), typed)
    return Room(now, larger)


def _fitting(engine: Engine, model: str, machine: Platform, typed: Mapping[str, Value]) -> Fitting | None:
    """The widest spread over a machine with which a command holds, if it fits so: stages and replicas take GPUs too."""
    spread, wide = engine.knowledge.roles["spread"], machine.num_gpus
    while wide:
        needed = _needed(engine, model, machine, {**typed, spread: wide})
        if needed is not None:
            args = spell({spread: wide}, engine.knowledge.flags)
            return Fitting(machine.num_gpus, args, needed) if needed.fits else None
        wide //= 2
    return None


def _needed(
    engine: Engine,
    model: str,
    platform: Platform,
    typed: Mapping[str, Value],
    stages: Container[str] | None = None,
) -> Memory | None:
    """The memory of a command; None where its sizes are not known or it is refused (at ``stages``; None: at any)."""
    facts = engine.facts(model, platform, typed)
    resolution = engine.run(facts, typed)
    if any(stages is None or operation.rule.stage in stages for operation in resolution.refusals):
        return None
    return memory(engine.knowledge.names, {**facts, **resolution.values})
