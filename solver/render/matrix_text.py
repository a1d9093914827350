"""Matrices -> text of at most 80 columns, and markdown: letters for columns that are alike, numbers for reasons."""

from __future__ import annotations

from collections.abc import Sequence
from string import ascii_uppercase

from ..matrix import Matrix
from .matrix_table import MEANINGS, OWN, STAR, WORDS, Group, Reasons, blocked, groups, notes, place, title
from .sentence import WIDTH, remarks, shown, wrapped


def text(found: Sequence[Matrix]) -> str:
    """Each matrix as a table, then the reasons."""
    reasons, lines = Reasons(), []
    for one in found:
        lines += [*_table(one, reasons), ""]
    return "\n".join([*lines, *_legend(reasons), *_reasons(reasons)]) + "\n"


def _letters(count: int) -> list[str]:
    alphabet = [*ascii_uppercase, *(a + b for a in ascii_uppercase for b in ascii_uppercase)]
    return alphabet[:count]


def _table(found: Matrix, reasons: Reasons) -> list[str]:
    parts = groups(found.columns)
    letters = _letters(len(parts))
    rows = [
        (shown(value), [reasons.mark(group.columns[0].cells[row], group.columns[0]) for group in parts])
        for row, value in enumerate(found.values)
    ]
    head = max(len(name) for name, _ in rows) + 2
    wide = max([4, *(len(mark) for _, marks in rows for mark in marks)]) + 2
    fit = max(1, (WIDTH - head) // wide)
    lines = [wrapped(title(found)), *map(wrapped, _remarks(found)), ""]
    for start in range(0, len(parts), fit):
        chosen = slice(start, start + fit)
        lines.append((" " * head + "".join(f"{letter:<{wide}}" for letter in letters[chosen])).rstrip())
        lines += [
            (f"{name:<{head}}" + "".join(f"{mark:<{wide}}" for mark in marks[chosen])).rstrip() for name, marks in rows
        ]
        lines.append("")
    for letter, group in zip(letters, parts, strict=True):
        lines.append(wrapped(f"{letter:<3}{_members(found, group)}", "     ", "  "))
    for names, hits in blocked(parts):
        lines += ["", wrapped(f"Nothing starts on {names}, whatever the value:")]
        for hit in hits:
            lines.append(wrapped(f"{hit.rule.title} [{place(hit)}]", "    ", "  "))
    return lines


def _members(found: Matrix, group: Group) -> str:
    if found.axis != "gpu":
        return group.members
    parts = []
    for count in dict.fromkeys(column.num_gpus for column in group.columns):
        asked: dict[str, list[str]] = {}
        for column in group.columns:
            if column.num_gpus == count:
                asked.setdefault(column.gpu, []).append(shown(column.value))
        # A machine that was asked for with its number, and without, may be the same.
        names = [name + (f" (for {' and '.join(as_)})" if len(as_) > 1 else "") for name, as_ in asked.items()]
        parts.append(f"{count}x {', '.join(names)}")
    return "; ".join(parts)


def _remarks(found: Matrix) -> list[str]:
    """What to know of its release and checkpoint; where the columns are releases, each says which it is."""
    asked = found.release if found.axis == "release" else found.asked_release or found.release
    return remarks(found.release, asked, found.inferred)


def _legend(reasons: Reasons) -> list[str]:
    used = {"works", *(cell.state for cell in reasons.cells.values())}
    words = [f"  {WORDS[state]:<5} {MEANINGS[state]}" for state in MEANINGS if state in used]
    return [*words, f"  {STAR:<5} {OWN}", ""]


def _reasons(reasons: Reasons) -> list[str]:
    lines = ["Reasons"] if reasons.cells else []
    for note in notes(reasons):
        lines.append(wrapped(note.said, "      ", f"  {note.number:>2}  "))
        if note.place:
            lines.append(wrapped(f"[{note.place}]", "        ", "      "))
        if note.todo:
            lines.append(wrapped("do: " + note.todo, "      "))
    return lines


def markdown(found: Sequence[Matrix]) -> str:
    """Each matrix as a table, then the reasons."""
    reasons, lines = Reasons(), []
    for one in found:
        parts = groups(one.columns)
        letters = _letters(len(parts))
        lines += [f"## {title(one)}", ""]
        lines += [line for remark in _remarks(one) for line in (remark, "")]
        lines += [f"| | {' | '.join(letters)} |", "|---" * (len(parts) + 1) + "|"]
        for row, value in enumerate(one.values):
            marks = [reasons.mark(group.columns[0].cells[row], group.columns[0]) for group in parts]
            lines.append(f"| `{shown(value)}` | {' | '.join(marks)} |")
        lines.append("")
        lines += [f"- {letter}: {_members(one, group)}" for letter, group in zip(letters, parts, strict=True)]
        for names, hits in blocked(parts):
            why = "; ".join(f"{hit.rule.title} (`{place(hit)}`)" for hit in hits)
            lines.append(f"- Nothing starts on {names}, whatever the value: {why}")
        lines.append("")
    lines += ["## What the words mean", "", *(f"- {WORDS[state]}: {MEANINGS[state]}" for state in MEANINGS)]
    lines += [f"- \\{STAR}: {OWN}", ""]
    lines += ["## Reasons", "", *_numbered(reasons)]
    return "\n".join(lines) + "\n"


def _numbered(reasons: Reasons) -> list[str]:
    lines = []
    for note in notes(reasons):
        where = f" (`{note.place}`)" if note.place else ""
        todo = f" {note.todo}" if note.todo else ""
        lines.append(f"- **{note.number}** {note.said}{where}.{todo}")
    return lines
