"""A checked command -> its report: which rules are broken, what they read, what ended otherwise than typed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from constraints.schema import Operation
from constraints.values import Value, same

from .check import VERDICT_STAGES, Checked, Engine
from .operations import reads
from .report import Change, CheckReport, Finding, Severity, Subject, change_by
from .resolution import Resolution

_SEVERITY: dict[str, Severity] = {"error": "error", "defect": "error", "warning": "warning"}


class Readings(dict[str, tuple[str, ...]]):
    """By rule the names that it reads, in order, each found when it is first asked for."""

    def __init__(self, program: Iterable[Operation]) -> None:
        super().__init__()
        self._first: dict[str, Operation] = {}
        for operation in program:
            self._first.setdefault(operation.rule.id, operation)

    def __missing__(self, rule: str) -> tuple[str, ...]:
        self[rule] = found = tuple(sorted(reads(self._first[rule])))
        return found


def report_of(engine: Engine, checked: Checked, subject: Subject, readings: Readings) -> CheckReport:
    """The report of a checked command."""
    resolution, release = checked.resolution, engine.knowledge.release
    findings = findings_of(checked, readings, release)
    typed = dict(getattr(checked.parsed, "typed", {}))
    return CheckReport(
        subject=subject,
        refused=checked.refused,
        holds=resolution is not None and not any(one.severity == "error" for one in findings),
        refusal=checked.refusal,
        notices=tuple(getattr(checked.parsed, "notices", ())),
        findings=findings,
        changes=changes_of(resolution, engine.defaults, typed, release) if resolution else (),
        writes=resolution.writes if resolution else (),
        typed=typed,
        effective=engine.effective(resolution.values) if resolution else {},
        facts=checked.facts,
        spans=getattr(checked.parsed, "spans", {}),
    )


def findings_of(checked: Checked, readings: Readings, release: str) -> tuple[Finding, ...]:
    """Every broken rule in the order of the program; all after the first refusal are hidden behind it.

    A rule that runs twice is told once.
    """
    found: dict[str, Finding] = {}
    first = ""
    resolution = checked.resolution
    for operation in resolution.broken if resolution is not None else ():
        rule = operation.rule
        if rule.id not in found and resolution is not None:
            read = readings[rule.id]
            found[rule.id] = Finding(
                rule=rule,
                source=rule.source(release),
                severity=_SEVERITY[rule.kind],
                hidden=first != "",
                behind=first,
                reads={name: resolution.values.get(name) for name in read if name not in checked.facts},
                facts={name: checked.facts[name] for name in read if name in checked.facts},
                step=operation.step,
            )
        if rule.kind == "error" and rule.stage in VERDICT_STAGES:
            first = rule.id  # mended one after the other, each is met behind the one before
    return tuple(found.values())


def changes_of(
    resolution: Resolution, defaults: Mapping[str, Value], typed: Mapping[str, Value], release: str
) -> tuple[Change, ...]:
    """Every flag whose effective value is not what was typed or declared, with its last writer, by flag."""
    found = []
    last = {write.target: write for write in resolution.writes}
    for flag in sorted(last.keys() & defaults.keys()):
        before = typed.get(flag)
        start = defaults[flag] if before is None else before
        after = resolution.values.get(flag)
        if not same(start, after):
            found.append(change_by(last[flag], start, after, flag in typed, release))
    return tuple(found)
