"""The public API: ask `Preflight`; its answers are the reports named here, and a bad question is an `InputError`.

Importing this package is cheap: a name is loaded when it is first used.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .api import Preflight
    from .errors import Disagreement, InputError, TooLarge
    from .facts import Platform
    from .machine import platform_of
    from .report import CheckReport, Explanation, Fix, RankedSolution, Recommendation

_PLACES = {
    "CheckReport": "report",
    "Disagreement": "errors",
    "Explanation": "report",
    "Fix": "report",
    "InputError": "errors",
    "Platform": "facts",
    "Preflight": "api",
    "RankedSolution": "report",
    "Recommendation": "report",
    "TooLarge": "errors",
    "platform_of": "machine",
}

__all__ = [
    "CheckReport",
    "Disagreement",
    "Explanation",
    "Fix",
    "InputError",
    "Platform",
    "Preflight",
    "RankedSolution",
    "Recommendation",
    "TooLarge",
    "platform_of",
]


def __getattr__(name: str) -> object:
    if name not in _PLACES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f".{_PLACES[name]}", __name__), name)


def __dir__() -> list[str]:
    return sorted(__all__)
