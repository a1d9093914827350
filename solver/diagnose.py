"""A log -> the rule behind its failure, the configuration it happened in, why, what helps, what would come next."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Protocol

from constraints.gpu_schema import Gpu
from constraints.knowledge import Knowledge
from constraints.messages import Printed
from constraints.schema import Flags
from constraints.symptoms import load_symptoms
from constraints.tree import names

from .answers import Diagnosis
from .check import Engine
from .errors import InputError
from .facts import Platform
from .intake.command import parse_arguments, read_command, typed_words, words_of
from .intake.log import Log, read_log
from .intake.refusal import Refusal
from .intake.usage import read_usage
from .machine import platform_of
from .place import Place
from .recognise import Match, recognise, symptom_of
from .reconstruct import typed_of
from .report import CheckReport
from .room import MOST_GPUS, room
from .spell import spell


class Checker(Protocol):
    """What answers for one release."""

    engine: Engine
    knowledge: Knowledge

    def check(
        self, model: str | None, platform: Platform | str, arguments: Sequence[str], *, why: bool = False
    ) -> CheckReport:
        """What SGLang does with a command."""


def diagnose(
    text: str,
    printed: Sequence[Printed],
    known: Mapping[str, Knowledge],
    checker: Callable[[str], Checker],
    *,
    release: str,
    model: str | None = None,
    gpu: str | None = None,
    command: str = "",
    why: bool = True,
) -> Diagnosis:
    """What happened in ``text``; ``known`` by release, the newest first, ``release`` "" unless it was told.

    ``command`` is the launch, or its flags, where the log shows none. Raises InputError when the text holds no failure,
    and for a model or GPU that is not known.
    """
    log = read_log(text)
    if not log.message and not log.error and not log.frames:
        raise InputError("no error or traceback is in it", "the log", "Paste the traceback with its last line.")
    matches = recognise(log, printed, known)
    symptom, moment = symptom_of(log, load_symptoms())
    sure = tuple(match for match in matches if match.how != "near")
    told = release or next((one for one in log.releases), "")
    answering = told or (sure[0].release if sure else next(iter(known)))
    asked = checker(answering)
    if gpu is not None:
        platform_of(asked.knowledge, gpu)
    if model is not None:
        asked.engine.model(model)
    if command:
        if isinstance(read_command(command), Refusal):
            raise InputError("this is no launch command, and no flags", "command")
        log = replace(log, command=command, arguments=None)
    place = log.frames[-1] if log.frames else None
    if log.usage and (refusal := read_usage(log.message, asked.knowledge.flags, asked.knowledge.elsewhere)) is not None:
        return Diagnosis("", log.message, "", asked.knowledge.release, told, (), True, refusal=refusal)
    found = Diagnosis(
        error=log.error,
        message=log.message,
        place=f"{place.file}:{place.line}" if place else "",
        release=asked.knowledge.release,
        told=told,
        matches=matches if sure or symptom is None else (),
        recognised=bool(sure) or symptom is not None,
        symptom=None if sure else symptom,
        moment=None if sure else moment,
    )
    return _configured(found, log, asked, sure, model, gpu, why)


def _configured(
    found: Diagnosis, log: Log, asked: Checker, sure: Sequence[Match], model: str | None, gpu: str | None, why: bool
) -> Diagnosis:
    """The diagnosis with the configuration in which it happened, as far as the log tells it."""
    arguments, env, origin = _arguments(log, asked.knowledge.flags)
    gpu = gpu or gpu_in(log.text, asked.knowledge.gpus)
    reference = model or _model(log, asked)
    named = reference is not None
    if origin == "command":
        # What is wrong with the flags is told before what they lack.
        words, flags = words_of(arguments), asked.knowledge.flags
        parsed = parse_arguments(words, flags, needs_model=False, elsewhere=asked.knowledge.elsewhere)
        if isinstance(parsed, Refusal):
            return found._replace(origin=origin, args=tuple(arguments), refusal=parsed)
        named = named or parsed.model is not None
    if not origin or gpu is None or not named:
        missing = tuple(
            what for what, there in (("configuration", origin), ("gpu", gpu), ("model", named)) if not there
        )
        return found._replace(origin=origin, missing=missing)
    machine = platform_of(asked.knowledge, gpu, given=env)
    counted = platform_of(asked.knowledge, gpu).num_gpus if _counts(gpu) else 0
    try:
        if origin == "server_args":
            place = Place(asked.engine, str(reference), replace(machine, num_gpus=counted or 8))
            arguments = list(spell(typed_of(place, log.arguments or {}), asked.knowledge.flags))
        machine = replace(machine, num_gpus=counted or _enough(asked, reference, machine, arguments))
        report = asked.check(reference, machine, arguments, why=why)
    except InputError as fault:
        return found._replace(origin=origin, missing=("model",), fault=fault.message)
    chosen = _here(sure, report) or _foreseen(log, sure, report)
    rules = [match.rule.id for match in chosen if match.rule is not None]
    finding = next((one for one in report.findings if one.rule.id in rules), None)
    after = report.findings[report.findings.index(finding) + 1 :] if finding is not None else ()
    needs = None
    if found.symptom is not None and report.refusal is None:
        needs = room(asked.engine, report.subject.model, replace(machine, counted=True), report.typed)
    return found._replace(
        matches=tuple(chosen) or found.matches,
        recognised=found.recognised or bool(chosen),
        room=needs,
        origin=origin,
        args=tuple(arguments),
        report=report,
        finding=finding,
        following=tuple(one for one in after if one.severity == "error"),
    )


def _arguments(log: Log, flags: Flags) -> tuple[list[str], dict[str, str], str]:
    # A logger may have put the command in quotes of its own.
    for text in (log.command, log.command.rstrip(" '\"`])")) if log.command else ():
        found = read_command(text)
        if not isinstance(found, Refusal):
            return typed_words(found, flags), dict(found.env), "command"
    return [], {}, "server_args" if log.arguments else ""


def _model(log: Log, asked: Checker) -> str | None:
    value = (log.arguments or {}).get(asked.knowledge.roles.get("model", ""))
    return value if isinstance(value, str) else None


def _here(sure: Sequence[Match], report: CheckReport) -> Sequence[Match]:
    """Of several rules that fit the message, those that this configuration breaks, if it breaks any."""
    broken = {one.rule.id for one in report.findings}
    here = [match for match in sure if match.rule is not None and match.rule.id in broken]
    # What is known by its line and its words is known; other software may break it where this configuration does not.
    return here or (sure if any(match.how == "line and words" and match.own for match in sure) else ())


def _foreseen(log: Log, sure: Sequence[Match], report: CheckReport) -> Sequence[Match]:
    """The first rule that this configuration breaks on a line of the traceback, whatever is left of the message.

    Where the message does not tell it, a line in the same file will do.
    """
    lines = {(frame.file, frame.line) for frame in log.frames}
    files = {frame.file for frame in log.frames} if sure or not log.message else set()
    broken = [(one.rule, one.source) for one in report.findings if one.severity == "error" and one.source is not None]
    for rule, source in sorted(broken, key=lambda one: (one[1].file, one[1].line) not in lines):
        if source.file in files or (source.file, source.line) in lines:
            return (Match(rule, source.release, f"{source.file}:{source.line}", "foreseen", 1.0),)
    return sure


def _enough(asked: Checker, model: str | None, machine: Platform, arguments: Sequence[str]) -> int:
    """The fewest GPUs that no rule finds too few: a log does not say how many there were."""
    count = 1
    while count < MOST_GPUS:
        resolution = asked.engine.check(model, replace(machine, num_gpus=count), arguments).resolution
        if resolution is None or not any("num_gpus" in names(one.rule.require) for one in resolution.refusals):
            return count
        count *= 2
    return 1


def _counts(gpu: str) -> bool:
    return re.match(r"\d+\s*[x×*]|.*[x×*:]\s*\d+$", gpu.strip()) is not None


def gpu_in(text: str, known: Mapping[str, Gpu]) -> str | None:
    """The one GPU that a text names, with its count if it says one; None when it names none or several."""
    found: dict[str, str] = {}
    spans: list[tuple[int, int]] = []
    spelled = [
        (spelling, gpu.name)
        for gpu in known.values()
        if not gpu.generic
        for spelling in (str(gpu.facts["gpu.name"]), gpu.name, *gpu.aliases)
        if any(sign.isdigit() for sign in spelling)
    ]
    for spelling, name in sorted(spelled, key=lambda one: -len(one[0])):
        if spelling not in text:  # logs are long
            continue
        # The vendor's words may stand before a name that goes without them.
        for hit in re.finditer(rf"(?<![\w-])(?:(\d+) ?x ?(?:[A-Z]\w+ ){{0,2}})?{re.escape(spelling)}(?![\w-])", text):
            if any(start <= hit.start() < end for start, end in spans):
                continue
            spans.append(hit.span())
            found[name] = hit[1] or found.get(name, "")
    if len(found) != 1:
        return None
    name, count = next(iter(found.items()))
    return f"{count}x{name}" if count else name
