"""Sources of rules and an unpacked SGLang -> whether each anchor stands, and which refusals of SGLang no rule knows."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Literal

from .errors import Fault, KnowledgeError
from .knowledge import HOME, Knowledge
from .load import read_one
from .read import Mapped
from .schema import Rule, Source

# Where a launch is refused before weights are loaded: what `coverage` looks through.
REFUSING = (
    "srt/server_args.py",
    "srt/arg_groups",
    "srt/layers/attention/attention_registry.py",
    "srt/configs/model_config.py",
    "srt/mem_cache/kv_cache_dtype.py",
)
_KEYS = frozenset(("release", "file", "line", "reason"))


@dataclass(frozen=True, slots=True)
class Anchored:
    """A source held against a tree: it ``stands``, has ``moved`` to ``line``, or has ``vanished``."""

    rule: Rule
    source: Source
    state: Literal["stands", "moved", "vanished"]
    line: int = 0


@dataclass(frozen=True, slots=True, order=True)
class Site:
    """A statement that can refuse: ``raise`` or ``assert`` at ``file:line``, up to line ``end``, in a function."""

    file: str
    line: int
    end: int
    kind: str
    function: str


@dataclass(frozen=True, slots=True)
class Reach:
    """What is known of a site: the rules that cite it, or why it is left out; ``step`` the step it stands in."""

    site: Site
    rules: tuple[str, ...]
    reason: str
    step: str

    @property
    def state(self) -> Literal["covered", "out of scope", "not covered"]:
        """In one word."""
        return "covered" if self.rules else "out of scope" if self.reason else "not covered"


def package_of(tree: Path) -> Path:
    """The ``sglang`` package of a tree: the folder that holds it, or the package itself.

    Raises FileNotFoundError.
    """
    for folder in (tree / "sglang", tree, tree / "python" / "sglang"):
        if (folder / "srt").is_dir():
            return folder
    raise FileNotFoundError(f"{tree} holds no sglang package: no folder srt in it or in its folder sglang")


def anchors(knowledge: Knowledge, package: Path) -> list[Anchored]:
    """Every source of the release, held against its lines in ``package``, in order of file, rule and line."""
    return [
        _held(knowledge, rule, source, package)
        for rule in sorted(knowledge.rules.values(), key=lambda one: (one.file, one.line))
        for source in rule.sources
        if source.release == knowledge.release
    ]


def _held(knowledge: Knowledge, rule: Rule, source: Source, package: Path) -> Anchored:
    lines = _lines(package / source.file)
    if not source.anchor or not lines:
        return Anchored(rule, source, "vanished")
    if source.line <= len(lines) and source.anchor in lines[source.line - 1]:
        return Anchored(rule, source, "stands", source.line)
    step = knowledge.steps.get(rule.step)
    spans = _functions(package / source.file).get(step.function.split(".")[-1], ()) if step else ()
    for span in (*spans, (1, len(lines))):
        found = [number for number in range(span[0], span[1] + 1) if source.anchor in lines[number - 1]]
        if found:
            return Anchored(rule, source, "moved", min(found, key=lambda number: (abs(number - source.line), number)))
    return Anchored(rule, source, "vanished")


def sites(package: Path, where: Iterable[str] = REFUSING) -> list[Site]:
    """Every ``raise`` and ``assert`` of the files and folders, in order."""
    found: list[Site] = []
    for name in where:
        path = package / name
        for file in sorted(path.rglob("*.py")) if path.is_dir() else [path] if path.is_file() else []:
            found.extend(_sites(file, file.relative_to(package).as_posix()))
    return sorted(found)


def coverage(knowledge: Knowledge, package: Path, excused: Mapping[tuple[str, int], str]) -> list[Reach]:
    """What is known of each site; a source on any line of a statement covers it."""
    cited: dict[tuple[str, int], list[str]] = {}
    for rule in knowledge.rules.values():
        for source in rule.sources:
            if source.release == knowledge.release:
                cited.setdefault((source.file, source.line), []).append(rule.id)
    steps = sorted(knowledge.steps.values(), key=lambda step: step.end - step.start)
    found = []
    for site in sites(package):
        lines = range(site.line, site.end + 1)
        rules = sorted({rule for line in lines for rule in cited.get((site.file, line), ())})
        reason = next((excused[(site.file, line)] for line in lines if (site.file, line) in excused), "")
        inside = next((one.id for one in steps if one.file == site.file and one.start <= site.line <= one.end), "")
        found.append(Reach(site, tuple(rules), reason, inside))
    return found


def load_excused(release: str, home: Path = HOME) -> dict[tuple[str, int], str]:
    """The sites of a release that are left out on purpose: (file, line) -> the reason.

    Raises KnowledgeError.
    """
    shown = "sglang/out_of_scope.yaml"
    faults: list[Fault] = []
    document = read_one(home / shown, faults) or Mapped(1)
    excused: dict[tuple[str, int], str] = {}
    for entry in document.get("out_of_scope") or []:
        if not isinstance(entry, Mapped) or set(entry) != _KEYS or not str(entry["reason"]).strip():
            faults.append(Fault(shown, getattr(entry, "line", 1), "an entry has release, file, line and reason"))
        elif str(entry["release"]) == release:
            place = str(entry["file"]), int(entry["line"])
            if place in excused:
                faults.append(Fault(shown, entry.line, f"{place[0]}:{place[1]} stands twice"))
            excused[place] = str(entry["reason"])
    if faults:
        raise KnowledgeError(faults)
    return excused


def stale_excuses(excused: Mapping[tuple[str, int], str], package: Path) -> list[tuple[str, int]]:
    """Places left out on purpose where SGLang has no ``raise`` or ``assert``."""
    known: dict[str, set[int]] = {}
    for file, _ in excused:
        if file not in known:
            known[file] = {line for site in sites(package, (file,)) for line in range(site.line, site.end + 1)}
    return sorted(place for place in excused if place[1] not in known[place[0]])


@cache
def _lines(path: Path) -> tuple[str, ...]:
    return tuple(path.read_text(encoding="utf-8").splitlines()) if path.is_file() else ()


@cache
def _tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


@cache
def _functions(path: Path) -> Mapping[str, tuple[tuple[int, int], ...]]:
    """The line spans of every function of a file by name."""
    spans: dict[str, tuple[tuple[int, int], ...]] = {}
    for node in ast.walk(_tree(path)):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            spans[node.name] = (*spans.get(node.name, ()), (node.lineno, node.end_lineno or node.lineno))
    return spans


def _sites(path: Path, file: str) -> Iterator[Site]:
    def walk(node: ast.AST, function: str) -> Iterator[Site]:
        for child in ast.iter_child_nodes(node):
            if isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
                yield from walk(child, f"{function}.{child.name}" if function else child.name)
                continue
            if isinstance(child, (ast.Raise, ast.Assert)):
                kind = "raise" if isinstance(child, ast.Raise) else "assert"
                yield Site(file, child.lineno, child.end_lineno or child.lineno, kind, function)
            yield from walk(child, function)

    yield from walk(_tree(path), "")
