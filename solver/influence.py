"""A program -> the facts that each operation's answer hangs on, through whatever writes what it reads.

Two machines that agree in these facts get the same answer to the same command (a backward slice, Weiser 1981).
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from constraints.schema import WRITERS, Operation

from .operations import reads, targets


class Influence:
    """The slices of one program."""

    def __init__(self, program: Sequence[Operation], flags: Collection[str]) -> None:
        """What is read and is neither one of ``flags``, nor typed, nor a local is a fact."""
        self._names: list[str] = []
        self._reached: dict[int, int] = {}
        self._facts: dict[int, tuple[str, ...]] = {}
        bits: dict[str, int] = {}
        through: dict[str, int] = {}
        for operation in program:
            reached = 0
            for name in reads(operation):
                reached |= through.get(name, 0)
                if name not in flags and not name.startswith(("typed.", "local.")):
                    if name not in bits:
                        bits[name] = 1 << len(self._names)
                        self._names.append(name)
                    reached |= bits[name]
            self._reached[id(operation)] = reached
            if operation.rule.kind in WRITERS:
                for target in targets(operation):
                    # What stood before may stand on where the operation does not write.
                    through[target] = through.get(target, 0) | reached

    def facts_of(self, operation: Operation) -> tuple[str, ...]:
        """The facts that may change what an operation of the program answers."""
        key = id(operation)
        if key not in self._facts:
            reached = self._reached[key]
            self._facts[key] = tuple(name for place, name in enumerate(self._names) if reached >> place & 1)
        return self._facts[key]
