"""The forward reader: the program of a release, run on what was typed -> fills, rewrites, refusals, effective values."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from constraints.expression import Closure, Const, Env, Node, Value, closure, fold, names, same
from constraints.schema import HARD, WRITERS, Action


@dataclass(frozen=True, slots=True)
class Write:
    """One flag that one action gave another value."""

    action: Action
    target: str
    before: Value
    after: Value


@dataclass(frozen=True, slots=True)
class Resolution:
    """What became of a command.

    ``values`` holds every flag, fact and environment variable as it stands at the end; ``writes`` every change in
    order; ``broken`` each action of kind error, warning or defect that does not hold, in order. SGLang itself stops
    at the first broken error; what follows it here is what would have come next.
    """

    values: Mapping[str, Value]
    writes: tuple[Write, ...]
    broken: tuple[Action, ...]

    @property
    def refusals(self) -> tuple[Action, ...]:
        """The broken rules of kind error, in the order SGLang would meet them."""
        return tuple(action for action in self.broken if action.rule.kind == "error")

    def last_writer(self, target: str) -> Write | None:
        """The write that gave ``target`` its last value."""
        return next((write for write in reversed(self.writes) if write.target == target), None)


_CaseRun = tuple[Closure | None, tuple[tuple[str, Closure], ...]]


@dataclass(frozen=True, slots=True)
class _Compiled:
    action: Action
    when: Closure | None
    require: Closure | None
    cases: tuple[_CaseRun, ...]
    ends_scope: bool


class Program:
    """A release's actions with the facts of one model, GPU and environment put in, ready to run."""

    def __init__(self, actions: Iterable[Action], facts: Env) -> None:
        self.facts = facts
        self.actions = fold_actions(actions, facts)
        self._compiled = list(_compile(self.actions))

    def run(self, initial: Mapping[str, Value], *, stop: bool = False) -> Resolution:
        """Resolve ``initial``: a value for every flag (typed or default), and ``typed.x`` for each that is read.

        With ``stop`` the run ends at the first broken error, as SGLang does.
        """
        env = _State(self.facts)
        env.update(initial)
        writes: list[Write] = []
        broken: list[Action] = []
        held: list[tuple[Action, str, Value]] = []
        for step in self._compiled:
            if step.when is None or step.when(env):
                if step.require is not None:
                    if not step.require(env):
                        broken.append(step.action)
                        if stop and step.action.rule.kind == "error":
                            break
                else:
                    for target, value in _chosen(step.cases, env):
                        if step.action.scope and not target.startswith("local."):
                            held.append((step.action, target, value))
                        else:
                            _apply(env, writes, step.action, target, value)
            if step.ends_scope and held:
                for action, target, value in held:
                    _apply(env, writes, action, target, value)
                held.clear()
        return Resolution(env, tuple(writes), tuple(broken))


class _State(dict[str, Value]):
    """Values by name; a local that nothing has written yet is unset."""

    def __missing__(self, key: str) -> Value:
        return None


def fold_actions(actions: Iterable[Action], facts: Env) -> tuple[Action, ...]:
    """The actions that can still fire under ``facts``, with the facts put in; the order is kept.

    Facts that some action writes (environment variables) stay open.
    """
    actions = tuple(actions)
    written = {target for action in actions for case in action.rule.cases for target, _ in case.writes}
    known = {name: value for name, value in facts.items() if name not in written}
    return tuple(folded for action in actions if (folded := fold_action(action, known)) is not None)


def fold_action(action: Action, known: Env) -> Action | None:
    """The action under ``known`` values; None when it can neither write nor be broken."""
    when = _settled(action.when, known)
    if when is False:
        return None
    require = action.require
    if require is not None:
        require = fold(require, known)
        if isinstance(require, Const) and require.value:
            return None
    cases = []
    for case in action.cases:
        test = _settled(case.when, known)
        if test is False:
            continue
        writes = tuple((target, fold(value, known)) for target, value in case.writes)
        cases.append(type(case)(None if test is True else test, writes))
        if test is True:
            break
    if action.rule.kind in WRITERS and not cases:
        return None
    return Action(
        action.rule,
        action.step,
        action.call,
        action.path,
        action.scope,
        None if when is True else when,
        require,
        tuple(cases),
    )


def _settled(node: Node | None, known: Env) -> Node | bool:
    if node is None:
        return True
    folded = fold(node, known)
    return bool(folded.value) if isinstance(folded, Const) else folded


def reads(action: Action) -> frozenset[str]:
    """Every name the action reads."""
    found = names(action.when) | names(action.require)
    for case in action.cases:
        found |= names(case.when)
        for _, value in case.writes:
            found |= names(value)
    return found


def targets(action: Action) -> frozenset[str]:
    """Every flag, environment variable or local the action may write."""
    return frozenset(target for case in action.cases for target, _ in case.writes)


def is_hard(action: Action) -> bool:
    """Whether a solution must not break it."""
    return action.rule.kind in HARD


def _compile(actions: tuple[Action, ...]) -> Iterator[_Compiled]:
    last = {action.scope: index for index, action in enumerate(actions) if action.scope}
    for index, action in enumerate(actions):
        yield _Compiled(
            action,
            None if action.when is None else closure(action.when),
            None if action.require is None else closure(action.require),
            tuple(
                (
                    None if case.when is None else closure(case.when),
                    tuple((target, closure(value)) for target, value in case.writes),
                )
                for case in action.cases
            ),
            last.get(action.scope) == index,
        )


def _chosen(cases: tuple[_CaseRun, ...], env: Env) -> list[tuple[str, Value]]:
    for test, writes in cases:
        if test is None or test(env):
            return [(target, value(env)) for target, value in writes]
    return []


def _apply(env: _State, writes: list[Write], action: Action, target: str, value: Value) -> None:
    before = env[target]
    if not same(before, value):
        env[target] = value
        writes.append(Write(action, target, before, value))
