"""Answers -> text of at most 80 columns for a person at a terminal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from constraints.values import Value

from ..report import Change, CheckReport, Explanation, Finding, Subject
from . import memory, roofline, why
from .conflict import command, conflicts
from .sentence import WIDTH, cited, count, refusal_hint, refusal_message, remarks, shown, wrapped

if TYPE_CHECKING:
    from ..answers import Recommendation

# When SGLang notices.
STAGES = {
    "parse": "while parsing",
    "args": "while resolving arguments",
    "backend-init": "at backend creation",
    "model-load": "while loading the model",
    "serving": "while serving",
}


def head(subject: Subject) -> list[str]:
    """The first lines of every answer: what it holds for."""
    machine = f"{subject.num_gpus}x{subject.gpu}" + (f" on each of {subject.nodes} nodes" if subject.nodes > 1 else "")
    lines = [f"{subject.model or 'A command'} on {machine}, SGLang {subject.release}"]
    return [*lines, *map(wrapped, remarks(subject.release, subject.asked_release, subject.inferred))]


def recommendation(found: Recommendation, *, reasons: bool = False) -> str:
    """The best configurations, or why there is none; ``reasons``: with every term, and why this order."""
    lines = head(found.subject)
    if not found.solutions:
        lines.append("")
        lines.append("No configuration exists.")
        if found.explanation is not None:
            lines += conflicts(found.explanation)
        lines += _siblings(found)
        return "\n".join(lines) + "\n"
    pinned = ", ".join(f"{flag} = {shown(value)}" for flag, value in found.pins.items())
    lines.append(
        wrapped(
            f"{count(found.count)} configurations hold{f' with {pinned}' if pinned else ''}; "
            + (
                f"none beats these in one of {', '.join(found.front)} without losing in another:"
                if found.front
                else f"the best {len(found.solutions)} by profile {found.profile}:"
            )
        )
    )
    for one in found.solutions:
        lines += ["", f"{one.rank}. score {one.score}"]
        lines += ["   " + line for line in command(found.subject, one.args).splitlines()]
        lines += _differences(found.defaults, one.effective, one.typed)
        if one.memory is not None:
            lines.append(wrapped(memory.line(one.memory), "   "))
        if one.roofline is not None:
            lines.append(wrapped(roofline.line(one.roofline, found.workload), "   "))
        lines += why.reason(one)
        if reasons:
            lines += why.lines(found, one)
    if reasons:
        lines += why.terms(found)
    lines += _siblings(found)
    if found.subject.nodes > 1:
        nodes = found.subject.nodes
        lines += [
            "",
            wrapped(
                f"Start it on each of {nodes} nodes, with --nnodes {nodes} --dist-init-addr HOST:PORT and"
                f" --node-rank 0 to {nodes - 1} added."
            ),
        ]
    if found.lacks:
        lines += ["", wrapped("This profile does not know yet: " + "; ".join(found.lacks) + ".")]
    return "\n".join(lines) + "\n"


def _siblings(found: Recommendation) -> list[str]:
    """The quantized checkpoints that need fewer GPUs."""
    lines = [""] if found.siblings else []
    for one in found.siblings:
        machine = f"{one.num_gpus} {found.subject.gpu}"
        weights = f"{one.weights.likely / 1024:.0f} GiB of weights on each"
        lines.append(wrapped(f"{one.model} fits on {machine} ({weights}).", "  ", ""))
    return lines


def too_few(fewer: Sequence[int], found: Recommendation) -> str:
    """On how many GPUs nothing holds, before the answer for more."""
    numbers = " or ".join((", ".join(map(str, fewer[:-1])), str(fewer[-1]))) if len(fewer) > 1 else str(fewer[0])
    return wrapped(f"On {numbers} {found.subject.gpu} no configuration holds.") + "\n"


def _differences(
    defaults: Mapping[str, Value], effective: Mapping[str, Value], typed: Mapping[str, Value]
) -> list[str]:
    """What SGLang then runs otherwise than with nothing typed, beside what the command says itself."""
    others = [
        f"{flag} = {shown(value)}"
        for flag, value in effective.items()
        if flag not in typed and shown(value) != shown(defaults.get(flag))
    ]
    return (
        [wrapped("SGLang then also runs " + ", ".join(others[:8]) + (", ..." if len(others) > 8 else ""), "   ")]
        if others
        else []
    )


def check(report: CheckReport, places: Mapping[str, str] | None = None) -> str:
    """What SGLang does with a command; ``places`` says by rule where it stands, by "" where reading stopped."""
    places = places or {}
    lines = head(report.subject)
    if report.refusal is not None:
        lines += ["", "Refused while parsing."]
        of_file = report.refusal
        place = f"at {of_file.origin}:{of_file.line}:{of_file.column}" if of_file.origin and of_file.line else ""
        lines += [wrapped(said, "    ", "  ")] if (said := places.get("") or place) else []
        lines.append(wrapped(refusal_message(report.refusal, report.subject.release), "  "))
        hint = refusal_hint(report.refusal)
        if hint:
            lines.append(wrapped(hint, "  "))
        return "\n".join(lines) + "\n"
    hard = [one for one in report.findings if one.severity == "error"]
    lines.append("")
    if report.refused:
        lines.append("SGLang refuses this command.")
    elif not report.holds:
        lines.append("SGLang starts this command, and it fails later.")
    else:
        lines.append("This command holds.")
    numbers = {one.rule.id: place for place, one in enumerate(hard, 1)} if len(hard) > 1 else {}
    for one in hard:
        lines += finding_lines(one, numbers, place=places.get(one.rule.id) or _in_config(report, one))
    for one in report.findings:
        if one.severity != "error":
            lines += finding_lines(one, place=places.get(one.rule.id) or _in_config(report, one))
    if not report.refused:
        lines += _changes(report.changes)
    if report.memory is not None and report.holds:
        lines += ["", wrapped(memory.line(report.memory))]
    if report.explanation is not None:
        lines += conflicts(report.explanation)
    return "\n".join(lines) + "\n"


def _in_config(report: CheckReport, found: Finding) -> str:
    """Where the file of --config says what a finding reads, for a command that stands in no file itself."""
    spans = (report.spans[name] for name in found.reads if name in report.spans)
    said = [f"{one.origin}:{one.line}:{one.column}" for one in sorted(spans, key=lambda one: one.start) if one.origin]
    return "at " + ", ".join(dict.fromkeys(said)) if said else ""


def finding_lines(
    found: Finding, numbers: Mapping[str, int] | None = None, *, short: bool = False, place: str = ""
) -> list[str]:
    """A finding, under its number where there are several; ``short``: without its reason and values."""
    rule = found.rule
    label = {"error": "error", "defect": "known defect", "warning": "warning"}[rule.kind]
    number = (numbers or {}).get(rule.id)
    lead = f"{number}. " if number else ""
    lines = ["", wrapped(f"{lead}{label} {STAGES[rule.stage]}: {rule.title}", "  ", "")]
    lines += [wrapped(place, "    ", "  ")] if place else []
    lines.append(wrapped(f"[{cited(rule, found.source)}]", "   ", "  "))
    if short:
        return lines[1:]
    if rule.reason:
        lines.append(wrapped(rule.reason, "  "))
    read = [
        f"{name} = {shown(value)}"
        for name, value in {**found.reads, **found.facts}.items()
        if "." not in name or name.startswith(("model.", "gpu."))
    ]
    if read:
        lines.append(wrapped("here: " + ", ".join(read[:8]), "  "))
    if rule.fix:
        lines.append(wrapped("do: " + rule.fix, "  "))
    if found.hidden:
        first = (numbers or {}).get(found.behind)
        lines.append(f"  (hidden behind {first}: SGLang stops there)" if first else "  (SGLang stops before this.)")
    return lines


def _changes(changes: Sequence[Change]) -> list[str]:
    lines: list[str] = []
    rewritten = [one for one in changes if one.rewritten]
    if rewritten:
        lines += ["", "SGLang changes what you typed:"]
        lines += [
            wrapped(f"{one.flag}: {shown(one.before)} -> {shown(one.after)}  [{one.rule.id}]", "      ", "  ")
            for one in rewritten
        ]
    filled = [f"{one.flag} = {shown(one.after)}" for one in changes if not one.rewritten and one.flag[0] != "_"]
    if filled:
        lines += ["", "SGLang fills what you left open (`preflight resolve` says by which rule):"]
        lines.append(wrapped(", ".join(filled), "  "))
    return lines


def log(report: CheckReport) -> str:
    """The effective configuration, write by write."""
    lines = head(report.subject)
    if report.refusal is not None:
        return check(report)
    lines.append("")
    for one in report.log:
        place = f"{one.source.file}:{one.source.line}" if one.source else "own rule"
        lines.append(wrapped(f"{one.flag}: {shown(one.before)} -> {shown(one.after)}", "    ", "  "))
        lines.append(f"      {one.rule.id}, {place}"[:WIDTH])
    for found in report.findings:
        lines += finding_lines(found)
    return "\n".join(lines) + "\n"


def explanation(found: Explanation) -> str:
    """Why a question has no answer, and the ways out."""
    lines = head(found.subject)
    pinned = ", ".join(f"{flag} = {shown(value)}" for flag, value in found.pins.items()) or "nothing asked for"
    if found.satisfiable:
        said = "This command holds" if found.closed else f"Configurations with {pinned} exist"
        lines += ["", wrapped(f"{said}: there is nothing to explain.")]
        return "\n".join(lines) + "\n"
    lines += ["", "This command does not hold." if found.closed else "No configuration exists."]
    lines += conflicts(found)
    return "\n".join(lines) + "\n"
