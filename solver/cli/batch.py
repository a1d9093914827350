"""JSON lines of launch commands -> JSON lines of verdicts, one each, in order; a bad line never stops the rest.

Nor does a fault of this program: the line that met it says so, and the exit code does.
"""

from __future__ import annotations

import gc
import sys
import traceback
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

import typer

from constraints.plainly import plainly
from constraints.values import Value

from ..api import Preflight
from ..errors import InputError
from ..facts import Platform
from ..gpu import parse_gpu
from ..intake.hub import Hub
from ..machine import platform_of
from ..model_input import NOWHERE
from ..render import machine
from ..render.lines import Lines
from ..render.visible import visible
from .cases import WHERE, batch_case, expect_case, whole_number
from .inputs import opened
from .options import FAULT, NO, REPORT, YES

MAX_LINE = 4_000_000
# The verdict on a line at which this program failed.
FAULTY = "internal-fault"


@dataclass(frozen=True, slots=True)
class Usual:
    """What holds for a line that does not say otherwise: the release, the GPU of this machine, its memory, the hub."""

    release: str | None = None
    gpu: str | None = None
    memory_gib: float | None = None
    hub: Hub = NOWHERE


def run(file: str, usual: Usual) -> int:
    """Answer each line; exit code 0 when all hold, 1 when one does not, 3 when this program failed at one.

    Raises InputError when the file cannot be read.
    """
    answers: dict[str | None, Preflight] = {}
    answered = Lines()
    everything_holds = True
    faults = 0
    try:
        with opened(file) as lines:
            for line in _lines(lines, file):
                data, text = _answered(line, usual, answers, answered)
                everything_holds = everything_holds and data.get("holds") is True
                if data["verdict"] == FAULTY:
                    faults += 1
                    if faults == 1:
                        typer.echo(visible(f"{data['reason']}\n{REPORT}"), err=True)
                sys.stdout.write(text + "\n")
    except BrokenPipeError:  # whoever reads the answers has enough
        raise
    except OSError as fault:
        raise InputError(f"cannot be read: {plainly(fault)}", file) from None
    if faults:
        return FAULT
    return YES if everything_holds else NO


def _lines(lines: BinaryIO, file: str) -> Iterator[str]:
    for line in iter(lambda: lines.readline(MAX_LINE + 1), b""):
        if len(line) > MAX_LINE:
            raise InputError(f"a line is longer than {MAX_LINE // 1_000_000} MB", file)
        if line.strip():
            # A line that is no text is a bad line, not the end; JSON out is ASCII, which every terminal can take.
            yield line.decode("utf-8", errors="replace").removeprefix("\ufeff")


def _answered(
    line: str, usual: Usual, answers: dict[str | None, Preflight], written: Lines
) -> tuple[dict[str, Any], str]:
    """The answer to a line, and as it is written."""
    try:
        data, effective = _answer(line, usual, answers)
        return data, machine.as_json(data, None) if effective is None else written.line(data, effective)
    except BrokenPipeError:
        raise
    except Exception as fault:  # whatever it is, the other lines are to be answered
        data = {"id": _id(line), "verdict": FAULTY, "reason": _last_line(fault)}
        return data, machine.as_json(data, None)


def _id(line: str) -> Any:
    try:
        return batch_case(line).get("id")
    except InputError:
        return None


def _last_line(fault: Exception) -> str:
    """What Python says of a fault, and where it happened."""
    said = traceback.format_exception_only(fault)[-1].strip()
    frames = traceback.extract_tb(fault.__traceback__)
    return f"{said} ({Path(frames[-1].filename).name}:{frames[-1].lineno})" if frames else said


def _answer(
    line: str, usual: Usual, answers: dict[str | None, Preflight]
) -> tuple[dict[str, Any], Mapping[str, Value] | None]:
    """What is said of a case, and its effective values where it is one."""
    case: dict[str, Any] = {}
    try:
        case = batch_case(line)
        expect_case(case, here=usual.gpu is not None)
        asked = usual.release if case.get("release") is None else str(case["release"])
        if asked not in answers:
            answers[asked] = Preflight(asked, usual.hub)
            gc.freeze()  # the knowledge stays to the end: looking through it again and again costs a tenth of the time
        preflight = answers[asked]
        report = preflight.check(case["model"], _platform(case, usual, preflight), [str(word) for word in case["args"]])
    except InputError as error:
        wrong = {"id": case.get("id"), "verdict": "invalid-input", "reason": error.message, "where": error.where}
        return wrong, None
    said = {
        "id": case.get("id"),
        "release": report.subject.release,
        "inferred": list(report.subject.inferred),
        **machine.verdict(report),
    }
    return said, report.effective


def _platform(case: dict[str, Any], usual: Usual, preflight: Preflight) -> Platform:
    """The machine of a case.

    Raises InputError, also where it says two numbers of GPUs.
    """
    named, number = case.get("gpu"), whole_number(case, "num_gpus")
    if named is not None:
        counted = parse_gpu(named, preflight.knowledge.gpus)[0]
        if counted is not None and number is not None and counted != number:
            raise InputError(f'"gpu" says {counted} GPUs, and "num_gpus" {number}', WHERE)
    return platform_of(
        preflight.knowledge,
        str(named if named is not None else usual.gpu),
        num_gpus=number,
        nodes=1 if (nodes := whole_number(case, "nodes")) is None else nodes,
        env={str(name): str(value) for name, value in (case.get("env") or {}).items()},
        without=list(case.get("without") or []),
        memory_gib=usual.memory_gib if named is None else None,
    )
