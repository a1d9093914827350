"""The answers, as values: what `api` gives and `render` turns into text."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, NamedTuple

from constraints.preferences import Evidence, Term
from constraints.schema import Rule, Source
from constraints.symptoms_schema import Moment, Symptom
from constraints.values import Value

from .intake.parsed import Notice, Place
from .intake.refusal import Refusal
from .resolution import Write

if TYPE_CHECKING:
    from .estimate.known import Interval
    from .estimate.memory import Memory
    from .estimate.roofline import Roofline, Workload
    from .recognise import Match

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


class Sibling(NamedTuple):
    """A quantized checkpoint with the fewest GPUs of a node it surely fits on, its weights on each, and how to ask."""

    model: str
    num_gpus: int
    weights: Interval
    args: tuple[str, ...]


class RankedSolution(NamedTuple):
    """One configuration: its score and the terms that make it, what to type, what SGLang then runs and needs.

    ``own``: what the terms give when nothing but its layout is typed; None where that does not hold. ``published``: the
    deployments that run some of it on this model type and GPU type.
    """

    rank: int
    score: int
    terms: Mapping[str, int]
    typed: Mapping[str, Value]
    effective: Mapping[str, Value]
    args: tuple[str, ...]
    memory: Memory | None = None
    roofline: Roofline | None = None
    own: Mapping[str, int] | None = None
    published: tuple[Evidence, ...] = ()


@dataclass(frozen=True, slots=True)
class Recommendation:
    """The best configurations, how many there are in all, and why there are none if there are none.

    ``lacks`` is what the profile does not know, ``terms`` what it looks at, ``workload`` what bounds are for.
    ``front``: the terms whose Pareto front the solutions are (empty: they are the best). ``siblings``: quantized
    checkpoints of the same model that need fewer GPUs.
    """

    subject: Subject
    profile: str
    pins: Mapping[str, Value]
    count: int
    solutions: tuple[RankedSolution, ...]
    lacks: tuple[str, ...]
    defaults: Mapping[str, Value]
    terms: tuple[Term, ...]
    workload: Workload
    explanation: Explanation | None = None
    front: tuple[str, ...] = ()
    siblings: tuple[Sibling, ...] = ()


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


class Fitting(NamedTuple):
    """A number of GPUs on which a command fits, what to type in it then, and what it needs of each."""

    num_gpus: int
    args: tuple[str, ...]
    memory: Memory


class Room(NamedTuple):
    """The memory of a command: what it needs ``now`` (None: not known), and where it surely fits if it does not."""

    now: Memory | None
    larger: Fitting | None


class Diagnosis(NamedTuple):
    """What a log says happened.

    ``matches``: the rules it can be (``recognised``), or the nearest known ones. ``told``: the release the asker or the
    log names; ``release`` the one that answers. ``origin`` of the configuration: ``command``, ``server_args`` or "";
    ``missing`` what the log lacks to look into it. ``finding``: the rule as this configuration breaks it (None: in the
    configuration that was read it is not broken), ``following`` what would have failed next. ``refusal``: the command
    line could not be read at all. ``symptom``: a failure that no rule foretells, with its ``moment`` where the
    traceback tells it, and ``room``: what the configuration needs and where it fits.
    """

    error: str
    message: str
    place: str
    release: str
    told: str
    matches: tuple[Match, ...]
    recognised: bool
    origin: str = ""
    missing: tuple[str, ...] = ()
    fault: str = ""
    args: tuple[str, ...] = ()
    report: CheckReport | None = None
    finding: Finding | None = None
    following: tuple[Finding, ...] = ()
    refusal: Refusal | None = None
    symptom: Symptom | None = None
    moment: Moment | None = None
    room: Room | None = None


class Violated(NamedTuple):
    """A rule that a question breaks somewhere."""

    rule: Rule
    source: Source | None


class Surveyed(NamedTuple):
    """The answer at one place: ``works`` (None: not decided) with its command, else the rules it breaks there.

    ``refusal``: what is wanted cannot even be said there.
    """

    value: Value
    works: bool | None
    command: Fix | None
    because: tuple[Violated, ...]
    refusal: Refusal | None = None


class Survey(NamedTuple):
    """For which values of one aspect (``gpu num_gpus release model``) a question holds.

    ``answers`` in order of nearness to what was asked about, itself first.
    """

    subject: Subject
    aspect: str
    pins: Mapping[str, Value]
    answers: tuple[Surveyed, ...]
