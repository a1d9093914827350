"""A place -> the other places one could go to, nearest first in each aspect, with what each move costs.

Costs are orders of magnitude, so that no sum of flag changes is dearer than the cheapest move: a flag is typed in a
second, GPUs are booked, a release is rolled out. ``--keep`` takes out what may not change.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator
from dataclasses import dataclass

from constraints.gpu_schema import Gpu
from constraints.values import Value

from .place import COUNT, GPU, MODEL, RELEASE, Place, World, at_count, at_gpu, at_model, at_release

# What a change costs its asker. Dropping a flag leaves the choice to SGLang; typing a value is a choice of one's own.
DROPPED, SET = 2, 3
_BASE = {COUNT: 100, MODEL: 200, GPU: 300, RELEASE: 400}
# GPUs of one node that people rent.
_COUNTS = (1, 2, 4, 8)


@dataclass(frozen=True, slots=True)
class Move:
    """One aspect of a place made another, with its cost."""

    aspect: str
    before: Value
    after: Value
    cost: int
    place: Place


def moves(start: Place, world: World, keep: Collection[str] = ()) -> Iterator[Move]:
    """Every move in one aspect, by aspect, nearest first."""
    before = start.aspects
    ranks = dict.fromkeys(_BASE, 0)
    for aspect, after, place in _others(start, world, keep):
        yield Move(aspect, before[aspect], after, _BASE[aspect] + ranks[aspect], place)
        ranks[aspect] += 1


def _others(start: Place, world: World, keep: Collection[str]) -> Iterator[tuple[str, Value, Place]]:
    if COUNT not in keep:
        for count in counts(start):
            yield COUNT, count, at_count(start, count)
    if MODEL not in keep:
        for model in siblings(start):
            yield MODEL, model, at_model(start, model)
    if GPU not in keep:
        for name in gpus(start):
            # Nobody who booked GPUs is helped by a host without one.
            if start.engine.knowledge.gpus[name].facts["gpu.vendor"] != "cpu":
                yield GPU, name, at_gpu(start, name)
    if RELEASE not in keep:
        for release in releases(start, world):
            yield RELEASE, release, at_release(start, release, world)


def counts(start: Place) -> list[int]:
    """Other numbers of GPUs of one node, the nearest first, more before fewer."""
    here = start.platform.num_gpus
    return sorted((one for one in _COUNTS if one != here), key=lambda one: (one < here, abs(one - here)))


def gpus(start: Place) -> list[str]:
    """Other GPUs by name, the most alike first: vendor, then generation, then memory; capabilities are no products."""
    here = start.platform.gpu
    others = [gpu for name, gpu in start.engine.knowledge.gpus.items() if name != here.name and not gpu.generic]
    return [gpu.name for gpu in sorted(others, key=lambda one: (_unlike(here, one), one.name))]


def _unlike(one: Gpu, other: Gpu) -> tuple[bool, float, float]:
    def number(gpu: Gpu, fact: str) -> float:
        value = gpu.facts.get(fact)
        return float(value) if isinstance(value, (int, float)) and not isinstance(value, bool) else 0.0

    def memory(gpu: Gpu) -> float:
        return math.log(max(number(gpu, "gpu.memory_mib"), 1.0))

    generation = abs(number(one, "gpu.major") - number(other, "gpu.major"))
    return (
        one.facts.get("gpu.vendor") != other.facts.get("gpu.vendor"),
        generation,
        abs(memory(one) - memory(other)),
    )


def releases(start: Place, world: World) -> list[str]:
    """Other releases, the newest first."""
    return [one for one in reversed(world.releases) if one != start.engine.knowledge.release]


def siblings(start: Place) -> list[str]:
    """The same weights in other number formats, as far as the catalogue knows."""
    here = start.engine.model(start.model).checkpoint
    if here is None:
        return []
    family: list[str] = []
    for one in start.engine.catalogue.checkpoints:
        if one.id == here.id or here.id in one.quantized:
            family += [one.id, *one.quantized]
    return [one for one in dict.fromkeys(family) if one != here.id]
