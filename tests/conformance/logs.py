"""Refused commands with SGLang's message -> logs as SGLang prints them, and how many are diagnosed to the right rule.

    python tests/conformance/logs.py --release 0.5.23 --models MODELS RESULTS.jsonl CASES.jsonl

RESULTS hold {id, verdict, message, where, error_type, resolved} of each case, as SGLang itself said it; CASES what was
asked. Messages are read from there and never kept here.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from constraints.values import Value
from solver.answers import Diagnosis
from solver.api import Preflight
from solver.errors import InputError

STYLES = ("traceback and values", "traceback and command", "other release", "message alone")
_PLACE = "/usr/local/lib/python3.12/dist-packages/sglang/"


def wrap(case: Mapping[str, Any], values: Mapping[str, Value], style: str) -> str:
    """A log of the case. ``values`` are the arguments that SGLang would print."""
    file, _, line = str(case["where"]).removeprefix("sglang/").rpartition(":")
    number = int(line) + (0 if style != "other release" else 7)
    lines = [f"INFO 11-02 09:14:03 launching on {case['num_gpus']}x{case['gpu']}"]
    if style == "traceback and command":
        words = " ".join(f"'{word}'" for word in case["args"])
        lines.append(f"+ python3 -m sglang.launch_server --model-path {case['model']} {words}")
    elif style != "message alone":
        shown = ", ".join(
            f"{name}={list(value) if isinstance(value, tuple) else value!r}" for name, value in values.items()
        )
        lines.append(f"[2026-11-02 09:14:05] server_args=ServerArgs({shown})")
    if style != "message alone":
        lines += [
            "[2026-11-02 09:14:22 TP0] Scheduler hit an exception: Traceback (most recent call last):",
            f'  File "{_PLACE}srt/managers/scheduler.py", line 3120, in run_scheduler_process',
            "    scheduler = Scheduler(",
            f'  File "{_PLACE}{file}", line {number}, in {case.get("function", "check")}',
            "    raise",
        ]
    message = str(case["message"])
    lines.append(f"{case['error_type']}: {message}" if message else str(case["error_type"]))
    return "\n".join(lines) + "\n\n[2026-11-02 09:14:23] Received sigquit from a child process.\n"


def expected(preflight: Preflight, where: str) -> frozenset[str]:
    """The rules of the line where SGLang raised."""
    place = where.removeprefix("sglang/")
    return frozenset(
        rule.id
        for rule in preflight.knowledge.rules.values()
        for source in rule.sources
        if source.release == preflight.release and f"{source.file}:{source.line}" == place
    )


def named(found: Diagnosis) -> str:
    """The rule a diagnosis names first; "" for none."""
    return next((match.rule.id for match in found.matches if match.rule is not None), "") if found.recognised else ""


def printed(preflight: Preflight, case: Mapping[str, Any]) -> dict[str, Value]:
    """The arguments before resolution: defaults, and what was typed."""
    parsed = preflight.engine.check(case["model"], preflight.machine("1x" + case["gpu"]), case["args"]).parsed
    return {**preflight.engine.defaults, "model_path": case["model"], **getattr(parsed, "typed", {})}


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("results", type=Path)
    parser.add_argument("cases", type=Path)
    parser.add_argument("--release", required=True)
    parser.add_argument("--models", type=Path, required=True)
    options = parser.parse_args()
    preflight = Preflight(options.release)
    cases = {one["id"]: one for one in map(json.loads, options.cases.read_text().splitlines())}
    counts = {style: [0, 0, 0] for style in STYLES}
    for result in map(json.loads, options.results.read_text().splitlines()):
        if result["verdict"] == "ok" or result.get("where_kind") == "argparse":
            continue
        case = {**cases[result["id"]], **{key: result.get(key) or "" for key in ("message", "where", "error_type")}}
        case["model"] = str(options.models / case["model"])
        case["args"] = [str(options.models / word[1:]) if word.startswith("@") else word for word in case["args"]]
        right = expected(preflight, case["where"])
        if not right:
            continue
        values = printed(preflight, case)
        for style in STYLES:
            try:
                found = preflight.diagnose(wrap(case, values, style), why=False)
            except InputError as fault:
                print(style, case["where"], fault)
                continue
            hit = named(found) in right
            counts[style][0] += hit
            counts[style][1] += 1
            counts[style][2] += found.finding is not None
            if not hit:
                print(f"{style}: {case['where']} {named(found) or '-'} {[m.rule and m.rule.id for m in found.matches]}")
    for style, (hits, whole, broken) in counts.items():
        print(f"{style}: {hits} of {whole} to the right rule, {broken} broken in the configuration read")


if __name__ == "__main__":
    main()
