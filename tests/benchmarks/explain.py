"""How long explanations take, in ratios of one run: the forward reader on the same commands is the yardstick.

    python tests/benchmarks/explain.py [--release 0.5.23] [--count 20]

Each command is explained after another one on the same model and machine, so that the tables of that place are loaded.
Prints the median and the 95th percentile of: one check, one core, a whole explanation, one diagnosis; each also as a
multiple of the check, which does not depend on the machine.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from solver.api import Preflight
from solver.case import Case
from solver.explain import _soft
from solver.facts import Platform
from solver.machine import platform_of
from solver.mus import shrink
from solver.pins import Asked
from solver.place import Place
from solver.question import units_of
from tests.conformance.ways_out import refused

# A command that no model is served with: its explanation reads what there is to read.
OTHER = ["--attention-backend", "trtllm_mla", "--kv-cache-dtype", "fp8_e5m2", "--page-size", "3", "--tp-size", "3"]


def timed(run: Callable[[], object]) -> float:
    """Seconds of the processor that a call takes: a busy machine gives no other answer."""
    begun = time.process_time()
    run()
    return time.process_time() - begun


def case_of(preflight: Preflight, model: str, machine: Platform, args: list[str]) -> Case:
    """The tables of a command, ready to be refuted."""
    typed = dict(getattr(preflight.engine.check(model, machine, args).parsed, "typed", {}))
    place = Place(preflight.engine, model, machine)
    facts = place.facts(typed)
    prepared = preflight.engine.prepared(facts)
    asked = Asked(preflight.subject(model, machine), place, preflight.world, prepared)
    units = units_of(preflight.knowledge.variables, prepared.rows, typed)
    return Case(asked, units, _soft(units, typed, True))


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--release", default="0.5.23")
    parser.add_argument("--count", type=int, default=20)
    options = parser.parse_args()
    preflight = Preflight(options.release)
    spent: dict[str, list[float]] = {"check": [], "one core": [], "all conflicts and ways out": []}
    for case in refused(options.release, options.count, 3):
        machine = platform_of(preflight.knowledge, case["gpu"], num_gpus=case["num_gpus"])
        args = [word.removeprefix("@") for word in case["args"]]
        model = case["model"]
        preflight.explain_command(model, machine, OTHER)
        spent["check"].append(timed(lambda: preflight.check(model, machine, args)))  # noqa: B023
        tables = case_of(preflight, model, machine, args)
        everything = frozenset(range(len(tables.soft)))
        if tables.refute(everything) is not None:
            spent["one core"].append(timed(lambda: shrink(tables.refute, everything)))  # noqa: B023
        spent["all conflicts and ways out"].append(
            timed(lambda: preflight.explain_command(model, machine, args))  # noqa: B023
        )
    yard = sorted(spent["check"])[len(spent["check"]) // 2]
    for what, times in spent.items():
        times.sort()
        median, late = times[len(times) // 2], times[len(times) * 95 // 100]
        print(f"{what}: median {median * 1000:.1f} ms ({median / yard:.1f} checks), p95 {late * 1000:.1f} ms")


if __name__ == "__main__":
    main()
