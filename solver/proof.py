"""A place and typed values -> a fix, only if the command that is printed, parsed and resolved there, holds.

Nothing else makes a `Fix`: what does not hold when checked again cannot be one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from constraints.schema import HARD, Flag
from constraints.values import Value, same

from .check import Checked
from .errors import InputError
from .intake.refusal import Refusal
from .moves import DROPPED, SET, Move
from .place import Place
from .report import Adjustment, Fix
from .spell import option_of, spell


@dataclass(frozen=True, slots=True)
class Question:
    """What the asker has: a place, typed values (or wanted ones), and the effective values that must be kept."""

    start: Place
    wanted: Mapping[str, Value]
    outcome: Mapping[str, Value] = field(default_factory=dict)


def holds(checked: Checked) -> bool:
    """Whether nothing hard is broken, at any stage."""
    resolution = checked.resolution
    return resolution is not None and not any(one.rule.kind in HARD for one in resolution.broken)


def prove(
    question: Question,
    place: Place,
    typed: Mapping[str, Value],
    moved: Sequence[Move] = (),
    outcome: Mapping[str, Value] | None = None,
) -> Fix | None:
    """The fix that types ``typed`` at ``place``; None when it does not hold or loses a value of ``outcome``."""
    args = spell(typed, place.engine.knowledge.flags)
    try:
        checked = place.engine.check(place.model, place.platform, args)
    except InputError:
        return None
    if not holds(checked) or checked.resolution is None or isinstance(checked.parsed, Refusal):
        return None
    if not _means(checked.parsed.typed, typed):
        return None
    kept = question.outcome if outcome is None else outcome
    if any(not same(checked.resolution.values.get(flag), value) for flag, value in kept.items()):
        return None
    known = {**question.start.engine.knowledge.flags, **place.engine.knowledge.flags}
    flags = tuple(
        Adjustment(flag, question.wanted.get(flag), typed.get(flag), _option(known.get(flag)))
        for flag in changed(question, typed)
    )
    aspects = place.aspects
    return Fix(
        cost=cost(question, typed, moved),
        changes=(*(Adjustment(move.aspect, move.before, move.after) for move in moved), *flags),
        model=str(aspects["model"]),
        gpu=str(aspects["gpu"]),
        num_gpus=place.platform.num_gpus,
        release=str(aspects["release"]),
        args=args,
        effective=place.engine.effective(checked.resolution.values),
    )


def changed(question: Question, typed: Mapping[str, Value]) -> list[str]:
    """The flags that are typed otherwise than was wanted, by name."""
    wanted = question.wanted
    return [flag for flag in sorted({*wanted, *typed}) if not same(wanted.get(flag), typed.get(flag))]


def cost(question: Question, typed: Mapping[str, Value], moved: Sequence[Move] = ()) -> int:
    """What it costs the asker to type ``typed`` after some moves."""
    flags = sum(DROPPED if typed.get(flag) is None else SET for flag in changed(question, typed))
    return flags + sum(move.cost for move in moved)


def _option(flag: Flag | None) -> str:
    return (option_of(flag) or "") if flag is not None else ""


def _means(parsed: Mapping[str, Value], typed: Mapping[str, Value]) -> bool:
    """Whether the printed words say what was meant, no more and no less."""
    said = {flag: value for flag, value in parsed.items() if "." not in flag}
    return all(same(said.get(flag), typed.get(flag)) for flag in {*said, *typed} if "." not in flag)
