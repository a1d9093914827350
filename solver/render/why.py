"""What a profile's terms give each configuration, and why one stands above the next -> text and plain data."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from constraints.preferences import Evidence

from ..why import Gap, gap, shares
from .sentence import WIDTH, wrapped

if TYPE_CHECKING:
    from ..answers import RankedSolution, Recommendation

# Published deployments that are named in a text; data name them all.
SHOWN = 3
BESIDE = {
    "closeness": "points off for each flag that is typed.",
    "warnings": "points off for each warning: it starts, and runs badly.",
}


def lines(found: Recommendation, one: RankedSolution) -> list[str]:
    """The terms of one configuration, and what lies between it and the next."""
    rows = ["   Why:"]
    for share in shares(one.terms, found.terms):
        most = "" if share.most is None else f" of {share.most}"
        rows.append(f"     {share.points:+6d}{most:9}  {share.term}"[:WIDTH])
    following = next((other for other in found.solutions if other.rank == one.rank + 1), None)
    if following is not None:
        rows.append(wrapped(f"{one.rank} before {following.rank}: {_said(gap(one.terms, following.terms))}.", "   "))
    rows += [wrapped(f"Published: {_told(entry)}", "     ", "   ") for entry in one.published[:SHOWN]]
    if len(one.published) > SHOWN:
        rows.append(f"   and {len(one.published) - SHOWN} more.")
    return rows


def reason(one: RankedSolution) -> list[str]:
    """Why a configuration stands above what SGLang runs when nothing but its layout is typed; or that it is that."""
    if one.own is None:
        return []
    between = gap(one.terms, one.own)
    if not between.gains and not between.losses:
        return ["   This is SGLang's own choice for this layout."]
    if between.points <= 0:
        return []
    return [wrapped(f"Above SGLang's own choice for this layout: {_said(between)}.", "   ")]


def _told(entry: Evidence) -> str:
    engines = f" ({', '.join(entry.engines)})" if entry.engines else ""
    return f"{entry.id}: {entry.about.rstrip('.')}{engines}."


def terms(found: Recommendation) -> list[str]:
    """What each term that is shown is about."""
    shown = {name for one in found.solutions for name in one.terms}
    rows = ["", "The terms:"]
    rows += [wrapped(f"{term.name}: {term.about}", "    ", "  ") for term in found.terms if term.name in shown]
    rows += [wrapped(f"{name}: {about}", "    ", "  ") for name, about in BESIDE.items() if name in shown]
    return rows


def as_data(found: Recommendation, one: RankedSolution) -> dict[str, Any]:
    """The same as plain data."""
    following = next((other for other in found.solutions if other.rank == one.rank + 1), None)
    return {
        "terms": [
            {"term": share.term, "points": share.points, "most": share.most, "about": share.about}
            for share in shares(one.terms, found.terms)
        ],
        "before_next": None if following is None else _data(gap(one.terms, following.terms)),
        "before_own": None if one.own is None else _data(gap(one.terms, one.own)),
        "published": [
            {"id": entry.id, "about": entry.about, "engines": list(entry.engines), "sources": list(entry.sources)}
            for entry in one.published
        ],
    }


def _said(between: Gap) -> str:
    if not between.gains and not between.losses:
        return "equal by every term; the order of variables decides"
    gains = ", ".join(f"{name} {points:+d}" for name, points in between.gains)
    losses = ", ".join(f"{name} {points:+d}" for name, points in between.losses)
    said = f"{between.points:+d} points: " if between.points else "equal in sum: "
    return said + (gains + (f", against {losses}" if losses else "") if gains else losses)


def _data(between: Gap) -> dict[str, Any]:
    return {"points": between.points, "gains": dict(between.gains), "losses": dict(between.losses)}
