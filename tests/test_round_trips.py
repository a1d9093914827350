"""A sample of the random round trips, and published recipes in every form."""

from __future__ import annotations

import itertools
import shlex
from pathlib import Path
from typing import Any

import pytest

from constraints import store
from constraints.read import read_file
from solver.errors import InputError
from solver.file_check import Asked, FileChecker
from solver.file_report import FileReport
from solver.render.launch import Box, compose, kubernetes, pretty
from tests.round_trips import faults, questions

RECIPES = Path(__file__).resolve().parents[2] / "shared" / "recipes" / "recipes.yaml"


def test_what_is_written_is_read_again() -> None:
    files = 0
    for asked in itertools.islice(questions(11), 4):
        made, found = faults(asked, top=2)
        files += made
        assert found == [], asked
    assert files > 10


def answer(report: FileReport) -> Any:
    """What a file says beside its places."""
    (launch,) = report.launches
    one = launch.report
    found = [(finding.rule.id, finding.severity, dict(finding.reads)) for finding in one.findings]
    refusal = None if one.refusal is None else (one.refusal.reason, one.refusal.word)
    return one.holds, refusal, found, dict(one.typed), dict(one.effective)


def recipes() -> list[dict[str, Any]]:
    """Published launches, where they are at hand."""
    if not RECIPES.is_file():
        return []
    data = read_file(RECIPES)
    found: list[dict[str, Any]] = data["recipes"] if isinstance(data, dict) else data
    return found


@pytest.mark.skipif(not RECIPES.is_file(), reason="the published recipes are not here")
def test_recipes_say_the_same_in_every_form() -> None:
    checker = FileChecker(Asked("8xH200", "Qwen/Qwen3-8B", "0.5.23", why=False))
    knowledge = store.knowledge_of("0.5.23")
    box = Box(knowledge.roles, "0.5.23", "nvidia", "", 8)
    compared = 0
    for recipe in recipes()[::4]:
        words = words_of(recipe)
        if words is None:
            continue
        forms = {"run.sh": pretty(words), "compose.yaml": compose(words, box), "pod.yaml": kubernetes(words, box)}
        try:
            answers = {name: answer(checker.check(text, name)) for name, text in forms.items()}
        except InputError as fault:
            pytest.fail(f"{words}: {fault}")
        assert answers["run.sh"] == answers["compose.yaml"] == answers["pod.yaml"], words
        compared += 1
    assert compared > 20


def words_of(recipe: dict[str, Any]) -> list[str] | None:
    """The words behind the entry point."""
    args = recipe.get("args")
    words = [word for one in ([args] if isinstance(args, str) else args or []) for word in shlex.split(str(one))]
    return ["--model-path", "Qwen/Qwen3-8B", *words] if words else None
