"""`check --fix` and `--diff`: the best way out written into the file, if the file holds then."""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from ..errors import InputError
from ..render.visible import visible
from .options import NO, YES
from .output import write

if TYPE_CHECKING:
    from ..file_check import FileChecker
    from ..file_report import FileReport

MOST_ROUNDS = 8


def run(
    checker: FileChecker,
    texts: Sequence[tuple[str, str]],
    reports: Sequence[FileReport],
    *,
    write_files: bool,
    show: bool,
) -> int:
    """Mend each file; exit code 0 when all hold in the end."""
    good = True
    for (name, text), report in zip(texts, reports, strict=True):
        mended, after = mend(checker, name, text, report)
        if show and mended != text:
            rows = difflib.unified_diff(
                text.splitlines(keepends=True), mended.splitlines(keepends=True), f"a/{name}", f"b/{name}"
            )
            write("".join(row if row.endswith("\n") else f"{row}\n\\ No newline at end of file\n" for row in rows))
        if write_files and mended != text:
            _write(name, text, mended)
        said = _said(report, after, mended != text, write_files)
        typer.echo(visible(f"{name}: {said}"), err=True)
        good = good and (after.holds if write_files else report.holds)
    return YES if good else NO


def mend(checker: FileChecker, name: str, text: str, report: FileReport) -> tuple[str, FileReport]:
    """The text with every launch mended that can be, and its report: each step is checked again before the next."""
    from ..mend import applied, edits, mendable

    given_up: set[int] = set()
    for _ in range(MOST_ROUNDS):
        at = next(
            (
                place
                for place, one in enumerate(report.launches)
                if place not in given_up and not one.report.holds and mendable(one) is not None
            ),
            None,
        )
        if at is None:
            break
        one = report.launches[at]
        fix = mendable(one)
        assert fix is not None, "the launch was chosen for its fix"
        flags = checker.preflight(one.launch.release).knowledge.flags
        tried = applied(text, edits(text, one, fix, flags))
        try:
            after = checker.check(tried, name)
        except InputError:
            after = report
        if len(after.launches) == len(report.launches) and after.launches[at].report.holds:
            text, report = tried, after
        else:
            given_up.add(at)
    return text, report


def _said(before: FileReport, after: FileReport, changed: bool, written: bool) -> str:
    from ..mend import mendable

    if before.holds:
        return "holds as it is"
    if not changed and any(mendable(one) is not None for one in before.launches):
        return "a change of flags helps (see the ways out), and cannot be written here"
    if not changed:
        return "no change of flags was found that helps"
    done = "mended" if written else "can be mended"
    return done if after.holds else f"{done} in part"


def _write(name: str, before: str, after: str) -> None:
    """Write the text back in its own encoding and line ends."""
    path = Path(name)
    if name == "stdin" and not path.exists():
        write(after)
        return
    data = path.read_bytes()
    mark = b"\xef\xbb\xbf" if data.startswith(b"\xef\xbb\xbf") else b""
    if mark + before.encode() != data:
        raise InputError("is not UTF-8: it is not written to", name, "Save it as UTF-8, or take --diff.")
    path.write_bytes(mark + after.encode())
