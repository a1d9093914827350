"""What a file says in passing (labels, paths, visible devices) -> the GPU and the checkpoint that are meant."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from .api import Preflight
from .errors import InputError
from .gpu import parse_gpu
from .intake.launch import Launch


def visible(launch: Launch, roles: Mapping[str, str]) -> int | None:
    """How many GPUs a launch sees by its environment."""
    for role in ("visible", "visible.amd"):
        listed = launch.env.get(roles.get(role, ""), "")
        if re.fullmatch(r"\d+(,\d+)*", listed):
            return len(set(listed.split(",")))
    return None


def hinted(hints: Sequence[str], preflight: Preflight) -> str | None:
    """The GPU that a node label names, whole or in one of its words."""
    known = preflight.knowledge.gpus
    for hint in hints:
        parts = re.split(r"[-_.\s]+", hint)
        for text in (hint, "-".join(parts[1:]), *parts):
            try:
                count, gpu = parse_gpu(text, known)
            except InputError:
                continue
            if count is None and not gpu.generic:
                return gpu.name
    return None


def named_last(path: str, preflight: Preflight) -> str | None:
    """The checkpoint of the catalogue that a path of which not all is known ends in."""
    last = path.rstrip("/").rpartition("/")[2]
    return same_name(last, preflight) if "/" in path and "$" not in last and "{" not in last else None


def same_name(path: str, preflight: Preflight) -> str | None:
    """The checkpoint of the catalogue that a path ends in, if there is just one."""
    parts = [part for part in re.split(r"[/\\]", path.lower()) if part]
    for part in reversed(parts):
        name = part.removeprefix("models--").rpartition("--")[2]
        ids = {one.id for one in preflight.engine.catalogue.checkpoints if one.id.lower().rpartition("/")[2] == name}
        if len(ids) == 1:
            return ids.pop()
    return None
