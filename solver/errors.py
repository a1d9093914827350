"""What can be wrong with a question; "no configuration exists" is an answer and not among these."""

from __future__ import annotations


class InputError(Exception):
    """The question cannot be asked as it stands: what is wrong, where, what to do, and the nearest names."""

    def __init__(
        self, message: str, where: str | None = None, hint: str | None = None, near: tuple[str, ...] = ()
    ) -> None:
        self.message = message
        self.where = where
        self.hint = hint
        self.near = near
        super().__init__(message)


class TooLarge(Exception):
    """A search met its limit before it was complete."""


class Disagreement(Exception):
    """Two readings of the same command differ: a fault of this program or its knowledge, never of the asker."""
