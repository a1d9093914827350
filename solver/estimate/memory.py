"""A resolved configuration -> the memory of one rank: weights, KV pool, tokens, requests; each an interval."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from constraints.tree import Node
from constraints.values import Env

from .known import Interval, Known

_MIB = 2**20


class Memory(NamedTuple):
    """The memory of one rank, in MiB.

    ``certain``: the architecture and the number format were counted, not guessed. ``token_bytes`` is None where the
    model's cache is not one row a token; ``tokens`` follows it. ``share`` is the feasible ``mem_fraction_static``,
    ``None`` when it is empty. ``dominant`` names what widens the interval of the pool most.
    """

    gpu: float
    weights: Interval
    pool: Interval
    token_bytes: float | None
    tokens: Interval | None
    share: tuple[float, float] | None
    dominant: str
    certain: bool

    @property
    def fits(self) -> bool | None:
        """Whether weights and a cache fit: None where the interval holds both answers."""
        if self.pool.least > 0:
            return True
        return False if self.pool.most <= 0 else None

    def requests(self, context: int) -> Interval | None:
        """How many requests of ``context`` tokens each the pool holds at once."""
        return None if self.tokens is None or context < 1 else self.tokens.scaled(1 / context)


def memory(names: Mapping[str, Node], values: Env) -> Memory | None:
    """The memory of one rank under resolved ``values``; None where the model's sizes are not in its config.

    ``names`` are the shared expressions of the release.
    """
    known = Known(names, values)
    weights = known.interval("estimate.weights")
    pool = known.interval("estimate.pool")
    size = known.number("estimate.gpu")
    if weights is None or pool is None or size is None:
        return None
    row = known.number("size.kv_token")
    return Memory(
        gpu=size,
        weights=weights,
        pool=pool,
        token_bytes=row,
        tokens=_tokens(pool, row, known.number("estimate.limit"), known.number("estimate.page")),
        share=_share(known),
        dominant=_dominant(known, weights),
        certain=known.value("estimate.certain") is True,
    )


def _tokens(pool: Interval, row: float | None, limit: float | None, page: float | None) -> Interval | None:
    if not row:
        return None

    def whole(mib: float) -> float:
        count = max(mib, 0.0) * _MIB // row
        count = count if limit is None else min(count, limit)
        return count - count % page if page else count

    return Interval(whole(pool.least), whole(pool.likely), whole(pool.most))


def _share(known: Known) -> tuple[float, float] | None:
    least, most = known.number("estimate.share_least"), known.number("estimate.share_most")
    return (least, most) if least is not None and most is not None and least < most else None


def _dominant(known: Known, weights: Interval) -> str:
    free = known.interval("estimate.free")
    if free is None or weights.most - weights.least > free.most - free.least:
        return "weights"
    return "memory taken before the weights load"
