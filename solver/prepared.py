"""What all questions on the same facts share: the program with facts put in, and what earlier questions found out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property

from constraints.evaluate import evaluate, fold
from constraints.preferences import Choosable
from constraints.schema import Operation
from constraints.tree import Const, literals, names
from constraints.values import Env, Value, twin

from .forms import Forms
from .operations import fold_operation, fold_operations, reads
from .remembered import Remembered

# Forms are kept for the next question up to about this many (some hundred bytes each).
MOST_FORMS = 200_000


class Prepared:
    """A release's program on the facts of one model and machine."""

    def __init__(
        self, program: Sequence[Operation], defaults: Mapping[str, Value], choosable: Sequence[Choosable], facts: Env
    ) -> None:
        """``defaults``: every flag's declared default."""
        self.facts = facts
        self._defaults = defaults
        self._program = program
        self._choosable = choosable
        self._forms = Forms()
        self._mattering: dict[str, tuple[str, ...]] = {}

    @cached_property
    def operations(self) -> tuple[Operation, ...]:
        """What can still fire, with the facts put in."""
        return fold_operations(self._program, self.facts)

    @cached_property
    def rows(self) -> Mapping[str, Sequence[tuple[Value, ...]]]:
        """For each variable the rows of values that make sense on these facts."""
        return {one.name: _kept(one, self.facts) for one in self._choosable}

    @cached_property
    def listed(self) -> Mapping[str, Sequence[Value]]:
        """The values that each flag's variable lists, whatever makes sense on these facts."""
        found: dict[str, dict[object, Value]] = {}
        for one in self._choosable:
            for flag, values in zip(one.flags, zip(*one.values, strict=True), strict=False):
                found.setdefault(flag, {}).update((twin(value), value) for value in values)
        return {flag: tuple(values.values()) for flag, values in found.items()}

    @cached_property
    def compared(self) -> Mapping[str, Sequence[Value]]:
        """What the rules compare each name with."""
        found: dict[str, dict[object, Value]] = {}
        for operation in self.operations:
            parts = [operation.when, operation.require, *(case.when for case in operation.cases)]
            for node in (part for part in parts if part is not None):
                for name, value in literals(node):
                    found.setdefault(name, {}).setdefault(twin(value), value)
        return {name: tuple(values.values()) for name, values in found.items()}

    def mattering(self, rule: str) -> tuple[str, ...]:
        """The facts without which some operation of the rule would read otherwise."""
        if rule not in self._mattering:
            found = {name: None for one in self._by_rule.get(rule, ()) for name in self._matter(one)}
            self._mattering[rule] = tuple(found)
        return self._mattering[rule]

    @cached_property
    def _by_rule(self) -> Mapping[str, Sequence[Operation]]:
        found: dict[str, list[Operation]] = {}
        for operation in self._program:
            found.setdefault(operation.rule.id, []).append(operation)
        return found

    def _matter(self, operation: Operation) -> Iterator[str]:
        known = {name: self.facts[name] for name in sorted(reads(operation)) if name in self.facts}
        whole = fold_operation(operation, known)
        for name in known if whole is not None else ():
            if fold_operation(operation, {other: known[other] for other in known if other != name}) != whole:
                yield name

    @cached_property
    def written(self) -> Mapping[str, Sequence[Value]]:
        """The constants that rules write to each name."""
        found: dict[str, dict[object, Value]] = {}
        for operation in self.operations:
            for case in operation.cases:
                for target, node in case.writes:
                    if isinstance(node, Const):
                        found.setdefault(target, {}).setdefault(twin(node.value), node.value)
        return {target: tuple(values.values()) for target, values in found.items()}

    @cached_property
    def plain(self) -> Remembered:
        """What operations came to in problems that fold what rules write."""
        return Remembered(self.operations, self._defaults)

    @cached_property
    def blamed(self) -> Remembered:
        """The same where each write stays a definition."""
        return Remembered(self.operations, self._defaults)

    @property
    def forms(self) -> Forms:
        """What equations were folded to."""
        if len(self._forms.nodes) > MOST_FORMS:
            self._forms = Forms()
        return self._forms


def _kept(one: Choosable, facts: Env) -> Sequence[tuple[Value, ...]]:
    if one.keep is None:
        return one.values
    keep = fold(one.keep, {name: facts.get(name) for name in names(one.keep) - set(one.flags)})
    return [
        row
        for row in one.values
        if all(value is None for value in row) or evaluate(keep, dict(zip(one.flags, row, strict=True)))
    ]
