"""One server or several on the same GPUs -> a table for a person, or plain data."""

from __future__ import annotations

import shlex
import textwrap
from collections.abc import Sequence
from typing import Any

from ..estimate.roofline import Workload
from ..servers import Split
from .roofline import seconds
from .sentence import WIDTH, count, counted, wrapped

HEADS = f"  {'servers':>7}  {'GPUs each':>9}  {'at best':>12}  {'first token':>11}  each typed"


def table(found: Sequence[Split], workload: Workload) -> str:
    """What each split does at best, and what one of its servers types."""
    gpus = found[0].num_gpus * found[0].servers
    same = "The same GPU" if gpus == 1 else f"The same {counted(gpus, 'GPU')}"
    lines = [
        wrapped(
            f"{same} as servers that share nothing, {counted(workload.concurrency, 'request')} divided among them; "
            "tokens a second of all:"
        ),
        HEADS,
    ]
    start = len(HEADS) - len("each typed")
    for one in found:
        rate = "" if one.rate is None else count(round(one.rate))
        first = "" if one.first_token is None else seconds(one.first_token)
        typed = textwrap.wrap(_typed(one), WIDTH - start, break_long_words=False, break_on_hyphens=False) or [""]
        lines.append(f"  {one.servers:7}  {one.num_gpus:9}  {rate:>12}  {first:>11}  {typed[0]}".rstrip())
        lines += [" " * start + rest for rest in typed[1:]]
    full = [one for one in found if one.running is not None and round(one.running) < workload.concurrency]
    if full:
        held = ", ".join(f"{one.servers}: {count(round(one.running or 0))}" for one in full)
        lines.append(wrapped(f"The caches hold fewer requests than that, by servers: {held}.", "  "))
    return "\n".join(lines) + "\n"


def as_data(found: Sequence[Split]) -> list[dict[str, Any]]:
    """The same as plain data."""
    return [
        {
            "servers": one.servers,
            "num_gpus": one.num_gpus,
            "args": list(one.best.args),
            "tokens_per_second": None if one.rate is None else round(one.rate, 1),
            "running": None if one.running is None else round(one.running, 2),
            "first_token_seconds": None if one.first_token is None else float(f"{one.first_token:.4g}"),
        }
        for one in found
    ]


def _typed(one: Split) -> str:
    return " ".join(shlex.quote(word) for word in one.best.args) or "nothing more"
