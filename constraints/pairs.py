"""The file of rules between two servers -> the sides and rules of one release."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from .errors import ExpressionError, Fault, KnowledgeError
from .expression import parse
from .knowledge import HOME
from .read import Mapped, read_file
from .rules import RuleReader
from .schema import Rule
from .steps import StepTree
from .tree import Node

FILE = "sglang/pairs.yaml"


class Pairs(NamedTuple):
    """``sides`` in order: the test of what SGLang makes of a launch; ``rules`` read names of both."""

    sides: Mapping[str, Node]
    rules: tuple[Rule, ...]


def load_pairs(release: str) -> Pairs:
    """The rules between servers of one release.

    Raises KnowledgeError.
    """
    data = read_file(HOME / FILE, FILE)
    faults: list[Fault] = []
    sides = _sides(data["sides"], faults)
    reader = RuleReader(release, {}, StepTree(data, FILE, {}, faults), faults)
    reader.read(data, FILE)
    if faults:
        raise KnowledgeError(faults)
    return Pairs(sides, tuple(reader.rules))


def _sides(data: Mapped, faults: list[Fault]) -> dict[str, Node]:
    found = {}
    for side, text in data.items():
        try:
            found[str(side)] = parse(str(text))
        except ExpressionError as fault:
            faults.append(Fault(FILE, data.line_of(side), str(fault)))
    return found
