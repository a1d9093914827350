"""The CSP reader: the program of a release, unrolled over typed values -> a problem.

Each flag starts as what is typed, or its default; each operation that may write it defines the flag's next version, as
in static single assignment (Cytron et al. 1991); each hard rule constrains the versions that stand at its place.
Versions that are settled are folded at once, and so is every comparison with a value that a version cannot have.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from constraints.evaluate import settled
from constraints.schema import WRITERS, Operation
from constraints.tree import (
    FALSE,
    TRUE,
    All,
    Any_,
    Call,
    Choice,
    Compare,
    Const,
    Group,
    Name,
    Node,
    Not,
)
from constraints.values import Value

from .narrow import chosen, joined, narrow, possible_values
from .operations import is_hard, is_local, reads, targets
from .problem import Constraint, Definition, Pending, Problem, Variable
from .remembered import Outcome, Remembered
from .unit import Unit
from .worlds import UNSET, Past, Shadow, World


def unroll(
    operations: Iterable[Operation],
    defaults: Mapping[str, Value],
    units: Sequence[Unit],
    closed: Mapping[str, Value],
    *,
    shadows: bool = True,
    blame: Callable[[str], tuple[Value, ...]] | None = None,
    measures: frozenset[str] = frozenset(),
    remembered: Remembered | None = None,
    later: bool = False,
) -> Problem:
    """The problem whose solutions are the typed values of ``units`` that break no hard rule.

    ``defaults`` gives every flag's declared default, ``closed`` what is typed for flags outside the units (left out:
    nothing). With ``shadows`` a typed value that changes nothing but ``measures`` is no solution. With ``blame``,
    the values a flag can have, nothing is folded that a rule wrote: each write stays a definition with a relaxed
    form, in which what the rule would write is a free variable.

    ``remembered``, without ``shadows``, serves other questions about the same operations that are blamed or not as
    this one is. With ``later``, without ``shadows``, what a hard rule says is worked out when it is first asked for,
    and may then be nothing; warnings are left out.
    """
    return _Unroller(defaults, units, closed, shadows, blame, measures, remembered, later).run(tuple(operations))


@dataclass(frozen=True, slots=True)
class _Written:
    """What a flag comes to be: a constant or a name, which ``definition`` defines where it is new."""

    target: str
    node: Node
    definition: Definition | None = None
    possible: tuple[Value, ...] | None = None


class _Unroller:
    def __init__(
        self,
        defaults: Mapping[str, Value],
        units: Sequence[Unit],
        closed: Mapping[str, Value],
        shadows: bool,
        blame: Callable[[str], tuple[Value, ...]] | None,
        measures: frozenset[str],
        remembered: Remembered | None,
        later: bool,
    ) -> None:
        self.blame = blame
        self.later = later
        self.measures = measures
        self.variables: list[Variable] = []
        self.definitions: list[Definition] = []
        self.constraints: list[Constraint | Pending] = []
        self.warnings: list[Constraint] = []
        self.possible: dict[str, tuple[Value, ...] | None] = {}
        self.world = World(defaults, closed, None if shadows else remembered)
        self.shadows: list[Shadow] = []
        self._numbers: dict[str, int] = {}
        self._real: dict[str, Node] = {}
        for unit in units:
            self._open(unit, defaults, shadows)
        self.world.start()

    def run(self, operations: tuple[Operation, ...]) -> Problem:
        """Read every operation in order."""
        last = {operation.scope: index for index, operation in enumerate(operations) if operation.scope}
        for index, operation in enumerate(operations):
            self.world.enter(operation.scope)
            if operation.rule.kind in WRITERS:
                self._write(index, operation)
            elif is_hard(operation):
                self._constrain(index, operation)
            elif not self.later and not operation.rule.after_measures:
                self._warn(index, operation)
            if operation.scope and last[operation.scope] == index:
                self.world.leave(index)
                for shadow in self.shadows:
                    shadow.leave()
        for shadow in self.shadows:
            self._forbid_superfluous(shadow)
        constraints, self.constraints = tuple(self.constraints), []  # those to come hold this reader
        return Problem(
            tuple(self.variables),
            tuple(self.definitions),
            constraints,
            self.world.current,
            self.world.typed,
            tuple(self.warnings),
        )

    def _open(self, unit: Unit, defaults: Mapping[str, Value], shadows: bool) -> None:
        self.variables.append(Variable(unit.name, unit.domain))
        self._can_be(unit.name, unit.domain)
        alone = unit.flags == (unit.name,)
        for index, flag in enumerate(unit.flags):
            typed: Node = Name(unit.name) if alone else Call("item", (Name(unit.name), Const(index)))
            default = defaults.get(flag)
            start = typed if default is None else Choice(Compare("==", typed, UNSET), Const(default), typed)
            self.world.open(flag, typed, self._define(flag, start))
        for other, pairs in unit.beside:
            # The other flag may be closed.
            node = Compare("in", Group((self.world.typed[other], Name(unit.name))), Const(pairs))
            self.constraints.append(Constraint(f"shape: {other}, {unit.name}", node))
        if not shadows:
            return
        for flags in unit.droppable:
            unset = All(tuple(Compare("==", self.world.typed[flag], UNSET) for flag in flags))
            if self._settled(unset) != TRUE:
                start_values: dict[str, Node] = {flag: Const(defaults.get(flag)) for flag in flags}
                self.shadows.append(Shadow(self.world, flags, unset, start_values))

    def _settled(self, node: Node) -> Node:
        return narrow(node, self.possible)

    def _can_be(self, name: str, values: tuple[Value, ...] | None) -> None:
        self.possible[name] = values
        self.world.can_be(name, values)

    def _define(self, target: str, node: Node) -> Node:
        """The node under a name of its own, unless it is a constant or a name already."""
        number = self._numbers[target] = self._numbers.get(target, 0) + 1
        return self._take(self._named(f"{target}#{number}", target, self._settled(node), None))

    def _named(self, name: str, target: str, node: Node, operation: Operation | None) -> _Written:
        """What ``target`` comes to be, a narrowed node, under ``name`` where it needs one."""
        written = self.blame is not None and operation is not None
        if isinstance(node, (Const, Name)) and not (written and node != self.world.before(target)):
            return _Written(target, node)
        relaxed = None
        if written and operation is not None:
            relaxed = self._outcome(operation, target, self.world, Name(f"free {name}"))
        possible = None if written else possible_values(node, self.possible)
        return _Written(target, Name(name), Definition(name, node, operation, relaxed), possible)

    def _take(self, written: _Written) -> Node:
        """Let the problem define it."""
        definition = written.definition
        if definition is not None:
            if self.blame is not None and definition.relaxed is not None:
                self.variables.append(Variable(f"free {definition.name}", self.blame(written.target)))
            self.definitions.append(definition)
            self._can_be(definition.name, written.possible)
            self._real[definition.name] = definition.node
        return written.node

    def _remembered(self, place: int, made: Callable[[], Outcome]) -> Outcome:
        """What an operation comes to, which another question may have found out."""
        meanings = self.world.meanings
        return made() if meanings is None else meanings.outcome(place, made)

    def _meaning(self, node: Node, world: World | Past | Shadow) -> Node:
        """The node with what each name means at this place of a world, as far as it is settled."""
        return narrow(node, self.possible, world.value)

    def _touched(self, operation: Operation) -> list[Shadow]:
        """The shadows in which the operation may find or leave something else."""
        if not self.shadows:
            return []
        met = {name.removeprefix("typed.") for name in reads(operation)} | targets(operation)
        return [shadow for shadow in self.shadows if not met.isdisjoint(shadow.current)]

    def _holds(self, operation: Operation, world: World | Past | Shadow) -> Node:
        """The condition under which a rule is not broken."""
        when = TRUE if operation.when is None else self._meaning(operation.when, world)
        if when == FALSE:
            return TRUE
        require = TRUE if operation.require is None else self._meaning(operation.require, world)
        return require if when == TRUE else joined(Any_, (settled(Not(when)), require))

    def _constraint(self, operation: Operation, world: World | Past) -> Constraint | None:
        node = self._holds(operation, world)
        return None if node == TRUE else Constraint(operation.rule.id, node, operation)

    def _said(self, place: int, operation: Operation) -> Node:
        """What a hard rule says, when the program is read already."""
        past = self.world.past(place)
        constraint = past.remembered(lambda: self._constraint(operation, past))
        return TRUE if constraint is None else constraint.node

    def _constrain(self, place: int, operation: Operation) -> None:
        if self.later:
            self.constraints.append(Pending(place, operation, self._said))
            return
        constraint = self._remembered(place, lambda: self._constraint(operation, self.world))
        if constraint is not None:
            self.constraints.append(constraint)
        for shadow in self._touched(operation):
            other = self._holds(operation, shadow)
            if other != TRUE and other != (TRUE if constraint is None else constraint.node):
                shadow.differs.append(self._define("differs", Not(other)))

    def _warn(self, place: int, operation: Operation) -> None:
        warning = self._remembered(place, lambda: self._constraint(operation, self.world))
        if warning is not None:
            self.warnings.append(warning)

    def _outcome(self, operation: Operation, target: str, world: World | Shadow, instead: Node | None = None) -> Node:
        """The value of ``target`` after the operation; ``instead`` stands for whatever it writes."""
        before = self._settled(world.before(target))
        when = TRUE if operation.when is None else self._meaning(operation.when, world)
        if when == FALSE:
            return before
        result = before
        for case in reversed(operation.cases):
            value = next(
                (instead or self._meaning(node, world) for name, node in case.writes if name == target), before
            )
            result = value if case.when is None else chosen(self._meaning(case.when, world), value, result)
        return chosen(when, result, before)

    def _write(self, place: int, operation: Operation) -> None:
        answers = {
            one.target: self._take(one) for one in self._remembered(place, lambda: self._written(place, operation))
        }
        for shadow in self._touched(operation):
            self._shadow_write(operation, shadow, answers)
        for target, node in answers.items():
            self.world.put(place, operation, target, node)

    def _written(self, place: int, operation: Operation) -> tuple[_Written, ...]:
        """What each target comes to be; versions have the number of the operation."""
        return tuple(
            self._named(f"{target}#{place + 2}", target, self._outcome(operation, target, self.world), operation)
            for target in sorted(targets(operation))
        )

    def _shadow_write(self, operation: Operation, shadow: Shadow, answers: Mapping[str, Node]) -> None:
        # All targets first: an operation's writes do not see one another.
        nodes = {target: self._outcome(operation, target, shadow) for target in answers}
        for target, real in answers.items():
            node = nodes[target]
            if target in shadow.current or (is_local(target) and node not in (real, self._real_node(real))):
                # A local that differs is no difference yet: it goes on in the shadow until a flag shows it.
                shadow.put(operation, target, self._define(f"~{target}", node))
            elif target not in self.measures and node not in (real, self._real_node(real)):
                shadow.differs.append(self._define("differs", Compare("!=", node, real)))

    def _real_node(self, real: Node) -> Node:
        return self._real.get(real.name, real) if isinstance(real, Name) else real

    def _forbid_superfluous(self, shadow: Shadow) -> None:
        differs: list[Node] = [shadow.untyped, *shadow.differs]
        for flag in shadow.flags:
            node = self._settled(Compare("!=", self.world.current[flag], shadow.current[flag]))
            if node != FALSE:
                differs.append(node if isinstance(node, Const) else self._define("differs", node))
        whole = self._settled(Any_(tuple(differs)))
        if whole != TRUE:
            self.constraints.append(Constraint("superfluous: " + ", ".join(shadow.flags), whole))
