"""What a file launches, as values: words with their places, environment, image, and what it says of the machine."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from .tokens import Word
from .words import CommandLine, Entry

FileKind = Literal["shell", "dockerfile", "compose", "kubernetes", "systemd", "config"]

_DIGITS = 18
_IMAGE = re.compile(
    r"[\w.\-/:]*sglang[\w.\-/]*:v?(\d{1,9}\.\d{1,9}\.\d{1,9}(?:\.?(?:post|rc)\d{1,9})?)[\w.\-]*", re.ASCII
)


@dataclass(frozen=True, slots=True)
class Launch:
    """One launch of SGLang in a file.

    ``at`` is where it stands, ``where`` the place of each environment variable, ``hints`` texts that may name its GPU.
    ``unset``: variables that are set to what the file does not say; ``unseen``: where others are that it names.
    ``said``: where ``num_gpus`` and ``nodes`` stand, those of them that stand by themselves.
    """

    kind: FileKind
    file: str
    at: Word
    arguments: tuple[Word, ...]
    env: Mapping[str, str] = field(default_factory=dict)
    entry: Entry = ""
    name: str = ""
    image: str = ""
    hints: tuple[str, ...] = ()
    num_gpus: int | None = None
    nodes: int | None = None
    where: Mapping[str, tuple[int, int]] = field(default_factory=dict)
    unset: Mapping[str, str] = field(default_factory=dict)
    unseen: tuple[Word, ...] = ()
    said: Mapping[str, tuple[int, int]] = field(default_factory=dict)

    @property
    def release(self) -> str | None:
        """The release its image is tagged with."""
        found = _IMAGE.fullmatch(self.image)
        return found[1] if found else None


def counted(text: str) -> int | None:
    """A number of things, at least one; None for what is none. Past its first digits it is too large in any case."""
    digits = text.lstrip("0")
    return int(digits[:_DIGITS]) if digits and digits.isascii() and digits.isdecimal() else None


def launch_from(command: CommandLine, kind: FileKind, file: str, **said: str) -> Launch:
    """The launch of a command that was read from a text."""
    at = command.before[-1] if command.before else (command.arguments[0] if command.arguments else Word(""))
    texts = [word.text for word in command.before]
    image = next((text for text in texts if _IMAGE.fullmatch(text)), "")
    launch = Launch(
        kind,
        file,
        at._replace(origin=file),
        tuple(_from(file, word) for word in command.arguments),
        command.env,
        command.entry,
        image=image,
        unset=command.unset,
        unseen=_files_of(command.before),
    )
    gpus, place = _docker_gpus(texts)
    where = {} if gpus is None else {"num_gpus": (command.before[place].line, command.before[place].column)}
    return replace(launch, num_gpus=gpus, said=where, **said)  # type: ignore[arg-type]


def _from(file: str, word: Word) -> Word:
    """A word that knows the file it comes from."""
    among = tuple(tuple(_from(file, one) for one in words) for words in word.among)
    return word._replace(origin=file, among=among)


def _files_of(words: Sequence[Word]) -> tuple[Word, ...]:
    """The files with variables that `docker run` is given."""
    found: list[Word] = []
    for place, word in enumerate(words):
        option, equals, value = word.text.partition("=")
        if option == "--env-file" and (equals or place + 1 < len(words)):
            found.append(word._replace(text=f"the file {value if equals else words[place + 1].text}"))
    return tuple(found)


def _docker_gpus(texts: Sequence[str]) -> tuple[int | None, int]:
    """How many GPUs `docker run` gives, None where it gives all, or is not said; and the word that says it."""
    for place, text in enumerate(texts):
        if text.startswith("--gpus"):
            given = text.partition("=")[2] or "".join(texts[place + 1 : place + 2])
            if "device" in given:
                return len(re.findall(r"\d+", given.partition("device")[2])) or None, place
            return counted(given), place
    return None, 0
