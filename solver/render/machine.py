"""Answers -> plain data for JSON and YAML; the keys are a promise, numbered by ``schema``."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from constraints.schema import Source
from constraints.values import Value

from ..intake.refusal import Refusal
from ..report import Change, CheckReport, Element, Explanation, Finding, Subject
from . import memory, roofline, why
from .sentence import finding_message, is_writable, refusal_hint, refusal_message, shown
from .visible import visible_json

if TYPE_CHECKING:
    from ..answers import Recommendation

SCHEMA = 1
_ON_A_LINE = json.JSONEncoder(allow_nan=False)


def as_json(data: Any, indent: int | None = 2) -> str:
    """Data as JSON text, the same bytes for the same answer; without ``indent`` one line of plain ASCII."""
    form = _ON_A_LINE if indent is None else json.JSONEncoder(indent=indent, ensure_ascii=False, allow_nan=False)
    try:
        return visible_json(form.encode(data))
    except ValueError:  # few answers hold such a number, and looking for one costs as much as an answer
        return visible_json(form.encode(_finite(data)))


def _finite(data: Any) -> Any:
    """Data with numbers that JSON has no word for (NaN, infinity), or Python none, as texts."""
    if isinstance(data, float) and not math.isfinite(data):
        return str(data)
    if isinstance(data, int) and not is_writable(data):
        return shown(data)
    if isinstance(data, dict):
        return {name: _finite(value) for name, value in data.items()}
    return [_finite(value) for value in data] if isinstance(data, (list, tuple)) else data


def as_yaml(data: Any) -> str:
    """Data as YAML text."""
    import yaml

    return str(yaml.safe_dump(json.loads(as_json(data)), sort_keys=False, allow_unicode=True, width=100))


def schema_text() -> str:
    """The JSON schema of every answer."""
    return (Path(__file__).parent / "answers.schema.json").read_text(encoding="utf-8")


def source(found: Source | None) -> dict[str, Any] | None:
    """A source line."""
    return None if found is None else {"release": found.release, "file": found.file, "line": found.line}


def values(found: Mapping[str, Value]) -> dict[str, Any]:
    """Values by name."""
    return {name: list(value) if isinstance(value, tuple) else value for name, value in found.items()}


def subject(found: Subject) -> dict[str, Any]:
    """What was asked about."""
    return {
        "schema": SCHEMA,
        "release": found.release,
        "asked_release": found.asked_release,
        "model": found.model,
        "gpu": found.gpu,
        "num_gpus": found.num_gpus,
        "nodes": found.nodes,
        "inferred": list(found.inferred),
    }


def finding(found: Finding) -> dict[str, Any]:
    """One finding."""
    return {
        "rule": found.rule.id,
        "kind": found.rule.kind,
        "stage": found.rule.stage,
        "severity": found.severity,
        "message": finding_message(found),
        "fix": " ".join(found.rule.fix.split()),
        "hidden": found.hidden,
        "behind": found.behind or None,
        "source": source(found.source),
        "reads": values(found.reads),
        "facts": values(found.facts),
    }


def refusal(found: Refusal, release: str) -> dict[str, Any]:
    """A refusal while parsing, as a finding."""
    return {
        "rule": None,
        "kind": "error",
        "stage": "parse",
        "severity": "error",
        "message": refusal_message(found, release),
        "fix": refusal_hint(found),
        "hidden": False,
        "source": None,
        "reason": found.reason,
        "option": found.option,
        "word": found.word,
        "line": found.line,
        "column": found.column,
    }


def change(found: Change) -> dict[str, Any]:
    """One changed flag."""
    return {
        "flag": found.flag,
        "from": values({"": found.before})[""],
        "to": values({"": found.after})[""],
        "rule": found.rule.id,
        "source": source(found.source),
    }


def verdict(report: CheckReport) -> dict[str, Any]:
    """What is said of a command first: whether it starts and holds, why not, and what becomes of what was typed."""
    findings = [finding(one) for one in report.findings]
    if report.refusal is not None:
        findings = [refusal(report.refusal, report.subject.release)]
    return {
        "verdict": "refused" if report.refused else "ok",
        "holds": report.holds,
        "findings": findings,
        "rewrites": [change(one) for one in report.changes if one.rewritten],
    }


def check(report: CheckReport, *, facts: bool = False) -> dict[str, Any]:
    """A checked command."""
    data = {
        **subject(report.subject),
        **verdict(report),
        "filled": [change(one) for one in report.changes if not one.rewritten],
        "typed": values(report.typed),
        "effective": values(report.effective),
    }
    if facts:
        data["facts"] = values(dict(sorted(report.facts.items())))
    if report.memory is not None:
        data["memory"] = memory.as_data(report.memory)
    if report.explanation is not None:
        data.update({key: value for key, value in explanation(report.explanation).items() if key not in data})
    return data


def recommendation(found: Recommendation) -> dict[str, Any]:
    """The best configurations."""
    data = {
        **subject(found.subject),
        "profile": found.profile,
        "front": list(found.front),
        "pins": values(found.pins),
        "lacks": list(found.lacks),
        "count": found.count,
        "solutions": [
            {
                "rank": one.rank,
                "score": one.score,
                "terms": dict(one.terms),
                "typed": values(one.typed),
                "effective": values(one.effective),
                "args": list(one.args),
                "memory": None if one.memory is None else memory.as_data(one.memory),
                "why": why.as_data(found, one),
                "bounds": None if one.roofline is None else roofline.as_data(one.roofline, found.workload),
            }
            for one in found.solutions
        ],
    }
    data["siblings"] = [
        {"model": one.model, "num_gpus": one.num_gpus, "args": list(one.args)} for one in found.siblings
    ]
    if found.explanation is not None:
        data["explanation"] = explanation(found.explanation)
    return data


def element(found: Element) -> dict[str, Any]:
    """One element of a conflict."""
    return {
        "kind": found.kind,
        "name": found.name,
        "value": values({"": found.value})[""],
        "rule": found.rule.id if found.rule else None,
        "source": source(found.source),
        "origin": found.origin,
    }


def explanation(found: Explanation) -> dict[str, Any]:
    """Conflicts and ways out."""
    return {
        **subject(found.subject),
        "satisfiable": found.satisfiable,
        "pins": values(found.pins),
        "cores": [{"elements": [element(one) for one in core.elements]} for core in found.cores],
        "complete": found.complete,
        "sampled": found.sampled,
        "fixes": [
            {
                "cost": fix.cost,
                "changes": [
                    {"what": one.what, "from": values({"": one.before})[""], "to": values({"": one.after})[""]}
                    for one in fix.changes
                ],
                "model": fix.model,
                "gpu": fix.gpu,
                "num_gpus": fix.num_gpus,
                "release": fix.release,
                "args": list(fix.args),
                "effective": values(fix.effective),
            }
            for fix in found.fixes
        ],
    }
