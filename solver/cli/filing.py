"""`preflight check FILE ...`: files are told from commands, read, checked, shown, and mended on demand."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from .options import NO, YES, CheckFormat
from .output import own_version, write
from .progress import progress

if TYPE_CHECKING:
    from ..file_check import Asked, FileChecker
    from ..file_report import FileReport

_SUFFIXES = (".yaml", ".yml", ".json", ".sh", ".bash", ".service", ".dockerfile", ".md")
TOOLS = (CheckFormat.sarif, CheckFormat.github, CheckFormat.junit)


@dataclass(frozen=True, slots=True)
class Shown:
    """How the answer is shown, and whether files are mended."""

    output: CheckFormat
    quiet: bool = False
    facts: bool = False
    fix: bool = False
    diff: bool = False
    keep: str | None = None


def files_among(words: Sequence[str]) -> tuple[str | None, list[str]] | None:
    """The GPU, if one is named, and the files; None where the words are a GPU and a command."""
    if not words:
        return None
    if all(is_file(word) for word in words):
        return None, list(words)
    if len(words) > 1 and all(is_file(word) for word in words[1:]) and not is_file(words[0]):
        return words[0], list(words[1:])
    return None


def is_file(word: str) -> bool:
    """Whether a word names a file, or what reads like one."""
    if word == "-":
        return True
    if word.startswith("-") or not word:
        return False
    try:
        path = Path(word)
        if path.exists() and not path.is_dir():  # pipes and devices are files too
            return True
        return path.suffix.lower() in _SUFFIXES and " " not in word and not path.is_dir()
    except (OSError, ValueError):
        return False


def run(asked: Asked, files: Sequence[str], shown: Shown) -> int:
    """Check each file; what cannot be read ends the question.

    Raises InputError.
    """
    checker = _checker(asked, shown)
    texts = [(_named(file), read(file)) for file in files]
    reports = []
    with progress("files") as bar:
        for number, (name, text) in enumerate(texts):
            bar(number, len(texts))
            reports.append(checker.check(text, name))
    if shown.fix or shown.diff:
        from . import mending

        return mending.run(checker, texts, reports, write_files=shown.fix, show=shown.diff)
    answer(reports, shown)
    return YES if all(one.holds for one in reports) else NO


def _checker(asked: Asked, shown: Shown) -> FileChecker:
    from ..file_check import FileChecker
    from .inputs import kept_of

    checker = FileChecker(asked)
    if shown.keep is None:
        return checker
    return FileChecker(replace(asked, keep=kept_of(shown.keep, checker.preflight(None).knowledge.flags)))


def command(asked: Asked, words: Sequence[str], shown: Shown) -> int:
    """Check a command as a file of one line, for the forms that files are shown in."""
    import shlex

    text = words[0] if len(words) == 1 else shlex.join(words or ["sglang", "serve"] * (asked.model is not None))
    report = _checker(asked, shown).check(text, "command")
    answer([report], shown)
    return YES if report.holds else NO


def answer(reports: Sequence[FileReport], shown: Shown) -> None:
    """The reports, in the format that was asked for."""
    from ..render import file_data, file_text, machine, sarif

    if shown.output is CheckFormat.sarif:
        write(sarif.sarif(reports, own_version()))
    elif shown.output is CheckFormat.github:
        write(sarif.github(reports))
    elif shown.output is CheckFormat.junit:
        write(sarif.junit(reports))
    elif shown.output in (CheckFormat.json, CheckFormat.yaml):
        data = file_data.files(reports, facts=shown.facts)
        write(machine.as_json(data) if shown.output is CheckFormat.json else machine.as_yaml(data))
    elif shown.output is CheckFormat.command:
        write(file_text.commands(reports))
    else:
        said = file_text.quiet(reports) if shown.quiet else file_text.files(reports)
        if said:
            write(said)


def read(file: str) -> str:
    """The text of a file, or of standard input for ``-``, no more of it than a launch file can have.

    Raises InputError.
    """
    from ..intake.decode import MAX_BYTES, decode
    from .inputs import bytes_of

    return decode(bytes_of(file, MAX_BYTES), _named(file))


def _named(file: str) -> str:
    return "stdin" if file == "-" else file
