"""The texts of environment variables -> values as one SGLang release has them."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping

from .schema import EnvVar
from .values import Value, frozen

# Class EnvBool of srt/environ.py; anything else counts as not set.
_TRUE, _FALSE = ("true", "1", "yes", "y"), ("false", "0", "no", "n")
# get_bool_env_var of srt/utils/common.py; anything else counts as false.
_STRICT_TRUE = ("true", "1")
_OLD_PREFIX, _PREFIX = "SGL_", "SGLANG_"


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
