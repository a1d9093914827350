"""The text a person writes for GPUs (``8xB200``, ``2 x H100``, ``sm100``) -> a count, if any, and the `Gpu`."""

from __future__ import annotations

import re

from constraints.gpu_names import spelling
from constraints.gpu_schema import Gpu, Gpus

from .errors import InputError
from .near import nearest_names

_COUNT_FIRST = re.compile(r"(\d{1,6})(?:\s*[x×*]\s*|\s+)(\S.*)", re.ASCII | re.IGNORECASE)
_COUNT_LAST = re.compile(r"(.*\S)\s*[x×*:]\s*(\d{1,6})", re.ASCII | re.IGNORECASE)
# Whether the asker said how much memory there is.
MEMORY_TOLD = "gpu.memory_told"
_NEAR = 3
_LONGEST = 100
_HINT = "Write a GPU as COUNTxNAME or NAME alone."


def parse_gpu(text: str, known: Gpus, *, memory_mib: int | None = None) -> tuple[int | None, Gpu]:
    """The count (None when none is given) and the GPU of ``text``; ``memory_mib`` replaces the memory of one GPU.

    Raises InputError when no GPU is so called, or the count or the memory cannot be.
    """
    stripped = text.strip()
    if len(stripped) > _LONGEST:
        raise InputError("too long for the name of a GPU", where=stripped[:_LONGEST], hint=_HINT)
    names = known.spellings
    for count, wish in _readings(stripped):
        name = names.get(spelling(wish))
        if name is None:
            continue
        if count == 0:
            raise InputError(f"{stripped!r} asks for no GPU", where=text, hint=f"Write 1x{name} for one.")
        return count, with_memory(known[name], memory_mib)
    # The last reading is the one with the count taken off, if there was one.
    *_, (_, wish) = _readings(stripped)
    near = nearest(wish, known)
    raise InputError(
        f"no GPU is called {wish!r}" if wish else "the name of a GPU is missing",
        where=text,
        hint=_HINT,
        near=near,
    )


def with_memory(gpu: Gpu, memory_mib: int | None) -> Gpu:
    """The GPU with another memory size, as the driver reports it; None leaves it as it is.

    Raises InputError when the size is not positive.
    """
    if memory_mib is None:
        return gpu
    if memory_mib <= 0:
        raise InputError(f"a GPU cannot have {memory_mib} MiB of memory", hint="Give the memory of one GPU in MiB.")
    return gpu._replace(facts={**gpu.facts, "gpu.memory_mib": memory_mib, MEMORY_TOLD: True})


def nearest(text: str, known: Gpus) -> tuple[str, ...]:
    """The names of the GPUs whose spellings are nearest to ``text``, best first."""
    names = known.spellings
    matches = nearest_names(spelling(text), names, 2 * _NEAR, cutoff=0.6)
    return tuple(dict.fromkeys(names[match] for match in matches))[:_NEAR]


def _readings(text: str) -> list[tuple[int | None, str]]:
    """The ways to read ``text``: whole first, for a name may start with a number."""
    readings: list[tuple[int | None, str]] = [(None, text)]
    if found := _COUNT_LAST.fullmatch(text):
        readings.append((int(found[2]), found[1]))
    if found := _COUNT_FIRST.fullmatch(text):
        readings.append((int(found[1]), found[2]))
    return readings
