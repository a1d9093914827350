"""Answers -> text of at most 80 columns for a person at a terminal."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence

from constraints.values import Value

from ..report import Change, CheckReport, Core, Element, Explanation, Finding, Fix, Recommendation, Subject
from .sentence import WIDTH, cited, count, refusal_hint, refusal_message, shown, wrapped

# What a reader of a recommendation wants to see of a configuration first.
_STAGES = {
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
    if subject.asked_release.removeprefix("v") != subject.release:
        lines.append(
            wrapped(
                f"Warning: SGLang {subject.asked_release} was not read; this is what {subject.release}, the nearest "
                "release that was, does."
            )
        )
    lines += [wrapped(f"Note: {note}") for note in subject.inferred]
    return lines


def command(subject: Subject, args: Sequence[str], model: str | None = None) -> str:
    """A launch command, a line for each option."""
    words = ["python -m sglang.launch_server", f"--model-path {shlex.quote(model or subject.model)}"]
    for word in args:
        if word.startswith("--"):
            words.append(shlex.quote(word))
        else:
            words[-1] += " " + shlex.quote(word)
    return " \\\n  ".join(words)


def recommendation(found: Recommendation) -> str:
    """The best configurations, or why there is none."""
    lines = head(found.subject)
    if not found.solutions:
        lines.append("")
        lines.append("No configuration exists.")
        if found.explanation is not None:
            lines += _conflicts(found.explanation)
        return "\n".join(lines) + "\n"
    pinned = ", ".join(f"{flag} = {shown(value)}" for flag, value in found.pins.items())
    lines.append(
        wrapped(
            f"{count(found.count)} configurations hold{f' with {pinned}' if pinned else ''}; the best "
            f"{len(found.solutions)} by profile {found.profile}:"
        )
    )
    for one in found.solutions:
        terms = ", ".join(f"{name} {points:+d}" for name, points in one.terms.items())
        lines += ["", f"{one.rank}. score {one.score}" + (f" ({terms})" if terms else "")]
        lines += ["   " + line for line in command(found.subject, one.args).splitlines()]
        lines += _differences(found.defaults, one.effective, one.typed)
    if found.lacks:
        lines += ["", wrapped("This profile does not know yet: " + "; ".join(found.lacks) + ".")]
    return "\n".join(lines) + "\n"


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


def check(report: CheckReport) -> str:
    """What SGLang does with a command."""
    lines = head(report.subject)
    if report.refusal is not None:
        lines += ["", "Refused while parsing."]
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
    for one in hard:
        lines += _finding(one)
    for one in report.findings:
        if one.severity != "error":
            lines += _finding(one)
    if not report.refused:
        lines += _changes(report.changes)
    if report.explanation is not None:
        lines += [""] if len(report.explanation.cores) == 1 else []
        lines += _conflicts(report.explanation)
    return "\n".join(lines) + "\n"


def _finding(found: Finding) -> list[str]:
    rule = found.rule
    label = {"error": "error", "defect": "known defect", "warning": "warning"}[rule.kind]
    lines = ["", wrapped(f"{label} {_STAGES[rule.stage]}: {rule.title}", "  ", "")]
    lines.append(wrapped(f"[{cited(rule, found.source)}]", "   ", "  "))
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
        lines.append("  (SGLang stops before it gets here.)")
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
        lines += _finding(found)
    return "\n".join(lines) + "\n"


def explanation(found: Explanation) -> str:
    """Why a question has no answer, and the ways out."""
    lines = head(found.subject)
    pinned = ", ".join(f"{flag} = {shown(value)}" for flag, value in found.pins.items()) or "nothing asked for"
    if found.satisfiable:
        lines += ["", wrapped(f"Configurations with {pinned} exist: there is nothing to explain.")]
        return "\n".join(lines) + "\n"
    lines += ["", "No configuration exists."]
    lines += _conflicts(found)
    return "\n".join(lines) + "\n"


def _conflicts(found: Explanation) -> list[str]:
    lines: list[str] = []
    for number, core in enumerate(found.cores, 1):
        if len(found.cores) > 1:
            lines += ["", f"Conflict {number} of {len(found.cores)}"]
        lines += _core(core, found.subject.release)
    if not found.complete:
        lines += ["", "There may be more conflicts: the search was cut short."]
    if found.sampled:
        lines.append("Numbers were tried at the values that rules tell apart.")
    if found.fixes:
        lines += ["", "Any one of these helps:" if len(found.fixes) > 1 else "This helps:"]
        for number, fix in enumerate(found.fixes, 1):
            lines += _fix(number, fix, found)
    else:
        lines += ["", "No change of flags alone helps: another GPU, count, release or checkpoint is needed."]
    return lines


def _core(core: Core, release: str) -> list[str]:
    lines = []
    for place, one in enumerate(core.elements):
        word = "  Because  " if place == 0 else "     and   "
        lines.append(wrapped(_element(one, release), " " * 11, word))
    return lines


def _element(one: Element, release: str) -> str:
    if one.kind == "pin":
        return f"{one.name} = {shown(one.value)} (you asked)" if one.value is not None else f"{one.name} is left unset"
    if one.kind == "fact":
        return f"{one.name} = {shown(one.value)}" + (f" ({one.origin})" if one.origin else "")
    if one.rule is None:
        return one.name
    place = f"{one.source.file}:{one.source.line}" if one.source else "own rule"
    if one.kind == "default":
        wrote = f"{one.name} = {shown(one.value)}" if one.value is not None else f"{one.name}"
        return f"SGLang decides {wrote}: {one.rule.title} [{one.rule.id}, {release} {place}]"
    return f"{one.rule.title} [{one.rule.id}, {release} {place}]"


def _fix(number: int, fix: Fix, found: Explanation) -> list[str]:
    changes = []
    for one in fix.changes:
        if one.after is None:
            changes.append(f"drop {one.what}")
        elif one.before is None:
            changes.append(f"set {one.what} = {shown(one.after)}")
        else:
            changes.append(f"{one.what}: {shown(one.before)} -> {shown(one.after)}")
    lines = [wrapped("; ".join(changes) or "as it is", "     ", f"  {number}  ")]
    lines += ["       " + line for line in command(found.subject, fix.args, fix.model).splitlines()]
    return lines
