"""The CSP reader: the program of a release, unrolled over typed values -> a problem.

Each flag starts as what is typed, or its default; each operation that may write it defines the flag's next version, as
in static single assignment (Cytron et al. 1991); each hard rule constrains the versions that stand at its place.
Versions that are settled are folded at once, and so is every comparison with a value that a version cannot have.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

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

from .narrow import narrow, possible_values
from .operations import is_hard, reads, targets
from .problem import Constraint, Definition, Problem, Variable
from .remembered import Meanings, Outcome, Remembered

UNSET = Const(None)


@dataclass(frozen=True, slots=True)
class Unit:
    """What is chosen as one: a flag alone, or the flags of a shape, whose values are tuples in the order of ``flags``.

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


@dataclass(slots=True)
class _Shadow:
    """The world in which ``flags`` were not typed and everything else stands as it does."""

    flags: tuple[str, ...]
    typed: Node
    current: dict[str, Node]
    held: dict[str, Node] = field(default_factory=dict)
    differs: list[Node] = field(default_factory=list)


def unroll(
    operations: Iterable[Operation],
    defaults: Mapping[str, Value],
    units: Sequence[Unit],
    closed: Mapping[str, Value],
    *,
    shadows: bool = True,
    blame: Mapping[str, tuple[Value, ...]] | None = None,
    measures: frozenset[str] = frozenset(),
    remembered: Remembered | None = None,
) -> Problem:
    """The problem whose solutions are the typed values of ``units`` that break no hard rule.

    ``defaults`` gives every flag's declared default, ``closed`` what is typed for flags outside the units (left out:
    nothing). With ``shadows`` a typed value that changes nothing but ``measures`` is no solution. With ``blame``,
    the values each flag can have, nothing is folded that a rule wrote: each write stays a definition with a relaxed
    form, in which what the rule would write is a free variable.

    ``remembered``, without ``shadows``, serves other questions about the same operations that are blamed or not as
    this one is.
    """
    return _Unroller(defaults, units, closed, shadows, blame, measures, remembered).run(tuple(operations))


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
        blame: Mapping[str, tuple[Value, ...]] | None,
        measures: frozenset[str],
        remembered: Remembered | None,
    ) -> None:
        self.blame = blame
        self.measures = measures
        self.variables: list[Variable] = []
        self.definitions: list[Definition] = []
        self.constraints: list[Constraint] = []
        self.warnings: list[Constraint] = []
        self.possible: dict[str, tuple[Value, ...] | None] = {}
        self.current: dict[str, Node] = {}
        self.typed: dict[str, Node] = {}
        self.shadows: list[_Shadow] = []
        self.entry: dict[str, Node] = {}
        self.held: dict[str, Node] = {}
        self.scope = 0
        self._numbers: dict[str, int] = {}
        self._real: dict[str, Node] = {}
        for flag, default in defaults.items():
            value = closed.get(flag)
            self.typed[flag] = Const(value)
            self.current[flag] = Const(default if value is None else value)
        self.meanings = None if remembered is None or shadows else Meanings(remembered)
        for unit in units:
            self._open(unit, defaults, shadows)
        if self.meanings is not None:
            self.meanings.start(self.current)
            self.meanings.start({f"typed.{flag}": node for flag, node in self.typed.items()})

    def run(self, operations: tuple[Operation, ...]) -> Problem:
        """Read every operation in order."""
        last = {operation.scope: index for index, operation in enumerate(operations) if operation.scope}
        for index, operation in enumerate(operations):
            if operation.scope and operation.scope != self.scope:
                self.scope, self.entry = operation.scope, self.current
                self.current = dict(self.current)
            if operation.rule.kind in WRITERS:
                self._write(index, operation)
            elif is_hard(operation):
                self._constrain(index, operation)
            elif not operation.rule.after_measures:
                self._warn(index, operation)
            if operation.scope and last[operation.scope] == index:
                self._leave()
        for shadow in self.shadows:
            self._forbid_superfluous(shadow)
        return Problem(
            tuple(self.variables),
            tuple(self.definitions),
            tuple(self.constraints),
            self.current,
            self.typed,
            tuple(self.warnings),
        )

    def _open(self, unit: Unit, defaults: Mapping[str, Value], shadows: bool) -> None:
        self.variables.append(Variable(unit.name, unit.domain))
        self._can_be(unit.name, unit.domain)
        alone = unit.flags == (unit.name,)
        for index, flag in enumerate(unit.flags):
            typed: Node = Name(unit.name) if alone else Call("item", (Name(unit.name), Const(index)))
            self.typed[flag] = typed
            default = defaults.get(flag)
            start = typed if default is None else Choice(Compare("==", typed, UNSET), Const(default), typed)
            self.current[flag] = self._define(flag, start)
        for other, pairs in unit.beside:
            # The other flag may be closed.
            node = Compare("in", Group((self.typed[other], Name(unit.name))), Const(pairs))
            self.constraints.append(Constraint(f"shape: {other}, {unit.name}", node))
        if not shadows:
            return
        for flags in unit.droppable:
            unset = All(tuple(Compare("==", self.typed[flag], UNSET) for flag in flags))
            if self._settled(unset) != TRUE:
                start_values: dict[str, Node] = {flag: Const(defaults.get(flag)) for flag in flags}
                self.shadows.append(_Shadow(flags, unset, start_values))

    def _settled(self, node: Node) -> Node:
        return narrow(node, self.possible)

    def _can_be(self, name: str, values: tuple[Value, ...] | None) -> None:
        self.possible[name] = values
        if self.meanings is not None:
            self.meanings.open(name, values)

    def _define(self, target: str, node: Node) -> Node:
        """The node under a name of its own, unless it is a constant or a name already."""
        number = self._numbers[target] = self._numbers.get(target, 0) + 1
        return self._take(self._named(f"{target}#{number}", target, node, None))

    def _named(self, name: str, target: str, node: Node, operation: Operation | None) -> _Written:
        """What ``target`` comes to be, under ``name`` where it needs one."""
        node = self._settled(node)
        written = self.blame is not None and operation is not None
        if isinstance(node, (Const, Name)) and not (written and node != self._before(target, None)):
            return _Written(target, node)
        relaxed = None
        if written and operation is not None:
            relaxed = self._settled(self._outcome(operation, target, None, Name(f"free {name}")))
        possible = None if written else possible_values(node, self.possible)
        return _Written(target, Name(name), Definition(name, node, operation, relaxed), possible)

    def _take(self, written: _Written) -> Node:
        """Let the problem define it."""
        definition = written.definition
        if definition is not None:
            if definition.relaxed is not None:
                free = (self.blame or {}).get(written.target, (None,))
                self.variables.append(Variable(f"free {definition.name}", free))
            self.definitions.append(definition)
            self._can_be(definition.name, written.possible)
            self._real[definition.name] = definition.node
        return written.node

    def _remembered(self, place: int, made: Callable[[], Outcome]) -> Outcome:
        """What an operation comes to, which another question may have found out."""
        return made() if self.meanings is None else self.meanings.outcome(place, made)

    def _meaning(self, node: Node, shadow: _Shadow | None) -> Node:
        """The node with what each name means at this place, for the real world or a shadow, as far as it is settled."""
        return narrow(node, self.possible, lambda name: self._value(name, shadow))

    def _value(self, name: str, shadow: _Shadow | None) -> Node:
        if name.startswith("typed."):
            flag = name.removeprefix("typed.")
            return UNSET if shadow is not None and flag in shadow.flags else self.typed.get(flag, UNSET)
        if shadow is not None and name in shadow.current:
            return shadow.current[name]
        # Within a deferred step what the step wrote is not seen yet; its locals are.
        world = self.entry if self.scope and not _is_local(name) else self.current
        return world.get(name, UNSET)

    def _touched(self, operation: Operation) -> list[_Shadow]:
        """The shadows in which the operation may find or leave something else."""
        if not self.shadows:
            return []
        met = {name.removeprefix("typed.") for name in reads(operation)} | targets(operation)
        return [shadow for shadow in self.shadows if not met.isdisjoint(shadow.current)]

    def _holds(self, operation: Operation, shadow: _Shadow | None) -> Node:
        """The condition under which a rule is not broken."""
        require = operation.require if operation.require is not None else TRUE
        if operation.when is None:
            return self._meaning(require, shadow)
        when = self._meaning(operation.when, shadow)
        return TRUE if when == FALSE else Any_((Not(when), self._meaning(require, shadow)))

    def _constraint(self, operation: Operation) -> Constraint | None:
        node = self._settled(self._holds(operation, None))
        return None if node == TRUE else Constraint(operation.rule.id, node, operation)

    def _constrain(self, place: int, operation: Operation) -> None:
        constraint = self._remembered(place, lambda: self._constraint(operation))
        if constraint is not None:
            self.constraints.append(constraint)
        for shadow in self._touched(operation):
            other = self._settled(self._holds(operation, shadow))
            if other != TRUE and other != (TRUE if constraint is None else constraint.node):
                shadow.differs.append(self._define("differs", Not(other)))

    def _warn(self, place: int, operation: Operation) -> None:
        warning = self._remembered(place, lambda: self._constraint(operation))
        if warning is not None:
            self.warnings.append(warning)

    def _outcome(self, operation: Operation, target: str, shadow: _Shadow | None, instead: Node | None = None) -> Node:
        """The value of ``target`` after the operation; ``instead`` stands for whatever it writes."""
        result = before = self._before(target, shadow)
        when = TRUE if operation.when is None else self._meaning(operation.when, shadow)
        if when == FALSE:
            return before
        for case in reversed(operation.cases):
            value = next(
                (instead or self._meaning(node, shadow) for name, node in case.writes if name == target), before
            )
            result = value if case.when is None else Choice(self._meaning(case.when, shadow), value, result)
        return Choice(when, result, before)

    def _write(self, place: int, operation: Operation) -> None:
        answers = {
            one.target: self._take(one) for one in self._remembered(place, lambda: self._written(place, operation))
        }
        for shadow in self._touched(operation):
            self._shadow_write(operation, shadow, answers)
        for target, node in answers.items():
            held = bool(operation.scope) and not _is_local(target)
            (self.held if held else self.current)[target] = node
            if self.meanings is not None:
                (self.meanings.held if held else self.meanings.codes)[target] = self.meanings.of(node)

    def _written(self, place: int, operation: Operation) -> tuple[_Written, ...]:
        """What each target comes to be; versions have the number of the operation."""
        return tuple(
            self._named(f"{target}#{place + 2}", target, self._outcome(operation, target, None), operation)
            for target in sorted(targets(operation))
        )

    def _before(self, target: str, shadow: _Shadow | None) -> Node:
        if shadow is not None and target in shadow.current:
            return shadow.held.get(target, shadow.current[target])
        return self.held.get(target, self.current.get(target, UNSET))

    def _shadow_write(self, operation: Operation, shadow: _Shadow, answers: Mapping[str, Node]) -> None:
        # All targets first: an operation's writes do not see one another.
        nodes = {target: self._settled(self._outcome(operation, target, shadow)) for target in answers}
        for target, real in answers.items():
            node = nodes[target]
            if target in shadow.current or (_is_local(target) and node not in (real, self._real_node(real))):
                # A local that differs is no difference yet: it goes on in the shadow until a flag shows it.
                held = shadow.held if operation.scope and not _is_local(target) else shadow.current
                held[target] = self._define(f"~{target}", node)
            elif target not in self.measures and node not in (real, self._real_node(real)):
                shadow.differs.append(self._define("differs", Compare("!=", node, real)))

    def _real_node(self, real: Node) -> Node:
        return self._real.get(real.name, real) if isinstance(real, Name) else real

    def _leave(self) -> None:
        self.current.update(self.held)
        self.held.clear()
        if self.meanings is not None:
            self.meanings.leave()
        self.scope = 0
        for shadow in self.shadows:
            shadow.current.update(shadow.held)
            shadow.held.clear()

    def _forbid_superfluous(self, shadow: _Shadow) -> None:
        differs: list[Node] = [shadow.typed, *shadow.differs]
        for flag in shadow.flags:
            node = self._settled(Compare("!=", self.current[flag], shadow.current[flag]))
            if node != FALSE:
                differs.append(node if isinstance(node, Const) else self._define("differs", node))
        whole = self._settled(Any_(tuple(differs)))
        if whole != TRUE:
            self.constraints.append(Constraint("superfluous: " + ", ".join(shadow.flags), whole))


def _is_local(target: str) -> bool:
    return target.startswith("local.")
