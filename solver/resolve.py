"""The forward reader: the program of a release, run on what was typed -> fills, rewrites, refusals, last values."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cached_property
from types import CodeType
from typing import Any

from constraints.compose import SPACE
from constraints.program_code import ENTRY, NAMES, program_code
from constraints.schema import Operation
from constraints.values import Env, Value

from .resolution import Resolution, Run


class Program:
    """A release's operations, ready to run on the facts of any model, GPU and environment."""

    def __init__(self, operations: Iterable[Operation], code: CodeType | None = None) -> None:
        """``code`` is what `program_code` makes of the operations, where that is at hand."""
        self._operations = tuple(operations)
        self._code = code

    def run(self, facts: Env, initial: Mapping[str, Value]) -> Resolution:
        """Resolve ``initial`` on top of ``facts``; between them, a value for every flag (typed or default).

        ``typed.x`` stands for each that is typed.
        """
        run = Run(self._operations, facts, initial)
        self._space[ENTRY](run.env, run.write, run.hold, run.release, run.broken)
        return run.resolution()

    def start(self, facts: Env, defaults: Mapping[str, Value]) -> dict[str, Value]:
        """What stands where nothing is typed: facts, each flag's default, and unset whatever else is read."""
        return {**self._unset, **facts, **defaults}

    @cached_property
    def _unset(self) -> Mapping[str, Value]:
        return dict.fromkeys(self._space[NAMES])

    @cached_property
    def _space(self) -> Mapping[str, Any]:
        space: dict[str, Any] = dict(SPACE)
        exec(self._code or program_code(self._operations), space)
        return space
