"""The answers, as values: what `api` gives and `render` turns into text."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from constraints.schema import Rule, Source
from constraints.values import Value

from .intake.parsed import Notice
from .intake.refusal import Refusal

Severity = Literal["error", "warning", "note"]


@dataclass(frozen=True, slots=True)
class Finding:
    """A rule that does not hold for a command, with the values it read; ``hidden`` when SGLang stops before it."""

    rule: Rule
    source: Source | None
    severity: Severity
    hidden: bool
    reads: Mapping[str, Value]
    facts: Mapping[str, Value]
    step: str


@dataclass(frozen=True, slots=True)
class Change:
    """A flag that ends otherwise than typed (``rewritten``) or gets a value though nothing was typed (``filled``)."""

    flag: str
    before: Value
    after: Value
    rule: Rule
    source: Source | None
    rewritten: bool


@dataclass(frozen=True, slots=True)
class Subject:
    """What was asked about."""

    release: str
    asked_release: str
    model: str
    gpu: str
    num_gpus: int
    nodes: int = 1
    inferred: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class CheckReport:
    """What SGLang does with a command.

    ``refused``: SGLang does not start. ``holds``: nothing hard is broken at any stage. ``changes`` in order of flags;
    ``log`` every write in order. ``typed`` and ``effective`` by flag.
    """

    subject: Subject
    refused: bool
    holds: bool
    refusal: Refusal | None
    notices: tuple[Notice, ...]
    findings: tuple[Finding, ...]
    changes: tuple[Change, ...]
    log: tuple[Change, ...]
    typed: Mapping[str, Value]
    effective: Mapping[str, Value]
    facts: Mapping[str, Value]
    explanation: Explanation | None = None


@dataclass(frozen=True, slots=True)
class RankedSolution:
    """One configuration: its score, the terms the score is the sum of, what to type, and what SGLang then runs."""

    rank: int
    score: int
    terms: Mapping[str, int]
    typed: Mapping[str, Value]
    effective: Mapping[str, Value]
    args: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Recommendation:
    """The best configurations, how many there are in all, and why there are none if there are none."""

    subject: Subject
    profile: str
    pins: Mapping[str, Value]
    count: int
    solutions: tuple[RankedSolution, ...]
    lacks: tuple[str, ...]
    defaults: Mapping[str, Value]
    explanation: Explanation | None = None


ElementKind = Literal["pin", "fact", "rule", "default", "release"]


@dataclass(frozen=True, slots=True)
class Element:
    """One part of a conflict.

    ``pin``: what was asked (``value`` None: left unset). ``fact``: of the model or machine. ``rule``: one that must
    hold. ``default``: a value that a rule chose or rewrote.
    """

    kind: ElementKind
    name: str
    value: Value = None
    rule: Rule | None = None
    source: Source | None = None
    origin: str = ""


@dataclass(frozen=True, slots=True)
class Core:
    """A minimal conflict: its elements, and the choices among them."""

    elements: tuple[Element, ...]
    pins: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Adjustment:
    """One thing a fix changes: a flag, or the GPU, their number, the release, the checkpoint."""

    what: str
    before: Value
    after: Value


@dataclass(frozen=True, slots=True)
class Fix:
    """A change that helps, solved again: the whole command and what SGLang then runs."""

    cost: int
    changes: tuple[Adjustment, ...]
    model: str
    gpu: str
    num_gpus: int
    release: str
    args: tuple[str, ...]
    effective: Mapping[str, Value]


@dataclass(frozen=True, slots=True)
class Explanation:
    """Why nothing holds, and what would. ``complete`` when these are all the conflicts; ``sampled`` when numbers were
    tried at some values alone."""

    subject: Subject
    satisfiable: bool
    cores: tuple[Core, ...]
    fixes: tuple[Fix, ...]
    complete: bool
    sampled: bool
    pins: Mapping[str, Value] = field(default_factory=dict)
