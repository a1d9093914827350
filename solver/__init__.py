"""The public API: ask `Preflight`; its answers are the reports named here, and a bad question is an `InputError`.

Importing this package is cheap: a name is loaded when it is first used. `show` gives the text of an answer, `to_frame`
its rows, `plot` a picture; a notebook displays answers by itself.
"""

from __future__ import annotations

import sys
from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .answers import RankedSolution, Recommendation, Survey
    from .api import Preflight
    from .display import plot, show, to_frame
    from .errors import Disagreement, InputError, TooLarge
    from .estimate.roofline import Workload
    from .facts import Platform
    from .intake.hub import Hub
    from .machine import platform_of
    from .marginal import Marginals
    from .matrix import Matrix
    from .report import CheckReport, Explanation, Fix

_PLACES = {
    "CheckReport": "report",
    "Disagreement": "errors",
    "Explanation": "report",
    "Fix": "report",
    "Hub": "intake.hub",
    "InputError": "errors",
    "Marginals": "marginal",
    "Matrix": "matrix",
    "Platform": "facts",
    "Preflight": "api",
    "RankedSolution": "answers",
    "Recommendation": "answers",
    "Survey": "answers",
    "TooLarge": "errors",
    "Workload": "estimate.roofline",
    "platform_of": "machine",
    "plot": "display",
    "show": "display",
    "to_frame": "display",
}

__all__ = [
    "CheckReport",
    "Disagreement",
    "Explanation",
    "Fix",
    "Hub",
    "InputError",
    "Marginals",
    "Matrix",
    "Platform",
    "Preflight",
    "RankedSolution",
    "Recommendation",
    "Survey",
    "TooLarge",
    "Workload",
    "platform_of",
    "plot",
    "show",
    "to_frame",
]


def __getattr__(name: str) -> object:
    if name not in _PLACES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f".{_PLACES[name]}", __name__), name)


def __dir__() -> list[str]:
    return sorted(__all__)


if "IPython" in sys.modules:
    from .display import register

    register()
