"""A survey -> text of at most 80 columns and plain data: where a question holds, and why not elsewhere."""

from __future__ import annotations

import shlex
from typing import Any

from ..answers import Survey, Surveyed
from . import machine
from .sentence import counted, refusal_message, remarks, shown, wrapped

_HEADS = {
    "gpu": "{model} on {gpus} of each kind, SGLang {release}",
    "num_gpus": "{model} on {gpu}, SGLang {release}, by number of GPUs",
    "release": "{model} on {count}x{gpu}, by release of SGLang",
    "model": "Checkpoints of the catalogue on {count}x{gpu}, SGLang {release}",
}


def survey(found: Survey) -> str:
    """Where it works, then why it does not elsewhere, each reason once."""
    subject = found.subject
    lines = [
        wrapped(
            _HEADS[found.aspect].format(
                model=subject.model,
                count=subject.num_gpus,
                gpus=counted(subject.num_gpus, "GPU"),
                gpu=subject.gpu,
                release=subject.release,
            )
        )
    ]
    # By release, each is answered for by itself.
    asked = subject.release if found.aspect == "release" else subject.asked_release
    lines += map(wrapped, remarks(subject.release, asked, subject.inferred))
    pinned = ", ".join(f"{flag} = {shown(value)}" for flag, value in found.pins.items()) or "nothing asked for"
    works = [one for one in found.answers if one.works]
    lines += ["", wrapped(f"{pinned} works for {len(works)} of {len(found.answers)}" + (":" if works else "."))]
    for extra, group in _alike(works).items():
        lines.append(wrapped(", ".join(group) + (f"  (with {extra})" if extra else ""), "    ", "  "))
    for reason, values in _reasons(found.answers).items():
        lines += ["", wrapped("Not for " + ", ".join(values) + ":"), *reason]
    undecided = [shown(one.value) for one in found.answers if one.works is None]
    if undecided:
        lines += ["", wrapped("Not decided within the limits of the search: " + ", ".join(undecided) + ".")]
    return "\n".join(lines) + "\n"


def _alike(works: list[Surveyed]) -> dict[str, list[str]]:
    """The values that work, by the flags that have to be typed besides what was asked for."""
    groups: dict[str, list[str]] = {}
    for one in works:
        added = "" if one.command is None else _added(one)
        groups.setdefault(added, []).append(shown(one.value))
    return groups


def _added(one: Surveyed) -> str:
    if one.command is None:
        return ""
    return ", ".join(
        f"{change.option or change.what} {shown(change.after)}" for change in one.command.changes if change.option
    )


def _reasons(answers: tuple[Surveyed, ...]) -> dict[tuple[str, ...], list[str]]:
    groups: dict[tuple[str, ...], list[str]] = {}
    for one in answers:
        if one.works is False:
            groups.setdefault(tuple(_because(one)), []).append(shown(one.value))
    return groups


def _because(one: Surveyed) -> list[str]:
    if one.refusal is not None:
        return [wrapped(refusal_message(one.refusal, "of that release"), "    ", "  ")]
    if not one.because:
        return ["  no flags of that release say this"]
    lines = []
    for place, hit in enumerate(one.because):
        where = f", SGLang {hit.source.release} {hit.source.file}:{hit.source.line}" if hit.source else ""
        word = "and then " if place else ""
        lines.append(wrapped(f"{word}{hit.rule.title} [{hit.rule.id}{where}]", "    ", "  "))
    if one.because[0].rule.fix:
        lines.append(wrapped("do: " + one.because[0].rule.fix, "    ", "  "))
    return lines


def command(found: Survey) -> str:
    """The command for each value that works."""
    return "\n".join(
        f"{shown(one.value)}: {shlex.join(one.command.args)}" for one in found.answers if one.command is not None
    )


def data(found: Survey) -> dict[str, Any]:
    """The survey as plain data."""
    return {
        **machine.subject(found.subject),
        "which": found.aspect,
        "pins": machine.values(found.pins),
        "answers": [
            {
                "value": one.value,
                "works": one.works,
                "args": list(one.command.args) if one.command is not None else None,
                "because": [
                    {
                        "rule": hit.rule.id,
                        "title": hit.rule.title,
                        "fix": hit.rule.fix,
                        "source": machine.source(hit.source),
                    }
                    for hit in one.because
                ],
            }
            for one in found.answers
        ],
    }
