"""Checked files -> plain data for JSON and YAML."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..file_report import FileReport, LaunchReport, PairFinding, Spot, Unknown
from . import machine
from .problems import unknown_message


def files(reports: Sequence[FileReport], *, facts: bool = False) -> dict[str, Any]:
    """Every file; ``holds`` when all hold."""
    return {
        "schema": machine.SCHEMA,
        "holds": all(one.holds for one in reports),
        "files": [
            {
                "file": one.file,
                "holds": one.holds,
                "launches": [_launch(launch, facts) for launch in one.launches],
                "pairs": [_pair(pair) for pair in one.pairs],
            }
            for one in reports
        ],
    }


def _spot(spot: Spot) -> dict[str, Any]:
    return {"file": spot.file, "line": spot.line, "column": spot.column}


def _launch(one: LaunchReport, facts: bool) -> dict[str, Any]:
    data = machine.check(one.report, facts=facts)
    for said, finding in zip(data["findings"], one.report.findings, strict=False):
        if one.report.refusal is None:
            said["places"] = [_spot(spot) for spot in one.places(finding)]
            said["depends_on_unknown"] = bool(one.unknown) and finding.rule.id not in one.certain
    return {
        "name": one.launch.name,
        "kind": one.launch.kind,
        "place": _spot(one.spot),
        "image": one.launch.image or None,
        "env": dict(one.launch.env),
        "words": [word.text for word in one.launch.arguments],
        "unknown": [_unknown(unknown) for unknown in one.unknown],
        **data,
    }


def _unknown(found: Unknown) -> dict[str, Any]:
    return {
        "text": found.text,
        "flag": found.flag or None,
        "place": _spot(found.spot),
        "works": list(found.works),
        "fails": list(found.fails),
        "message": unknown_message(found),
    }


def _pair(found: PairFinding) -> dict[str, Any]:
    return {
        "rule": found.rule.id,
        "kind": found.rule.kind,
        "message": found.rule.title,
        "fix": " ".join(found.rule.fix.split()),
        "source": machine.source(found.source),
        "reads": machine.values(found.reads),
        "sides": {side: _spot(spot) for (side, _), spot in zip(found.sides, found.spots, strict=True)},
    }
