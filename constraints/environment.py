"""The texts of environment variables -> values as one SGLang release has them."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping

from .schema import EnvVar
from .values import Value, frozen

# Class EnvBool of srt/environ.py; anything else counts as not set.
_TRUE, _FALSE = ("true", "1", "yes", "y"), ("false", "0", "no", "n")
# get_bool_env_var of srt/utils/common.py; anything else counts as false.
_STRICT_TRUE, _STRICT_FALSE = ("true", "1"), ("false", "0")
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
    return {variable.name: parse_value(variable, text) for variable, text in _texts(texts, variables)}


def misread(texts: Mapping[str, str], variables: Mapping[str, EnvVar]) -> dict[str, str]:
    """The variables whose text SGLang cannot read, with that text: it warns and runs on as if nothing stood there."""
    return {
        variable.name: text
        for variable, text in _texts(texts, variables)
        if text is not None and not _reads(variable, text)
    }


def unread(texts: Mapping[str, str], variables: Mapping[str, EnvVar]) -> list[str]:
    """The names that no variable goes by, older spellings of names included."""
    known = spellings(variables)
    return [name for name in texts if name not in known and _renamed(name) not in known]


def spellings(variables: Mapping[str, EnvVar]) -> set[str]:
    """Every name of a variable."""
    return set(variables) | {variable.alias for variable in variables.values() if variable.alias}


def _renamed(name: str) -> str:
    """A name as SGLang takes it when it is imported."""
    return _PREFIX + name.removeprefix(_OLD_PREFIX) if name.startswith(_OLD_PREFIX) else name


def _reads(variable: EnvVar, text: str) -> bool:
    if variable.reader == "strict_bool":
        return text.lower() in (*_STRICT_TRUE, *_STRICT_FALSE)
    if variable.reader == "is_one":
        return True
    try:
        _PARSERS[variable.type](text)
    except ValueError:
        return False
    return True


def _texts(texts: Mapping[str, str], variables: Mapping[str, EnvVar]) -> Iterator[tuple[EnvVar, str | None]]:
    """Each variable with its text, which may stand under an older spelling; None: it is not set."""
    renamed = dict(texts) | {_renamed(name): text for name, text in texts.items() if _renamed(name) != name}
    for name, variable in variables.items():
        yield variable, renamed.get(name, renamed.get(variable.alias) if variable.alias else None)


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
