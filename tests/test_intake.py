"""Files that launch SGLang: every kind is read, every finding stands at its place, whatever is wrong is said."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import Any

import pytest

from constraints.read import read_file
from solver.file_check import Asked, FileChecker
from solver.intake.decode import decode
from solver.render.problems import problems

DATA = Path(__file__).parent / "data" / "intake"
CASES: list[dict[str, Any]] = read_file(DATA / "index.yaml")["files"]


@lru_cache
def checker(gpu: str | None, model: str | None) -> FileChecker:
    """One checker for each question: what it read serves the next file."""
    return FileChecker(Asked(gpu, model, why=False))


def test_there_are_files_of_every_kind() -> None:
    assert len([one for one in CASES if not one["source"].startswith("written here")]) >= 60
    assert {one["file"] for one in CASES} == {path.name for path in DATA.iterdir()} - {"index.yaml"}


@pytest.mark.parametrize("case", CASES, ids=[one["file"] for one in CASES])
def test_files_are_answered_at_their_places(case: dict[str, Any]) -> None:
    text = decode((DATA / case["file"]).read_bytes(), case["file"])
    report = checker(case.get("gpu"), case.get("model")).check(text, case["file"])
    found = [(one.rule, one.spots[0].line, one.spots[0].column) for one in problems([report]) if one.level == "error"]
    if "unknown" in case:
        notes = [one.spots[0] for one in problems([report]) if one.rule == "value-unknown"]
        assert [[one.line, one.column] for one in notes] == case["unknown"]
    assert sorted(found) == sorted((rule, line, column) for rule, line, column in case.get("at") or [])
    assert len(report.launches) == case["launches"]
    assert report.holds is not bool(case.get("at"))
    if "release" in case:
        assert {one.report.subject.release for one in report.launches} == {case["release"]}
