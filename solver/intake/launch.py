"""What a file launches, as values: words with their places, environment, image, and what it says of the machine."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from .expand import expand, expanded
from .tokens import Word
from .words import CommandLine, Entry

FileKind = Literal["shell", "dockerfile", "compose", "kubernetes", "systemd", "config"]

_IMAGE = re.compile(r"[\w.\-/:]*sglang[\w.\-/]*:v?(\d+\.\d+\.\d+(?:\.?(?:post|rc)\d+)?)[\w.\-]*", re.ASCII)


@dataclass(frozen=True, slots=True)
class Launch:
    """One launch of SGLang in a file.

    ``at`` is where it stands, ``where`` the place of each environment variable, ``hints`` texts that may name its GPU.
    ``unset``: variables that are set to what the file does not say.
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

    @property
    def release(self) -> str | None:
        """The release its image is tagged with."""
        found = _IMAGE.fullmatch(self.image)
        return found[1] if found else None


def launch_from(
    command: CommandLine, kind: FileKind, file: str, env: Mapping[str, str] | None = None, **said: str
) -> Launch:
    """The launch of a command that was read from a text, with variables put in."""
    known, unset = known_environment(command.env, env or {})
    words = [word._replace(origin=file) for word in command.arguments]
    lists = {name: tuple(one._replace(origin=file) for one in found) for name, found in command.lists.items()}
    at = command.before[-1] if command.before else (command.arguments[0] if command.arguments else Word(""))
    texts = [word.text for word in command.before]
    image = next((text for text in texts if _IMAGE.fullmatch(text)), "")
    launch = Launch(
        kind,
        file,
        at._replace(origin=file),
        expanded(words, known, lists),
        known,
        command.entry,
        image=image,
        unset=unset,
    )
    return replace(launch, num_gpus=_docker_gpus(texts), **said)  # type: ignore[arg-type]


def known_environment(assigned: Mapping[str, str], outer: Mapping[str, str]) -> tuple[dict[str, str], dict[str, str]]:
    """The environment with what was assigned, in the order of a script, and what of it cannot be known."""
    known, unknown = dict(outer), dict[str, str]()
    for name, value in assigned.items():
        text, left = expand(value, known)
        if left:
            known.pop(name, None)
            unknown[name] = text
        else:
            known[name] = text
    return known, unknown


def _docker_gpus(texts: Sequence[str]) -> int | None:
    """How many GPUs `docker run` gives; None where it gives all, or is not said."""
    for place, text in enumerate(texts):
        if text.startswith("--gpus"):
            given = text.partition("=")[2] or "".join(texts[place + 1 : place + 2])
            if "device" in given:
                return len(re.findall(r"\d+", given.partition("device")[2])) or None
            return int(given) if given.isdecimal() and int(given) else None
    return None
