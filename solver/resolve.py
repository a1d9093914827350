"""The forward reader: the program of a release, run on what was typed -> fills, rewrites, refusals, last values."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import cached_property
from types import CodeType
from typing import Any

from constraints.compose import SPACE
from constraints.program_code import ENTRY, program_code
from constraints.schema import Operation
from constraints.values import Env, Value

from .resolution import Resolution, Run


class Program:
    """A release's operations, ready to run on the facts of any model, GPU and environment."""

    def __init__(self, operations: Iterable[Operation], code: CodeType | None = None) -> None:
        """``code`` is what `program_code` makes of the operations, where that is at hand."""
        self._operations = tuple(operations)
        self._code = code

    def run(self, facts: Env, initial: Mapping[str, Value], *, stop: bool = False) -> Resolution:
        """Resolve ``initial``: a value for every flag (typed or default), and ``typed.x`` for each that is typed.

        With ``stop`` the run ends at the first hard rule that is broken.
        """
        run = Run(self._operations, facts, initial, stop=stop)
        self._function(run.env.get, run.write, run.hold, run.release, run.broken)
        return run.resolution()

    @cached_property
    def _function(self) -> Callable[..., None]:
        space: dict[str, Any] = dict(SPACE)
        exec(self._code or program_code(self._operations), space)
        found: Callable[..., None] = space[ENTRY]
        return found
