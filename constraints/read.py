"""YAML text -> plain data that remembers its lines; the only file that reads ``yaml``.

YAML is tamed: ``yes/no/on/off`` are words, dates are words, a key twice is a fault, anchors and tags are refused.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import yaml

from .errors import Fault, KnowledgeError
from .plainly import plainly

MAX_FILE, MAX_VALUES = 4_000_000, 100_000

try:
    from yaml import CSafeLoader as _SafeLoader
except ImportError:  # a PyYAML without libyaml: the same answers, ten times slower
    from yaml import SafeLoader as _SafeLoader  # type: ignore[assignment]

_INT = re.compile(r"[-+]?\d+", re.ASCII)
_FLOAT = re.compile(r"[-+]?(\d+\.\d*|\.\d+|\d+(?=[eE]))([eE][-+]?\d+)?", re.ASCII)
_WORDS: dict[str, Any] = {"true": True, "false": False, "null": None, "~": None, "": None}


class _Loader(_SafeLoader):
    """Looks for no meaning in plain words, which YAML does for each: `_scalar` says what they are."""

    def resolve(self, kind: type[yaml.Node], value: Any, implicit: Any) -> str:
        return ""

    def descend_resolver(self, current_node: Any, current_index: Any) -> None:
        pass

    def ascend_resolver(self) -> None:
        pass


class Mapped(dict[str, Any]):
    """A mapping that knows its line and the line of each key."""

    __slots__ = ("line", "lines")

    def __init__(self, line: int) -> None:
        super().__init__()
        self.line = line
        self.lines: dict[str, int] = {}

    def line_of(self, key: str) -> int:
        """The line on which ``key`` stands."""
        return self.lines.get(key, self.line)


class Listed(list[Any]):
    """A list that knows its line and the line of each item."""

    __slots__ = ("line", "lines")

    def __init__(self, line: int) -> None:
        super().__init__()
        self.line = line
        self.lines: list[int] = []


def without_lines(data: Any) -> Any:
    """Data that does not know its lines: what is kept on disk of it is read back without the reader of YAML."""
    if isinstance(data, dict):
        return {key: without_lines(value) for key, value in data.items()}
    return [without_lines(value) for value in data] if isinstance(data, list) else data


def read_text(text: str, file: str) -> Any:
    """The data of one YAML document.

    Raises KnowledgeError with every fault found.
    """
    if "\x00" in text:
        raise KnowledgeError([Fault(file, 1, "holds a NUL byte: not a text file")])
    try:
        node = yaml.compose(text, Loader=_Loader)
    except yaml.YAMLError as fault:
        mark = getattr(fault, "problem_mark", None)
        line = mark.line + 1 if mark else 1
        raise KnowledgeError(
            [Fault(file, line, f"not YAML: {getattr(fault, 'problem', None) or 'a character it cannot hold'}")]
        ) from None
    except RecursionError:
        raise KnowledgeError([Fault(file, 1, "nested too deeply")]) from None
    faults: list[Fault] = []
    data = _plain(node, file, faults, set()) if node is not None else None
    if faults:
        raise KnowledgeError(faults)
    return data


def is_endless(path: Path) -> bool:
    """Whether a file is a device or a pipe, which may never end, or larger than any that is read here.

    Raises OSError.
    """
    if path.is_file():
        return path.stat().st_size > MAX_FILE
    return path.exists() and not path.is_dir()


def read_file(path: Path, shown: str | None = None) -> Any:
    """The data of one YAML file; ``shown`` is its name in faults."""
    file = shown or str(path)
    try:
        if is_endless(path):
            raise KnowledgeError([Fault(file, 1, f"is no plain file of at most {MAX_FILE // 1_000_000} MB")])
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as fault:
        raise KnowledgeError([Fault(file, 1, f"cannot be read: {plainly(fault)}")]) from None
    return read_text(text, file)


def _plain(node: yaml.Node, file: str, faults: list[Fault], seen: set[int]) -> Any:
    line = node.start_mark.line + 1
    if id(node) in seen:
        faults.append(Fault(file, line, "an anchor is used twice: write the value out"))
        return None
    if not isinstance(node, yaml.ScalarNode):
        seen.add(id(node))
    if isinstance(node, yaml.MappingNode):
        mapping = Mapped(line)
        for key_node, value_node in node.value:
            key = str(key_node.value) if isinstance(key_node, yaml.ScalarNode) else None
            at = key_node.start_mark.line + 1
            if key is None:
                faults.append(Fault(file, at, "a key must be a word"))
                continue
            if key in mapping:
                faults.append(Fault(file, at, f"the key {key!r} stands twice"))
            mapping[key] = _plain(value_node, file, faults, seen)
            mapping.lines[key] = at
        return mapping
    if isinstance(node, yaml.SequenceNode):
        items = Listed(line)
        for child in node.value:
            items.append(_plain(child, file, faults, seen))
            items.lines.append(child.start_mark.line + 1)
        return items
    return _scalar(node)


def _scalar(node: yaml.Node) -> Any:
    value = str(node.value)
    if getattr(node, "style", None):  # quoted or block: text as it stands (plain is None, or "" from libyaml)
        return value
    if value.lower() in _WORDS and value in (value.lower(), value.capitalize()):
        return _WORDS[value.lower()]
    if _INT.fullmatch(value) and len(value) < 20:
        return int(value)
    if _FLOAT.fullmatch(value):
        return float(value)
    return value


def read_as_python(text: str, file: str) -> Any:
    """One YAML document as PyYAML's own safe loader reads it, for files that SGLang reads so, not for ours.

    Raises KnowledgeError when it cannot.
    """
    try:
        data = yaml.safe_load(text)
        if _spread(data, {}) > MAX_VALUES:
            raise KnowledgeError([Fault(file, 1, f"its anchors write out to more than {MAX_VALUES:,} values")])
        return data
    except yaml.YAMLError as fault:
        mark = getattr(fault, "problem_mark", None)
        message = f"not YAML: {getattr(fault, 'problem', None) or 'a character it cannot hold'}"
        raise KnowledgeError([Fault(file, mark.line + 1 if mark else 1, message)]) from None
    except (RecursionError, ValueError) as fault:  # such as an impossible date
        raise KnowledgeError([Fault(file, 1, f"not YAML: {plainly(fault)}")]) from None


def _spread(data: Any, known: dict[int, int]) -> int:
    """How many values there are when each anchor's are written out wherever it is used."""
    if not isinstance(data, (dict, list)):
        return 1
    if id(data) not in known:
        known[id(data)] = MAX_VALUES + 1  # one that holds itself never ends
        inner = data.values() if isinstance(data, dict) else data
        known[id(data)] = 1 + sum(_spread(one, known) for one in inner)
    return known[id(data)]
