"""One line of a batch -> a case that says what it must, or what is wrong with it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, NoReturn

from constraints.plainly import plainly

from ..errors import InputError
from ..near import nearest_names

WHERE = "the line"
KEYS = ("id", "model", "gpu", "num_gpus", "args", "release", "env", "without", "nodes")
_SCALARS = (str, int, float)


def batch_case(line: str) -> dict[str, Any]:
    """One line of a batch, not held against anything yet: its id is needed to say what is wrong.

    Raises InputError.
    """
    try:
        case = json.loads(line, parse_constant=_no_constant)
    except (ValueError, RecursionError) as fault:
        raise InputError(f"not JSON: {plainly(fault)}", WHERE) from None
    if not isinstance(case, dict):
        raise InputError("a case is an object", WHERE)
    return case


def expect_case(case: Mapping[str, Any], *, here: bool = False) -> None:
    """Hold a case against what it must say; ``here``: the GPU is that of this machine where it names none.

    Raises InputError.
    """
    unknown = [key for key in case if key not in KEYS]
    if unknown:
        near = nearest_names(unknown[0], KEYS, 1)
        meant = f"; did you mean {near[0]!r}?" if near else f"; known are {', '.join(KEYS)}"
        raise InputError(f"{unknown[0]!r} is no key of a case{meant}", WHERE)
    for key in ("model",) if here and case.get("gpu") is None else ("model", "gpu"):
        if not isinstance(case.get(key), str):
            raise InputError(f"{key!r} is missing, or is no text", WHERE)
    args = case.get("args")
    if not isinstance(args, list) or not all(_is_scalar(word) for word in args):
        said = "is missing" if args is None else "is no list of words"
        raise InputError(f'"args" {said}: it reads like ["--tp-size", "8"], a word for each', WHERE)
    env, without, release = case.get("env"), case.get("without"), case.get("release")
    if not isinstance(env or {}, dict) or not all(_is_scalar(value) for value in (env or {}).values()):
        raise InputError('"env" is no object of texts', WHERE)
    if not isinstance(without or [], list) or not all(isinstance(name, str) for name in without or []):
        raise InputError('"without" is no list of packages', WHERE)
    if not isinstance("" if release is None else release, str):
        raise InputError('"release" is no text such as 0.5.23', WHERE)


def whole_number(case: Mapping[str, Any], key: str) -> int | None:
    """The number under a key; None where there is none.

    Raises InputError.
    """
    given = case.get(key)
    if given is not None and (isinstance(given, bool) or not isinstance(given, int)):
        raise InputError(f"{key!r} is no whole number: {given!r}", WHERE)
    return given


def _is_scalar(value: object) -> bool:
    return isinstance(value, _SCALARS) and not isinstance(value, bool)


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no number in JSON")
