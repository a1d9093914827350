"""How long explanations take, in ratios of one run: the forward reader on the same commands is the yardstick.

    python tests/benchmarks/explain.py [--release 0.5.23] [--count 20] [--others]

Each command is explained after another one on the same model, draft and machine, so that their tables are loaded.
Prints the median and the 95th percentile of: one check, one core, a whole explanation; each also as a multiple of the
check, which does not depend on the machine.

With ``--others`` the commands are also put, over what can be chosen anyway, to our refuter, python-sat (extra ``sat``)
and CPMpy (extra ``bench``): one core, and all conflicts and corrections, once each has its model. With the values
around a command, as an explanation has them, most are too large for tables of clauses. What takes longer than
``--seconds`` is cut off and counted.
"""

from __future__ import annotations

import argparse
import importlib.util
import itertools
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from solver.api import Preflight
from solver.case import Case
from solver.errors import TooLarge
from solver.explain import asked_for, broken_rules, core_of, demands
from solver.facts import Platform
from solver.machine import platform_of
from solver.mus import enumerate_conflicts, shrink
from solver.pins import Asked, Pin
from solver.place import Place
from solver.problem import Problem
from solver.question import units_of
from solver.refute import Refuter
from solver.sat import SatRefuter
from solver.unit import Unit
from tests.conformance.ways_out import refused

# A command that no model is served with: its explanation reads what there is to read.
OTHER = ["--attention-backend", "trtllm_mla", "--kv-cache-dtype", "fp8_e5m2", "--page-size", "3", "--tp-size", "3"]
MOST = 60


def timed(run: Callable[[], object]) -> float:
    """Seconds of the processor that a call takes: a busy machine gives no other answer."""
    begun = time.process_time()
    run()
    return time.process_time() - begun


def before(args: list[str]) -> list[str]:
    """The other command, with the draft model of the one that comes next."""
    draft = "--speculative-draft-model-path"
    return [*OTHER, *args[args.index(draft) :][:2]] if draft in args else OTHER


class Posed(NamedTuple):
    """What a case of a command is made of."""

    asked: Asked
    units: Sequence[Unit]
    soft: Sequence[Pin]

    def case(self, engine: Callable[[Problem], Refuter | SatRefuter] | None = None) -> Case:
        """The tables, ready to be refuted."""
        return Case(self.asked, self.units, self.soft, engine)


def posed(preflight: Preflight, model: str, machine: Platform, args: list[str], *, around: bool) -> Posed:
    """A command as an explanation poses it, with the values ``around`` it, or over what can be chosen anyway."""
    typed = dict(getattr(preflight.engine.check(model, machine, args).parsed, "typed", {}))
    place = Place(preflight.engine, model, machine)
    prepared = preflight.engine.prepared(place.facts(typed))
    asked = Asked(preflight.subject(model, machine), place, preflight.world, prepared)
    if around:
        units, soft, _ = demands(asked, typed, typed=True)
        return Posed(asked, units, soft)
    units = units_of(preflight.knowledge.variables, prepared.rows, typed)
    return Posed(asked, units, asked_for(units, typed))


class Times:
    """Seconds by what took them, in the order in which it is told."""

    def __init__(self) -> None:
        self._spent: dict[str, list[float]] = {}
        self._cut: dict[str, int] = {}

    def add(self, what: str, run: Callable[[], object]) -> None:
        """Measure; what a run returns as False was cut off."""
        done: list[object] = []
        self._spent.setdefault(what, []).append(timed(lambda: done.append(run())))
        self._cut[what] = self._cut.get(what, 0) + (done[0] is False)

    def show(self) -> None:
        """Print medians and 95th percentiles, as multiples of the first that was measured as well."""
        yard = _at(next(iter(self._spent.values())), 50)
        for what, times in self._spent.items():
            median, late = _at(times, 50), _at(times, 95)
            cut = f", {self._cut[what]} of {len(times)} cut off" if self._cut[what] else ""
            print(f"{what}: median {median * 1000:.1f} ms ({median / yard:.1f} checks), p95 {late * 1000:.1f} ms{cut}")


def _at(times: Iterable[float], share: int) -> float:
    ordered = sorted(times)
    return ordered[min(len(ordered) * share // 100, len(ordered) - 1)]


def engine(times: Times, name: str, case: Callable[[], Case], seconds: float) -> None:
    """One core, and all conflicts of the same case made anew, by one of our oracles."""
    made: list[Case] = []
    times.add(f"{name}, model", lambda: made.append(case()))
    if not one_core(times, f"{name}, one core", made[0]):
        return
    anew = case()
    everything = range(len(anew.soft))
    times.add(
        f"{name}, all conflicts",
        lambda: enumerate_conflicts(anew.refute, everything, first=anew.unset, most=MOST, seconds=seconds).complete,
    )


def one_core(times: Times, name: str, case: Case) -> bool:
    """One core of a case, if what was asked for cannot hold."""
    everything = frozenset(range(len(case.soft)))
    if case.refute(everything) is None:
        return False
    times.add(name, lambda: shrink(case.refute, everything, case.unset))
    return True


def cpmpy(times: Times, case: Case, seconds: float) -> None:
    """The same by CPMpy's own tools."""
    from cpmpy.tools.explain import marco, mus

    from tests.benchmarks.cpmpy_case import Model

    made: list[Model] = []
    times.add("CPMpy, model", lambda: made.append(Model(case)))
    model = made[0]
    core: list[object] = []
    times.add("CPMpy, one core", lambda: core.extend(mus(model.soft, model.hard)))
    if not core:  # nothing that was asked for is to blame, which its MARCO does not foresee
        return

    def every() -> bool:
        begun = time.process_time()
        for _ in itertools.islice(marco(model.soft, model.hard), MOST):
            if time.process_time() - begun > seconds:
                return False
        return True

    times.add("CPMpy, all conflicts", every)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--release", default="0.5.23")
    parser.add_argument("--count", type=int, default=20)
    parser.add_argument("--others", action="store_true", help="beside python-sat and CPMpy, where they are installed")
    parser.add_argument("--seconds", type=float, default=10.0)
    options = parser.parse_args()
    preflight = Preflight(options.release)
    times = Times()
    for one in refused(options.release, options.count, 3):
        machine = platform_of(preflight.knowledge, one["gpu"], num_gpus=one["num_gpus"])
        args = [word.removeprefix("@") for word in one["args"]]
        model = one["model"]
        preflight.explain_command(model, machine, before(args))
        times.add("check", lambda: preflight.check(model, machine, args))  # noqa: B023
        case = posed(preflight, model, machine, args, around=True).case()
        for rule in broken_rules(case)[:1]:
            times.add("one core", lambda: core_of(case, rule))  # noqa: B023
        times.add(
            "all conflicts and ways out",
            lambda: preflight.explain_command(model, machine, args),  # noqa: B023
        )
        if options.others:
            # An engine of its own, or the explanation would have paid for what is measured now.
            fresh = Preflight(options.release)
            fresh.explain_command(model, machine, before(args))
            beside(times, posed(fresh, model, machine, args, around=False), options.seconds)
    times.show()


def beside(times: Times, question: Posed, seconds: float) -> None:
    """The conflicts alone, by each engine that is installed."""
    engine(times, "ours", question.case, seconds)
    try:
        if importlib.util.find_spec("pysat") is not None:
            engine(times, "python-sat", lambda: question.case(SatRefuter), seconds)
        if importlib.util.find_spec("cpmpy") is not None:
            cpmpy(times, question.case(), seconds)
    except TooLarge as fault:
        print(f"left out: {fault}")


if __name__ == "__main__":
    main()
