"""The known names nearest to one that is not known."""

from __future__ import annotations

from collections.abc import Iterable


def nearest_names(word: str, known: Iterable[str], count: int = 3, cutoff: float = 0.6) -> tuple[str, ...]:
    """At most ``count`` of ``known`` that look like ``word``, the nearest first."""
    import difflib  # a command with no mistake starts without it

    return tuple(difflib.get_close_matches(word, list(known), count, cutoff))
