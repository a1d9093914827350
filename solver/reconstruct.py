"""Printed argument values -> what must have been typed, since SGLang prints them after it filled and rewrote them."""

from __future__ import annotations

from collections.abc import Mapping

from constraints.values import Value, same

from .place import Place

ROUNDS = 6
Typed = dict[str, Value]


def typed_of(place: Place, printed: Mapping[str, Value]) -> Typed:
    """The fewest typed values that resolve to what is printed; where none do, all that is not a declared default.

    The printed values may also be those before resolution: then every one that is no default was typed.
    """
    engine = place.engine
    flags = {flag: value for flag, value in printed.items() if flag in engine.knowledge.flags}
    # The model is the place's, and names that SGLang derives from it are nothing that was asked for.
    flags = {flag: value for flag, value in flags.items() if value != printed.get(_model_flag(place)) or value is None}
    said = {flag: value for flag, value in flags.items() if not same(value, engine.defaults.get(flag))}
    said = {flag: value for flag, value in said.items() if value is not None}
    typed: Typed = {}
    for _ in range(ROUNDS):
        missing = _differing(place, typed, flags)
        added = {flag: said[flag] for flag in missing if flag in said and flag not in typed}
        if not added:
            break
        typed |= added
    off = _differing(place, typed, flags)
    if any(flags[flag] is None or same(flags[flag], engine.defaults.get(flag)) for flag in off):
        return said
    for flag in reversed(list(typed)):
        fewer = {name: value for name, value in typed.items() if name != flag}
        if len(_differing(place, fewer, flags)) <= len(off):
            typed = fewer
    return typed


def _model_flag(place: Place) -> str:
    return str(place.engine.knowledge.roles.get("model", ""))


def _differing(place: Place, typed: Mapping[str, Value], flags: Mapping[str, Value]) -> list[str]:
    values = place.engine.run(place.facts(typed), typed).values
    return [flag for flag, value in flags.items() if not same(values.get(flag), value)]
