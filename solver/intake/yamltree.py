"""YAML text -> trees of nodes with their places, in bounded time and memory.

Built from the reader's events, not its recursion: depth and number of nodes are limited, and an alias shares the node
it names, so that a small file cannot become a large tree.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import yaml

from constraints.plainly import plainly

from ..errors import InputError
from .template import mask, unmask

try:
    from yaml import CSafeLoader as _Loader
except ImportError:  # a PyYAML without libyaml: the same answers, ten times slower
    from yaml import SafeLoader as _Loader  # type: ignore[assignment]

MAX_DEPTH = 100
MAX_NODES = 40_000


@dataclass(slots=True, eq=False)
class Node:
    """A scalar (``text``), a sequence (``items``) or a mapping (``pairs``); places count from 1.

    ``style`` is the scalar's quote or block mark; ``flow`` says that a collection is in brackets.
    """

    kind: str
    line: int
    column: int
    text: str = ""
    style: str = ""
    flow: bool = False
    items: list[Node] = field(default_factory=list)
    pairs: list[tuple[Node, Node]] = field(default_factory=list)
    stop: tuple[int, int] = (0, 0)

    def get(self, *path: str) -> Node | None:
        """What stands under these keys, also by a merged mapping."""
        node: Node | None = self
        for key in path:
            node = node._one(key, set()) if node is not None else None
        return node

    def _one(self, key: str, seen: set[int]) -> Node | None:
        if id(self) in seen:
            return None
        seen.add(id(self))
        for name, value in self.pairs:
            if name.text == key:
                return value
        for name, value in self.pairs:
            if name.text == "<<":
                for part in [value, *value.items]:
                    found = part._one(key, seen)
                    if found is not None:
                        return found
        return None

    def entries(self) -> Iterator[tuple[Node, Node]]:
        """Every key with its value, merged ones first, each mapping once."""
        seen: set[int] = set()

        def visit(node: Node) -> Iterator[tuple[Node, Node]]:
            if id(node) in seen:
                return
            seen.add(id(node))
            for name, value in node.pairs:
                if name.text == "<<":
                    for part in [value, *value.items]:
                        yield from visit(part)
            for name, value in node.pairs:
                if name.text != "<<":
                    yield name, value

        return visit(self)


def read_documents(text: str, name: str) -> list[Node]:
    """The documents of a YAML text.

    Raises InputError with the place of the fault.
    """
    masked, templates = mask(text)
    reader = _Reader(name, templates)
    try:
        for event in yaml.parse(masked, Loader=_Loader):
            reader.take(event)
    except yaml.YAMLError as fault:
        mark = getattr(fault, "problem_mark", None)
        where = f"{name}:{mark.line + 1}:{mark.column + 1}" if mark else name
        raise InputError(
            f"not YAML: {getattr(fault, 'problem', None) or 'a character it cannot hold'}", where
        ) from None
    except (RecursionError, ValueError) as fault:
        raise InputError(f"not YAML: {plainly(fault)}", name) from None
    return reader.documents


class _Reader:
    """Events in, documents out."""

    def __init__(self, name: str, templates: tuple[str, ...]) -> None:
        self.name, self.templates = name, templates
        self.documents: list[Node] = []
        self.open: list[tuple[Node, Node | None]] = []  # a collection, and the key that waits for its value
        self.anchors: dict[str, Node] = {}
        self.count = 0

    def take(self, event: yaml.Event) -> None:
        if isinstance(event, yaml.DocumentStartEvent):
            self.anchors = {}
        elif isinstance(event, yaml.ScalarEvent):
            self._add(self._node(event, "scalar"), event.anchor)
        elif isinstance(event, yaml.AliasEvent):
            if event.anchor not in self.anchors:
                raise self._fault(event, f"the alias {event.anchor!r} names nothing above it")
            self._add(self.anchors[event.anchor], None)
        elif isinstance(event, yaml.MappingStartEvent | yaml.SequenceStartEvent):
            if len(self.open) >= MAX_DEPTH:
                raise self._fault(event, f"nested deeper than {MAX_DEPTH}")
            kind = "mapping" if isinstance(event, yaml.MappingStartEvent) else "sequence"
            node = self._node(event, kind)
            self._add(node, event.anchor)
            self.open.append((node, None))
        elif isinstance(event, yaml.MappingEndEvent | yaml.SequenceEndEvent):
            node, _ = self.open.pop()
            node.stop = _place(event.end_mark)

    def _node(self, event: yaml.Event, kind: str) -> Node:
        self.count += 1
        if self.count > MAX_NODES:
            raise self._fault(event, f"more than {MAX_NODES} values")
        node = Node(kind, *_place(event.start_mark))
        if isinstance(event, yaml.ScalarEvent):
            node.text = unmask(str(event.value), self.templates)
            node.style = event.style or ""
            node.stop = _place(event.end_mark)
        elif isinstance(event, yaml.CollectionStartEvent):
            node.flow = bool(event.flow_style)
        return node

    def _add(self, node: Node, anchor: str | None) -> None:
        if anchor:
            self.anchors[anchor] = node
        if not self.open:
            self.documents.append(node)
            return
        parent, key = self.open[-1]
        if parent.kind == "sequence":
            parent.items.append(node)
        elif key is None:
            self.open[-1] = (parent, node)
        else:
            parent.pairs.append((key, node))
            self.open[-1] = (parent, None)

    def _fault(self, event: yaml.Event, message: str) -> InputError:
        line, column = _place(event.start_mark)
        return InputError(message, f"{self.name}:{line}:{column}")


def _place(mark: Any) -> tuple[int, int]:
    return mark.line + 1, mark.column + 1
