"""The GPUs of a node as one server, or as several that share nothing -> the best configuration of one in each split."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import NamedTuple

from constraints.preferences import Profile
from constraints.values import Value

from .api import Preflight
from .errors import InputError
from .estimate.roofline import Workload
from .facts import Platform
from .recommend import Wish, best
from .report import RankedSolution


class Split(NamedTuple):
    """So many ``servers`` on ``num_gpus`` each, the best configuration of one of them, and what all do at best.

    ``rate``: tokens a second of all; ``running``: requests that all serve at once; ``first_token``: seconds. None where
    the model or the GPU is not known that well.
    """

    servers: int
    num_gpus: int
    best: RankedSolution
    rate: float | None
    running: float | None
    first_token: float | None


def splits(
    preflight: Preflight,
    model: str,
    platform: Platform,
    profile: Profile,
    pins: Mapping[str, Value],
    workload: Workload | None = None,
) -> tuple[Split, ...]:
    """One server, two, four ... as long as a model may fit its share of the GPUs; requests are divided among them.

    Raises InputError; Disagreement as `recommend`.
    """
    if platform.nodes > 1:
        raise InputError("servers are compared on one node", "--servers", "Leave --nodes out.")
    served = workload or Workload(*profile.workload)
    found: list[Split] = []
    servers = 1
    while platform.num_gpus % servers == 0:
        share = replace(served, concurrency=-(-served.concurrency // servers))
        machine = replace(platform, num_gpus=platform.num_gpus // servers, counted=True)
        answer = best(preflight.engine, model, machine, Wish(profile, share, pins, 1))
        if not answer.solutions:
            break
        one = answer.solutions[0]
        if one.memory is not None and one.memory.fits is False:
            break
        bound = one.roofline
        rate, running = (None, None) if bound is None else (bound.rate * servers, bound.running * servers)
        found.append(Split(servers, machine.num_gpus, one, rate, running, None if bound is None else bound.first_token))
        servers *= 2
    return tuple(found)
