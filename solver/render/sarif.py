"""Checked files -> SARIF 2.1.0, GitHub annotations, JUnit."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from xml.sax.saxutils import escape, quoteattr

from ..file_report import FileReport, Spot
from .machine import as_json
from .problems import Problem, problems, title

_SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
_GITHUB = {"error": "error", "warning": "warning", "note": "notice"}


def sarif(files: Sequence[FileReport], version: str) -> str:
    """A SARIF log with one run; the same bytes for the same answer."""
    found = problems(files)
    rules = {one.rule: one for one in found}
    order = {rule: place for place, rule in enumerate(sorted(rules))}
    log = {
        "$schema": _SCHEMA,
        "version": "2.1.0",
        "runs": [
            {
                "tool": {
                    "driver": {
                        "name": "sglang-preflight",
                        "version": version,
                        "rules": [_rule(rules[rule]) for rule in order],
                    }
                },
                "columnKind": "unicodeCodePoints",
                "artifacts": [{"location": {"uri": _uri(one.file)}} for one in files],
                "results": [_result(one, order[one.rule]) for one in found],
            }
        ],
    }
    return as_json(log)


def _rule(one: Problem) -> dict[str, Any]:
    rule: dict[str, Any] = {"id": one.rule, "defaultConfiguration": {"level": one.level}}
    if one.cited:
        rule["fullDescription"] = {"text": one.cited}
    if one.fix:
        rule["help"] = {"text": one.fix}
    return rule


def _result(one: Problem, place: int) -> dict[str, Any]:
    message = one.message + (f" Do: {one.fix}" if one.fix else "")
    result: dict[str, Any] = {
        "ruleId": one.rule,
        "ruleIndex": place,
        "level": one.level,
        "message": {"text": message},
        "locations": [_location(one.spots[0], one.launch)],
    }
    if len(one.spots) > 1:
        result["relatedLocations"] = [_location(spot, "") for spot in one.spots[1:]]
    return result


def _location(spot: Spot, name: str) -> dict[str, Any]:
    physical: dict[str, Any] = {"artifactLocation": {"uri": _uri(spot.file)}}
    if spot.line > 0:
        physical["region"] = {"startLine": spot.line, "startColumn": max(spot.column, 1)}
    location: dict[str, Any] = {"physicalLocation": physical}
    if name:
        location["logicalLocations"] = [{"name": name}]
    return location


def _uri(file: str) -> str:
    from urllib.parse import quote

    return quote(file.replace("\\", "/")) if file != "-" else "stdin"


def github(files: Sequence[FileReport]) -> str:
    """Workflow commands, one a line, that GitHub shows beside the file."""
    return "".join(_annotation(one) + "\n" for one in problems(files))


def _annotation(one: Problem) -> str:
    spot = one.spots[0]
    keys = [f"file={_property(spot.file)}"]
    if spot.line > 0:
        keys += [f"line={spot.line}", f"col={max(spot.column, 1)}"]
    keys.append(f"title={_property(one.rule)}")
    message = one.message + (f" Do: {one.fix}" if one.fix else "")
    return f"::{_GITHUB[one.level]} {','.join(keys)}::{_data(message)}"


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")


def junit(files: Sequence[FileReport]) -> str:
    """One test case for each launch, and one for each file that its launches fit one another."""
    rows = ['<?xml version="1.0" encoding="UTF-8"?>']
    suites = [(one, _cases(one)) for one in files]
    total = sum(len(cases) for _, cases in suites)
    failed = sum(bool(found) for _, cases in suites for _, found in cases)
    rows.append(f'<testsuites name="sglang-preflight" tests="{total}" failures="{failed}">')
    for report, cases in suites:
        bad = sum(bool(found) for _, found in cases)
        rows.append(f'  <testsuite name={_attribute(report.file)} tests="{len(cases)}" failures="{bad}">')
        for name, found in cases:
            rows.append(f"    <testcase classname={_attribute(report.file)} name={_attribute(name)}>")
            if found:
                message = _attribute(found[0].message)
                lines = "\n".join(
                    f"{one.spots[0].file}:{one.spots[0].line}:{one.spots[0].column}: {one.message} [{one.rule}]"
                    for one in found
                )
                rows.append(f"      <failure message={message}>{escape(_printable(lines))}</failure>")
            rows.append("    </testcase>")
        rows.append("  </testsuite>")
    return "\n".join([*rows, "</testsuites>"]) + "\n"


def _cases(report: FileReport) -> list[tuple[str, list[Problem]]]:
    cases = [
        (title(one), [p for p in problems([FileReport(report.file, (one,))]) if p.level == "error"])
        for one in report.launches
    ]
    if len(report.launches) > 1:
        cases.append(
            ("together", [p for p in problems([FileReport(report.file, (), report.pairs)]) if p.level == "error"])
        )
    return cases


def _printable(text: str) -> str:
    return "".join(mark if mark >= " " or mark in "\n\t" else "?" for mark in text)


def _attribute(text: str) -> str:
    return quoteattr(_printable(text))
