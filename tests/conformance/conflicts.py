"""Real questions without an answer, asked of two engines: are the conflicts and corrections the same, and minimal?

    python tests/conformance/conflicts.py [--release 0.5.23] [--count 500] [--seed 1]

Refused commands of the recorded corpus are explained by propagation with causes, and by a SAT solver (python-sat) that
shares nothing with it but the problem. Every conflict is tested by definition in the solver: it cannot hold, each of
its parts can; giving up a correction helps, giving up less of it does not; each correction meets each conflict. Prints
what differs, then counts. What is cut off by a limit is counted apart.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from solver.api import Preflight
from solver.case import Case
from solver.errors import TooLarge
from solver.explain import asked_for
from solver.machine import platform_of
from solver.mus import Conflicts, Oracle, enumerate_conflicts
from solver.pins import Asked
from solver.place import Place
from solver.question import units_of
from solver.sat import SatRefuter
from tests.conformance.ways_out import refused


def questions(release: str, count: int, seed: int) -> Iterator[tuple[str, Case, Case]]:
    """Each question as a person could repeat it, ready for propagation and for the SAT solver."""
    preflight = Preflight(release)
    for one in refused(release, count, seed):
        machine = platform_of(preflight.knowledge, one["gpu"], num_gpus=one["num_gpus"])
        args = [word.removeprefix("@") for word in one["args"]]
        typed = dict(getattr(preflight.engine.check(one["model"], machine, args).parsed, "typed", {}))
        place = Place(preflight.engine, one["model"], machine)
        facts = place.facts(typed)
        prepared = preflight.engine.prepared(facts)
        asked = Asked(preflight.subject(one["model"], machine), place, preflight.world, prepared)
        units = units_of(preflight.knowledge.variables, prepared.rows, typed)
        soft = asked_for(units, typed)
        name = f"{one['model']} on {one['num_gpus']}x{one['gpu']}: {' '.join(args)}"
        try:
            yield name, Case(asked, units, soft), Case(asked, units, soft, SatRefuter)
        except TooLarge:
            yield name, Case(asked, units, soft), Case(asked, units, soft)


def conflicts_of(case: Case) -> Conflicts:
    """All conflicts, dropping first what was left unset."""
    everything = tuple(range(len(case.soft)))
    return enumerate_conflicts(case.refute, everything, first=case.unset, most=60, seconds=20)


def faults(found: Conflicts, refute: Oracle, size: int) -> list[str]:
    """What is not as the definitions say, by the given oracle."""
    whole = frozenset(range(size))
    said = []
    for core in found.cores:
        if refute(core) is None:
            said.append(f"{sorted(core)} holds")
        said += [f"{sorted(core)} is not minimal" for one in core if refute(core - {one}) is not None]
    for gone in found.corrections:
        if refute(whole - gone) is not None:
            said.append(f"giving up {sorted(gone)} does not help")
        said += [f"of {sorted(gone)} less would do" for one in gone if refute(whole - gone | {one}) is None]
        said += [f"{sorted(gone)} misses {sorted(core)}" for core in found.cores if not gone & core]
    return said


def judged(ours: Case, theirs: Case) -> tuple[str, list[str]]:
    """(what came of the comparison, what differs)."""
    if not isinstance(theirs.refuter, SatRefuter):
        return "too large for clauses", []
    if ours.refute(frozenset(range(len(ours.soft)))) is None:
        if ours.undecided:
            return "cut off by a limit", []
        holds = theirs.refute(frozenset(range(len(theirs.soft)))) is None
        return "fails later than at a rule of this question", [] if holds else ["only the solver refutes it"]
    mine = conflicts_of(ours)
    if ours.undecided or not mine.complete:
        return "cut off by a limit", []
    said = faults(mine, theirs.refute, len(theirs.soft))
    other = conflicts_of(theirs)
    if other.complete and (set(mine.cores), set(mine.corrections)) != (set(other.cores), set(other.corrections)):
        said.append(f"conflicts {len(mine.cores)} and {len(other.cores)}")
    return "the same" if not said else "differs", said


def main() -> None:
    """Ask, compare and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--release", default="0.5.23")
    parser.add_argument("--count", type=int, default=500)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    counts: Counter[str] = Counter()
    for name, ours, theirs in questions(options.release, options.count, options.seed):
        outcome, said = judged(ours, theirs)
        counts[outcome] += 1
        for line in said:
            print(f"{name}\n  {line}", flush=True)
    for outcome, number in counts.most_common():
        print(f"{number:5} {outcome}")


if __name__ == "__main__":
    main()
