"""What a matrix is of -> its rows, which are values, and its columns, which are places with what is typed there."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from constraints.knowledge import Knowledge
from constraints.values import Value, twin

from .errors import InputError
from .gpu import parse_gpu
from .machine import MAX_GPUS
from .moves import counts
from .place import COUNT, GPU, MODEL, RELEASE, Place, World, at_count, at_gpu, at_model, at_release


@dataclass(frozen=True, slots=True)
class Asked:
    """What a matrix is of: the flag and its values, the axis and its, and what is typed beside.

    Without ``values`` those that the flag takes, without ``columns`` all that are known; a column of GPUs may say how
    many (``4xH100``). ``ways``: look for what helps where a value is refused.
    """

    flag: str
    axis: str = GPU
    values: tuple[Value, ...] = ()
    columns: tuple[Value, ...] = ()
    typed: Mapping[str, Value] = field(default_factory=dict)
    ways: bool = True


# A column: its value, its place, and what it types.
Standing = tuple[Value, Place, Mapping[str, Value]]


def places(start: Place, asked: Asked, world: World) -> tuple[Standing, ...]:
    """Each column once, however often and in whatever spelling it was asked for."""
    found: dict[object, Standing] = {}
    for column in _places(start, asked, world):
        found.setdefault(twin(column[0]), column)
    return tuple(found.values())


def _places(start: Place, asked: Asked, world: World) -> Iterator[Standing]:
    if asked.axis == GPU:
        for name in asked.columns or gpus(start.engine.knowledge):
            count, gpu = parse_gpu(str(name), start.engine.knowledge.gpus)
            there = at_gpu(start, gpu.name)
            yield (gpu.name, there, {}) if count is None else (f"{count}x{gpu.name}", _counted(there, count), {})
    elif asked.axis == COUNT:
        for one in asked.columns or sorted({start.platform.num_gpus, *counts(start)}):
            number = _whole(one)
            yield number, _counted(start, number), {}
    elif asked.axis == RELEASE:
        for release in asked.columns or world.releases:
            yield release, at_release(start, str(release), world), {}
    elif asked.axis == MODEL:
        known = [one.id for one in start.engine.catalogue.checkpoints if one.draft_of is None]
        for model in asked.columns or known:
            yield start.engine.model(str(model)).name, at_model(start, str(model)), {}
    else:
        for value in asked.columns or rows([start.engine.knowledge], asked.axis):
            yield value, start, {asked.axis: value}


def _counted(place: Place, count: int) -> Place:
    place = at_count(place, count)
    return replace(place, platform=replace(place.platform, counted=True))


def _whole(count: Value) -> int:
    text = str(count)
    if not text.isdecimal() or not 1 <= int(text[:9]) <= MAX_GPUS:
        raise InputError(f"{text!r} is no number of GPUs", "columns", "Such as 1,2,4,8.")
    return int(text)


def gpus(knowledge: Knowledge) -> tuple[str, ...]:
    """Every product, by vendor, the newest generation first."""
    products = [gpu for gpu in knowledge.gpus.values() if not gpu.generic]
    vendors = sorted({str(gpu.facts.get("gpu.vendor")) for gpu in products}, reverse=True)

    def order(name: str) -> tuple[int, float, float, str]:
        facts = knowledge.gpus[name].facts
        return (
            vendors.index(str(facts.get("gpu.vendor"))),
            -float(str(facts.get("gpu.major") or 0)),
            -float(str(facts.get("gpu.minor") or 0)),
            name,
        )

    return tuple(sorted((gpu.name for gpu in products), key=order))


def rows(known: Sequence[Knowledge], flag: str) -> tuple[Value, ...]:
    """The values that a flag takes in any of these releases, else those that questions try.

    Raises InputError where there are none.
    """
    found = {repr(value): value for knowledge in known for value in listed(knowledge, flag)}
    if not found:
        raise InputError(f"{flag} takes any value", flag, "Say which ones to look at, as rows or as columns.")
    return tuple(found.values())


def listed(knowledge: Knowledge, flag: str) -> tuple[Value, ...]:
    """The values that a flag takes in a release, else those that questions try; none where it takes any."""
    known = knowledge.flags.get(flag)
    choices = None if known is None else known.choices or ((True, False) if isinstance(known.default, bool) else None)
    tried = [row[one.flags.index(flag)] for one in knowledge.variables if flag in one.flags for row in one.values]
    return tuple(value for value in choices or tried if value is not None)
