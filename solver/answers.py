"""The answers to what is wider than one command: recommendations, diagnoses, surveys; a check starts without them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from constraints.preferences import Evidence, Term
    from constraints.schema import Rule, Source
    from constraints.symptoms_schema import Moment, Symptom
    from constraints.values import Value

    from .estimate.known import Interval
    from .estimate.memory import Memory
    from .estimate.roofline import Roofline, Workload
    from .intake.refusal import Refusal
    from .recognise import Match
    from .report import CheckReport, Explanation, Finding, Fix, Subject


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
