"""The data of ``env.yaml`` -> one release's environment variables; their texts -> values as SGLang has them."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

from .errors import Fault
from .flags import frozen
from .read import Mapped
from .release import Span, release_key
from .schema import EnvVar
from .values import Value

TYPES = ("bool", "int", "float", "str", "json", "tuple")
READERS = ("", "strict_bool", "is_one")
_KEYS = frozenset(("type", "default", "alias", "reader", "about", "since", "until"))
# Class EnvBool of srt/environ.py; anything else counts as not set.
_TRUE, _FALSE = ("true", "1", "yes", "y"), ("false", "0", "no", "n")
# get_bool_env_var of srt/utils/common.py; anything else counts as false.
_STRICT_TRUE = ("true", "1")
_OLD_PREFIX, _PREFIX = "SGL_", "SGLANG_"


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


def parse_value(variable: EnvVar, text: str | None) -> Value:
    """What SGLang reads for ``variable`` when it is set to ``text``; None: not set. A bad text gives the default."""
    if text is None:
        return variable.default
    if variable.reader == "strict_bool":
        return text.lower() in _STRICT_TRUE
    if variable.reader == "is_one":
        return text == "1"
    try:
        return _PARSERS[variable.type](text)
    except ValueError:
        return variable.default


def is_valid(variable: EnvVar, text: str) -> bool:
    """Whether SGLang takes ``text`` as it stands, rather than warn and go on with the default or with false."""
    if variable.reader == "is_one":
        return text in ("0", "1")
    if variable.reader == "strict_bool":
        return text.lower() in (*_STRICT_TRUE, "false", "0")
    try:
        _PARSERS[variable.type](text)
    except ValueError:
        return False
    return True


def parse_environment(texts: Mapping[str, str], variables: Mapping[str, EnvVar]) -> dict[str, Value]:
    """Each variable's value under the environment ``texts``, older spellings of names included."""
    renamed = dict(texts)
    for name, text in texts.items():
        if name.startswith(_OLD_PREFIX):  # rewritten when SGLang is imported
            renamed[_PREFIX + name.removeprefix(_OLD_PREFIX)] = text
    return {
        name: parse_value(variable, renamed.get(name, renamed.get(variable.alias) if variable.alias else None))
        for name, variable in variables.items()
    }


def _bool(text: str) -> bool:
    if text.lower() in _TRUE:
        return True
    if text.lower() in _FALSE:
        return False
    raise ValueError(text)


_PARSERS: dict[str, Callable[[str], Value]] = {
    "bool": _bool,
    "int": int,
    "float": float,
    "str": str,
    "json": lambda text: frozen(json.loads(text)) if text else None,
    "tuple": lambda text: tuple(part.strip() for part in text.split(",") if part.strip()),
}
