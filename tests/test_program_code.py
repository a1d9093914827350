"""The code that a program is written as does what the program says, whatever of it is remembered."""

from __future__ import annotations

from collections import defaultdict

from hypothesis import given, settings
from hypothesis import strategies as st

from constraints.evaluate import evaluate
from constraints.schema import Case, Operation
from constraints.tree import All, Arithmetic, Call, Compare, Const, Name, Node, Not
from constraints.values import Value, same
from solver.initial import initial_values
from solver.resolve import Program
from tests.test_unroll import NAMES, VALUES, Drawn, Typed, rule, typed_of


class Recurring(Drawn):
    """A longer one, in which few conditions and values, cheap and costly ones, come back in many operations."""

    def program(self) -> list[Operation]:
        self.guards = [self.atom(), Not(self.atom())]
        self.guards += [Compare("==", self.costly(size), Const(self.random.choice(VALUES))) for size in (1, 2, 5)]
        return [one for _ in range(3) for one in super(Recurring, self).program()]

    def costly(self, size: int) -> Node:
        """What is called ``size`` times."""
        first = Name(self.random.choice(NAMES)) if size == 1 else self.costly(size - 1)
        return Call("either", (first, Name(self.random.choice(NAMES))))

    def condition(self, depth: int = 0) -> Node:
        chosen = tuple(self.random.sample(self.guards, self.random.randint(1, 3)))
        return All(tuple(sorted(chosen, key=self.guards.index)))

    def value(self) -> Node:
        return self.random.choice([super().value(), *(one.left for one in self.guards if isinstance(one, Compare))])


def walked(drawn: Drawn, initial: Typed) -> tuple[Typed, list[tuple[str, str]], list[str]]:
    """The program read aloud: last values, what was written by which rule, which rules are broken."""
    values, writes, broken = dict(initial), [], []
    held: list[tuple[Operation, str, Value]] = []

    def write(operation: Operation, target: str, value: Value) -> None:
        if not same(values.get(target), value):
            values[target] = value
            writes.append((operation.rule.id, target))

    def leave() -> None:
        for one in held:
            write(*one)
        held.clear()

    for operation in drawn.operations:
        if held and held[0][0].scope != operation.scope:
            leave()
        env = defaultdict(lambda: None, values)
        if operation.when is not None and not evaluate(operation.when, env):
            continue
        if operation.require is not None:
            if not evaluate(operation.require, env):
                broken.append(operation.rule.id)
            continue
        for case in operation.cases:
            if case.when is None or evaluate(case.when, env):
                for target, node in case.writes:
                    if operation.scope and not target.startswith("local."):
                        held.append((operation, target, evaluate(node, env)))
                    else:
                        write(operation, target, evaluate(node, env))
                break
    leave()
    return values, writes, broken


@settings(deadline=None, max_examples=150, derandomize=True)
@given(st.integers(0, 10**9), st.sampled_from([Drawn, Recurring]))
def test_the_written_code_does_what_the_program_says(seed: int, kind: type[Drawn]) -> None:
    drawn = kind(seed)
    program = Program(drawn.operations)
    for assignment in drawn.assignments():
        initial = initial_values(drawn.defaults, typed_of(assignment))
        found = program.run({}, initial)
        values, writes, broken = walked(drawn, initial)
        assert all(same(found.values.get(name), value) for name, value in values.items())
        assert [(write.operation.rule.id, write.target) for write in found.writes] == writes
        assert [operation.rule.id for operation in found.broken] == broken


def test_what_a_case_writes_is_forgotten_where_its_own_test_was_the_first_to_remember() -> None:
    """The test holds before the write, no more after it."""
    test = Compare("==", Arithmetic("+", Name("a"), Name("b")), Const(3))
    write = Case(test, (("a", Const(5)),))
    program = Program(
        (
            Operation(rule(0, "set", (write,)), "s", "s", ((0, 0),), 0, None, None, (write,)),
            Operation(rule(1, "error"), "s", "s", ((1, 0),), 0, None, test, ()),
        )
    )
    assert [one.rule.id for one in program.run({}, {"a": 1, "b": 2}).broken] == ["r1"]
