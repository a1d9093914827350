"""A text being read from the front, that knows its place and how much work it has been."""

from __future__ import annotations

import re

from ..errors import InputError

# A piece is a word, a blank, a quote, a sign. The longest scripts that launch a server have some ten thousand.
MAX_PIECES = 100_000
CLOSING = "}}"


class Source:
    """Where a reader stands in a text; lines and columns count from 1."""

    def __init__(self, text: str, line: int = 1) -> None:
        self.text, self.at, self.line, self.begin = text.replace("\r\n", "\n"), 0, line, 0
        self.awaited: list[str] = []  # the ends of here-documents whose bodies follow this line
        self.pieces = 0
        self._closing = self._line_end = -1

    @property
    def place(self) -> tuple[int, int]:
        """The line and column of what comes next."""
        return self.line, self.at - self.begin + 1

    def peek(self, ahead: int = 0) -> str:
        """The character that comes next, or one further on; "" behind the end."""
        return self.text[self.at + ahead : self.at + ahead + 1]

    def take(self) -> str:
        """The next character."""
        self._count()
        found = self.text[self.at : self.at + 1]
        self.at += 1
        if found == "\n":
            self.line, self.begin = self.line + 1, self.at
        return found

    def run(self, pattern: re.Pattern[str]) -> str:
        """The text that a pattern takes from here on, without the end of a line in it; "" when it takes nothing."""
        self._count()
        found = pattern.match(self.text, self.at)
        if found is None:
            return ""
        self.at = found.end()
        return found[0]

    def until(self, end: str) -> str | None:
        """The text before the next ``end``, which is taken too; None when there is none."""
        self._count()
        stop = self.text.find(end, self.at)
        if stop < 0:
            return None
        found = self.text[self.at : stop]
        self.at = stop + len(end)
        breaks = found.count("\n")
        if breaks:
            self.line, self.begin = self.line + breaks, stop - len(found) + found.rfind("\n") + 1
        return found

    def template_end(self) -> int | None:
        """The place behind the next ``}}`` of this line; None when the line has none."""
        if self._closing < self.at:
            self._closing = self._found(CLOSING)
        if self._line_end < self.at:
            self._line_end = self._found("\n")
        return self._closing + len(CLOSING) if self._closing < self._line_end else None

    def _found(self, text: str) -> int:
        place = self.text.find(text, self.at)
        return place if place >= 0 else len(self.text) + (text == "\n")

    def _count(self) -> None:
        self.pieces += 1
        if self.pieces > MAX_PIECES:
            raise InputError(f"line {self.line}: more than {MAX_PIECES} words and signs, which no launch has")
