"""What was tried in place of unknown words -> which values work, which fail, and which findings stand anyway."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from .check import Checked
from .file_report import ENVIRONMENT, Spot, Unknown
from .intake.launch import Launch
from .intake.tokens import Word
from .proof import holds
from .unknown import Hole


def unknown_values(
    launch: Launch,
    holes: Sequence[Hole],
    loose: Sequence[Word],
    model_flag: str,
    tried: Sequence[tuple[tuple[str, ...], Checked]],
) -> tuple[Unknown, ...]:
    """Each unknown word, with the values tried that work and fail; the model is not among them."""
    found = [Unknown(word.text, Spot(launch.file, word.line, word.column)) for word in loose]
    for place, hole in enumerate(holes):
        if hole.flag == model_flag and not hole.chosen:
            continue
        word = launch.arguments[hole.index]
        works = {values[place] for values, checked in tried if holds(checked)}
        both = hole.texts if len(hole.texts) > 1 and not _same_for_all(tried, place) else ()
        found.append(
            Unknown(
                hole.text,
                Spot(launch.file, word.line, word.column),
                hole.flag,
                hole.option,
                tuple(one for one in both if one in works),
                tuple(one for one in both if one not in works),
                hole.texts[0] if hole.untried else "",
                hole.chosen,
            )
        )
    return tuple(found)


def unset_variables(launch: Launch, read: Collection[str]) -> Iterator[Unknown]:
    """Variables that SGLang reads and whose values the file leaves to somebody else."""
    for name, text in launch.unset.items():
        if name in read and name not in launch.env:
            line, column = launch.where.get(name, (launch.at.line, launch.at.column))
            yield Unknown(text, Spot(launch.file, line, column), ENVIRONMENT + name, name)


def unseen_variables(launch: Launch) -> Iterator[Unknown]:
    """Where variables are that the file names and does not hold."""
    for word in launch.unseen:
        yield Unknown(word.text, Spot(launch.file, word.line, word.column), ENVIRONMENT)


def _same_for_all(tried: Sequence[tuple[tuple[str, ...], Checked]], place: int) -> bool:
    """Whether the answer is the same whatever stands in one hole."""
    answers: dict[tuple[str, ...], set[frozenset[str]]] = {}
    for values, checked in tried:
        answers.setdefault((*values[:place], *values[place + 1 :]), set()).add(_broken(checked))
    return all(len(one) == 1 for one in answers.values())


def _broken(checked: Checked) -> frozenset[str]:
    if checked.resolution is None:
        return frozenset((str(checked.refusal),))
    return frozenset(one.rule.id for one in checked.resolution.broken)


def certain_rules(tried: Sequence[Checked]) -> frozenset[str]:
    """The rules that are broken whatever stands in the holes."""
    sets = [_broken(checked) for checked in tried]
    return frozenset.intersection(*sets) if sets else frozenset()
