"""What is said of a machine (a GPU's text, a count, nodes, environment, packages) -> a `Platform`."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from constraints.environment import misread, parse_environment, spellings, unread
from constraints.knowledge import Knowledge
from constraints.values import Value

from .errors import InputError
from .expected import names, number, text, texts, whole
from .facts import Platform
from .gpu import parse_gpu
from .near import nearest_names

MAX_NODES = 1024
# Far more than any server has; so that no number of a question makes it take for ever.
MAX_GPUS = 65_536
MAX_MEMORY_GIB = 10_000
# How near a set name must be to a known one to be meant for it. A launch sets many that no rule reads: none of SGLang's
# other names is as near.
_NEAR, _NEAR_IN_LAUNCH = 0.9, 0.93
_CUDA = re.compile(r"\d{1,2}(\.\d{1,2})?", re.ASCII)


def platform_of(
    knowledge: Knowledge,
    gpu: str,
    *,
    num_gpus: int | None = None,
    nodes: int = 1,
    env: Mapping[str, str] | None = None,
    given: Mapping[str, str] | None = None,
    without: Sequence[str] = (),
    cuda: str | None = None,
    memory_gib: float | None = None,
) -> Platform:
    """The machine a question is about; ``given`` is the environment that the launch itself sets, below ``env``.

    Raises InputError.
    """
    memory_gib = None if memory_gib is None else number(memory_gib, "gpu_memory")
    num_gpus = None if num_gpus is None else whole(num_gpus, "num_gpus")
    if memory_gib is not None and not 0 < memory_gib < MAX_MEMORY_GIB:
        raise InputError(f"{memory_gib:g} GiB of memory cannot be", "gpu_memory", "Give the GiB of one GPU.")
    gpu = text(gpu, "platform", "Write it as 8xH100.")
    counted, found = parse_gpu(gpu, knowledge.gpus, memory_mib=None if memory_gib is None else int(memory_gib * 1024))
    if not 1 <= (nodes := whole(nodes, "nodes")) <= MAX_NODES:
        raise InputError(f"{nodes} nodes cannot be", "nodes", f"Give 1 to {MAX_NODES}.")
    gpus = counted or 1 if num_gpus is None else num_gpus
    if not 1 <= gpus <= MAX_GPUS:
        where = gpu if num_gpus is None else "num_gpus"
        raise InputError(f"{gpus} GPUs cannot be", where, f"Give 1 to {MAX_GPUS:,}.")
    asked = texts({} if env is None else env, "env")
    variables = {**(given or {}), **asked}
    without = names(without, "without", "Give the names of packages as a list.")
    unknown = [name for name in without if f"package.{name}" not in _packages(knowledge)]
    if unknown:
        near = nearest_names(unknown[0], [name.removeprefix("package.") for name in _packages(knowledge)])
        raise InputError(f"no rule asks for the package {unknown[0]!r}", "without", "Leave it out.", near)
    if cuda is not None and not _CUDA.fullmatch(text(cuda, "cuda", 'Write it as a text, "12.9".')):
        raise InputError(f"{cuda!r} is no CUDA version", "cuda", "Write it as 12.9.")
    return Platform(
        found,
        gpus,
        nodes,
        tuple(sorted(_settings(variables, knowledge).items())),
        tuple(sorted(without)),
        (),
        None if cuda is None else float(cuda),
        bool(num_gpus or counted),
        tuple(sorted(misread(variables, knowledge.environment).items())) if variables else (),
        tuple(_unread(asked, variables, knowledge)) if variables else (),
    )


def _settings(texts: Mapping[str, str], knowledge: Knowledge) -> dict[str, Value]:
    """The variables that are set, also by an older name; what no rule reads is left out."""
    if not texts:
        return {}
    parsed = parse_environment(texts, knowledge.environment)
    untouched = parse_environment({}, knowledge.environment)
    return {name: value for name, value in parsed.items() if name in texts or value != untouched[name]}


def _unread(asked: Mapping[str, str], texts: Mapping[str, str], knowledge: Knowledge) -> Iterator[tuple[str, str]]:
    """The names that no rule reads, with the known one that each may be meant for: those asked for, and misspelled."""
    for name in sorted(unread(texts, knowledge.environment)):
        cutoff = _NEAR if name in asked else _NEAR_IN_LAUNCH
        near = nearest_names(name.upper(), sorted(spellings(knowledge.environment)), 1, cutoff)
        if near or name in asked:
            yield name, "".join(near)


def _packages(knowledge: Knowledge) -> set[str]:
    images = knowledge.releases[knowledge.release].images
    return {name for facts in images.values() for name in facts if name.startswith("package.")}
