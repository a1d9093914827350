"""A memory estimate -> the line a person reads, or plain data."""

from __future__ import annotations

from typing import Any

from ..estimate.known import Interval
from ..estimate.memory import Memory
from .sentence import count

_GIB = 1024  # MiB


def line(found: Memory) -> str:
    """What one GPU holds, in a sentence."""
    said = f"On each GPU about {_gib(found.weights.likely)} GiB of weights"
    if found.pool.most <= 0:
        return said + ", which leave nothing for a KV cache."
    said += f" and {_range(found.pool)} GiB for the KV cache"
    if found.tokens is not None:
        said += f": {count(int(found.tokens.least))} to {count(int(found.tokens.most))} tokens"
    if found.pool.least <= 0:
        said += ". It may not fit"
    return said + ("" if found.certain else " (this architecture or number format is not counted exactly)") + "."


def as_data(found: Memory) -> dict[str, Any]:
    """The estimate as plain data, in MiB; each interval is [least, likely, most]."""
    return {
        "gpu_mib": found.gpu,
        "weights_mib": _listed(found.weights),
        "pool_mib": _listed(found.pool),
        "token_bytes": found.token_bytes,
        "tokens": None if found.tokens is None else [int(one) for one in _listed(found.tokens)],
        "fits": found.fits,
        "feasible_share": None if found.share is None else [round(bound, 3) for bound in found.share],
        "widened_by": found.dominant,
        "certain": found.certain,
    }


def _range(interval: Interval) -> str:
    least, most = max(interval.least, 0.0), interval.most
    return f"{_gib(least)} to {_gib(most)}"


def _gib(mib: float) -> str:
    return f"{mib / _GIB:.1f}"


def _listed(interval: Interval) -> list[float]:
    return [round(bound, 1) for bound in (interval.least, interval.likely, interval.most)]
