"""Every example of every rule: our verdict is SGLang's recorded one, and both cite the rule it stands under."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

import pytest

from constraints.load import known_releases
from constraints.schema import Example, Rule
from solver.check import VERDICT_STAGES
from tests.conformance.engines import answer, knowledge_of
from tests.conformance.examples import Key, Recorded, examples_of, file_of, key_of, read_recorded

RELEASES = known_releases()
NOT_ASKED = "our own answer is as the example says; SGLang was not asked yet"


@cache
def recorded(release: str) -> dict[Key, Recorded]:
    return read_recorded(file_of(release))


def cases(word: str) -> Iterator[object]:
    for release in RELEASES:
        for rule in sorted(knowledge_of(release).rules.values(), key=lambda one: one.id):
            for number, example in enumerate(rule.violates if word == "violates" else rule.satisfies):
                yield pytest.param(release, rule, example, id=f"{release}-{rule.id}-{word}-{number}")


def verdict_of(release: str, example: Example) -> Recorded | None:
    """SGLang's verdict; None where it was not asked yet, which one test of its own says for all."""
    return recorded(release).get(key_of(example))


def places(rule: Rule, release: str) -> set[str]:
    return {f"{source.file}:{source.line}" for source in rule.sources if source.release == release}


def binds(rule: Rule) -> bool:
    """Whether SGLang itself refuses what breaks the rule, before it loads a model."""
    return rule.kind == "error" and rule.stage in VERDICT_STAGES


@pytest.mark.parametrize(("release", "rule", "example"), list(cases("violates")))
def test_violates(release: str, rule: Rule, example: Example) -> None:
    theirs, ours = verdict_of(release, example), answer(release, example)
    if theirs is None:
        assert rule.id in {one.id for one in ours.broken} | {one.id for one in ours.later}
        pytest.skip(NOT_ASKED)
    assert ours.refused == (theirs.verdict == "refused"), f"SGLang: {theirs.verdict} {theirs.where}, first {ours.first}"
    if not binds(rule):
        # Later findings are ours alone: SGLang was asked before it loads a model.
        assert rule.id in {one.id for one in ours.broken} | {one.id for one in ours.later}
        return
    assert theirs.verdict == "refused", "SGLang accepts what should break this rule"
    if not rule.note:
        assert theirs.where in places(rule, release)
        assert ours.first is not None
        assert ours.first.id == rule.id


@pytest.mark.parametrize(("release", "rule", "example"), list(cases("satisfies")))
def test_satisfies(release: str, rule: Rule, example: Example) -> None:
    theirs, ours = verdict_of(release, example), answer(release, example)
    if theirs is None:
        assert rule.id not in {one.id for one in ours.broken} | {one.id for one in ours.later}
        pytest.skip(NOT_ASKED)
    assert ours.refused == (theirs.verdict == "refused"), f"SGLang: {theirs.verdict} {theirs.where}, first {ours.first}"
    assert rule.id not in {one.id for one in ours.broken} | {one.id for one in ours.later}
    if binds(rule) and theirs.where_kind != "call":
        assert theirs.where not in places(rule, release)


@pytest.mark.parametrize("release", RELEASES)
def test_sglang_was_asked_about_every_example(release: str) -> None:
    """What is merged rests on SGLang's own verdicts; `tests/conformance/record.py` asks for those that lack."""
    lacking = [name for name, example in examples_of(knowledge_of(release)) if verdict_of(release, example) is None]
    assert lacking == [], f"run tests/conformance/record.py --release {release}, or ask a reviewer to"


@pytest.mark.parametrize("release", RELEASES)
def test_cited_sites(release: str) -> None:
    """Where SGLang refuses an example on purpose, we cite the same line."""
    other = []
    for key, theirs in sorted(recorded(release).items()):
        if theirs.verdict == "ok" or theirs.where_kind in ("argparse", "call"):
            continue
        first = answer(release, Example(*key)).first
        if first is None or theirs.where not in places(first, release):
            other.append(f"{theirs.where}: {first.id if first else 'nothing'} for {' '.join(key[:3])}")
    assert not other


@pytest.mark.parametrize("release", RELEASES)
def test_what_may_be_chosen_can_be_typed(release: str) -> None:
    knowledge = knowledge_of(release)
    for one in knowledge.variables:
        for flag, *column in zip(one.flags, *one.values, strict=True):
            choices = knowledge.flags[flag].choices
            strangers = {value for value in column if value is not None and choices and value not in choices}
            assert not strangers, f"{one.name}: {flag} takes no {strangers}"
