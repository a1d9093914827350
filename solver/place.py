"""Where a command would run: a release's engine, a checkpoint, a machine; and which other such places are known."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from constraints.values import Value

from .check import Engine
from .facts import Platform

# What of a place can be another one, by the names that reports and ``--keep`` use.
GPU, COUNT, RELEASE, MODEL = "gpu", "num_gpus", "release", "model"
ASPECTS = (GPU, COUNT, RELEASE, MODEL)


@dataclass(frozen=True, slots=True)
class Place:
    """A checkpoint on a machine under one release."""

    engine: Engine
    model: str
    platform: Platform

    @property
    def aspects(self) -> Mapping[str, Value]:
        """What the place is, by aspect."""
        return {
            GPU: self.platform.gpu.name,
            COUNT: self.platform.num_gpus,
            RELEASE: self.engine.knowledge.release,
            MODEL: self.engine.model(self.model).name,
        }

    def facts(self, typed: Mapping[str, Value]) -> Mapping[str, Value]:
        """The facts of this place when ``typed`` is typed: a draft model that is named has facts too."""
        return self.engine.facts(self.model, self.platform, typed)


@dataclass(frozen=True, slots=True)
class World:
    """Every release that was read, and the engine of each, made when it is first asked for."""

    releases: tuple[str, ...]
    engine: Callable[[str], Engine]


def at_gpu(place: Place, name: str) -> Place:
    """The place with other GPUs, as many; the software is that of the new GPU's image."""
    gpu = place.engine.knowledge.gpus[name]
    return replace(place, platform=replace(place.platform, gpu=gpu))


def at_count(place: Place, count: int) -> Place:
    """The place with more or fewer GPUs."""
    return replace(place, platform=replace(place.platform, num_gpus=count))


def at_model(place: Place, model: str) -> Place:
    """The place with another checkpoint."""
    return replace(place, model=model)


def at_release(place: Place, release: str, world: World) -> Place:
    """The place under another release."""
    return replace(place, engine=world.engine(release))
