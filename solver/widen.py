"""A command's flags -> what each could be instead: no conflict may rest on a value that nobody tried."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import chain

from constraints.preferences import Choosable
from constraints.schema import Flag, Operation
from constraints.values import Value, twin

from .operations import reads
from .unit import Unit

MOST_VALUES = 32


def units_around(
    units: Sequence[Unit],
    choosable: Sequence[Choosable],
    typed: Mapping[str, Value],
    listed: Mapping[str, Sequence[Value]],
    compared: Mapping[str, Sequence[Value]],
    broken: Iterable[Operation],
    flags: Mapping[str, Flag],
) -> tuple[Unit, ...]:
    """The units of a command's explanation.

    A shape that the command touches, and each flag that a broken rule reads, is taken apart: every flag by itself, with
    the values its variable has ``listed``, those it is ``compared`` with and their neighbours, and what is typed. What
    makes sense on this machine is not asked: the command went beyond it. Other units stay as they are.
    """
    read = {name for one in broken for name in reads(one) if name in flags}
    wanted = set(typed) | read
    apart = [one for one in choosable if set(one.flags) & wanted]
    loose = {flag for one in apart for flag in one.flags} | wanted
    kept = [unit for unit in units if not set(unit.flags) & loose]
    order = [flag for flag in typed if flag in loose] + sorted(loose - set(typed))
    near = {flag: [one for value in compared.get(flag, ()) for one in _around(value)] for flag in order}
    return (*kept, *(_alone(flag, typed.get(flag), listed.get(flag, ()), near[flag], flags) for flag in order))


def _alone(
    flag: str, typed: Value, listed: Iterable[Value], compared: Iterable[Value], flags: Mapping[str, Flag]
) -> Unit:
    choices = flags[flag].choices if flag in flags else None
    switch = flag in flags and flags[flag].type == "bool"
    beyond = (one for one in compared if choices is None or one in choices)
    apart: dict[object, Value] = {}
    for value in chain((None, typed), listed, (True,) if switch else (), beyond, choices or ()):
        apart.setdefault(twin(value), value)
        if len(apart) == MOST_VALUES:
            break
    return Unit(flag, (flag,), tuple(apart.values()), ((flag,),))


def _around(value: Value) -> tuple[Value, ...]:
    if isinstance(value, int) and not isinstance(value, bool):
        return tuple(one for one in (value, value + 1, value - 1) if one > 0)
    return () if isinstance(value, tuple | bool) or value is None else (value,)
