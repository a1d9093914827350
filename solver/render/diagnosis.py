"""A diagnosis -> text of at most 80 columns and plain data: what failed, why here, what helps, what would come next."""

from __future__ import annotations

from typing import Any

from ..answers import Diagnosis, Room
from ..intake.refusal import Refusal
from ..recognise import Match
from ..report import CheckReport
from . import machine, memory
from .conflict import conflicts
from .sentence import refusal_hint, refusal_message, shown, wrapped
from .text import STAGES, finding_lines

_HOW = {
    "line and words": "recognised by its line and its words",
    "words": "recognised by its words; this line was not read in any known release",
    "line": "recognised by its line",
    "foreseen": "the failure does not say so: it is what this configuration breaks in a file of the traceback",
}


def diagnosis(found: Diagnosis) -> str:
    """What a log says happened."""
    lines = [wrapped(f"{found.error or 'The failure'}{f' at {found.place}' if found.place else ''}:")]
    lines.append(wrapped(found.message or "(no message)", "  "))
    if found.told and found.told.removeprefix("v") != found.release:
        lines.append(wrapped(f"Warning: SGLang {found.told} was not read; rules are those of {found.release}."))
    happened = _symptom(found) if found.recognised else _nearest(found)
    for match in found.matches if found.recognised else ():
        happened += _match(match)
    lines += ["", *happened] if happened else []
    if found.refusal is not None:
        lines += _refusal(found.refusal, found.release)
    elif found.recognised:
        lines += _here(found)
    elif found.report is not None:
        lines += _foreseen(found.report)
    return "\n".join(lines) + "\n"


def _refusal(refusal: Refusal, release: str) -> list[str]:
    """A command line that could not be read: the failure itself, or what keeps its configuration from being told."""
    lines = ["", "The command cannot be parsed.", wrapped(refusal_message(refusal, release), "  ")]
    return lines + ([wrapped(refusal_hint(refusal), "  ")] if refusal_hint(refusal) else [])


def _nearest(found: Diagnosis) -> list[str]:
    lines = ["No known refusal of SGLang prints this."]
    if found.matches:
        lines.append("The nearest ones (distance 0: all their words, 1: none), not to be taken for it:")
        lines += [wrapped(f"{one.distance:.2f}  {_title(one)}", "        ", "  ") for one in found.matches]
    return lines


def _symptom(found: Diagnosis) -> list[str]:
    """A failure that no rule foretells: what it means, and when it happened."""
    symptom, moment = found.symptom, found.moment
    if symptom is None:
        return []
    title = f"{symptom.title} {moment.title}" if moment is not None else symptom.title
    lines = [wrapped(f"What happened: {title}", "  ", "")]
    source = next((one for one in symptom.sources if one.release == found.release), None)
    cited = f", SGLang {source.release} {source.file}:{source.line}" if source is not None else ""
    lines.append(wrapped(f"[{symptom.id}{cited}]", "   ", "  "))
    lines.append(wrapped(symptom.reason, "  "))
    lines.append(wrapped("do: " + (moment.fix if moment is not None else symptom.fix), "  "))
    return lines


def _room(found: Room) -> list[str]:
    """What the configuration needs by the estimate, and what would fit."""
    now, larger = found.now, found.larger
    if now is None:
        return ["  How much memory this model needs is not known: its config does not tell."]
    lines = [wrapped(memory.line(now), "  ")]
    if now.share is not None:
        least, most = now.share
        lines.append(wrapped(f"It fits with mem_fraction_static between {least:.2f} and {most:.2f}.", "  "))
    elif now.fits:
        lines.append(wrapped("By this estimate it fits: look for what else takes memory of these GPUs.", "  "))
    else:
        lines.append("  No mem_fraction_static makes it fit.")
    if larger is not None:
        lines.append(wrapped(f"On {larger.num_gpus} GPUs it fits, with {' '.join(larger.args)}:", "  "))
        lines.append(wrapped(memory.line(larger.memory), "  "))
    return lines


def _title(one: Match) -> str:
    if one.rule is None:
        return f"SGLang {one.release} {one.place}"
    return f"{one.rule.title} [{one.rule.id}, SGLang {one.release} {one.place}]"


def _match(one: Match) -> list[str]:
    if one.rule is None:
        place = f"SGLang {one.release} refuses at {one.place}: a known line, which no rule here explains."
        return [wrapped(place)]
    lines = [wrapped(f"The rule: {one.rule.title}", "  ", "")]
    lines.append(wrapped(f"[{one.rule.id}, SGLang {one.release} {one.place}]", "   ", "  "))
    lines.append(wrapped(f"{_HOW[one.how]}; it is met {STAGES[one.rule.stage]}", "  "))
    if not one.own:
        lines.append(wrapped("Other checks may end in this line too, and the traceback does not show which.", "  "))
    if one.rule.reason:
        lines.append(wrapped(one.rule.reason, "  "))
    if one.rule.fix:
        lines.append(wrapped("do: " + one.rule.fix, "  "))
    return lines


_MISSING = {
    "configuration": 'the launch command (--args "FLAGS"), or the server_args line of the log',
    "gpu": "the GPU (--gpu 8xB200)",
    "model": "the model (--model)",
}


def _here(found: Diagnosis) -> list[str]:
    if found.missing:
        lines = [
            "",
            wrapped(
                "What is missing to look into this configuration: "
                + ", ".join(_MISSING[one] for one in found.missing)
                + "."
            ),
        ]
        return lines + ([wrapped(found.fault, "  ")] if found.fault else [])
    report = found.report
    if report is None:
        return []
    subject = report.subject
    source = "its command" if found.origin == "command" else "the values it prints"
    lines = [
        "",
        wrapped(f"In this configuration ({subject.model} on {subject.num_gpus}x{subject.gpu}, from {source}):"),
    ]
    if found.symptom is not None:
        lines += _room(found.room) if found.room is not None else []
        if report.explanation is not None:
            lines += conflicts(report.explanation)
        return lines
    if found.finding is None:
        lines.append(
            wrapped(
                "the rule is not broken by what was read from the log: the machine or its software is another one, or "
                "the log shows only part of the command.",
                "  ",
            )
        )
        return lines + _foreseen(report)
    read = {**found.finding.reads, **found.finding.facts}
    said = [
        f"{name} = {shown(value)}" for name, value in read.items() if "." not in name or name[:4] in ("mode", "gpu.")
    ]
    lines.append(wrapped(", ".join(said[:8]) or "nothing it reads can be shown", "  "))
    if found.following:
        lines += ["", "Once that is mended, this would have failed next:"]
        for one in found.following:
            lines += finding_lines(one, short=True)
    if report.explanation is not None:
        lines += conflicts(report.explanation)
    return lines


def _foreseen(report: CheckReport) -> list[str]:
    """What fails with this configuration, whatever it was that failed in the log."""
    errors = [one for one in report.findings if one.severity == "error"]
    if not errors:
        return []
    lines = ["", "What is foreseen for this configuration:"]
    for one in errors:
        lines += finding_lines(one, short=True)
    return lines + (conflicts(report.explanation) if report.explanation is not None else [])


def _room_data(found: Room) -> dict[str, Any]:
    larger = found.larger
    return {
        "now": memory.as_data(found.now) if found.now is not None else None,
        "fits_on": None if larger is None else {"num_gpus": larger.num_gpus, "args": list(larger.args)},
    }


def data(found: Diagnosis) -> dict[str, Any]:
    """The diagnosis as plain data."""
    return {
        "schema": machine.SCHEMA,
        "recognised": found.recognised,
        "error": found.error,
        "message": found.message,
        "where": found.place,
        "release": found.release,
        "asked_release": found.told,
        "rule": next((one.rule.id for one in found.matches if one.rule is not None and found.recognised), None),
        "matches": [
            {
                "rule": one.rule.id if one.rule is not None else None,
                "release": one.release,
                "where": one.place,
                "how": one.how,
                "distance": one.distance,
            }
            for one in found.matches
        ],
        "configuration": {"from": found.origin, "args": list(found.args), "missing": list(found.missing)},
        "refusal": machine.refusal(found.refusal, found.release) if found.refusal is not None else None,
        "symptom": found.symptom.id if found.symptom is not None else None,
        "moment": found.moment.title if found.moment is not None else None,
        "memory": _room_data(found.room) if found.room is not None else None,
        "broken_here": found.finding is not None,
        "next": [machine.finding(one) for one in found.following],
        "check": machine.check(found.report) if found.report is not None else None,
    }
