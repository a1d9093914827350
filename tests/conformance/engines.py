"""The forward reader of a release, loaded once for all tests, and what it makes of an example."""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from functools import cache

from constraints import store
from constraints.knowledge import Knowledge
from constraints.schema import Example, Rule
from solver.check import VERDICT_STAGES, Engine
from solver.machine import platform_of
from tests.conformance.examples import located


@dataclass(frozen=True, slots=True)
class Answer:
    """Our verdict on a command: whether SGLang refuses it, by which rule first, every error it breaks, and ``later``
    the defects and warnings."""

    refused: bool
    first: Rule | None
    broken: tuple[Rule, ...]
    later: tuple[Rule, ...] = ()


@cache
def knowledge_of(release: str) -> Knowledge:
    """The knowledge of a release."""
    return store.knowledge_of(release)


@cache
def engine_of(release: str) -> Engine:
    """The engine of a release."""
    return Engine(knowledge_of(release), store.models_of(release), store.catalogue(), code=store.code_of(release))


def answer(release: str, example: Example) -> Answer:
    """What we say of an example."""
    engine = engine_of(release)
    platform = platform_of(engine.knowledge, example.gpu, env=dict(example.env))
    words = [located(word) for word in shlex.split(example.args)]
    checked = engine.check(located(example.model), platform, words)
    if checked.resolution is None:
        return Answer(True, None, ())
    broken = tuple(operation.rule for operation in checked.resolution.refusals)
    first = next((rule for rule in broken if rule.stage in VERDICT_STAGES), None)
    later = tuple(operation.rule for operation in checked.resolution.broken if operation.rule.kind != "error")
    return Answer(checked.refused, first, broken, later)
