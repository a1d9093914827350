"""Matrices -> what all their forms share: columns that are alike as one, and each reason once, under a number."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from constraints.values import same

from ..answers import Violated
from ..matrix import Cell, Column, Matrix
from .conflict import changes
from .sentence import refusal_message, shown

WORDS = {
    "works": "yes",
    "changed": "->",
    "only with": "with",
    "defect": "bug",
    "refused": "no",
    "absent": "-",
}
MEANINGS = {
    "works": "holds when it is typed alone",
    "changed": "SGLang runs another value instead",
    "only with": "holds only with something typed beside it",
    "defect": "SGLang starts it; it crashes later or computes wrongly",
    "refused": "SGLang refuses it, or fails while loading the model",
    "absent": "not a value of this release",
}
# Reasons that are told for one cell: what comes behind the first is met only once that is mended.
MOST = 1


# What SGLang runs when the flag is left out.
STAR = "*"
OWN = "what SGLang runs when the flag is left out"


@dataclass(frozen=True, slots=True)
class Group:
    """Columns whose cells are all alike."""

    columns: tuple[Column, ...]

    @property
    def title(self) -> str:
        """The first of them, and how many more there are."""
        more = len(self.columns) - 1
        return shown(self.columns[0].value) + (f" +{more}" if more else "")

    @property
    def members(self) -> str:
        """All of them."""
        return ", ".join(shown(column.value) for column in self.columns)


@dataclass(slots=True)
class Reasons:
    """Reasons under numbers, in the order in which they are met."""

    numbers: dict[tuple[str, str, str], int] = field(default_factory=dict)
    cells: dict[int, Cell] = field(default_factory=dict)

    def mark(self, cell: Cell, column: Column) -> str:
        """A cell's word, a star where the value is SGLang's own choice, and the number of its reason."""
        word = WORDS[cell.state] + (STAR if own(cell, column) else "")
        if cell.state in ("works", "absent"):
            return word
        key = sign(cell)
        number = self.numbers.setdefault(key, len(self.numbers) + 1)
        self.cells.setdefault(number, cell)
        return f"{word} {number}"


class Note(NamedTuple):
    """What is told of a number: the reason, the rule and line that say so, what to do; empty where there is none."""

    number: int
    said: str
    place: str
    todo: str


def notes(reasons: Reasons) -> list[Note]:
    """Every reason that was met, by its number."""
    found = []
    for number, cell in reasons.cells.items():
        release = next((hit.source.release for hit in cell.because if hit.source), "of that place")
        first = cell.because[0] if cell.because else None
        todo = first.rule.fix if first is not None and cell.state != "changed" else ""
        found.append(Note(number, said(cell, release), place(first) if first else "", " ".join(todo.split())))
    return found


def sign(cell: Cell) -> tuple[str, str, str]:
    """Equal for cells that say the same."""
    rules = ",".join(f"{hit.rule.id}@{hit.source.release if hit.source else ''}" for hit in cell.because[:MOST])
    more = shown(cell.effective) if cell.state == "changed" else beside(cell)
    return cell.state, rules, more or (refusal_message(cell.refusal, "") if cell.refusal else "")


def groups(columns: Iterable[Column]) -> list[Group]:
    """Columns that are alike as one, in the order of the first of each."""
    found: dict[object, list[Column]] = {}
    for column in columns:
        broken = tuple(hit.rule.id for hit in column.blocked)
        key = (broken, tuple((sign(cell), own(cell, column)) for cell in column.cells))
        found.setdefault(key, []).append(column)
    return [Group(tuple(group)) for group in found.values()]


def own(cell: Cell, column: Column) -> bool:
    """Whether the value is what SGLang runs there when the flag is left out."""
    return cell.value is not None and same(cell.value, column.unset)


def beside(cell: Cell) -> str:
    """What is typed beside the value where it holds only so."""
    return "; ".join(changes(cell.fix)) if cell.fix is not None else ""


def said(cell: Cell, release: str) -> str:
    """What is so, in one sentence."""
    if cell.state == "works":
        return "Holds as it is."
    if cell.state == "absent":
        return f"SGLang {release} has no such value."
    if cell.refusal is not None:
        return refusal_message(cell.refusal, release)
    title = "; ".join(hit.rule.title for hit in cell.because[:MOST])
    if cell.state == "changed":
        return f"SGLang runs {shown(cell.effective)} instead: {title}"
    if cell.state == "only with":
        return f"{beside(cell)}; alone: {title}"
    return title


def place(hit: Violated) -> str:
    """The rule, and the line of SGLang that says so."""
    if hit.source is None:
        return f"{hit.rule.id}, a rule of this tool"
    return f"{hit.rule.id}, SGLang {hit.source.release} {hit.source.file}:{hit.source.line}"


def shown_typed(found: Matrix) -> str:
    """What is typed everywhere."""
    return ", ".join(f"{flag} = {shown(value)}" for flag, value in found.typed.items())


_AXES = {"gpu": "GPU", "num_gpus": "number of GPUs", "release": "release", "model": "checkpoint"}


def title(found: Matrix) -> str:
    """What a matrix is of, and where."""
    where = []
    if found.axis != "model":
        where.append(found.model)
    if found.axis != "gpu":
        counted = {column.num_gpus for column in found.columns}
        where.append(f"{counted.pop()}x{found.gpu}" if len(counted) == 1 else found.gpu)
    if found.axis != "release":
        where.append(f"SGLang {found.release}")
    typed = shown_typed(found)
    return f"{found.option} by {_AXES.get(found.axis, found.axis)}: {', '.join(where)}" + (
        f", {typed}" if typed else ""
    )


def blocked(groups_: Sequence[Group]) -> list[tuple[str, tuple[Violated, ...]]]:
    """Columns in which nothing starts whatever the value, with the rules that say so."""
    found: dict[tuple[str, ...], list[str]] = {}
    rules: dict[tuple[str, ...], tuple[Violated, ...]] = {}
    for group in groups_:
        hits = group.columns[0].blocked
        if hits:
            key = tuple(hit.rule.id for hit in hits)
            found.setdefault(key, []).extend(shown(column.value) for column in group.columns)
            rules[key] = hits
    return [(", ".join(names), rules[key]) for key, names in found.items()]
