"""A question without a number of GPUs -> its answer for the fewest GPUs of a node that have one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from constraints.preferences import Profile
from constraints.values import Value

from .answers import Recommendation
from .api import Preflight
from .errors import InputError
from .estimate.roofline import Workload
from .facts import Platform
from .recommend import Wish, best

MOST = 1024


def recommend_up_to(
    preflight: Preflight,
    most: int,
    model: str,
    platform: Platform,
    profile: Profile,
    pins: Mapping[str, Value],
    top: int,
    workload: Workload | None = None,
    alike: bool = False,
) -> tuple[tuple[int, ...], Recommendation]:
    """The numbers of GPUs on which nothing holds, and the answer for the first on which something surely fits.

    Where nothing surely fits, the answer is for the first count on which something may; else it says why not.
    Raises InputError; Disagreement as `recommend`.
    """
    if not 1 <= most <= MOST:
        raise InputError(f"{most} GPUs cannot be", "max_gpus", f"Give 1 to {MOST}.")
    served = workload or Workload(*profile.workload)
    none: list[int] = []
    chosen: int | None = None
    for count in counts(most):
        machine = replace(platform, num_gpus=count, counted=True)
        found = best(preflight.engine, model, machine, Wish(profile, served, pins, 1))
        if not found.count:
            none.append(count)
            continue
        memory = found.solutions[0].memory
        if memory is None or memory.fits:
            chosen = count
            break
        chosen = chosen or count
    machine = replace(platform, num_gpus=chosen or most, counted=True)
    answer = preflight.recommend(model, machine, profile=profile, pins=pins, top=top, workload=served, alike=alike)
    return tuple(count for count in none if count < (chosen or most)), answer


def counts(most: int) -> list[int]:
    """Numbers of GPUs that ranks are made of: the powers of two up to ``most``, and ``most``."""
    powers = [1 << step for step in range(most.bit_length()) if 1 << step <= most]
    return powers if powers[-1] == most else [*powers, most]
