"""Recorded commands of one release -> the figures of the truth report, and what differs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from constraints.values import Value
from solver.check import Checked, Engine
from solver.errors import InputError
from solver.machine import platform_of
from tests.conformance.compare import DERIVED, equal, our_value, place, shown, site


@dataclass(slots=True)
class Figures:
    """What was counted over a set of commands, and each disagreement with the command that showed it."""

    tally: Counter[str] = field(default_factory=Counter)
    flags: dict[str, Counter[str]] = field(default_factory=dict)
    differences: list[tuple[str, str]] = field(default_factory=list)

    def share(self, part: str, whole: str) -> float | None:
        """``part`` of ``whole`` in percent; None when there was none."""
        return 100 * self.tally[part] / self.tally[whole] if self.tally[whole] else None

    def differs(self, cause: str, case: Mapping[str, Any]) -> None:
        """Note a disagreement."""
        self.differences.append((cause, shown(dict(case))))


def checked_case(engine: Engine, case: dict[str, Any], models: Path | None) -> Checked:
    """What we make of a recorded command.

    Raises InputError.
    """
    model, args = place(case, models)
    platform = platform_of(engine.knowledge, case["gpu"], num_gpus=case["num_gpus"], env=case.get("env"))
    return engine.check(model, platform, args, models)


def count(engine: Engine, cases: Iterable[dict[str, Any]], models: Path | None) -> Figures:
    """Every figure of a set of commands."""
    found = Figures()
    for case in cases:
        _one(found, engine, case, models)
    return found


def _one(found: Figures, engine: Engine, case: dict[str, Any], models: Path | None) -> None:
    found.tally["cases"] += 1
    try:
        checked = checked_case(engine, case, models)
    except InputError as fault:
        found.differs(f"we cannot read it: {fault.message}", case)
        return
    refused = case["verdict"] != "ok"
    found.tally["refused"] += refused
    rule, ours, _ = site(checked, engine.knowledge.release)
    if checked.refused != refused:
        found.tally["false refused" if checked.refused else "false valid"] += 1
        error = str(case.get("words", "")).split(":")[0]
        cause = (
            f"we refuse by {rule} ({ours})"
            if checked.refused
            else f"SGLang refuses at {case.get('where', '')} ({error})"
        )
        found.differs(cause, case)
        return
    found.tally["verdicts"] += 1
    if refused:
        _site(found, case, rule, ours)
    else:
        _values(found, checked, case)


def _site(found: Figures, case: Mapping[str, Any], rule: str, ours: str) -> None:
    if case["stage"] in ("parse", "argparse") or case["where_kind"] == "call":
        return
    found.tally["sites"] += 1
    if ours == case.get("where", ""):
        found.tally["sites equal"] += 1
    else:
        found.differs(f"SGLang refuses at {case.get('where', '')}, we by {rule} ({ours})", case)


def _values(found: Figures, checked: Checked, case: Mapping[str, Any]) -> None:
    assert checked.resolution is not None
    values, typed = checked.resolution.values, getattr(checked.parsed, "typed", {})
    found.tally["accepted"] += 1
    wrong = 0
    for name, theirs in case["resolved"].items():
        own = DERIVED.get(name, name)
        if own is None:
            continue
        mine = our_value(own, values)
        right = equal(mine, theirs)
        kind = "derived" if name in DERIVED else "values"
        found.tally[kind] += 1
        found.tally[f"{kind} equal"] += right
        found.flags.setdefault(name, Counter())["all"] += 1
        found.flags[name]["equal"] += right
        if not right:
            wrong += kind == "values"
            found.differs(f"{name}: SGLang {theirs}, we {mine}", case)
        if kind == "values" and name != "enable_dp_attention" and _rewritten(name, typed, theirs):
            found.tally["rewrites"] += 1
            found.tally["rewrites found"] += right
    found.tally["accepted equal"] += not wrong


def _rewritten(name: str, typed: Mapping[str, Value], theirs: Any) -> bool:
    return name in typed and not equal(typed[name], theirs)


def unequal_flags(found: Iterable[Figures]) -> Iterator[tuple[str, int, int]]:
    """The flags some of whose values differ: name, how many equal, of how many."""
    total: dict[str, Counter[str]] = {}
    for figures in found:
        for name, counts in figures.flags.items():
            total.setdefault(name, Counter()).update(counts)
    for name, counts in sorted(total.items()):
        if counts["equal"] != counts["all"]:
            yield name, counts["equal"], counts["all"]
