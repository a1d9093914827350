"""A configuration -> the published deployments that run some of it on this model type and GPU type."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from constraints.preferences import Evidence
from constraints.tree import Node
from constraints.values import Env, Value

from .estimate.known import Known

PUBLISHED = "published"


def published(
    entries: Iterable[Evidence], names: Mapping[str, Node], values: Env, typed: Mapping[str, Value]
) -> tuple[Evidence, ...]:
    """The entries about published deployments that hold under resolved ``values`` and name one of them."""
    known = Known(names, {**values, **{f"typed.{flag}": value for flag, value in typed.items()}})
    return tuple(
        entry
        for entry in entries
        if entry.kind == PUBLISHED
        and (entry.when is None or known.holds(entry.when))
        and any(known.value(name) in options for name, options in entry.uses.items())
    )
