"""The data of ``env.yaml`` -> one release's environment variables."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .errors import Fault
from .read import Mapped
from .release import Span, release_key
from .schema import EnvVar
from .values import frozen

TYPES = ("bool", "int", "float", "str", "json", "tuple")
READERS = ("", "strict_bool", "is_one")
_KEYS = frozenset(("type", "default", "alias", "reader", "about", "since", "until"))


def load_environment(document: Mapped, file: str, release: str, faults: list[Fault]) -> dict[str, EnvVar]:
    """The variables of ``release`` by name; every fault of every revision is added to ``faults``."""
    variables = document.get("env")
    if not isinstance(variables, Mapped):
        faults.append(Fault(file, document.line, "needs `env`, a mapping of variables"))
        return {}
    found: dict[str, EnvVar] = {}
    for name, data in variables.items():
        line = variables.line_of(name)
        if not isinstance(data, Mapped):
            faults.append(Fault(file, line, f"{name} must be a mapping"))
            continue
        beside = {key: value for key, value in data.items() if key != "revisions"}
        revisions = data.get("revisions", [{}])
        if not isinstance(revisions, list) or not all(isinstance(one, dict) for one in revisions):
            faults.append(Fault(file, line, f"{name}: revisions must be a list of mappings"))
            continue
        for revision in revisions:
            variable = _variable(name, beside | revision, file, line, faults)
            if variable is None or release not in variable.span:
                continue
            if name in found:
                faults.append(Fault(file, line, f"{name}: two revisions hold for {release}"))
            found[name] = variable
    return found


def _variable(name: str, data: Mapping[str, Any], file: str, line: int, faults: list[Fault]) -> EnvVar | None:
    wrong = [f"the key {key!r} is unknown" for key in sorted(set(data) - _KEYS)]
    if data.get("type") not in TYPES:
        wrong.append(f"type {data.get('type')!r} is none of {', '.join(TYPES)}")
    if data.get("reader", "") not in READERS:
        wrong.append(f"reader {data.get('reader')!r} is none of {', '.join(filter(None, READERS))}")
    for key in ("since", "until"):
        try:
            if data.get(key) is not None:
                release_key(str(data[key]).removeprefix("<="))
        except ValueError as fault:
            wrong.append(str(fault))
    faults += (Fault(file, line, f"{name}: {message}") for message in wrong)
    if wrong:
        return None
    return EnvVar(
        name=name,
        type=data["type"],
        default=frozen(data.get("default")),
        span=Span(data.get("since"), data.get("until")),
        reader=data.get("reader", ""),
        alias=data.get("alias", ""),
        about=data.get("about", ""),
    )
