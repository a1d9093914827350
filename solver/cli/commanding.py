"""A whole launch command -> what it says of where it runs: the release of its image, and how many GPUs it is given."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence

from ..intake.command import read_command
from ..intake.launch import Launch, launch_from
from ..intake.refusal import Refusal


def launch_said(words: Sequence[str]) -> Launch | None:
    """The launch that words are; None for flags alone, and for what is none."""
    if not words or words[0].startswith("-"):
        return None
    found = read_command(words[0] if len(words) == 1 else shlex.join(words))
    return None if isinstance(found, Refusal) else launch_from(found, "shell", "")


def release_said(launch: Launch | None, asked: str | None) -> str | None:
    """The release: the one asked for, else that of the image."""
    return asked if asked is not None or launch is None else launch.release


def gpus_said(launch: Launch | None, roles: Mapping[str, str]) -> int | None:
    """How many GPUs a launch is given, as in a file before the number that the asker names; None where it says none."""
    from ..file_meant import visible

    return None if launch is None else launch.num_gpus or visible(launch, roles)
