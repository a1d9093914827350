"""SGLang releases: their order, the span a fact holds for, the nearest known one."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import NamedTuple

_RELEASE = re.compile(r"v?(\d{1,9})\.(\d{1,9})(?:\.(\d{1,9}))?(?:\.?(post|rc|dev)(\d{0,9}))?(?=[+-]|$)", re.ASCII)
_SUFFIX = {"dev": -2, "rc": -1, None: 0, "post": 1}

Key = tuple[int, int, int, int, int]


def release_key(release: str) -> Key:
    """The sort key of a release such as ``0.5.23`` or ``v0.5.10rc1``.

    Raises ValueError when the text is no release.
    """
    match = _RELEASE.match(release.strip())
    if match is None:
        raise ValueError(f"{release!r} is not a release such as 0.5.23")
    major, minor, patch, suffix, number = match.groups()
    return int(major), int(minor), int(patch or 0), _SUFFIX[suffix], int(number or 0)


class Span(NamedTuple):
    """The releases from ``since`` up to and without ``until``; None is no bound.

    ``since="<=0.5.18"`` means: seen in 0.5.18, older releases were not read; it holds for them until read.
    """

    since: str | None = None
    until: str | None = None

    def __contains__(self, release: object) -> bool:
        key = release_key(str(release))
        if self.since is not None and not self.since.startswith("<=") and key < release_key(self.since):
            return False
        return self.until is None or key < release_key(self.until)

    def overlaps(self, other: Span) -> bool:
        """Whether some release lies in both spans."""
        return _starts_before_end(self, other) and _starts_before_end(other, self)


def _starts_before_end(first: Span, second: Span) -> bool:
    if second.until is None or first.since is None or first.since.startswith("<="):
        return True
    return release_key(first.since) < release_key(second.until)


def nearest(release: str, known: Iterable[str]) -> str:
    """The known release nearest to ``release``: itself, else the newest older one, else the oldest."""
    ordered = sorted(known, key=release_key)
    older = [name for name in ordered if release_key(name) <= release_key(release)]
    return older[-1] if older else ordered[0]
