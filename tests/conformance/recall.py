"""Recorded refusals by the line SGLang refused at -> for each modelled line, whether we refuse there too."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from constraints.schema import Rule
from solver.check import VERDICT_STAGES, Engine
from solver.errors import InputError
from tests.conformance.compare import site
from tests.conformance.examples import Recorded, located, split_gpu
from tests.conformance.figures import checked_case

# How the note of a rule begins whose line no command line can reach.
UNREACHED = ("Never", "Not reached", "Not reachable")


@dataclass(slots=True)
class Recall:
    """For each modelled line: the rules that cite it, recorded refusals there, and how many we cite likewise."""

    rules: dict[str, list[Rule]]
    seen: Counter[str] = field(default_factory=Counter)
    cited: Counter[str] = field(default_factory=Counter)

    @property
    def unreached(self) -> list[str]:
        """Lines that no command line reaches, by the note of every rule that cites them."""
        return [
            place
            for place, rules in self.rules.items()
            if not self.seen[place] and all(rule.note.startswith(UNREACHED) for rule in rules)
        ]

    @property
    def missing(self) -> list[str]:
        """Lines without a recorded refusal that a command line may reach."""
        apart = set(self.unreached)
        return [place for place in self.rules if not self.seen[place] and place not in apart]

    @property
    def average(self) -> float:
        """The mean over the lines with a case of the share of their cases that we cite likewise, in percent."""
        shares = [self.cited[place] / self.seen[place] for place in self.rules if self.seen[place]]
        return 100 * sum(shares) / len(shares) if shares else 0.0


def modelled(engine: Engine) -> dict[str, list[Rule]]:
    """Each line at which SGLang refuses by a rule, before it loads a model."""
    found: dict[str, list[Rule]] = {}
    for rule in sorted(engine.knowledge.rules.values(), key=lambda one: one.id):
        source = rule.source(engine.knowledge.release)
        if source is None or source.release != engine.knowledge.release:
            continue
        if rule.kind == "error" and rule.stage in VERDICT_STAGES:
            found.setdefault(f"{source.file}:{source.line}", []).append(rule)
    return dict(sorted(found.items()))


def recall(engine: Engine, cases: Iterable[dict[str, Any]], models: Path | None) -> Recall:
    """Count recorded refusals by line; cases on checkpoints that are not here are left out."""
    found = Recall(modelled(engine))
    for case in cases:
        where = case.get("where", "")
        if case["verdict"] == "ok" or where not in found.rules:
            continue
        try:
            checked = checked_case(engine, case, models)
        except InputError:
            continue
        found.seen[where] += 1
        found.cited[where] += checked.refused and site(checked, engine.knowledge.release)[1] == where
    return found


def case_of_example(one: Recorded, words: Iterable[str]) -> Mapping[str, Any]:
    """A recorded example as a recorded command."""
    number, gpu = split_gpu(one.gpu)
    return {
        "id": one.id,
        "model": located(one.model),
        "gpu": gpu,
        "num_gpus": number,
        "args": [located(word) for word in words],
        "env": dict(one.env),
        "verdict": one.verdict,
        "where": one.where,
        "where_kind": one.where_kind,
        "stage": one.stage,
    }
