"""Checked files -> text of at most 80 columns, each finding with its place."""

from __future__ import annotations

from collections.abc import Sequence

from ..file_report import FileReport, LaunchReport, PairFinding, Spot
from . import text
from .conflict import CUT_SHORT
from .launch import pretty
from .problems import notice_message, title, told_notices, unknown_message
from .sentence import cited, shown, wrapped


def files(reports: Sequence[FileReport]) -> str:
    """Every launch of every file, then what is wrong between them."""
    parts = [part for report in reports for part in _file(report)]
    return "\n".join(parts)


def quiet(reports: Sequence[FileReport]) -> str:
    """One line for each problem, and none where all is well; a search that was cut short is not kept quiet."""
    from .problems import problems

    lines = [
        f"{place(one.spots[0])}: {one.level}: {one.message.partition(': ')[0]} [{one.rule}]"
        for one in problems(reports)
        if one.level != "note"
    ]
    for one in (launch for report in reports for launch in report.launches):
        if one.report.explanation is not None and not one.report.explanation.complete:
            lines.append(f"{place(one.spot)}: note: {CUT_SHORT}")
    return "".join(line + "\n" for line in lines)


def commands(reports: Sequence[FileReport]) -> str:
    """Every launch as a command of its own."""
    found = [pretty([word.text for word in one.launch.arguments]) for report in reports for one in report.launches]
    return "\n\n".join(found) + "\n"


def place(spot: Spot) -> str:
    """A place as editors and terminals follow it."""
    return f"{spot.file}:{spot.line}:{spot.column}" if spot.line else spot.file


def _file(report: FileReport) -> list[str]:
    parts = [_launch(one) for one in report.launches]
    parts += [_pair(one) for one in report.pairs]
    return parts


def _launch(one: LaunchReport) -> str:
    name = f" ({title(one)})" if one.launch.name else ""
    lines = [f"{place(one.spot)}{name}"]
    if one.model:
        lines.append(wrapped(f"Note: {one.model} stands for the path that the file names."))
    if one.foreign:
        words = " ".join(word.text for word in one.foreign)
        lines.append(wrapped(f"Note: its launcher keeps these words for itself: {words}"))
    for notice in told_notices(one.report):
        lines.append(wrapped("Note: " + notice_message(notice)))
    lines += text.check(one.report, _places(one)).rstrip("\n").splitlines()
    if one.unknown:
        lines += ["", "Values that the file does not say:"]
        lines += [
            wrapped(f"{place(unknown.spot)}: {unknown_message(unknown)}", "    ", "  ") for unknown in one.unknown
        ]
    return "\n".join(lines) + "\n"


def _places(one: LaunchReport) -> dict[str, str]:
    found: dict[str, str] = {}
    for finding in one.report.findings:
        said = "at " + ", ".join(place(spot) for spot in one.places(finding))
        if one.unknown and finding.rule.id not in one.certain:
            said += "; with other values of what is unknown it is not so"
        found[finding.rule.id] = said
    refusal = one.report.refusal
    if refusal is not None and refusal.line > 0:
        found[""] = "at " + place(Spot(refusal.origin or one.launch.file, refusal.line, refusal.column))
    return found


def _pair(found: PairFinding) -> str:
    kind = "warning" if found.rule.kind == "warning" else "error"
    sides = " and ".join(title(one) for _, one in found.sides)
    lines = [wrapped(f"{sides}: {kind} while serving: {found.rule.title}", "  ", "")]
    lines.append(wrapped("at " + ", ".join(place(spot) for spot in found.spots), "    ", "  "))
    lines.append(wrapped(f"[{cited(found.rule, found.source)}]", "   ", "  "))
    lines.append(wrapped(found.rule.reason, "  "))
    lines.append(wrapped("here: " + ", ".join(f"{name} = {shown(one)}" for name, one in found.reads.items()), "  "))
    lines.append(wrapped("do: " + found.rule.fix, "  "))
    return "\n".join(lines) + "\n"
