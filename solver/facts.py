"""A model, a GPU and the software of a release -> facts: every name that cannot be chosen, with where it came from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from constraints.gpu_schema import Gpu
from constraints.knowledge import Knowledge
from constraints.values import Value

from .gpu import MEMORY_TOLD
from .model_config import ModelFacts


@dataclass(frozen=True, slots=True)
class Platform:
    """What the question says of the machine: GPUs, nodes, and how its software differs from the official image.

    ``environment`` holds parsed values of variables; ``without`` packages that are missing, ``packages`` such that are
    there although the image lacks them; ``cuda`` another CUDA version. Not ``counted``: nobody said how many GPUs there
    are, so that a command may have as many as it asks for. ``misread``: variables with texts that SGLang cannot read.
    ``unread``: set names that no rule reads, each with the known one that it may be meant for, or "".
    """

    gpu: Gpu
    num_gpus: int
    nodes: int = 1
    environment: tuple[tuple[str, Value], ...] = ()
    without: tuple[str, ...] = ()
    packages: tuple[str, ...] = ()
    cuda: float | None = None
    counted: bool = True
    misread: tuple[tuple[str, str], ...] = ()
    unread: tuple[tuple[str, str], ...] = ()

    @property
    def key(self) -> tuple[object, ...]:
        """Equal for machines on which SGLang does the same."""
        described = tuple(sorted(self.gpu.facts.items(), key=lambda item: item[0]))
        return described, self.num_gpus, self.nodes, self.environment, self.without, self.packages, self.cuda


def untouched(knowledge: Knowledge) -> Mapping[str, Value]:
    """The environment where nobody set anything: what every question's facts begin with."""
    return {f"env.{name}": variable.default for name, variable in knowledge.environment.items()}


def gather(
    knowledge: Knowledge, environment: Mapping[str, Value], platform: Platform, models: Sequence[ModelFacts]
) -> dict[str, Value]:
    """The value of every fact by name: ``gpu.* runtime.* package.* env.* num_gpus nodes model.* draft.*``.

    ``environment`` is `untouched`.
    """
    facts = dict(environment)
    vendor = platform.gpu.facts.get("gpu.vendor")
    facts.update(knowledge.releases[knowledge.release].images.get(str(vendor), {}))
    facts.update(platform.gpu.measures.facts)
    facts[MEMORY_TOLD] = False
    facts.update(platform.gpu.facts)
    facts["num_gpus"] = platform.num_gpus
    facts["nodes"] = platform.nodes
    facts.update({f"env.{name}": value for name, value in platform.environment})
    facts.update(_set_names(platform.environment))
    facts.update({f"package.{name}": False for name in platform.without})
    facts.update({f"package.{name}": True for name in platform.packages})
    if platform.cuda is not None:
        facts["runtime.cuda"] = platform.cuda
    for model in models:
        facts.update(model.values)
    return facts


def _set_names(environment: tuple[tuple[str, Value], ...]) -> Mapping[str, Value]:
    # Whether a variable is set at all is another question than its value.
    return {f"env_set.{name}": True for name, _ in environment}
