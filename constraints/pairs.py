"""The file of rules between two servers -> the sides and rules of one release."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from .errors import ExpressionError, Fault, KnowledgeError
from .expression import parse
from .knowledge import HOME
from .read import Mapped, read_file
from .release import Span
from .schema import KINDS, STAGES, Rule, Source
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
    sides = {str(side): _node(text, data.line_of("sides"), faults) for side, text in data["sides"].items()}
    rules = [rule for one in data["rules"] if (rule := _rule(one, release, faults)) is not None]
    if faults:
        raise KnowledgeError(faults)
    return Pairs({side: node for side, node in sides.items() if node is not None}, tuple(rules))


def _rule(data: Mapped, release: str, faults: list[Fault]) -> Rule | None:
    said: dict[str, object] = dict(data)
    span = Span()
    for revision in data.get("revisions") or [{}]:
        span = Span(revision.get("since"), revision.get("until"))
        if release in span:
            said.update(revision)
            break
    else:
        return None
    kind = next((kind for kind in KINDS if kind == said.get("kind")), None)
    stage = next((stage for stage in STAGES if stage == said.get("stage")), None)
    if kind is None or stage is None or not said.get("id") or not said.get("title"):
        faults.append(Fault(FILE, data.line, "needs id, title, and a kind and a stage of the rule language"))
        return None
    when, require = (_node(said.get(key), data.line, faults) for key in ("when", "require"))
    sources = said.get("sources")
    return Rule(
        id=str(said["id"]),
        subject="pairs",
        kind=kind,
        stage=stage,
        step="",
        title=str(said["title"]),
        reason=str(said.get("reason", "")),
        fix=str(said.get("fix", "")),
        when=when,
        require=require,
        cases=(),
        span=span,
        sources=tuple(Source(**one) for one in (sources if isinstance(sources, list) else [])),
        file=FILE,
        line=data.line,
        at=0,
    )


def _node(text: object, line: int, faults: list[Fault]) -> Node | None:
    if text is None:
        return None
    try:
        return parse(str(text))
    except ExpressionError as fault:
        faults.append(Fault(FILE, line, str(fault)))
        return None
