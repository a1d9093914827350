"""Failures that no rule foretells, as they are told: known by words of a log."""

from __future__ import annotations

from typing import NamedTuple

from .schema import Source


class Moment(NamedTuple):
    """When a failure happens, by what is ``at`` a place of its traceback, and what helps then."""

    at: tuple[str, ...]
    title: str
    fix: str


class Symptom(NamedTuple):
    """A failure known by the words of its message, any of several lists of them."""

    id: str
    words: tuple[frozenset[str], ...]
    title: str
    reason: str
    fix: str
    moments: tuple[Moment, ...] = ()
    sources: tuple[Source, ...] = ()
