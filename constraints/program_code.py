"""The program of a release -> Python code that runs it: a command then costs what its rules test, and no more."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from types import CodeType

from .compose import Writer
from .schema import Case, Operation

# The function that the code defines.
ENTRY = "run"


def program_code(operations: Iterable[Operation]) -> CodeType:
    """Code that defines ``run(env, write, hold, release, broken)``, to be executed among `compose.SPACE`.

    It reads values by name off ``env`` and calls, in the order of the program: ``write(place, ((target, value), ...))``
    for what an operation writes, or ``hold`` for it where the operation stands in a deferred step, ``release()`` where
    such a step is left, and ``broken(place)`` for a requirement that does not hold, whose true answer ends the run.
    """
    return compile("\n".join(_lines(tuple(operations))), "<program>", "exec")


def _lines(operations: tuple[Operation, ...]) -> Iterator[str]:
    text = Writer(lambda name: f"env[{name!r}]")
    yield f"def {ENTRY}(env, write, hold, release, broken):"
    scope = 0
    for place, operation in enumerate(operations):
        if scope and operation.scope != scope:
            yield " release()"
        scope = operation.scope
        indent = " "
        if operation.when is not None:
            yield f" if {text.test(operation.when)}:"
            indent = "  "
        if operation.require is not None:
            yield f"{indent}if not {text.test(operation.require)} and broken({place}): return"
        elif operation.cases:
            yield from _cases(text, place, operation.cases, indent, "hold" if scope else "write")
        else:
            yield f"{indent}pass"
    yield " release()"


def _cases(text: Writer, place: int, cases: tuple[Case, ...], indent: str, call: str) -> Iterator[str]:
    word = "if"
    for case in cases:
        pairs = "".join([f"({target!r}, {text.value(value)}), " for target, value in case.writes])
        action = f"{call}({place}, ({pairs}))"
        if case.when is None:
            yield f"{indent}{action}" if word == "if" else f"{indent}else: {action}"
            return
        yield f"{indent}{word} {text.test(case.when)}: {action}"
        word = "elif"
