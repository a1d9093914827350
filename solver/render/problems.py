"""What is wrong in checked files -> one flat list that every form of output for tools shares."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Literal

from ..file_report import ENVIRONMENT, FileReport, LaunchReport, PairFinding, Spot, Unknown
from ..intake.parsed import Notice
from ..report import CheckReport, Finding
from .sentence import cited, cut, finding_message, refusal_hint, refusal_message, shown

Level = Literal["error", "warning", "note"]

_NOTICES = {
    "deprecated": "{option} is deprecated: write {instead}",
    "ignored": "{option} does nothing any more",
    "unread-config": "{option} is not read in this spelling: write {instead}",
}


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing a tool shows at a place: the first of ``spots``, the others belong to it."""

    rule: str
    level: Level
    message: str
    fix: str
    spots: tuple[Spot, ...]
    launch: str
    cited: str = ""


def problems(files: Iterable[FileReport]) -> tuple[Problem, ...]:
    """Every problem, file by file, launch by launch."""
    return tuple(
        one
        for report in files
        for part in (*(_launch(launch) for launch in report.launches), map(_pair, report.pairs))
        for one in part
    )


def title(launch: LaunchReport) -> str:
    """What a launch is called."""
    return launch.launch.name or f"line {launch.spot.line}"


def _launch(one: LaunchReport) -> Iterator[Problem]:
    report = one.report
    name = title(one)
    if report.refusal is not None:
        found = report.refusal
        at = Spot(found.origin or one.launch.file, found.line, found.column) if found.line > 0 else one.spot
        message = refusal_message(found, report.subject.release)
        yield Problem(f"parse-{found.reason}", "error", message, refusal_hint(found), (at,), name)
    for finding in report.findings:
        yield _finding(one, finding)
    for change in report.changes:
        if change.rewritten and change.flag in report.spans:
            spots = one.places_of([change.flag])
            message = f"SGLang changes {change.flag} from {shown(change.before)} to {shown(change.after)}"
            yield Problem(change.rule.id, "note", message, "", spots, name, cited(change.rule, change.source))
    for notice in told_notices(report):
        at = Spot(one.launch.file, notice.line, notice.column) if notice.line > 0 else one.spot
        message = notice_message(notice)
        yield Problem(f"option-{notice.code}", "warning", message, "", (at,), name)
    for unknown in one.unknown:
        if unknown.fails or unknown.chosen or not unknown.flag or unknown.flag.startswith(ENVIRONMENT):
            yield Problem("value-unknown", "note", unknown_message(unknown), "", (unknown.spot,), name)


def notice_message(notice: Notice) -> str:
    """What to know of an option, as it was written."""
    instead = notice.instead.removeprefix("--") if notice.key else notice.instead
    return _NOTICES[notice.code].format(option=notice.key or notice.option, instead=instead)


def told_notices(report: CheckReport) -> tuple[Notice, ...]:
    """What to know of options; abbreviations are how everybody writes some of them."""
    return tuple(notice for notice in report.notices if notice.code != "abbreviated")


def _finding(one: LaunchReport, finding: Finding) -> Problem:
    level: Level = "error" if finding.severity == "error" else "warning"
    message = finding_message(finding)
    if one.unknown and finding.rule.id not in one.certain:
        message += " (depends on values that the file does not say)"
    for name in finding.facts:
        if name.startswith("env.") and name.removeprefix("env.") in one.launch.env:
            message += f" (depends on {name.removeprefix('env.')}, which the file sets)"
    places = one.places(finding)
    return Problem(
        finding.rule.id,
        level,
        message,
        " ".join(finding.rule.fix.split()),
        places,
        title(one),
        cited(finding.rule, finding.source),
    )


def _pair(found: PairFinding) -> Problem:
    sides = " and ".join(f"{side} ({title(one)})" for side, one in found.sides)
    values = ", ".join(f"{name} = {shown(value)}" for name, value in found.reads.items())
    return Problem(
        found.rule.id,
        "error" if found.rule.kind in ("error", "defect") else "warning",
        f"{found.rule.title}; here {values}. {' '.join(found.rule.reason.split())}",
        " ".join(found.rule.fix.split()),
        found.spots,
        sides,
        cited(found.rule, found.source),
    )


def unknown_message(found: Unknown) -> str:
    """What holds for a value that the file does not say."""
    found = replace(found, text=cut(found.text))
    if found.chosen:
        return _chosen_message(found)
    if not found.flag:
        return f"{found.text} cannot be known: the words it stands for are not checked"
    if found.flag == ENVIRONMENT:
        return f"the variables in {found.text} are not in this file: those that it does not set are taken as not set"
    if found.flag.startswith(ENVIRONMENT):
        return f"{found.option} is {found.text}, which the file does not say: taken as not set"
    if found.stand_in:
        return f"{found.option} {found.text}: not tried, too many are unknown; {found.stand_in} stands for it"
    if not found.works and not found.fails:
        return f"{found.option} {found.text}: the answer does not depend on it"
    if not found.fails:
        return f"{found.option} {found.text}: holds for every value tried"
    fails = ", ".join(shown(value) for value in found.fails)
    if not found.works:
        return f"{found.option} {found.text}: holds for none of the values tried ({fails})"
    works = ", ".join(shown(value) for value in found.works)
    return f"{found.option} {found.text}: holds for {works}; not for {fails}"


def _chosen_message(found: Unknown) -> str:
    """What holds for a value, or words, that a script sets in branches it may not take."""
    rows = ", ".join(str(line) for line in found.chosen)
    subject = f"{found.option} {found.text}".strip()
    said = f"{subject} hangs on whether the script comes to line{'s' if ',' in rows else ''} {rows}"
    if not found.fails:
        return f"{said}; what may be set there was tried, and the answer stays the same"
    fails = " or ".join(shown(value) or "nothing" for value in found.fails)
    if not found.works:
        return f"{said}; holds for none of {fails}"
    works = " or ".join(shown(value) or "nothing" for value in found.works)
    return f"{said}; holds with {works}, not with {fails}"
