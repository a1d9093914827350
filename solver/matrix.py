"""A flag's values in several places -> a support matrix: for each value and place whether it works, how, or why not.

Each cell is the answer to a command that types the value alone; where SGLang refuses it, the constraint problem says
whether something typed beside it helps.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Literal, NamedTuple

from constraints.schema import HARD, Rule
from constraints.values import Value, same

from .answers import Violated
from .axes import Asked, listed, places, rows
from .check import Checked
from .estimate.memory import memory
from .intake.refusal import Refusal
from .moves import counts
from .place import GPU, MODEL, RELEASE, Place, World, at_count
from .proof import Question, prove
from .report import Fix
from .spell import spell
from .witness import Refutation, reach

State = Literal["works", "only with", "changed", "refused", "defect", "absent"]
STATES: tuple[State, ...] = ("works", "changed", "only with", "defect", "refused", "absent")

# The share of a GPU's memory that is left for the cache, so that no value is refused for want of memory alone.
ROOM = 0.2

# Called with (done, all) after each column.
Progress = Callable[[int, int], None]


class Cell(NamedTuple):
    """One value in one place.

    ``typed`` and ``args``: what was asked, as flags and as words. ``effective``: the flag's value in the end, where the
    command holds. ``because``: the rules that refuse it, are broken by it or change it, in order; ``warnings``: those
    it is warned by. ``refusal``: the value cannot even be said. ``fix``: the nearest command that keeps the value.
    """

    state: State
    value: Value
    typed: Mapping[str, Value]
    args: tuple[str, ...]
    effective: Value
    because: tuple[Violated, ...] = ()
    warnings: tuple[Violated, ...] = ()
    refusal: Refusal | None = None
    fix: Fix | None = None


class Column(NamedTuple):
    """One place and its cells.

    ``unset``: what SGLang runs there when the flag is left out. ``blocked``: the rules broken whatever its value.
    """

    value: Value
    model: str
    gpu: str
    num_gpus: int
    release: str
    unset: Value
    blocked: tuple[Violated, ...]
    cells: tuple[Cell, ...]


class Matrix(NamedTuple):
    """The values of ``flag`` against those of ``axis``: ``gpu num_gpus release model``, or another flag.

    ``typed`` is typed everywhere. ``model gpu release`` are those of the place that was asked about; the columns say
    where theirs differ. ``asked_release`` is the release that ``release`` answers for, ``inferred`` what to know of the
    checkpoint.
    """

    flag: str
    option: str
    axis: str
    model: str
    gpu: str
    release: str
    typed: Mapping[str, Value]
    values: tuple[Value, ...]
    columns: tuple[Column, ...]
    asked_release: str = ""
    inferred: tuple[str, ...] = ()


def matrix(start: Place, asked: Asked, world: World, progress: Progress = lambda done, whole: None) -> Matrix:
    """The matrix around a place. A machine whose GPUs nobody counted has as few as leave the model room.

    Raises InputError.
    """
    everywhere = places(start, asked, world)
    values = asked.values or rows([place.engine.knowledge for _, place, _ in everywhere], asked.flag)
    refuted: dict[str, list[Refutation]] = {}
    columns = []
    for number, (value, place, typed) in enumerate(everywhere, 1):
        columns.append(_column(value, place, {**asked.typed, **typed}, asked, values, refuted))
        progress(number, len(everywhere))
    aspects = start.aspects
    options = spell({asked.flag: values[0]}, start.engine.knowledge.flags)
    return Matrix(
        asked.flag,
        options[0] if options else asked.flag,
        asked.axis,
        str(aspects[MODEL]),
        str(aspects[GPU]),
        str(aspects[RELEASE]),
        asked.typed,
        values,
        tuple(columns),
    )


def _column(
    value: Value,
    place: Place,
    typed: Mapping[str, Value],
    asked: Asked,
    values: Sequence[Value],
    refuted: dict[str, list[Refutation]],
) -> Column:
    place, typed, checked = _seated(place, typed, asked.flag)
    broken = _hard(checked)
    blocked = _common(place, typed, asked.flag, listed(place.engine.knowledge, asked.flag) or values, broken)
    cells = tuple(_cell(place, typed, asked, one, blocked, refuted.setdefault(repr(one), [])) for one in values)
    aspects = place.aspects
    return Column(
        value,
        str(aspects[MODEL]),
        str(aspects[GPU]),
        place.platform.num_gpus,
        str(aspects[RELEASE]),
        None if checked.resolution is None else checked.resolution.values.get(asked.flag),
        tuple(Violated(rule, rule.source(place.engine.knowledge.release)) for rule in blocked.values()),
        cells,
    )


def _seated(place: Place, typed: Mapping[str, Value], flag: str) -> tuple[Place, Mapping[str, Value], Checked]:
    """The place with as few GPUs as leave room, what is typed with the flag that spreads the model, what becomes of it.

    Where the rows are values of that very ``flag``, it is left to them.

    Where no number leaves room and holds, the largest that holds, else the smallest that leaves room, else the largest.
    """
    here = place.platform.num_gpus
    several = [here] if place.platform.counted else sorted({here, *counts(place)})
    spread = place.engine.knowledge.roles.get("spread")
    holding: tuple[Place, Mapping[str, Value], Checked] | None = None
    roomy: tuple[Place, Mapping[str, Value], Checked] | None = None
    for count in several:
        there = at_count(place, count)
        more = typed if count == 1 or spread in (None, flag, *typed) else {str(spread): count, **typed}
        checked = _checked(there, more)
        seat = there, more, checked
        holds, room = not _hard(checked), _roomy(there, checked)
        if holds and room:
            return seat
        if holds:
            holding = seat
        if room and roomy is None:
            roomy = seat
    return holding or roomy or seat


def _common(
    place: Place, typed: Mapping[str, Value], flag: str, values: Sequence[Value], broken: Mapping[str, Rule]
) -> Mapping[str, Rule]:
    """Those of the rules ``broken`` with the flag left open that are broken whatever it is."""
    for value in values:
        if not broken:
            break
        checked = _checked(place, {**typed, flag: value})
        if checked.resolution is not None:
            broken = {name: rule for name, rule in broken.items() if name in _hard(checked)}
    return broken


def _roomy(place: Place, checked: Checked) -> bool:
    if checked.resolution is None:
        return False
    needed = memory(place.engine.knowledge.names, checked.resolution.values)
    return needed is None or needed.pool.least >= ROOM * needed.gpu


def _checked(place: Place, typed: Mapping[str, Value]) -> Checked:
    return place.engine.check(place.model, place.platform, spell(typed, place.engine.knowledge.flags))


def _hard(checked: Checked) -> dict[str, Rule]:
    resolution = checked.resolution
    broken = resolution.broken if resolution is not None else ()
    return {one.rule.id: one.rule for one in broken if one.rule.kind in HARD}


def _cell(
    place: Place,
    typed: Mapping[str, Value],
    asked: Asked,
    value: Value,
    blocked: Mapping[str, Rule],
    refuted: list[Refutation],
) -> Cell:
    knowledge = place.engine.knowledge
    wanted = {**typed, asked.flag: value}
    cell = Cell("absent", value, wanted, spell(wanted, knowledge.flags), None)
    if asked.flag not in knowledge.flags:
        return cell
    checked = _checked(place, wanted)
    resolution = checked.resolution
    if resolution is None:
        absent = checked.refusal is not None and checked.refusal.reason in ("bad-choice", "unknown-option")
        return cell._replace(state="absent" if absent else "refused", refusal=checked.refusal)

    def named(rules: Mapping[str, Rule]) -> tuple[Violated, ...]:
        return tuple(Violated(rule, rule.source(knowledge.release)) for rule in rules.values())

    after = resolution.values.get(asked.flag)
    warned = {one.rule.id: one.rule for one in resolution.broken if one.rule.kind == "warning"}
    cell = cell._replace(effective=after, warnings=named(warned))
    broken = {name: rule for name, rule in _hard(checked).items() if name not in blocked}
    if not broken:
        if same(after, value):
            return cell._replace(state="works")
        writers = {one.operation.rule.id: one.operation.rule for one in resolution.writes if one.target == asked.flag}
        return cell._replace(state="changed", because=named(writers))
    cell = cell._replace(effective=None, because=named(broken))
    if asked.ways and not blocked and same(after, value):
        fix = _way(place, wanted, refuted)
        if fix is not None:
            return cell._replace(state="only with", effective=value, fix=fix)
    return cell._replace(state="defect" if all(one.kind == "defect" for one in broken.values()) else "refused")


def _way(place: Place, wanted: Mapping[str, Value], refuted: list[Refutation]) -> Fix | None:
    """The command that keeps all that is wanted, with the least added; None when there is none, or it was not found."""
    if any(one.stands_at(place) for one in refuted):
        return None
    found = reach(place, wanted)
    if isinstance(found, Refutation):
        refuted.append(found)
        return None
    return None if found is None else prove(Question(place, wanted, wanted), place, found)
