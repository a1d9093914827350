"""A failure and the words that refusals print -> the rules it can be, surest first, with how far each is away."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from constraints.knowledge import Knowledge
from constraints.messages import Printed, tokens
from constraints.schema import Rule, Source
from constraints.symptoms_schema import Moment, Symptom

from .intake.log import Frame, Log

NEAREST = 3
# Where the line agrees, a message of which this much is missing is still the same: logs are cut, wordings are mended.
CUT_SHORT = 0.82
SAME = 0.6
# How: the line and the words agree; the words alone (a release that was not read); the line alone (it prints none);
# what is foreseen for the configuration, in a file of the traceback.
How = Literal["line and words", "words", "line", "foreseen", "near"]
_ORDER: dict[How, int] = {"line and words": 0, "words": 1, "line": 2, "foreseen": 3, "near": 4}


@dataclass(frozen=True, slots=True)
class Match:
    """One refusal a failure can be; ``distance`` 0 (all its words) to 1 (none); ``rule`` None: known, not explained.

    Not ``own``: its line is where several checks end, and the traceback does not come through the step of this one.
    """

    rule: Rule | None
    release: str
    place: str
    how: How
    distance: float
    own: bool = True


def recognise(log: Log, printed: Sequence[Printed], known: Mapping[str, Knowledge]) -> tuple[Match, ...]:
    """Every refusal that fits, or, where none does, the nearest ones (``how`` near).

    ``known`` gives the knowledge of each release, the newest first: it settles ties.
    """
    said = frozenset(tokens(log.message))
    weights = _weights(printed)
    words = {(one.release, one.rule or one.place): one.words for one in printed}
    found: list[Match] = []
    cut: list[Match] = []
    passed: set[str] = set()
    for release, hit in ((name, hit) for name, data in known.items() for hit in _by_line(log.frames, data)):
        passed |= hit.passed
        prints = words.get((release, hit.rule.id))
        place = f"{hit.source.file}:{hit.source.line}"
        if prints is None:
            cut.append(Match(hit.rule, release, place, "line", 0.0, hit.own))
        elif (away := _away(prints, said, weights)) <= CUT_SHORT:
            match = Match(hit.rule, release, place, "line and words", round(away, 2), hit.own)
            (found if away == 0.0 else cut).append(match)
    measured = sorted(
        (
            (_away(one.words, said, weights), -_weight(one.words, weights), one)
            for one in printed
            if not cut or one.rule not in passed
        ),
        key=lambda hit: (hit[0], hit[1]),
    )
    whole = [(weight, one) for distance, weight, one in measured if distance == 0.0]
    if not found and whole:
        # Of two refusals that both fit, the one with more to say is meant.
        found = [_named(one, known, "words", 0.0) for weight, one in whole if weight <= whole[0][0] * SAME]
    found = found or cut
    if found:
        return tuple(sorted(_once(found), key=lambda match: _ORDER[match.how]))
    near = [_named(one, known, "near", round(distance, 2)) for distance, _, one in measured if distance < 1.0]
    return tuple(_once(near)[:NEAREST])


def symptom_of(log: Log, known: Sequence[Symptom]) -> tuple[Symptom | None, Moment | None]:
    """The failure that a message has the words of, and when it happened by the traceback; None for neither."""
    said = frozenset(tokens(log.message))
    found = next((one for one in known if any(words <= said for words in one.words)), None)
    places = [f"{frame.file}:{frame.function}" for frame in log.frames]
    for moment in found.moments if found is not None else ():
        if any(part in place for part in moment.at for place in places):
            return found, moment
    return found, None


@dataclass(frozen=True, slots=True)
class _Hit:
    """A rule whose line is a frame; ``own`` as of a match; ``passed``: the rules of lines further in that were not."""

    rule: Rule
    source: Source
    own: bool = True
    passed: frozenset[str] = frozenset()


def _by_line(frames: Sequence[Frame], knowledge: Knowledge) -> list[_Hit]:
    """The rules whose source is the innermost frame that is one at all; those of its function, if there are any.

    A line that many callers end in is no rule's own: where the traceback does not come through the step of the rules
    that cite it, and an outer frame is the source of others, those are meant.
    """
    release = knowledge.release
    files = {frame.file for frame in frames}
    passed: list[tuple[Rule, Source]] = []
    cited: dict[tuple[str, int], list[tuple[Rule, Source]]] = {}
    for rule in knowledge.rules.values():
        if rule.kind in ("error", "defect"):
            for source in rule.sources:
                if source.release == release:
                    cited.setdefault((source.file, source.line), []).append((rule, source))
    for frame in reversed(frames):
        hits = cited.get((frame.file, frame.line), [])
        own = [hit for hit in hits if _same_function(frame, hit[0], knowledge)]
        reached = [hit for hit in own or hits if _comes_through(hit[0], files, knowledge)]
        if reached:
            inner = frozenset(rule.id for rule, _ in passed)
            return [_Hit(rule, source, True, inner) for rule, source in reached]
        passed = passed or own or hits
    return [_Hit(rule, source, False) for rule, source in passed]


def _comes_through(rule: Rule, files: Collection[str], knowledge: Knowledge) -> bool:
    step = knowledge.steps.get(rule.step)
    return step is None or not step.file or step.file in files


def _same_function(frame: Frame, rule: Rule, knowledge: Knowledge) -> bool:
    step = knowledge.steps.get(rule.step)
    if step is None or not frame.function or step.file != frame.file:
        return True
    return step.function.rpartition(".")[2] == frame.function.rpartition(".")[2]


def _named(one: Printed, known: Mapping[str, Knowledge], how: How, distance: float) -> Match:
    rule = known[one.release].rules.get(one.rule) if one.rule else None
    source = rule.source(one.release) if rule is not None else None
    return Match(rule, one.release, f"{source.file}:{source.line}" if source else one.place, how, distance)


def _once(found: Iterable[Match]) -> list[Match]:
    kept: dict[str, Match] = {}
    for match in found:
        kept.setdefault(match.rule.id if match.rule is not None else match.place, match)
    return list(kept.values())


def _weights(printed: Sequence[Printed]) -> dict[str, float]:
    """How rare each word is among the refusals (inverse document frequency; Sparck Jones 1972)."""
    counts: dict[str, int] = {}
    for one in printed:
        for word in one.words:
            counts[word] = counts.get(word, 0) + 1
    return {word: math.log(1 + len(printed) / count) for word, count in counts.items()}


def _weight(words: Iterable[str], weights: Mapping[str, float]) -> float:
    return sum(weights.get(word, 0.0) for word in words)


def _away(words: Sequence[str], said: frozenset[str], weights: Mapping[str, float]) -> float:
    whole = _weight(words, weights)
    return 1.0 - _weight([word for word in words if word in said], weights) / whole if whole else 1.0
