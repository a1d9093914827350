"""The GPUs of a node as one server, or as several that share nothing -> the best configuration of one in each split."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import NamedTuple

from constraints.preferences import Profile
from constraints.values import Value

from .answers import RankedSolution
from .check import Engine
from .errors import InputError
from .estimate.roofline import Workload, roofline
from .facts import Platform
from .recommend import Wish, best


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
    engine: Engine,
    model: str,
    platform: Platform,
    profile: Profile,
    pins: Mapping[str, Value],
    workload: Workload | None = None,
) -> tuple[Split, ...]:
    """Each number of servers that shares the GPUs out evenly, where a model may fit; requests are divided among them.

    There are never more servers than requests: one without any would do nothing. Raises InputError; Disagreement as
    `recommend`.
    """
    if platform.nodes > 1:
        raise InputError("servers are compared on one node", "servers", "Ask about a single node.")
    served = workload or Workload(*profile.workload)
    found: list[Split] = []
    for servers in range(1, min(platform.num_gpus, served.concurrency) + 1):
        if platform.num_gpus % servers:
            continue
        fewest, busier = divmod(served.concurrency, servers)
        # The configuration is that of a server with most to do; the others have one request less.
        most = replace(served, concurrency=fewest + (busier > 0))
        machine = replace(platform, num_gpus=platform.num_gpus // servers, counted=True)
        answer = best(engine, model, machine, Wish(profile, most, pins, 1))
        if not answer.solutions:
            continue
        one = answer.solutions[0]
        if one.memory is not None and one.memory.fits is False:
            continue
        rate = running = first = None
        if one.roofline is not None:
            rate, running, first = one.roofline.rate, one.roofline.running, one.roofline.first_token
            full = busier or servers
            rate, running = rate * full, running * full
            resolved = engine.check(model, machine, one.args).resolution if full < servers else None
            if resolved is not None:
                less = roofline(engine.knowledge.names, resolved.values, replace(served, concurrency=fewest))
                assert less is not None, "what is known of a server with one request more is known of this one"
                rate, running = rate + less.rate * (servers - full), running + less.running * (servers - full)
        found.append(Split(servers, machine.num_gpus, one, rate, running, first))
    return tuple(found)
