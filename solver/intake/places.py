"""A scalar as it stands in a file and the text that YAML makes of it -> the file's place of every character."""

from __future__ import annotations

from bisect import bisect_right

from .yamltree import Node

_QUOTES = ("'", '"')
_ESCAPE = "\\"


class Places:
    """Finds the place in the file of a place in a scalar's text."""

    def __init__(self, lines: list[str], node: Node) -> None:
        self.places = _aligned(lines, node)
        self.starts = [0]
        for at, mark in enumerate(node.text):
            if mark == "\n":
                self.starts.append(at + 1)

    def of(self, line: int, column: int) -> tuple[int, int]:
        """The place in the file of a line and column of the text, both counted from 1."""
        at = min(self.starts[min(line, len(self.starts)) - 1] + column - 1, len(self.places) - 1)
        return self.places[at]

    def line_of(self, at: int) -> tuple[int, int]:
        """The line and column of a place in the text."""
        line = bisect_right(self.starts, at)
        return line, at - self.starts[line - 1] + 1


def start_of(node: Node) -> tuple[int, int]:
    """Where the text of a one-line scalar begins: behind its quote."""
    return node.line, node.column + (node.style in _QUOTES)


def _aligned(lines: list[str], node: Node) -> list[tuple[int, int]]:
    """A place for each character of the scalar's text, and one behind the last.

    Both texts are walked together. Blank characters may differ (folding, indentation); every other one stands in the
    file as it is, or behind a backslash, or as a doubled quote.
    """
    line, column = node.line - 1, node.column - 1
    if node.style in ("|", ">"):
        line, column = line + 1, 0
    elif node.style in _QUOTES:
        column += 1
    found: list[tuple[int, int]] = []
    for mark in node.text:
        if not mark.isspace():
            line, column = _reach(lines, line, column, mark, node.stop[0])
        found.append((line + 1, column + 1))
        row = lines[line] if line < len(lines) else ""
        if column < len(row) and (not mark.isspace() or row[column].isspace()):
            column += 1
        elif mark.isspace() and column >= len(row) and line + 1 < node.stop[0]:
            line, column = line + 1, 0
    return [*found, (line + 1, column + 1)]


def _reach(lines: list[str], line: int, column: int, mark: str, last: int) -> tuple[int, int]:
    """The next place of ``mark``; where it is written in another way, the place reached stays."""
    at, here = line, column
    while at < min(last, len(lines)):
        row = lines[at]
        while here < len(row) and (row[here].isspace() or row[here] == _ESCAPE != mark):
            if row[here] == mark:
                return at, here
            here += 1
        if here < len(row):
            return (at, here) if row[here] == mark else (line, column)
        at, here = at + 1, 0
    return line, column
