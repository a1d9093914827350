"""Rule files -> the rules of one release."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast, get_args

from .errors import ExpressionError, Fault
from .expression import parse
from .read import Listed, Mapped
from .release import Span, release_key
from .schema import KINDS, STAGES, Case, Example, Kind, Rule, Source, Stage
from .steps import StepTree
from .tree import Const, Node

_VARIED = {
    "kind",
    "stage",
    "step",
    "title",
    "reason",
    "fix",
    "when",
    "require",
    "set",
    "cases",
    "at",
    "accident",
    "after",
}
_RULE_KEYS = _VARIED | {"id", "revisions", "about"}
_REVISION_KEYS = _VARIED | {"since", "until", "sources", "examples", "note"}


class RuleReader:
    """Reads rule files for one release; faults of all files gather in ``faults``."""

    def __init__(self, release: str, named: Mapping[str, Node], steps: StepTree, faults: list[Fault]) -> None:
        self.release = release
        self.named = named
        self.steps = steps
        self.faults = faults
        self.rules: list[Rule] = []
        self._seen: dict[str, str] = {}
        self._file = ""

    def read(self, document: Mapped, file: str) -> None:
        """Add the rules of one file that stand in this release."""
        self._file = file
        if not isinstance(document, Mapped) or "subject" not in document or "rules" not in document:
            self._fault(1, "a rule file has the keys subject, about and rules")
            return
        for data in document["rules"] or []:
            if not isinstance(data, Mapped) or "id" not in data:
                self._fault(getattr(data, "line", 1), "a rule needs an id")
                continue
            self._rule(data, str(document["subject"]))

    def _fault(self, line: int, message: str) -> None:
        self.faults.append(Fault(self._file, line, message))

    def _rule(self, data: Mapped, subject: str) -> None:
        name = str(data["id"])
        if name in self._seen:
            self._fault(data.line, f"the rule {name} stands in {self._seen[name]} too")
        self._seen[name] = f"{self._file}:{data.line}"
        for key in set(data) - _RULE_KEYS:
            self._fault(data.line_of(key), f"rule {name}: unknown key {key!r}")
        revisions = data.get("revisions") or Listed(data.line)
        spans: list[Span] = []
        for revision in revisions:
            for key in set(revision) - _REVISION_KEYS:
                self._fault(revision.line_of(key), f"rule {name}: unknown key {key!r} in a revision")
            span = self._span(revision)
            if any(span.overlaps(other) for other in spans):
                self._fault(revision.line, f"rule {name}: two revisions hold at the same time")
            spans.append(span)
        if not revisions:
            self._fault(data.line, f"rule {name}: no revisions")
        for revision, span in zip(revisions, spans, strict=True):
            if self.release in span:
                self._build(name, subject, data, revision, span)

    def _span(self, revision: Mapped) -> Span:
        since, until = revision.get("since"), revision.get("until")
        for text in (since, until):
            try:
                if text is not None:
                    release_key(str(text).removeprefix("<="))
            except ValueError as fault:
                self._fault(revision.line, str(fault))
                return Span()
        return Span(since and str(since), until and str(until))

    def _build(self, name: str, subject: str, data: Mapped, revision: Mapped, span: Span) -> None:
        def value(key: str, default: Any = None) -> Any:
            return revision.get(key, data.get(key, default))

        line = revision.line if any(key in revision for key in _VARIED) else data.line
        kind, step = value("kind"), value("step")
        if kind not in KINDS:
            self._fault(data.line, f"rule {name}: kind is one of {', '.join(KINDS)}, not {kind!r}")
            return
        if step not in self.steps.steps:
            self._fault(data.line, f"rule {name}: {step!r} is no step of {self.release}")
            return
        place = self.steps.steps[step]
        stage = value("stage", place.stage)
        if stage not in STAGES:
            self._fault(data.line, f"rule {name}: unknown stage {stage!r}")
        sources = self._sources(name, revision)
        when = self._node(name, value("when"), line)
        require = self._node(name, value("require"), line)
        cases = self._cases(name, value("cases"), value("set"))
        if kind in ("error", "warning", "defect"):
            if require is None or cases:
                self._fault(line, f"rule {name}: kind {kind} has `require` and writes nothing")
                return
        elif require is not None or not cases:
            self._fault(line, f"rule {name}: kind {kind} has `set` or `cases`, and no `require`")
            return
        own = next((source for source in sources if source.release == self.release), None)
        at = value("at") or (own.line if own else sources[0].line if sources else 0)
        if own is not None and own.file == place.file and not place.start <= own.line <= place.end:
            self._fault(line, f"rule {name}: line {own.line} lies outside step {step} ({place.start}-{place.end})")
        examples = revision.get("examples") or Mapped(line)
        self.rules.append(
            Rule(
                id=name,
                subject=subject,
                kind=cast(Kind, kind),
                stage=cast(Stage, stage),
                step=step,
                title=str(value("title", name.replace("-", " "))),
                reason=str(value("reason", "")),
                fix=str(value("fix", "")),
                when=when,
                require=require,
                cases=cases,
                span=span,
                sources=sources,
                file=self._file,
                line=data.line,
                at=int(at),
                accident=bool(value("accident", False)),
                after_measures=value("after") == "measures",
                violates=self._examples(examples.get("violates")),
                satisfies=self._examples(examples.get("satisfies")),
                note=str(revision.get("note", "")),
            )
        )

    def _sources(self, name: str, revision: Mapped) -> tuple[Source, ...]:
        sources = []
        for entry in revision.get("sources") or []:
            if not isinstance(entry, Mapped) or not {"release", "file", "line"} <= set(entry):
                self._fault(getattr(entry, "line", revision.line), f"rule {name}: a source has release, file, line")
                continue
            sources.append(
                Source(str(entry["release"]), str(entry["file"]), int(entry["line"]), str(entry.get("anchor", "")))
            )
        return tuple(sources)

    def _node(self, name: str, text: object, line: int) -> Node | None:
        if text is None:
            return None
        if isinstance(text, bool):
            return Const(text)
        try:
            return parse(str(text), self.named)
        except ExpressionError as fault:
            self._fault(line, f"rule {name}: {fault}")
            return None

    def _cases(self, name: str, cases: Any, writes: Any) -> tuple[Case, ...]:
        if cases is None:
            return (Case(None, self._writes(name, writes)),) if writes else ()
        found = []
        for case in cases:
            for key in set(case) - {"when", "set", "fill"}:
                self._fault(case.line_of(key), f"rule {name}: unknown key {key!r} in a case")
            found.append(
                Case(
                    self._node(name, case.get("when"), case.line), self._writes(name, case.get("set", case.get("fill")))
                )
            )
        return tuple(found)

    def _writes(self, name: str, data: Mapped | None) -> tuple[tuple[str, Node], ...]:
        writes = []
        for target, value in (data or {}).items():
            line = data.line_of(target) if data is not None else 0
            node = (
                self._node(name, value[1:], line)
                if isinstance(value, str) and value.startswith("=")
                else _literal(value)
            )
            if node is not None:
                writes.append((target, node))
        return tuple(writes)

    @staticmethod
    def _examples(data: Any) -> tuple[Example, ...]:
        return tuple(
            Example(
                str(item["model"]),
                str(item["gpu"]),
                str(item.get("args", "")),
                tuple(sorted((str(name), str(text)) for name, text in (item.get("env") or {}).items())),
                dict(item.get("verdicts") or {}),
            )
            for item in data or []
        )


def _literal(value: Any) -> Node:
    return Const(tuple(value) if isinstance(value, list) else value)


assert set(get_args(Kind)) == set(KINDS)
