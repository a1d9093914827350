"""A checkpoint -> quantized ones of the same model in the catalogue that fit on fewer GPUs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from constraints.models_schema import Checkpoint

from .answers import Sibling
from .check import Engine
from .estimate.memory import memory
from .facts import Platform
from .spell import spell


def siblings(engine: Engine, model: str, platform: Platform) -> tuple[Sibling, ...]:
    """Those that need fewer GPUs than ``model``, the fewest first; none for a checkpoint of one's own."""
    own = engine.catalogue.names.get(model.lower())
    if own is None:
        return ()
    found = _fewest(engine, own.id, platform, platform.num_gpus)
    most = platform.num_gpus if found is None else found.num_gpus - 1
    others = [_fewest(engine, other, platform, most) for other in _quantized(own, engine.catalogue.checkpoints)]
    return tuple(sorted((one for one in others if one is not None), key=lambda one: (one.num_gpus, one.model)))


def _quantized(own: Checkpoint, all_of_them: tuple[Checkpoint, ...]) -> Iterator[str]:
    for group in all_of_them:
        if own.id == group.id or own.id in group.quantized:
            yield from (other for other in group.quantized if other != own.id)


def _fewest(engine: Engine, model: str, platform: Platform, most: int) -> Sibling | None:
    """The fewest GPUs, in powers of two up to ``most``, on which weights and a cache fit at the worst."""
    spread = engine.knowledge.roles["spread"]
    for step in range(most.bit_length()):
        count = 1 << step
        machine = replace(platform, num_gpus=count, nodes=1, counted=True)
        args = spell({spread: count} if count > 1 else {}, engine.knowledge.flags)
        checked = engine.check(model, machine, args)
        if checked.resolution is None or checked.resolution.refusals:
            continue
        needed = memory(engine.knowledge.names, checked.resolution.values)
        if needed is not None and needed.fits:
            return Sibling(model, count, needed.weights, args)
    return None
