"""A configuration that ran out of memory -> what it needs of each GPU, and on how many GPUs it would surely fit."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from constraints.values import Value

from .check import VERDICT_STAGES, Engine
from .estimate.memory import Memory, memory
from .facts import Platform
from .report import Fitting, Room
from .spell import spell

MOST_GPUS = 64


def room(engine: Engine, model: str, platform: Platform, typed: Mapping[str, Value]) -> Room:
    """What is known of the memory of a command, and the fewest GPUs, by doubling, on which it fits at the worst.

    Raises InputError.
    """
    now = _needed(engine, model, platform, typed)
    spread = engine.knowledge.roles["spread"]
    count, larger = platform.num_gpus, None
    while now is not None and not now.fits and count < MOST_GPUS and larger is None:
        count *= 2
        wider = {**typed, spread: count}
        machine = replace(platform, num_gpus=count, counted=True)
        needed = _needed(engine, model, machine, wider)
        if needed is not None and needed.fits:
            larger = Fitting(count, spell({spread: count}, engine.knowledge.flags), needed)
    return Room(now, larger)


def _needed(engine: Engine, model: str, platform: Platform, typed: Mapping[str, Value]) -> Memory | None:
    """The memory of a command; None where its model's sizes are not known, or SGLang refuses it before."""
    facts = engine.facts(model, platform, typed)
    resolution = engine.run(facts, typed)
    if any(operation.rule.stage in VERDICT_STAGES for operation in resolution.refusals):
        return None
    return memory(engine.knowledge.names, {**facts, **resolution.values})
