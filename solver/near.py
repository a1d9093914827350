"""A name -> what is known by it, or the known names nearest to it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TypeVar

from .errors import InputError
from .expected import text

Thing = TypeVar("Thing")


def nearest_names(word: str, known: Iterable[str], count: int = 3, cutoff: float = 0.6) -> tuple[str, ...]:
    """At most ``count`` of ``known`` that look like ``word``, the nearest first."""
    import difflib  # a command with no mistake starts without it

    return tuple(difflib.get_close_matches(word, list(known), count, cutoff))


def named(name: str, known: Mapping[str, Thing], kind: str, where: str) -> Thing:
    """The thing of a name, where few enough are known to list them.

    Raises InputError.
    """
    if text(name, where, f"Give the name of a {kind}.") not in known:
        listed = "Known: " + ", ".join(sorted(known))
        raise InputError(f"no {kind} is called {name!r}", where, listed, nearest_names(name, sorted(known), 1))
    return known[name]
