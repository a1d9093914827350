"""A resolved configuration and a workload -> how fast it can be at best, and what holds it there.

The sums (operations, bytes, what ranks exchange) are shared expressions of the knowledge; here they become bounds.
They know nothing of kernels: a real server is slower.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from constraints.tree import Node
from constraints.values import Env, Value

from .known import Known

Limit = Literal["memory", "compute", "link"]


@dataclass(frozen=True, slots=True)
class Workload:
    """What is served: tokens in, tokens out, requests at once, and how long a request may become."""

    input_len: int
    output_len: int
    concurrency: int
    context: int = 0

    @property
    def facts(self) -> dict[str, Value]:
        """The same as facts, ``workload.*``."""
        return {
            "workload.input_len": self.input_len,
            "workload.output_len": self.output_len,
            "workload.concurrency": self.concurrency,
            "workload.context": self.context or self.input_len + self.output_len,
        }


@dataclass(frozen=True, slots=True)
class Bound:
    """The least seconds of a step: reading memory, multiplying, exchanging between GPUs.

    The first two go on at once; an exchange comes on top unless batches ``overlap``.
    """

    memory: float
    compute: float
    link: float
    overlap: bool = False

    @property
    def seconds(self) -> float:
        """The bound itself."""
        inside = max(self.memory, self.compute)
        return max(inside, self.link) if self.overlap else inside + self.link

    @property
    def limit(self) -> Limit:
        """What takes longest."""
        parts: dict[Limit, float] = {"memory": self.memory, "compute": self.compute, "link": self.link}
        return max(parts, key=parts.__getitem__)


@dataclass(frozen=True, slots=True)
class Roofline:
    """Bounds of one configuration under a workload.

    ``running`` requests are served at once (fewer than asked for when the caches hold no more), ``rate`` is their
    tokens a second at most. ``first`` is one prompt, alone, until its first token (``waits`` for its stages); ``step``
    is a token of every running request. ``certain``: every part of the model was counted.
    """

    running: float
    rate: float
    first: Bound
    waits: float
    step: Bound
    certain: bool

    @property
    def first_token(self) -> float:
        """The least seconds to the first token of a prompt that is alone."""
        return self.first.seconds * self.waits


def roofline(names: Mapping[str, Node], values: Env, workload: Workload) -> Roofline | None:
    """The bounds under resolved ``values``; None where the model's sizes or the GPU's speeds are not known.

    ``names`` are the shared expressions of the release.
    """
    known = Known(names, {**values, **workload.facts})
    running, rate = known.number("roofline.running"), known.number("roofline.decode_rate")
    overlap = known.value("roofline.overlaps") is True
    first, step = _bound(known, "prefill", overlap), _bound(known, "decode", overlap)
    if running is None or rate is None or first is None or step is None:
        return None
    return Roofline(
        running=running,
        rate=rate,
        first=first,
        waits=known.number("roofline.waits") or 1.0,
        step=step,
        certain=known.value("roofline.certain") is True,
    )


def _bound(known: Known, phase: str, overlap: bool) -> Bound | None:
    memory, compute, link = (known.number(f"roofline.{phase}_{part}") for part in ("memory", "compute", "link"))
    if memory is None or compute is None or link is None:
        return None
    return Bound(memory, compute, link, overlap)
