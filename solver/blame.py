"""Pins that cannot hold together -> the smallest set of rules that forbids them, with the facts those rules read."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence

from constraints.schema import FACTS, HARD, WRITERS, Rule
from constraints.tree import Any_, Compare, Const, Name, Not, names
from constraints.values import Value, same

from .errors import TooLarge
from .pins import Asked, Pin, rows_with
from .problem import Constraint, Problem, Variable
from .question import idle_constraints, idle_pairs
from .refute import Refuter, Restriction
from .report import Element
from .resolution import Resolution, Write
from .sat import SatRefuter
from .unit import Unit
from .unroll import unroll
from .unsaid import goes_without_saying

BUDGET, WHOLE_BUDGET = 4_000, 20_000


class Case:
    """A question with its soft demands, ready to be refuted part by part."""

    def __init__(
        self,
        asked: Asked,
        units: Sequence[Unit],
        soft: Sequence[Pin],
        engine: Callable[[Problem], Refuter | SatRefuter] | None = None,
    ) -> None:
        """With another ``engine`` than ours every question is put to it, whatever the forward reader knows."""
        self.asked = asked
        self.units = units
        self.soft = soft
        self._witnesses: dict[frozenset[int], Resolution] = {}
        problem = unroll(
            asked.operations,
            asked.defaults,
            units,
            {},
            shadows=False,
            blame=_vocabulary(asked, units),
            remembered=asked.prepared.blamed,
        )
        outcome = [pin for pin in soft if not pin.typed]
        pins = {pin.flag: pin.value for pin in soft}
        ends = None if len(outcome) == len(soft) else self.witness(frozenset(range(len(soft)))).values
        self.problem = _cone(
            Problem(
                (*problem.variables, *(Variable(pin.selector, (True, False)) for pin in outcome)),
                problem.definitions,
                (
                    *problem.constraints,
                    *idle_constraints(asked.knowledge.variables, problem, pins, ends),
                    *(
                        Constraint(
                            pin.selector,
                            Any_((Not(Name(pin.selector)), Compare("==", problem.last[pin.flag], Const(pin.value)))),
                            demanded=True,
                        )
                        for pin in outcome
                    ),
                ),
                problem.last,
                problem.typed,
            )
        )
        self.refuter = engine(self.problem) if engine is not None else Refuter(self.problem, asked.prepared.forms)
        self.rules = {one.rule.id: one.rule for one in asked.operations}
        self._checks = frozenset(one for one, rule in self.rules.items() if rule.kind not in WRITERS)
        self._idle = None if outcome or engine else tuple(idle_pairs(asked.knowledge.variables, pins, ends))
        self.open_flags = {flag for unit in units for flag in unit.flags}
        self.undecided = False
        self._answers: dict[frozenset[int], tuple[frozenset[int] | None, frozenset[int]]] = {}
        self._met: frozenset[int] = frozenset()

    def refute(self, places: frozenset[int]) -> frozenset[int] | None:
        """None when the pins at ``places`` can hold together, else some of them that cannot.

        What cannot be decided within the budget is taken to hold, and ``undecided`` says so.
        """
        if places not in self._answers:
            self._answers[places] = self._refuted(places)
        found, self._met = self._answers[places]
        return found

    def _refuted(self, places: frozenset[int]) -> tuple[frozenset[int] | None, frozenset[int]]:
        if self.stands(places):
            return None, self._held(self._typed(places))
        try:
            causes = self.refuter.refute(self.restricted(places), (), WHOLE_BUDGET)
        except TooLarge:
            self.undecided = True
            return None, frozenset()
        if causes is not None:
            return _pins(causes), frozenset()
        found = self.refuter.found
        return None, self._held({flag: value for unit in self.units for flag, value in unit.typed(found[unit.name])})

    def met(self) -> frozenset[int]:
        """The pins that hold in the configuration last found, where one was."""
        return self._met

    def _held(self, typed: Mapping[str, Value]) -> frozenset[int]:
        return frozenset(
            place for place, pin in enumerate(self.soft) if pin.typed and same(typed.get(pin.flag), pin.value)
        )

    def stands(self, places: frozenset[int], off: Collection[str] = ()) -> bool:
        """Whether the pins at ``places`` hold as they are, with nothing else typed and the checks in ``off`` left out.

        No search is needed then: what SGLang does with them is known.
        """
        if self._idle is None:
            return False
        found = self.witness(places)
        if any(one.rule.kind in HARD and one.rule.id not in off for one in found.broken):
            return False
        typed = self._typed(places)
        return not any(
            typed.get(flag) is not None and all(found.values.get(other) is not None for other in others)
            for flag, others in self._idle
        )

    def refute_by(self, rule: str, places: frozenset[int]) -> frozenset[int] | None:
        """As `refute`, with no other check in force than ``rule``."""
        off = self.checks_but(rule)
        if self.stands(places, off):
            return None
        try:
            found = self.refuter.refute(self.restricted(places), off, WHOLE_BUDGET)
        except TooLarge:
            return None
        return None if found is None else _pins(found)

    def checks_but(self, rule: str) -> frozenset[str]:
        """Every check of the program but one."""
        return self._checks - {rule}

    def witness(self, places: frozenset[int]) -> Resolution:
        """What SGLang does when the pins at ``places`` are typed and nothing else."""
        if places not in self._witnesses:
            self._witnesses[places] = self.asked.engine.run(self.asked.facts, self._typed(places))
        return self._witnesses[places]

    def _typed(self, places: frozenset[int]) -> dict[str, Value]:
        pins = [self.soft[place] for place in sorted(places)]
        return {pin.flag: pin.value for pin in pins if pin.value is not None}

    def restricted(self, places: frozenset[int]) -> dict[str, Restriction]:
        """What the pins at ``places`` leave to each variable; pins elsewhere are not in force."""
        typed = {self.soft[place].flag: (self.soft[place].value, place) for place in places if self.soft[place].typed}
        found: dict[str, Restriction] = {}
        for unit in self.units:
            here = {flag: typed[flag] for flag in unit.flags if flag in typed}
            if here:
                values = rows_with(unit, {flag: value for flag, (value, _) in here.items()})
                found[unit.name] = Restriction(values, frozenset(("pin", place) for _, place in here.values()))
        for place, pin in enumerate(self.soft):
            if not pin.typed:
                causes = frozenset((("pin", place),)) if place in places else frozenset()
                found[pin.selector] = Restriction((place in places,), causes)
        return found


def _pins(causes: Collection[object]) -> frozenset[int]:
    return frozenset(one[1] for one in causes if isinstance(one, tuple))


def blame(case: Case, places: frozenset[int], only: str | None = None) -> list[Element]:
    """The rules, chosen defaults and facts of one minimal conflict; the pins at ``places`` must not hold together.

    ``only`` is the one check in force, if they do not hold together for its sake alone.

    Checks can be blamed, and of the writing rules those that decide a flag the question is about when the pins alone
    are typed; every other write is background.
    """
    restricted = case.restricted(places)
    every = case.refuter.rules_of(range(len(case.problem.definitions) + len(case.problem.constraints)))
    witness = case.witness(places)
    fired = {write.operation.rule.id for write in witness.writes if write.target in case.open_flags}
    out = case.checks_but(only) if only is not None else frozenset()
    blamable = [one for one in every if one not in out and (case.rules[one].kind not in WRITERS or one in fired)]
    try:
        causes = case.refuter.refute(restricted, out)
    except TooLarge:
        causes = frozenset(range(len(case.problem.definitions) + len(case.problem.constraints)))
    core = [one for one in case.refuter.rules_of(causes or ()) if one in blamable]
    broken = [one.rule.id for one in witness.broken if one.rule.id not in out]

    def refuted(kept: Collection[str], budget: int) -> frozenset[object] | None:
        off = out.union(one for one in blamable if one not in kept)
        if case.stands(places, off):
            return None
        try:
            return case.refuter.refute(restricted, off, budget)
        except TooLarge:  # not shown to be enough within the budget
            return None

    # One rule may be enough, or those of one matter: that is quickly seen, and reads best.
    for group in ([one] for one in broken), (_akin(case, one, core) for one in broken):
        enough = next((kept for kept in group if refuted(kept, WHOLE_BUDGET) is not None), None)
        if enough is not None:
            core = enough
            break
    core.sort(key=lambda one: (one in broken, case.rules[one].kind not in WRITERS, every.index(one)))
    needed: list[str] = []
    while core:
        tried = core.pop(0)
        found = refuted({*core, *needed}, BUDGET)
        if found is None:
            needed.append(tried)
        else:
            inside = set(case.refuter.rules_of(found))
            core = [one for one in core if one in inside]
    chosen = [case.rules[one] for one in every if one in needed]
    wrote = {write.operation.rule.id: write for write in witness.writes if not write.target.startswith("local.")}
    facts = _facts(case.asked, [rule for rule in chosen if rule.kind not in WRITERS])
    release = case.asked.knowledge.release
    bound = [Element("release", "release", release)] if any(_dated(rule) for rule in chosen) else []
    return [*facts, *bound, *(_element(case, rule, wrote.get(rule.id)) for rule in chosen)]


def _akin(case: Case, rule: str, among: Sequence[str]) -> list[str]:
    """The checks that read a fact which ``rule`` reads as well, and all that write."""
    known = case.asked.knowledge.rules
    facts = _fact_names(known[rule])
    return [one for one in among if known[one].kind in WRITERS or facts & _fact_names(known[one])]


def _fact_names(rule: Rule) -> frozenset[str]:
    return frozenset(name for name in names(rule.when) | names(rule.require) if name.partition(".")[0] in FACTS)


def _dated(rule: Rule) -> bool:
    """Whether some release has the rule otherwise, or not at all."""
    return rule.span.until is not None or not (rule.span.since or "<=").startswith("<=")


def _vocabulary(asked: Asked, units: Sequence[Unit]) -> Mapping[str, tuple[Value, ...]]:
    """The values each flag could have if no rule wrote it: its choices, and whatever rules write or pins ask for."""
    found: dict[str, dict[str, Value]] = {}

    def add(target: str, value: Value) -> None:
        found.setdefault(target, {}).setdefault(repr(value), value)

    for name, flag in asked.knowledge.flags.items():
        add(name, None)
        for value in (flag.default, *(flag.choices or ())):
            add(name, value)
    for unit in units:
        for row in unit.domain:
            for flag_name, value in zip(unit.flags, row if isinstance(row, tuple) else (row,), strict=False):
                add(flag_name, value)
    for operation in asked.operations:
        for case in operation.cases:
            for target, node in case.writes:
                if isinstance(node, Const):
                    add(target, node.value)
    return {target: tuple(values.values()) for target, values in found.items()}


def _cone(problem: Problem) -> Problem:
    """Only the definitions that some constraint hangs on."""
    wanted: set[str] = set()
    for constraint in problem.constraints:
        wanted |= names(constraint.node)
    needed = []
    for definition in reversed(problem.definitions):
        if definition.name in wanted:
            needed.append(definition)
            wanted |= names(definition.node) | names(definition.relaxed)
    variables = tuple(one for one in problem.variables if one.name in wanted or not one.name.startswith("free "))
    return Problem(variables, tuple(reversed(needed)), problem.constraints, problem.last, problem.typed)


def _element(case: Case, rule: Rule, wrote: Write | None) -> Element:
    source = rule.source(case.asked.knowledge.release)
    if rule.kind in ("error", "defect", "warning"):
        return Element("rule", rule.id, None, rule, source)
    if wrote is not None:
        return Element("default", wrote.target, wrote.after, rule, source, before=wrote.before)
    targets = [target for one in rule.cases for target, _ in one.writes if not target.startswith("local.")]
    values = {node.value for one in rule.cases for _, node in one.writes if isinstance(node, Const)}
    value = next(iter(values)) if len(values) == 1 else None
    return Element("default", targets[0] if targets else rule.id, value, rule, source)


def _facts(asked: Asked, rules: Sequence[Rule]) -> list[Element]:
    """The facts without which some rule of the conflict would read otherwise."""
    facts = dict.fromkeys(
        name
        for rule in rules
        for name in asked.prepared.mattering(rule.id)
        if not goes_without_saying(asked, rule, name)
    )
    return [Element("fact", name, asked.facts[name], origin=_origin(asked, name)) for name in facts]


def _origin(asked: Asked, name: str) -> str:
    """Where a fact stands: the keys of config.json, those looked for and absent, or the GPU."""
    if name.startswith("gpu."):
        return asked.place.platform.gpu.name
    origin = asked.engine.model_facts(asked.place.model).origins.get(name)
    if origin is None:
        return ""
    if origin.found:
        return "config.json: " + ", ".join(origin.found[:3])
    return "config.json: no " + ", ".join(origin.absent[:2]) if origin.absent else ""
