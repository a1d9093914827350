"""A launch in a text and the changes of a fix -> the text with just these changed, comments and layout as they were."""

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from constraints.schema import Flag

from .file_report import LaunchReport
from .intake.tokens import Word
from .place import ASPECTS
from .report import Fix
from .spell import spell


class Edit(NamedTuple):
    """Characters ``start`` to before ``stop`` of a text become ``new``."""

    start: int
    stop: int
    new: str


def mendable(one: LaunchReport) -> Fix | None:
    """The cheapest fix that changes flags alone; None when there is none, or nothing is wrong."""
    found = one.report.explanation
    for fix in found.fixes if found is not None else ():
        if not any(change.what in ASPECTS and not change.option for change in fix.changes):
            return fix
    return None


def edits(text: str, one: LaunchReport, fix: Fix, flags: Mapping[str, Flag]) -> list[Edit]:
    """What a fix changes in the text of the file that launches it."""
    lines = _Lines(text)
    found: list[Edit] = []
    added: list[str] = []
    for change in fix.changes:
        words = _words(one, change.what)
        spelled = list(spell({change.what: change.after}, flags)) if change.after is not None else []
        if words and spelled and len(spelled) == 2 and len(words) == 2 and _value_alone(words):
            found.append(lines.replaced(words[1], _as(words[1], spelled[1], lines)))
        elif words:
            found += lines.removed(words)
            added += spelled
        else:
            added += spelled
    if added:
        found.append(lines.appended(one.launch.arguments, added))
    return found


def applied(text: str, changes: Sequence[Edit]) -> str:
    """The text with its edits made, the last first."""
    for edit in sorted(changes, reverse=True):
        text = text[: edit.start] + edit.new + text[edit.stop :]
    return text


def _words(one: LaunchReport, flag: str) -> list[Word]:
    """The words that type a flag in the launch itself; what a file of --config says stands in that file."""
    place, here = one.report.spans.get(flag), ("", one.launch.file)
    if place is None or place.origin not in here:
        return []
    start = place.start
    if any(other.origin not in here for other in one.report.spans.values()):
        # Places count the settings of that file, which come before the words of the launch.
        at = (place.line, place.column)
        start = next((index for index, word in enumerate(one.words) if (word.line, word.column) == at), len(one.words))
    return list(one.words[start : start + place.end - place.start])


def _value_alone(words: Sequence[Word]) -> bool:
    return words[0].text.startswith("--") and "=" not in words[0].text


def _as(word: Word, text: str, lines: _Lines) -> str:
    """A text quoted as the word was."""
    if word.layout == "words":
        return shlex.quote(text)
    quote = lines.before(word)
    return text if quote not in ("'", '"') else (json.dumps(text)[1:-1] if quote == '"' else text.replace("'", "''"))


class _Lines:
    """A text by lines and columns."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.starts = [0]
        for row in text.splitlines(keepends=True):
            self.starts.append(self.starts[-1] + len(row))

    def at(self, line: int, column: int) -> int:
        return self.starts[line - 1] + column - 1

    def before(self, word: Word) -> str:
        at = self.at(word.line, word.column)
        return self.text[at - 1 : at]

    def begin(self, word: Word) -> int:
        """Where a word begins, with its quote where YAML gave it one."""
        at = self.at(word.line, word.column)
        return at - 1 if word.layout != "words" and self.text[at - 1 : at] in ("'", '"') else at

    def replaced(self, word: Word, new: str) -> Edit:
        """The word as another one."""
        start, stop = self.at(word.line, word.column), self.at(*word.stop)
        if word.layout != "words" and self.text[start - 1 : start] in ("'", '"'):
            stop -= 1
        return Edit(start, stop, new)

    def removed(self, words: Sequence[Word]) -> list[Edit]:
        """The words gone, with the line or comma that was theirs alone."""
        if words[0].layout == "entry":
            return [self._line(words[0])]
        if words[0].layout == "block":
            return [self._line(word) for word in words]
        start, stop = self.begin(words[0]), self.at(*words[-1].stop)
        if words[0].layout == "flow":
            while self.text[stop : stop + 1] in (",", " "):
                stop += 1
            if self.text[stop : stop + 1] == "]":  # the last item: the comma before it goes
                while start and self.text[start - 1] in (",", " "):
                    start -= 1
            return [Edit(start, stop, "")]
        return [self._spaces(start, stop)]

    def _line(self, word: Word) -> Edit:
        last = max(word.line, word.stop[0] - (word.stop[1] == 1))
        return Edit(self.starts[word.line - 1], self.starts[last], "")

    def _spaces(self, start: int, stop: int) -> Edit:
        """Words of a shell text with the blank before them; a line left with nothing but its continuation goes too."""
        row = self.text.rfind("\n", 0, start) + 1
        end = self.text.find("\n", stop)
        end = len(self.text) if end < 0 else end
        rest = self.text[stop:end].strip()
        if not self.text[row:start].strip() and rest in ("", "\\"):
            if rest == "\\" or row == 0:
                return Edit(row, min(end + 1, len(self.text)), "")
            # The last line of a command: the continuation that led to it goes as well.
            head = self.text[:row].rstrip()
            if head.endswith("\\"):
                return Edit(len(head[:-1].rstrip()), end, "")
            return Edit(row, min(end + 1, len(self.text)), "")
        if not self.text[row:start].strip():  # the first of its line: what it is indented by stays, YAML reads it
            while self.text[stop : stop + 1] in (" ", "\t"):
                stop += 1
            return Edit(start, stop, "")
        while start and self.text[start - 1] in (" ", "\t"):
            start -= 1
        return Edit(start, stop, "")

    def appended(self, words: Sequence[Word], new: Sequence[str]) -> Edit:
        """New words behind the last ones, laid out as these are."""
        last = words[-1]
        stop = self.at(*last.stop)
        if last.layout == "flow":
            return Edit(stop, stop, "".join(f", {json.dumps(word)}" for word in new))
        if last.layout == "words":
            return Edit(stop, stop, " " + " ".join(shlex.quote(word) for word in new))
        row = self.text[self.starts[last.line - 1] : self.at(last.line, last.column)]
        indent = row[: len(row) - len(row.lstrip())]
        if last.layout == "entry":
            return self._entries(words, new)
        end = self.starts[min(last.stop[0], len(self.starts) - 1)]
        lead = "" if self.text[end - 1 : end] == "\n" else "\n"
        return Edit(end, end, lead + "".join(f"{indent}- {json.dumps(word)}\n" for word in new))

    def _entries(self, words: Sequence[Word], new: Sequence[str]) -> Edit:
        end = self.starts[min(words[-1].stop[0], len(self.starts) - 1)]
        lead = "" if self.text[end - 1 : end] == "\n" else "\n"
        rows: list[str] = []
        for word in new:
            if word.startswith("--"):
                rows.append(f"{word[2:]}: true")
            else:
                rows[-1] = rows[-1].removesuffix("true") + word
        return Edit(end, end, lead + "".join(row + "\n" for row in rows))
