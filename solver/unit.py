"""What is chosen as one when a command is sought: a flag, or the flags of a shape, with the values they may have."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from constraints.values import Value, same


@dataclass(frozen=True, slots=True)
class Unit:
    """A flag alone, or the flags of a shape, whose values are tuples in the order of ``flags``.

    ``droppable`` groups the flags that are superfluous together: each of its members is dropped as a whole.
    ``beside`` holds pairs (other unit of one flag, pairs of values allowed): how a shape's flags are held together when
    they are units of their own.
    """

    name: str
    flags: tuple[str, ...]
    domain: tuple[Value, ...]
    droppable: tuple[tuple[str, ...], ...]
    beside: tuple[tuple[str, tuple[Value, ...]], ...] = ()

    @classmethod
    def of_flag(cls, flag: str, domain: Sequence[Value]) -> Unit:
        """A unit of one flag."""
        return cls(flag, (flag,), tuple(domain), ((flag,),))

    def typed(self, value: Value) -> Iterator[tuple[str, Value]]:
        """Each flag with what a value of the unit types for it."""
        row = value if len(self.flags) > 1 and isinstance(value, tuple) else (value,)
        return zip(self.flags, row, strict=True)

    def fits(self, value: Value, typed: Mapping[str, Value]) -> bool:
        """Whether a value of the unit may stand beside what is typed for the other units of its shape."""
        return all(
            any(isinstance(pair, tuple) and same(pair[0], typed.get(other)) and same(pair[1], value) for pair in pairs)
            for other, pairs in self.beside
        )
