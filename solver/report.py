"""What is said of one command, as values: what `api` gives and `render` turns into text."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Literal, NamedTuple

from constraints.schema import Rule, Source
from constraints.values import Value

from .intake.parsed import Notice, Place
from .intake.refusal import Refusal
from .resolution import Write

if TYPE_CHECKING:
    from .estimate.memory import Memory

Severity = Literal["error", "warning", "note"]


class Finding(NamedTuple):
    """A rule that does not hold for a command, with the values it read; ``hidden`` when SGLang stops before it.

    ``behind``: the rule, last before this one, at which SGLang stops.
    """

    rule: Rule
    source: Source | None
    severity: Severity
    hidden: bool
    reads: Mapping[str, Value]
    facts: Mapping[str, Value]
    step: str
    behind: str = ""


class Change(NamedTuple):
    """A flag that ends otherwise than typed (``rewritten``) or gets a value though nothing was typed (``filled``)."""

    flag: str
    before: Value
    after: Value
    rule: Rule
    source: Source | None
    rewritten: bool


def change_by(write: Write, before: Value, after: Value, rewritten: bool, release: str) -> Change:
    """The change that a write made."""
    rule = write.operation.rule
    return Change(write.target, before, after, rule, rule.source(release), rewritten)


class Subject(NamedTuple):
    """What was asked about."""

    release: str
    asked_release: str
    model: str
    gpu: str
    num_gpus: int
    nodes: int = 1
    inferred: tuple[str, ...] = ()


class CheckReport(NamedTuple):
    """What SGLang does with a command.

    ``refused``: SGLang does not start. ``holds``: nothing hard is broken at any stage. ``changes`` in order of flags;
    ``writes`` in order. ``typed`` and ``effective`` by flag, ``spans`` where each flag was typed. ``memory`` where it
    was asked for.
    """

    subject: Subject
    refused: bool
    holds: bool
    refusal: Refusal | None
    notices: tuple[Notice, ...]
    findings: tuple[Finding, ...]
    changes: tuple[Change, ...]
    writes: tuple[Write, ...]
    typed: Mapping[str, Value]
    effective: Mapping[str, Value]
    facts: Mapping[str, Value]
    explanation: Explanation | None = None
    memory: Memory | None = None
    spans: Mapping[str, Place] = {}

    @property
    def log(self) -> tuple[Change, ...]:
        """Every write as a change, in order."""
        return tuple(
            change_by(write, write.before, write.after, write.target in self.typed, self.subject.release)
            for write in self.writes
            if not write.target.startswith("local.")
        )


ElementKind = Literal["pin", "fact", "rule", "default", "release"]


class Element(NamedTuple):
    """One part of a conflict.

    ``pin``: what was asked (``value`` None: left unset; ``origin`` the option). ``fact``: of the model or machine, with
    where it stands. ``rule``: one that must hold. ``default``: a value that a rule chose, or made of ``before``.
    ``release``: the rules named here do not stand so in every release.
    """

    kind: ElementKind
    name: str
    value: Value = None
    rule: Rule | None = None
    source: Source | None = None
    origin: str = ""
    before: Value = None


class Core(NamedTuple):
    """A minimal conflict: its elements, and the choices among them."""

    elements: tuple[Element, ...]
    pins: tuple[str, ...]


class Adjustment(NamedTuple):
    """One thing a fix changes: a flag (``option`` is its spelling), or ``gpu num_gpus release model``."""

    what: str
    before: Value
    after: Value
    option: str = ""


class Fix(NamedTuple):
    """A change that helps, solved again: the whole command and what SGLang then runs.

    ``also`` names further GPUs, counts, releases or checkpoints in place of the one that is changed to.
    """

    cost: int
    changes: tuple[Adjustment, ...]
    model: str
    gpu: str
    num_gpus: int
    release: str
    args: tuple[str, ...]
    effective: Mapping[str, Value]
    also: tuple[str, ...] = ()


class Explanation(NamedTuple):
    """Why nothing holds, and what would. ``complete`` when these are all the conflicts; ``sampled`` when numbers were
    tried at some values alone. ``closed``: the pins are a command, and what it leaves out is not chosen."""

    subject: Subject
    satisfiable: bool
    cores: tuple[Core, ...]
    fixes: tuple[Fix, ...]
    complete: bool
    sampled: bool
    pins: Mapping[str, Value] = {}
    closed: bool = False
