"""What SGLang itself recorded of a resolution -> whether our forward reader makes the same writes in the same order.

A trace is a list of (function, {flag: value}), cut down to the modelled flags, with a CUDA graph configuration reduced
to the backends of its phases. On both sides writes that change nothing are dropped, and those of one function merged.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from itertools import groupby
from pathlib import Path
from typing import Any

from constraints.values import Value
from solver.check import Engine
from solver.errors import InputError
from solver.initial import initial_values
from solver.resolution import Write
from tests.conformance.compare import equal, shown
from tests.conformance.figures import checked_case

UNRECORDED = "publish"
GRAPHS = ("cuda_graph.decode.backend", "cuda_graph.prefill.backend")
_PHASES = re.compile(r"(decode|prefill)=PhaseConfig\(backend='?(\w+)'?")

Group = list[tuple[str, Any]]


def cut(trace: Iterable[tuple[str, Mapping[str, Any]]], modelled: Iterable[str]) -> list[list[Any]]:
    """A trace down to the modelled flags and the backends of CUDA graphs."""
    kept = set(modelled)
    found: list[list[Any]] = []
    for function, fields in trace:
        writes = {name: value for name, value in fields.items() if name in kept}
        for phase, backend in _PHASES.findall(str(fields.get("cuda_graph_config", ""))):
            writes[f"cuda_graph.{phase}.backend"] = None if backend == "None" else backend
        if writes:
            found.append([function, writes])
    return found


def theirs(trace: Iterable[tuple[str, Mapping[str, Any]]], start: Mapping[str, Value]) -> list[Group]:
    """The writes of a trace that change something, by function."""
    return _changes([(function, list(fields.items())) for function, fields in trace], start)


def ours(engine: Engine, writes: Iterable[Write], start: Mapping[str, Value], modelled: set[str]) -> list[Group]:
    """Our writes to the modelled flags that change something, by function.

    What is filled when the values are published (the fallback of a flag that nothing decided) SGLang does not record.
    """
    functions = {name: step.function for name, step in engine.knowledge.steps.items()}
    made = [(functions[one.operation.step], [(one.target, one.after)]) for one in writes if one.target in modelled]
    return _changes([one for one in made if one[0] != UNRECORDED], start)


def _changes(made: Iterable[tuple[str, Group]], start: Mapping[str, Value]) -> list[Group]:
    state: dict[str, Any] = dict(start)
    groups: list[Group] = []
    for _, steps in groupby(made, key=lambda step: step[0]):
        before, names = dict(state), []
        for _, fields in steps:
            state.update(fields)
            names += [name for name, _ in fields if name not in names]
        groups.append([(name, state[name]) for name in names if not equal(before.get(name), state[name])])
    return [group for group in groups if group]


def same_writes(mine: list[Group], recorded: list[Group]) -> bool:
    """Whether flags, values and order agree; within one function of SGLang's the order is free."""
    left = [one for group in mine for one in group]
    for group in recorded:
        part, left = left[: len(group)], left[len(group) :]
        wanted = dict(group)
        if {name for name, _ in part} != set(wanted) or not all(equal(value, wanted[name]) for name, value in part):
            return False
    return not left


def compare(engine: Engine, cases: Iterable[dict[str, Any]], models: Path | None) -> tuple[Counter[str], list[str]]:
    """How many accepted commands have equal writes, and those that have not."""
    tally: Counter[str] = Counter()
    different: list[str] = []
    for case in cases:
        if case["verdict"] != "ok":
            continue
        for verdict, text in _one(engine, case, models):
            tally["cases"] += 1
            tally["equal"] += verdict
            if not verdict:
                different.append(f"{shown(case)}: {text}")
    return tally, different


def _one(engine: Engine, case: dict[str, Any], models: Path | None) -> Iterator[tuple[bool, str]]:
    try:
        checked = checked_case(engine, case, models)
    except InputError as fault:
        yield False, fault.message
        return
    if checked.resolution is None or checked.refused:
        yield False, "we refuse it"
        return
    modelled = {name for name in case["resolved"] if name in engine.knowledge.flags} | set(GRAPHS)
    start = initial_values(engine.defaults, getattr(checked.parsed, "typed", {}))
    recorded = theirs(case["trace"], start)
    mine = ours(engine, checked.resolution.writes, start, modelled)
    yield same_writes(mine, recorded), f"SGLang {recorded}, we {mine}"
