"""Configurations that hold, in the form that was asked for: a command, docker, compose, Kubernetes, --config."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from constraints.evaluate import evaluate
from constraints.values import Value

from ..errors import InputError
from ..intake.home import put_in
from ..render.launch import Mount
from .options import LaunchFormat

if TYPE_CHECKING:
    from constraints.knowledge import Knowledge
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
    """A configuration: its model, what to type, where it runs, and how every flag ends."""

    model: str
    args: tuple[str, ...]
    gpu: str
    num_gpus: int
    release: str
    effective: Mapping[str, Value]


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
    mounts: tuple[Mount, ...] = ()
    if form in _BOXES:
        words, mounts = _mounted(words, knowledge)
    gpu = knowledge.gpus.get(one.gpu, platform.gpu)
    box = launch.Box(
        knowledge.roles,
        one.release,
        str(gpu.facts.get("gpu.vendor")),
        "" if gpu.generic else str(gpu.facts.get("gpu.name")),
        _used(one, knowledge),
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


def _used(one: Configured, knowledge: Knowledge) -> int:
    """How many GPUs the server takes: what it leaves idle is not reserved."""
    used = evaluate(knowledge.names[knowledge.roles["gpus_used"]], one.effective)
    return min(one.num_gpus, used) if isinstance(used, int) and used > 0 else one.num_gpus


def _mounted(words: Sequence[str], knowledge: Knowledge) -> tuple[list[str], tuple[Mount, ...]]:
    """The words with what they name on this machine by its full path, and what to show to the container for them."""
    roles = knowledge.roles
    reads, checkpoints = roles["reads"].split(), (roles["model"], roles["draft"])
    made = list(words)
    folders: dict[str, None] = {}
    files: dict[str, None] = {}
    flag = ""
    for place, word in enumerate(words):
        if word.startswith("-"):
            flag = knowledge.flags.options[word][0].name if word in knowledge.flags.options else ""
            continue
        # Of checkpoints a bare word may be a folder; elsewhere it is a name, even where a folder is called so.
        if flag not in reads or not (flag in checkpoints or "/" in word):
            continue
        named, full = _named(word)
        if full is None:
            continue
        made[place] = named.format(full)
        if full.is_file():
            # Its folder may be one that the container has too, such as that of temporary files.
            files[str(full)] = None
            continue
        # Files may be links: the cache of Hugging Face keeps them elsewhere.
        listed = full.iterdir() if os.access(full, os.R_OK) else ()
        linked = sorted({os.path.dirname(os.path.realpath(one)) for one in listed if one.is_symlink()})
        folders |= dict.fromkeys([str(full), *linked])
    lone = [file for file in files if not any(str(above) in folders for above in Path(file).parents)]
    return made, (*(Mount(folder) for folder in folders), *(Mount(file, lone=True) for file in lone))


class _Named(NamedTuple):
    """How a word names a path: what stands before it; for an object its keys, and that of the path."""

    before: str = ""
    keys: Mapping[str, object] = {}
    key: str = ""

    def format(self, path: Path) -> str:
        """The word with another path."""
        if self.key:
            return json.dumps({**self.keys, self.key: str(path)})
        return f"{self.before}{path}"


def _named(word: str) -> tuple[_Named, Path | None]:
    """The path on this machine that a word is, or names as NAME=PATH or in an object; None where it names none."""
    full = _on_disk(word)
    if full is not None:
        return _Named(), full
    if word.startswith("{"):
        try:
            keys = json.loads(word)
        except (ValueError, RecursionError):  # SGLang says what is wrong with it
            return _Named(), None
        for key, value in keys.items() if isinstance(keys, dict) else ():
            if isinstance(value, str) and "/" in value and (full := _on_disk(value)) is not None:
                return _Named("", keys, key), full
    name, equals, path = word.partition("=")
    return _Named(name + equals), _on_disk(path) if equals and path else None


def _on_disk(word: str) -> Path | None:
    """The full path of what a word names on this machine; None where it names nothing there."""
    try:
        path = Path(put_in(word))
        return path.absolute() if path.exists() else None
    except (OSError, ValueError):  # too long for a name, a NUL: no path of this machine
        return None


def _typed(words: Sequence[str], preflight: Preflight) -> Mapping[str, Value]:
    from ..intake.command import parse_arguments, words_of
    from ..intake.parsed import Parsed

    parsed = parse_arguments(words_of(words), preflight.knowledge.flags)
    assert isinstance(parsed, Parsed), "a command that was made here can be parsed"
    return {name: value for name, value in parsed.typed.items() if "." not in name}
