"""Refused commands -> does a conflict name the rule at the line where SGLang raised, and do the fixes hold in SGLang?

    python tests/conformance/ways_out.py ask --release 0.5.23 --count 200 --out FIXES    writes FIXES-RELEASE.jsonl
    (run each file through SGLang: a line a case {id, model, gpu, num_gpus, args})
    python tests/conformance/ways_out.py judge RESULTS.jsonl...      a line a case {id, verdict, where, message}

Cases are drawn from the recorded corpus beside this file. Of each case the first fix is written, and the first one that
changes more than flags.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from solver.api import Preflight
from solver.machine import platform_of
from solver.report import Explanation, Fix
from tests.conformance.corpus import ids_by_folder, read

HERE = Path(__file__).resolve().parent


def refused(release: str, count: int, seed: int, gpus: str = "") -> list[dict[str, Any]]:
    """Refused commands that can be parsed, drawn at random; ``gpus`` are those to draw from, all if empty."""
    cases = [
        case
        for case in read(HERE / f"corpus-{release}.jsonl.gz")
        if case["verdict"] == "refused"
        and case.get("stage") not in ("parse", "argparse")
        and not case.get("words", "").startswith("MemoryError")  # how much memory SGLang's host has is not asked
        and (not gpus or case["gpu"] in gpus.split(","))
    ]
    return random.Random(seed).sample(cases, min(count, len(cases)))


def explained(preflight: Preflight, case: Mapping[str, Any]) -> Explanation:
    """The explanation of a case."""
    machine = platform_of(preflight.knowledge, case["gpu"], num_gpus=case["num_gpus"])
    return preflight.explain_command(case["model"], machine, [word.removeprefix("@") for word in case["args"]])


def names_the_line(found: Explanation, where: str) -> bool:
    """Whether a conflict has a rule whose source is the line."""
    return any(
        element.source is not None and f"{element.source.file}:{element.source.line}" == where
        for core in found.cores
        for element in core.elements
    )


def chosen(found: Explanation) -> dict[str, Fix]:
    """The fixes to be judged, by what they are."""
    elsewhere = (fix for fix in found.fixes if any(not change.option for change in fix.changes))
    picked = {"first": found.fixes[0]} if found.fixes else {}
    if (other := next(elsewhere, None)) is not None:
        picked["elsewhere"] = other
    return picked


def as_case(name: str, fix: Fix, folders: Mapping[str, str]) -> dict[str, Any]:
    """A fix as a case for SGLang."""
    args = [f"@{folders[word]}" if word in folders else word for word in fix.args]
    return {"id": name, "model": folders[fix.model], "gpu": fix.gpu, "num_gpus": fix.num_gpus, "args": args}


def ask(options: argparse.Namespace) -> None:
    """Explain, count, and write what SGLang has to judge."""
    preflight = Preflight(options.release)
    folders = {model: folder for folder, model in ids_by_folder().items()}
    written: dict[str, list[str]] = {}
    named = without = 0
    spent: list[float] = []
    cases = refused(options.release, options.count, options.seed, options.gpus)
    for case in cases:
        begun = time.perf_counter()
        found = explained(preflight, case)
        spent.append(time.perf_counter() - begun)
        if names_the_line(found, case["where"]):
            named += 1
        else:
            print("line not named:", case["id"], case["where"], case["model"], case["gpu"], *case["args"])
        if not found.fixes:
            without += 1
            print("no way out:", case["id"], case["where"], case["model"], case["gpu"], *case["args"])
        for kind, fix in chosen(found).items():
            name = f"{options.release}/{case['id']}/{kind}"
            written.setdefault(fix.release, []).append(json.dumps(as_case(name, fix, folders)))
        sys.stdout.flush()
    for release, lines in written.items():
        with Path(f"{options.out}-{release}.jsonl").open("a") as out:
            out.write("\n".join(lines) + "\n")
    spent.sort()
    print(
        f"{options.release}: {named} of {len(cases)} name the line, {without} without a way out, "
        f"median {spent[len(spent) // 2]:.2f} s, p95 {spent[len(spent) * 95 // 100]:.2f} s"
    )


def judge(options: argparse.Namespace) -> None:
    """Count what SGLang accepted, by kind of fix."""
    counts: dict[str, list[int]] = {}
    for path in options.results:
        for result in map(json.loads, path.read_text().splitlines()):
            hits = counts.setdefault(result["id"].rpartition("/")[2], [0, 0])
            accepted = result["verdict"] in ("ok", "accepted")
            hits[0] += accepted
            hits[1] += 1
            if not accepted:
                print(result["id"], result.get("where"), str(result.get("message"))[:100])
    for kind, (good, whole) in sorted(counts.items()):
        print(f"{kind}: {good} of {whole} accepted")


def main() -> None:
    """Ask or judge."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    commands = parser.add_subparsers(required=True)
    asking = commands.add_parser("ask")
    asking.add_argument("--release", required=True)
    asking.add_argument("--count", type=int, default=200)
    asking.add_argument("--seed", type=int, default=7)
    asking.add_argument("--gpus", default="", help="SGLang is imported anew for each GPU")
    asking.add_argument("--out", required=True)
    asking.set_defaults(run=ask)
    judging = commands.add_parser("judge")
    judging.add_argument("results", nargs="+", type=Path)
    judging.set_defaults(run=judge)
    options = parser.parse_args()
    options.run(options)


if __name__ == "__main__":
    main()
