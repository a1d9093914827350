"""Bounds of a configuration -> the line a person reads, or plain data."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .sentence import count, counted

if TYPE_CHECKING:
    from ..estimate.roofline import Bound, Roofline, Workload

LIMITS = {"memory": "reading memory", "compute": "multiplying", "link": "what GPUs exchange"}


def line(found: Roofline, workload: Workload) -> str:
    """What it can do at best, in a sentence."""
    running = int(found.running)
    served = f"{counted(running, 'request')} of {count(workload.input_len)} + {count(workload.output_len)} tokens"
    if running < workload.concurrency:
        served += f" (the caches hold no more of {count(workload.concurrency)})"
    said = (
        f"At best {count(round(found.rate))} tokens a second for {served}, bound by {LIMITS[found.step.limit]}; "
        f"the first token after {seconds(found.first_token)}, bound by {LIMITS[found.first.limit]}"
    )
    return said + ("." if found.certain else "; parts of this model are not counted.")


def as_data(found: Roofline, workload: Workload) -> dict[str, Any]:
    """The bounds as plain data, in seconds."""
    return {
        "workload": {key.removeprefix("workload."): value for key, value in workload.facts.items()},
        "running": round(found.running, 2),
        "tokens_per_second": round(found.rate, 1),
        "token_seconds": _number(found.step.seconds),
        "first_token_seconds": _number(found.first_token),
        "decode": _bound(found.step),
        "prefill": _bound(found.first),
        "certain": found.certain,
    }


def _bound(found: Bound) -> dict[str, Any]:
    parts = {"memory": found.memory, "compute": found.compute, "link": found.link}
    return {**{name: _number(seconds) for name, seconds in parts.items()}, "limit": found.limit}


def _number(seconds: float) -> float:
    return float(f"{seconds:.4g}")


def seconds(value: float) -> str:
    """A time as a person reads it."""
    return f"{value:.2f} s" if value >= 1 else f"{value * 1000:.1f} ms"
