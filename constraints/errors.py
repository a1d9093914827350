"""Faults of the knowledge: every fault of one load, each with its file and line."""

from __future__ import annotations

from typing import NamedTuple


class Fault(NamedTuple):
    """One thing that is wrong in one place of a knowledge file."""

    file: str
    line: int
    message: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {self.message}"


class KnowledgeError(Exception):
    """The knowledge cannot be used; ``faults`` holds every reason, not the first alone."""

    def __init__(self, faults: list[Fault]) -> None:
        self.faults = sorted(faults)
        super().__init__("\n".join(str(fault) for fault in self.faults))


class ExpressionError(ValueError):
    """A text is not an expression of the rule language."""
