"""A question and one aspect of its place -> for which GPUs, counts, releases, checkpoints it holds; why not else."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from constraints.schema import HARD
from constraints.values import Value, same

from .answers import Surveyed, Violated
from .moves import counts, gpus, releases
from .place import COUNT, GPU, MODEL, RELEASE, Place, World, at_count, at_gpu, at_model, at_release
from .proof import Question, prove
from .spell import spell
from .witness import Refutation, reach

# Called with (done, all) after each place.
Progress = Callable[[int, int], None]


def places(start: Place, aspect: str, world: World) -> Iterator[tuple[Value, Place]]:
    """The place as it is, then every other one that differs in this aspect alone, the nearest first."""
    yield start.aspects[aspect], start
    if aspect == GPU:
        yield from ((name, at_gpu(start, name)) for name in gpus(start))
    elif aspect == COUNT:
        yield from ((count, at_count(start, count)) for count in counts(start))
    elif aspect == RELEASE:
        yield from ((release, at_release(start, release, world)) for release in releases(start, world))
    elif aspect == MODEL:
        here = start.engine.model(start.model).checkpoint
        for one in start.engine.catalogue.checkpoints:
            if one != here and one.draft_of is None:
                yield one.id, at_model(start, one.id)


def survey(
    question: Question, aspect: str, world: World, progress: Progress = lambda done, whole: None
) -> tuple[Surveyed, ...]:
    """The answer at each place, in the order of the places; a refutation serves every place where it stands."""
    everywhere = list(places(question.start, aspect, world))
    refuted: list[Refutation] = []
    found = []
    for number, (value, place) in enumerate(everywhere, 1):
        found.append(_at(question, value, place, refuted))
        progress(number, len(everywhere))
    return tuple(found)


def _at(question: Question, value: Value, place: Place, refuted: list[Refutation]) -> Surveyed:
    if not question.outcome:
        fix = prove(question, place, question.wanted)
        return Surveyed(value, True, fix, ()) if fix is not None else _no(value, place, question, None)
    if not set(question.outcome) <= set(place.engine.knowledge.flags):
        return Surveyed(value, False, None, ())
    typed = reach(place, question.outcome, search=False)
    if typed is None:
        known = next((one for one in refuted if one.stands_at(place)), None)
        typed = known or reach(place, question.outcome)
    if typed is None:
        return _no(value, place, question, None)._replace(works=None)
    if isinstance(typed, Refutation):
        if typed not in refuted:
            refuted.append(typed)
        return _no(value, place, question, typed)
    fix = prove(question, place, typed)
    return Surveyed(value, fix is not None or None, fix, ())


def _no(value: Value, place: Place, question: Question, refutation: Refutation | None) -> Surveyed:
    """Why not: the hard rules that what is wanted breaks when it is typed alone, in order, else those of the proof.

    Where there is a proof, a rule that it does without is none of the reasons: typing something else would meet it.
    """
    knowledge = place.engine.knowledge
    checked = place.engine.check(place.model, place.platform, spell(question.wanted, knowledge.flags))
    if checked.resolution is None:
        return Surveyed(value, False, None, (), checked.refusal)
    rules = {
        one.rule.id: one.rule
        for one in checked.resolution.broken
        if one.rule.kind in HARD and (refutation is None or one.rule.id in refutation.rules)
    }
    if not rules:
        # Nothing is refused, but what is wanted does not last: the rule that rewrote it.
        lost = [flag for flag, one in question.outcome.items() if not same(checked.resolution.values.get(flag), one)]
        writes = [write for write in checked.resolution.writes if write.target in lost]
        rules = {write.operation.rule.id: write.operation.rule for write in writes}
    if not rules and refutation is not None:
        rules = {one: knowledge.rules[one] for one in refutation.rules if knowledge.rules[one].kind in HARD}
    because = tuple(Violated(rule, rule.source(knowledge.release)) for rule in rules.values())
    return Surveyed(value, False, None, because)
