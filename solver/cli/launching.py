"""Configurations that hold, in the form that was asked for: a command, docker, compose, Kubernetes, --config."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from ..errors import InputError
from .options import LaunchFormat

if TYPE_CHECKING:
    from constraints.values import Value

    from ..api import Preflight
    from ..facts import Platform

FORMS = (
    LaunchFormat.command,
    LaunchFormat.docker,
    LaunchFormat.compose,
    LaunchFormat.kubernetes,
    LaunchFormat.config,
)
# Files that are run as they are: the best alone.
_WHOLE = (LaunchFormat.compose, LaunchFormat.kubernetes, LaunchFormat.config)
_BOXES = (LaunchFormat.docker, LaunchFormat.compose, LaunchFormat.kubernetes)


class Configured(NamedTuple):
    """A configuration: its model, what to type, and where it runs."""

    model: str
    args: tuple[str, ...]
    gpu: str
    num_gpus: int
    release: str


def written(
    form: LaunchFormat,
    found: Sequence[Configured],
    preflight: Preflight,
    platform: Platform,
    env: Mapping[str, str],
) -> str:
    """The configurations, one after the other; of a file that is run as it is the first alone.

    Raises InputError when the form cannot say one of them.
    """
    if platform.nodes > 1:
        raise InputError(
            f"what runs on {platform.nodes} nodes is a launch on each of them, and this form holds one",
            "--format",
            "Take text or json, and add --nnodes, --node-rank and --dist-init-addr on each node.",
        )
    shown = found[:1] if form in _WHOLE else found
    return "\n".join(_one(form, one, preflight, platform, env) for one in shown)


def _one(form: LaunchFormat, one: Configured, preflight: Preflight, platform: Platform, env: Mapping[str, str]) -> str:
    from ..render import launch

    knowledge = preflight.knowledge
    model_option = knowledge.flags[knowledge.roles["model"]].options[0]
    words = [model_option, one.model, *one.args]
    mounts: tuple[str, ...] = ()
    if form in _BOXES:
        words, mounts = _mounted(words)
    gpu = knowledge.gpus.get(one.gpu, platform.gpu)
    box = launch.Box(
        knowledge.roles,
        one.release,
        str(gpu.facts.get("gpu.vendor")),
        "" if gpu.generic else str(gpu.facts.get("gpu.name")),
        one.num_gpus,
        platform.nodes,
        env,
        mounts,
    )
    if form is LaunchFormat.docker:
        return launch.docker(words, box) + "\n"
    if form is LaunchFormat.compose:
        return launch.compose(words, box)
    if form is LaunchFormat.kubernetes:
        host = knowledge.flags[knowledge.roles["host"]].options[0]
        return launch.kubernetes(words if host in words else [*words, host, "0.0.0.0"], box)
    if form is LaunchFormat.config:
        text, lacking = launch.config(_typed(words, preflight), knowledge.flags)
        if lacking:
            raise InputError(f"a --config file cannot set {', '.join(lacking)}", "--format", "Take another format.")
        return text
    return launch.pretty(words) + "\n"


def _mounted(words: Sequence[str]) -> tuple[list[str], tuple[str, ...]]:
    """The words with local checkpoints by their full paths, and the folders to show to the container for them."""
    made = list(words)
    folders: dict[str, None] = {}
    for place, word in enumerate(words):
        # The first value is the model; elsewhere a bare word is a name, even where a folder is called so.
        if word.startswith("-") or not (place == 1 or "/" in word):
            continue
        path = Path(word).expanduser()
        if path.exists():
            full = path.absolute()
            made[place] = str(full)
            folder = full if full.is_dir() else full.parent
            # Files may be links: the cache of Hugging Face keeps them elsewhere.
            listed = folder.iterdir() if os.access(folder, os.R_OK) else ()
            linked = sorted({str(one.resolve().parent) for one in listed if one.is_symlink()})
            folders |= dict.fromkeys([str(folder), *linked])
    return made, tuple(folders)


def _typed(words: Sequence[str], preflight: Preflight) -> Mapping[str, Value]:
    from ..intake.command import parse_arguments, words_of
    from ..intake.parsed import Parsed

    parsed = parse_arguments(words_of(words), preflight.knowledge.flags)
    assert isinstance(parsed, Parsed), "a command that was made here can be parsed"
    return {name: value for name, value in parsed.typed.items() if "." not in name}
