"""`preflight lint`: what is wrong in the knowledge, alone or held against SGLang -> lines, an exit code."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import typer

from constraints.lint import Finding, lint, unused_names
from constraints.load import known_releases, load
from constraints.provenance import Reach, anchors, coverage, load_excused, package_of, stale_excuses
from constraints.release import nearest, release_key

from ..errors import InputError

CLEAN, FINDINGS = 0, 1
_STATES = ("covered", "out of scope", "not covered")
_VERSION = re.compile(r"""^(?:__version__\s*=.*|version\s*=\s*)['"]([^'"]+)['"]""", re.MULTILINE)


def run(sources: Path | None, release: str | None, whole: bool) -> int:
    """Print what is wrong; 0 when nothing is.

    ``sources`` holds anchors against a tree of ``release`` (by default the tree's own); ``whole`` lists every note, and
    with ``sources`` every refusal that no rule knows. Raises InputError.
    """
    if whole and sources is None:
        raise InputError("there is nothing to cover", "--coverage", "Name an unpacked SGLang with --sources.")
    known = known_releases()
    asked = release if release is not None else None if sources is None else _release_of(sources)
    try:
        releases = known if asked is None else (nearest(asked, known),)
    except ValueError as fault:
        raise InputError(str(fault), "--release", "Known releases: " + ", ".join(known)) from None
    clean = _knowledge(releases, known, whole)
    if sources is not None:
        clean = _tree(sources, releases[-1], asked or "", whole) and clean
    return CLEAN if clean else FINDINGS


def _knowledge(releases: tuple[str, ...], known: tuple[str, ...], whole: bool) -> bool:
    found: dict[Finding, list[str]] = {}
    for release in releases:
        for finding in lint(release, known):
            found.setdefault(finding, []).append(release)
    faults = [one for one in sorted(found) if one.severity == "fault"]
    notes = [one for one in sorted(found) if one.severity == "note"]
    for finding in faults:
        typer.echo(f"{finding} in {', '.join(found[finding])}")
    unused = unused_names()
    if whole:
        for finding in notes:
            typer.echo(f"note: {finding} in {', '.join(found[finding])}")
        for fault in unused:
            typer.echo(f"note: {fault} [unused-names]")
    counts = Counter(one.check for one in notes) + Counter({"unused-names": len(unused)})
    shown = ", ".join(f"{check} {count}" for check, count in sorted(counts.items()))
    typer.echo(f"{', '.join(releases)}: {len(faults)} faults; notes: {shown or 'none'}")
    return not faults


def _tree(sources: Path, release: str, asked: str, whole: bool) -> bool:
    package = _package(sources)
    knowledge = load(release)
    if release_key(asked) != release_key(release):
        typer.echo(f"{asked} was not read: its tree is held against the anchors of {release}")
    held = anchors(knowledge, package)
    for one in held:
        if one.state != "stands":
            place = f"{one.source.file}:{one.source.line}"
            now = f"now line {one.line}" if one.state == "moved" else "vanished: to be read again"
            typer.echo(f"{one.rule.file}:{one.rule.line}: {one.rule.id} cites {place}, {now} [anchors]")
    excused = load_excused(release)
    stale = stale_excuses(excused, package) if release_key(asked) == release_key(release) else []
    for file, line in stale:
        typer.echo(f"sglang/out_of_scope.yaml: {file}:{line} neither raises nor asserts [out-of-scope]")
    counts = Counter(one.state for one in held)
    typer.echo(f"{len(held)} anchors: {counts['stands']} stand, {counts['moved']} moved, {counts['vanished']} vanished")
    if whole:
        for shown in _reach(coverage(knowledge, package, excused)):
            typer.echo(shown)
    return counts["stands"] == len(held) and not stale


def _reach(found: list[Reach]) -> Iterator[str]:
    """Sites by reach: those no rule knows one by one, the others as figures by file."""
    for reached in (True, False):
        yield "Not covered, in a step:" if reached else "Not covered, in functions that are no step:"
        for one in found:
            if one.state == "not covered" and bool(one.step) is reached:
                site = one.site
                within = f" ({one.step})" if reached else ""
                yield f"  {site.file}:{site.line} {site.kind} in {site.function}{within}"
    by_file: dict[str, Counter[str]] = {}
    for one in found:
        by_file.setdefault(one.site.file, Counter())[one.state] += 1
    for file, counts in sorted(by_file.items()):
        yield f"{file}: " + ", ".join(f"{counts[state]} {state}" for state in _STATES)
    total = Counter(one.state for one in found)
    yield f"{len(found)} sites: " + ", ".join(f"{count} {state}" for state, count in sorted(total.items()))


def _package(sources: Path) -> Path:
    try:
        return package_of(sources)
    except FileNotFoundError as fault:
        raise InputError(str(fault), "--sources", "Name the folder of an unpacked SGLang wheel.") from None


def _release_of(sources: Path) -> str:
    """The release a tree says it is.

    Raises InputError when it does not say.
    """
    package = _package(sources)
    for name in ("_version.py", "version.py"):
        file = package / name
        found = _VERSION.search(file.read_text(encoding="utf-8")) if file.is_file() else None
        if found is not None:
            return found[1]
    raise InputError(f"{sources} does not say which release it is", "--sources", "Give --release.")
