"""The program of a release -> Python code that runs it: a command then costs what its rules test, and no more.

What is read stands in variables of the code, filled once and kept in step with what is written. Neighbours under one
guard are tested together, as long as none of them writes what the guard reads. What recurs is remembered until
something that it reads is written.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from types import CodeType
from typing import NamedTuple

from .compose import Writer
from .repeated import Repeated
from .schema import Case, Operation
from .tree import All, Node, names

# The function that the code defines.
ENTRY = "run"
# The names that it reads.
NAMES = "names"
# What a deferred step writes is seen at once where it is a local of SGLang's own functions.
LOCAL = "local."


def program_code(operations: Iterable[Operation]) -> CodeType:
    """Code that defines ``run(env, write, hold, release, broken)``, to be executed among `compose.SPACE`.

    It reads values by name off ``env``, which must know all ``names``, and calls, in the order of the program:
    ``write(place, target, value)`` for what an operation writes, which gives the value that then stands, or ``hold``
    for it where the operation stands in a deferred step; ``release()`` where such a step is left, true where something
    was held; and ``broken(place)`` for a requirement that does not hold.
    """
    return compile("\n".join(_Program(tuple(operations)).lines()), "<program>", "exec")


class _Placed(NamedTuple):
    """An operation at its place, its guard in parts, and what it writes at once."""

    place: int
    operation: Operation
    guards: tuple[Node, ...]
    writes: frozenset[str]


class _Memory(Writer):
    """Trees as text, in which a part that recurs is looked for in a variable, which holds ``...`` until it is known."""

    def __init__(self, repeated: Repeated) -> None:
        super().__init__(self.variable)
        self._repeated = repeated
        self.variables: dict[str, str] = {}
        self.memories: dict[int, str] = {}
        self.functions: list[str] = []
        self._readers: dict[str, list[str]] = {}

    def variable(self, name: str) -> str:
        """The variable that holds what stands under a name."""
        return self.variables.setdefault(name, f"v{len(self.variables)}")

    def value(self, node: Node) -> str:
        number = self._repeated.number(node)
        if number is None:
            return super().value(node)
        memory, text = f"e{number}", ""
        if number not in self.memories:
            self._remember(number, memory, node)
        text = self.memories[number] or super().value(node)
        return f"(({memory} := {text}) if {memory} is ... else {memory})"

    def test(self, node: Node) -> str:
        return super().test(node) if self._repeated.number(node) is None else self.value(node)

    def _remember(self, number: int, memory: str, node: Node) -> None:
        read = sorted(names(node))
        for name in read:
            self._readers.setdefault(name, []).append(memory)
        self.memories[number] = ""
        if self._repeated.is_large(number):
            places = {name: f"p{place}" for place, name in enumerate(read)}
            self.functions += [
                f"def f{number}({', '.join(places.values())}):",
                f" return {Writer(places.__getitem__).value(node)}",
            ]
            self.memories[number] = f"f{number}({', '.join(map(self.variable, read))})"

    def forget(self, targets: Iterable[str]) -> str:
        """What is remembered so far of values that are written; what comes later is not remembered yet."""
        memories = dict.fromkeys(memory for target in targets for memory in self._readers.get(target, ()))
        return f"; {' = '.join(memories)} = ..." if memories else ""


class _Program:
    """The text of one program."""

    def __init__(self, operations: tuple[Operation, ...]) -> None:
        self._placed = [_placed(place, operation) for place, operation in enumerate(operations)]
        self._text = _Memory(Repeated(tree for one in self._placed for tree in _trees(one)))

    def lines(self) -> Iterator[str]:
        """The code, line by line."""
        body, text = list(self._body()), self._text
        yield from text.functions
        yield f"{NAMES} = {tuple(text.variables)!r}"
        if text.variables:
            # Given one name alone it would give no tuple.
            yield f"first = itemgetter(*{NAMES}, {NAMES}[0])"
        yield f"def {ENTRY}(env, write, hold, release, broken):"
        if text.variables:
            yield f" {', '.join(text.variables.values())}, _ = first(env)"
        if text.memories:
            yield "".join(f" e{number} =" for number in text.memories) + " ..."
        yield from body
        yield " return"

    def _body(self) -> Iterator[str]:
        for scope, group in groupby(self._placed, lambda one: one.operation.scope):
            inside = list(group)
            yield from self._block(inside, 0, " ")
            if scope:
                yield from self._left(inside)

    def _block(self, placed: Sequence[_Placed], depth: int, indent: str) -> Iterator[str]:
        """Operations whose first ``depth`` guards were tested already."""
        at = 0
        while at < len(placed):
            guards = placed[at].guards[depth:]
            alike = self._alike(placed[at:], depth)
            inside = placed[at : at + alike]
            if guards:
                shared = len(guards) if alike == 1 else self._shared(inside, depth)
                tests = " and ".join([self._text.test(guard) for guard in guards[:shared]])
                yield f"{indent}if {tests}:"
            if not guards or alike == 1:
                yield from self._action(placed[at], f"{indent} " if guards else indent)
                at += 1
            else:
                yield from self._block(inside, depth + shared, f"{indent} ")
                at += alike

    def _alike(self, placed: Sequence[_Placed], depth: int) -> int:
        """How many operations from the first on can be tested by its next guard together."""
        if len(placed[0].guards) <= depth:
            return 1
        guard = placed[0].guards[depth]
        reads = names(guard)
        total = 0
        for one in placed:
            if len(one.guards) <= depth or one.guards[depth] != guard:
                break
            total += 1
            if one.writes & reads:
                break
        return total

    def _shared(self, placed: Sequence[_Placed], depth: int) -> int:
        """How many further guards all of them share, the last alone writing what these read."""
        shared = 0
        for guards in zip(*[one.guards[depth:] for one in placed], strict=False):
            if any(guard != guards[0] for guard in guards) or any(one.writes & names(guards[0]) for one in placed[:-1]):
                break
            shared += 1
        return shared

    def _action(self, one: _Placed, indent: str) -> Iterator[str]:
        operation = one.operation
        if operation.require is not None:
            yield f"{indent}if not {self._text.test(operation.require)}: broken({one.place})"
        elif operation.cases:
            yield from self._cases(one.place, operation, indent)
        else:
            yield f"{indent}pass"

    def _cases(self, place: int, operation: Operation, indent: str) -> Iterator[str]:
        word = "if"
        for case in operation.cases:
            # The test before the action, as it runs: what is remembered in it may be what the action writes.
            test = None if case.when is None else self._text.test(case.when)
            action = self._writes(place, case, deferred=bool(operation.scope))
            if test is None:
                yield f"{indent}{action}" if word == "if" else f"{indent}else: {action}"
                return
            yield f"{indent}{word} {test}: {action}"
            word = "elif"

    def _writes(self, place: int, case: Case, *, deferred: bool) -> str:
        """One assignment for all targets: no value of a case sees what the case writes."""
        left, right, seen = [], [], []
        for target, node in case.writes:
            held = deferred and not target.startswith(LOCAL)
            left.append("_" if held else self._text.variable(target))
            right.append(f"{'hold' if held else 'write'}({place}, {target!r}, {self._text.value(node)})")
            seen += [] if held else [target]
        return f"{', '.join(left)} = {', '.join(right)}{self._text.forget(seen)}" if left else "pass"

    def _left(self, placed: Sequence[_Placed]) -> Iterator[str]:
        """Leave a deferred step: what it held is seen from here."""
        writes = [target for one in placed for case in one.operation.cases for target, _ in case.writes]
        held = list(dict.fromkeys(target for target in writes if not target.startswith(LOCAL)))
        yield " if release():"
        yield from (f"  {self._text.variable(target)} = env[{target!r}]" for target in held)
        yield f"  pass{self._text.forget(held)}"


def _placed(place: int, operation: Operation) -> _Placed:
    writes = (target for case in operation.cases for target, _ in case.writes)
    seen = frozenset(target for target in writes if not operation.scope or target.startswith(LOCAL))
    return _Placed(place, operation, () if operation.when is None else tuple(_parts(operation.when)), seen)


def _trees(one: _Placed) -> Iterator[Node]:
    yield from one.guards
    if one.operation.require is not None:
        yield one.operation.require
    for case in one.operation.cases:
        if case.when is not None:
            yield case.when
        yield from (value for _, value in case.writes)


def _parts(node: Node) -> Iterator[Node]:
    """What has to be true one after the other for the tree to be true."""
    if isinstance(node, All):
        for part in node.parts:
            yield from _parts(part)
    else:
        yield node
