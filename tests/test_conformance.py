"""Commands that SGLang itself has judged: our verdicts, cited lines and effective values agree as far as recorded here.

A floor is what was measured when it was set. It goes up with the knowledge and never down.
"""

from __future__ import annotations

from collections import Counter
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from tests.conformance.compare import judge, records, shown
from tests.conformance.corpus import read
from tests.conformance.engines import engine_of
from tests.conformance.unseen import unpack

HERE = Path(__file__).resolve().parent
SHARED = HERE.parents[1] / "shared"

# (release, file) -> percent of verdicts, of cited sites among refusals both see, of accepted commands all of whose
# effective values are equal.
Figures = tuple[float, float, float]
ALL: Figures = (100.0, 100.0, 100.0)
FLOORS: dict[tuple[str, str], Figures] = {
    ("0.5.23", "dense"): ALL,
    ("0.5.23", "order"): ALL,
    ("0.5.23", "smoke"): ALL,
    ("0.5.23", "recipes"): ALL,
    ("0.5.23", "random"): ALL,
    ("0.5.23", "wild"): ALL,
    # Files that are not there, and memory that does not suffice: causes in docs/truth.md.
    ("0.5.23", "odd"): (99.0, 98.0, 100.0),
    ("0.5.18", "odd"): (99.0, 100.0, 100.0),
    ("0.5.18", "smoke"): ALL,
    ("0.5.18", "recipes"): ALL,
    ("0.5.18", "random"): ALL,
}
# Checkpoints that nobody published, drawn by `draw_models.py`, and some of other authors: one accepted and one refused
# command each. What is left are config files that SGLang's own classes stop at for reasons of their own.
UNSEEN: dict[str, Figures] = {"0.5.23": (99.6, 97.1, 99.2), "0.5.18": (99.0, 97.7, 99.2)}
# Of the corpus these are drawn from, where it lies beside the repository.
WHOLE: dict[tuple[str, str], Figures] = {
    ("0.5.23", "random"): ALL,
    ("0.5.23", "wild"): ALL,
    ("0.5.18", "random"): ALL,
}


@cache
def corpus(release: str) -> dict[str, list[dict[str, Any]]]:
    groups: dict[str, list[dict[str, Any]]] = {}
    for case in read(HERE / "conformance" / f"corpus-{release}.jsonl.gz"):
        groups.setdefault(case["file"], []).append(case)
    return groups


def replay(release: str, cases: list[dict[str, Any]], models: Path | None) -> tuple[Figures, str]:
    """The three figures, and the most frequent causes of what is amiss."""
    tally: Counter[str] = Counter()
    causes: Counter[tuple[str, ...]] = Counter()
    samples: dict[tuple[str, ...], str] = {}
    for case in cases:
        for cause in judge(engine_of(release), case, models, release, tally):
            causes[cause] += 1
            samples.setdefault(cause, shown(case))
    figures = (
        _percent(tally["verdict"], len(cases)),
        _percent(tally["sites equal"], tally["sites"]),
        _percent(tally["accepted equal"], tally["accepted"]),
    )
    lines = [f"{count} {' | '.join(cause)}\n    {samples[cause]}" for cause, count in causes.most_common(20)]
    return figures, "\n".join([f"verdicts, sites, values: {figures}", *lines])


def _percent(part: int, whole: int) -> float:
    return 100.0 if not whole else int(10000 * part / whole) / 100


def at_least(figures: Figures, floor: Figures) -> bool:
    return all(figure >= least for figure, least in zip(figures, floor, strict=True))


@pytest.mark.parametrize(("release", "file"), FLOORS, ids="-".join)
def test_sample(release: str, file: str) -> None:
    figures, causes = replay(release, corpus(release)[file], None)
    assert at_least(figures, FLOORS[release, file]), causes


@pytest.mark.parametrize("release", sorted({release for release, _ in FLOORS}))
def test_every_file_has_a_floor(release: str) -> None:
    assert set(corpus(release)) == {file for known, file in FLOORS if known == release}


@pytest.mark.parametrize("release", UNSEEN)
def test_unseen_checkpoints(release: str, tmp_path: Path) -> None:
    cases = unpack(HERE / "conformance" / f"unseen-{release}.jsonl.gz", tmp_path)
    figures, causes = replay(release, cases, tmp_path)
    assert at_least(figures, UNSEEN[release]), causes


@pytest.mark.skipif(not SHARED.is_dir(), reason="the whole corpus is not here")
@pytest.mark.parametrize(("release", "file"), WHOLE, ids="-".join)
def test_whole(release: str, file: str) -> None:
    path = SHARED / "oracle" / "corpus" / f"{file}-{release}.jsonl.gz"
    figures, causes = replay(release, list(records([path])), SHARED / "models")
    assert at_least(figures, WHOLE[release, file]), causes
