"""What is known of GPUs, as frozen values: facts that rules read, measures that bounds read, and every spelling."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import NamedTuple

from .gpu_names import spelling
from .values import Value


class Measures(NamedTuple):
    """How fast one GPU is: memory GB/s, dense peak TFLOPS by dtype, GB/s one way to its peers and to its host.

    ``link_gbs`` None: its peers are reached over the host bus alone. ``node_gbs``: to GPUs of other nodes, where the
    vendor's reference system says so.
    """

    bandwidth_gbs: float
    tflops: Mapping[str, float]
    link_gbs: float | None = None
    pcie_gbs: float | None = None
    node_gbs: float | None = None

    @property
    def facts(self) -> dict[str, Value]:
        """The same as facts, ``gpu.speed.*``: what bounds read, and no rule."""
        return {
            "gpu.speed.bandwidth_gbs": self.bandwidth_gbs,
            "gpu.speed.link_gbs": self.link_gbs,
            "gpu.speed.pcie_gbs": self.pcie_gbs,
            "gpu.speed.node_gbs": self.node_gbs,
            **{f"gpu.speed.{dtype}": peak for dtype, peak in self.tflops.items()},
        }


class Gpu(NamedTuple):
    """One GPU type; ``facts`` are what SGLang's probes would read off it (``gpu.major``, ``gpu.memory_mib``, ...).

    ``generic``: a compute capability rather than a product, with the facts of a typical card.
    """

    name: str
    aliases: tuple[str, ...]
    facts: Mapping[str, Value]
    measures: Measures
    sources: tuple[str, ...] = ()
    generic: bool = False


class Gpus(dict[str, Gpu]):
    """The GPU types by name."""

    @cached_property
    def spellings(self) -> Mapping[str, str]:
        """The name of a GPU by each of its folded spellings: its name, its aliases, what the driver says."""
        found = {spelling(name): name for name in self}
        for name, gpu in self.items():
            # A product before a generic name: the driver's name means the product.
            told = (str(gpu.facts["gpu.name"]),) if not gpu.generic else ()
            for alias in (*gpu.aliases, *told):
                found.setdefault(spelling(alias), name)
        return found
