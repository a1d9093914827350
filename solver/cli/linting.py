"""`preflight lint`: the faults of the knowledge, for a terminal."""

from __future__ import annotations

from pathlib import Path


def run(sources: Path | None, release: str | None, coverage: bool) -> int:
    """Print what is wrong; 0 when nothing is."""
    raise NotImplementedError
