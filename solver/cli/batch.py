"""JSON lines of launch commands -> JSON lines of verdicts, one each, in order; a bad line never stops the rest."""

from __future__ import annotations

import gc
import json
import sys
from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path
from typing import Any

from ..api import Preflight
from ..errors import InputError
from ..machine import platform_of
from ..render import machine
from .inputs import batch_case, expect_case


def run(file: str, release: str | None) -> int:
    """Answer each line; exit code 0 when all hold, 1 otherwise.

    Raises InputError when the file cannot be read.
    """
    answers: dict[str | None, Preflight] = {}
    everything_holds = True
    try:
        with nullcontext(sys.stdin.buffer) if file == "-" else Path(file).open("rb") as lines:
            for line in _lines(lines):
                data = _answer(line, release, answers)
                everything_holds = everything_holds and data.get("holds") is True
                sys.stdout.write(json.dumps(data) + "\n")
    except OSError as fault:
        raise InputError(f"cannot be read: {fault}", file) from None
    return 0 if everything_holds else 1


def _lines(lines: Any) -> Iterator[str]:
    # A line that is no text is a bad line, not the end; JSON out is plain ASCII, which every terminal can take.
    return (line.decode("utf-8", errors="replace").removeprefix("\ufeff") for line in lines if line.strip())


def _answer(line: str, release: str | None, answers: dict[str | None, Preflight]) -> dict[str, Any]:
    case: dict[str, Any] = {}
    try:
        case = batch_case(line)
        expect_case(case)
        asked = str(case["release"]) if case.get("release") else release
        if asked not in answers:
            answers[asked] = Preflight(asked)
            gc.freeze()  # the knowledge stays to the end: looking through it again and again costs a tenth of the time
        preflight = answers[asked]
        platform = platform_of(
            preflight.knowledge,
            str(case["gpu"]),
            num_gpus=_number(case, "num_gpus"),
            nodes=1 if (nodes := _number(case, "nodes")) is None else nodes,
            env={str(name): str(value) for name, value in (case.get("env") or {}).items()},
            without=list(case.get("without") or []),
        )
        report = preflight.check(case["model"], platform, [str(word) for word in case["args"]])
    except InputError as error:
        return {"id": case.get("id"), "verdict": "invalid-input", "reason": str(error), "where": error.where}
    except (TypeError, ValueError, AttributeError) as fault:
        return {"id": case.get("id"), "verdict": "invalid-input", "reason": f"the case is malformed: {fault}"}
    data = machine.check(report)
    kept = ("release", "verdict", "holds", "findings", "rewrites", "effective")
    return {"id": case.get("id"), **{key: data[key] for key in kept}}


def _number(case: dict[str, Any], key: str) -> int | None:
    given = case.get(key)
    if given is not None and (isinstance(given, bool) or not isinstance(given, int)):
        raise InputError(f"{key!r} is no whole number: {given!r}", "the line")
    return given
