"""Command lines against SGLang's own parser, as recorded by `record_parse.py`, and what the reader adds to it."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from constraints.flags import frozen, known_elsewhere, load_flags
from constraints.read import Mapped, read_file
from constraints.schema import Elsewhere, Flag
from solver.intake.command import CommandLine, Parsed, Refusal, parse_arguments, read_command, words_of

ROOT = Path(__file__).resolve().parent.parent
SHARED = next((path for path in (ROOT.parent / "shared", ROOT / "shared") if path.is_dir()), ROOT.parent / "shared")
RELEASES = ("0.5.18", "0.5.23")


def documents() -> dict[str, Mapped]:
    return {path.name: read_file(path) for path in sorted((ROOT / "constraints/sglang/flags").glob("*.yaml"))}


FLAGS: dict[str, dict[str, Flag]] = {release: load_flags(documents(), release, []) for release in RELEASES}
ELSEWHERE: dict[str, dict[str, Elsewhere]] = {
    release: known_elsewhere(documents(), release, []) for release in RELEASES
}


def lines(path: Path) -> Iterator[dict[str, Any]]:
    with gzip.open(path, "rt", encoding="utf-8") as file:
        yield from map(json.loads, file)


def parse(text: str, release: str = "0.5.23", **how: Any) -> Parsed | Refusal:
    command = read_command(text)
    if isinstance(command, Refusal):
        return command
    how.setdefault("needs_model", False)
    return parse_arguments(
        command.arguments,
        FLAGS[release],
        env=command.env,
        entry=command.entry,
        elsewhere=ELSEWHERE[release],
        **how,
    )


def parsed(text: str, release: str = "0.5.23", **how: Any) -> Parsed:
    found = parse(text, release, **how)
    assert isinstance(found, Parsed), found
    return found


def refused(text: str, release: str = "0.5.23", **how: Any) -> Refusal:
    found = parse(text, release, **how)
    assert isinstance(found, Refusal), found
    return found


# --------------------------------------------------------------------------- as SGLang's parser


def same_verdict(case: dict[str, Any], found: Parsed | Refusal) -> bool:
    """Whether the reader says what was recorded: the same typed values, or the same first refusal."""
    if case["verdict"] == "ok":
        if isinstance(found, Refusal):
            return False
        plain = {name: value for name, value in found.typed.items() if "." not in name}
        recorded = {name: frozen(value) for name, value in case["typed"].items() if name != "config"}
        return repr(sorted(plain.items())) == repr(sorted(recorded.items()))
    if not isinstance(found, Refusal):
        return False
    reason = case["reason"]
    if reason == "left-over":
        return found.reason in ("unknown-option", "unexpected-word") and " ".join(found.extras) == case["extras"]
    if reason == "crash":
        return found.reason == "crash" or found.reason.startswith("config-")
    if reason == "ambiguous-option":
        return found.reason == reason and list(found.candidates) == case["candidates"]
    # argparse names an option by all its spellings.
    return found.reason == reason and ("option" not in case or found.option in case["option"].split("/"))


@pytest.mark.parametrize("release", RELEASES)
def test_recorded_cases(release: str, tmp_path: Path) -> None:
    differing, count, reasons = [], 0, set()
    for case in lines(ROOT / "tests" / "data" / f"parse-{release}.jsonl.gz"):
        folder = tmp_path / str(count)
        count += 1
        reasons.add(case.get("reason", "ok"))
        if case.get("files"):
            folder.mkdir()
        for name, text in case.get("files", {}).items():
            (folder / name).write_text(text, encoding="utf-8")
        found = parse_arguments(words_of(case["args"]), FLAGS[release], folder=folder)
        if not same_verdict(case, found):
            differing.append((case, found))
    assert not differing[:20]
    assert count > 2000
    assert len(reasons) >= 9  # every kind of refusal was met


@pytest.mark.skipif(not SHARED.is_dir(), reason="the recorded corpus lies beside the repository")
def test_corpus() -> None:
    differing, count = [], 0
    for path in sorted((SHARED / "oracle" / "corpus").glob("*.jsonl.gz")):
        for case in lines(path):
            count += 1
            found = parse_arguments(words_of(["--model-path", "m", *case["args"]]), FLAGS[case["release"]])
            stopped = case["verdict"] == "refused" and case["stage"] in ("parse", "argparse")
            if stopped != isinstance(found, Refusal):
                differing.append((case["id"], case.get("words"), found))
    assert not differing[:20]
    assert count > 1000
