"""Ranked configurations -> what each term gives them, and why one stands above another."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from constraints.preferences import Profile, Term

from .errors import InputError
from .near import nearest_names

CLOSENESS = "closeness"


class Share(NamedTuple):
    """What one term gives a configuration: points, out of how many at most (None: no limit), and what it is about."""

    term: str
    points: int
    most: int | None
    about: str


class Gap(NamedTuple):
    """Why one configuration stands above another: the points between them, and by term, the largest first."""

    points: int
    gains: tuple[tuple[str, int], ...]
    losses: tuple[tuple[str, int], ...]


def terms_named(profile: Profile, wanted: Sequence[str]) -> tuple[str, ...]:
    """The terms of a profile that are wanted.

    Raises InputError for one that it does not have.
    """
    known = [*(term.name for term in profile.terms), CLOSENESS]
    for name in wanted:
        if name not in known:
            near = nearest_names(name, known)
            raise InputError(
                f"the profile {profile.name} has no term {name!r}", "front", "It has " + ", ".join(known) + ".", near
            )
    return tuple(dict.fromkeys(wanted))


def shares(points: Mapping[str, int], terms: Sequence[Term]) -> tuple[Share, ...]:
    """Every term of the profile, also such as give nothing; they sum up to the score."""
    known = {term.name: term for term in terms}
    rows = [Share(term.name, points.get(term.name, 0), term.weight, term.about) for term in terms]
    rows += [Share(name, value, None, "") for name, value in points.items() if name not in known]
    return tuple(rows)


def gap(better: Mapping[str, int], other: Mapping[str, int]) -> Gap:
    """What lies between two configurations."""
    names = sorted({*better, *other})
    differences = [(name, better.get(name, 0) - other.get(name, 0)) for name in names]
    ordered = sorted((one for one in differences if one[1]), key=lambda one: -abs(one[1]))
    return Gap(
        sum(points for _, points in differences),
        tuple(one for one in ordered if one[1] > 0),
        tuple(one for one in ordered if one[1] < 0),
    )
