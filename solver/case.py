"""Pins on a model and machine -> a case: which of them can hold together, and what SGLang does with them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import cached_property

from constraints.schema import HARD, WRITERS, Operation
from constraints.values import Value, same

from .demanded import demanded
from .errors import TooLarge
from .failures import Failures
from .pins import Asked, Pin, rows_with
from .problem import Problem
from .question import idle_pairs, passed_over
from .refute import Refuter, Restriction
from .resolution import Resolution
from .sat import SatRefuter
from .unit import Unit

# Values tried before a question is given up.
WHOLE_BUDGET = 20_000


class Case:
    """A question with its soft demands, ready to be refuted part by part."""

    def __init__(
        self,
        asked: Asked,
        units: Sequence[Unit],
        soft: Sequence[Pin],
        engine: Callable[[Problem], Refuter | SatRefuter] | None = None,
        run: Resolution | None = None,
    ) -> None:
        """With another ``engine`` than ours every question is put to it, whatever the forward reader knows.

        ``run`` is that of all that ``soft`` types, where it is at hand.
        """
        self.asked = asked
        self.units = units
        self.soft = soft
        # The first to be dropped from a conflict, as what was asked for is the last.
        self.unset = frozenset(place for place, pin in enumerate(soft) if pin.value is None)
        self._pinned = {pin.flag: place for place, pin in enumerate(soft)}
        everything = frozenset(range(len(soft)))
        self._witnesses = {} if run is None else {everything - self.unset: run}
        self.failures = Failures()
        self._restrictions: dict[tuple[str, tuple[int, ...]], Restriction] = {}
        self._reasons: dict[tuple[frozenset[int], int], frozenset[int] | None] = {}
        outcome = [pin for pin in soft if not pin.typed]
        pins = {pin.flag: pin.value for pin in soft}
        ends = None if len(outcome) == len(soft) else self.witness(everything).values
        self.problem = demanded(asked, units, outcome, pins, ends, later=engine is None)
        self.refuter = engine(self.problem) if engine is not None else Refuter(self.problem, asked.prepared.forms)
        self.rules = {one.rule.id: one.rule for one in asked.operations}
        self._hard = frozenset(one for one, rule in self.rules.items() if rule.kind in HARD)
        self._checks = frozenset(one for one, rule in self.rules.items() if rule.kind not in WRITERS)
        # A search of ours is shown these alone: what something that it found has broken.
        self._met = frozenset() if engine is None else self._checks
        self._idle = None if outcome or engine else tuple(idle_pairs(asked.knowledge.variables, pins, ends))
        self.open_flags = {flag for unit in units for flag in unit.flags}
        self.undecided = False
        # What one answer says of other questions: pins that hold together, and pins that cannot.
        self._held: list[frozenset[int]] = []
        self._refuted: list[frozenset[int]] = []
        self._forbidden: dict[str, list[frozenset[int]]] = {}  # by one rule alone
        self._open: set[frozenset[int]] = set()

    def refute(self, places: frozenset[int]) -> frozenset[int] | None:
        """None when the pins at ``places`` can hold together, else some of them that cannot.

        What cannot be decided within the budget is taken to hold, and ``undecided`` says so.
        """
        if self._holds(places):
            return None
        known = _least(self._refuted, places)
        return self._decided(places) if known is None else known

    def _decided(self, places: frozenset[int]) -> frozenset[int] | None:
        for seen in (places, *self._wider(places)):
            if self.stands(seen):
                self._held.append(self._holding(self._typed(seen)))
                return None
        if (hung := self._hung(places, self._hard)) is not None:
            self._met |= {one.rule.id for one in self.witness(places).broken} & self._checks
            self._refuted.append(hung)
            return hung
        try:
            causes = self._searched(places)
        except TooLarge:
            self.undecided = True
            self._open.add(places)
            return None
        if causes is not None:
            self._refuted.append(_pins(causes))
            return self._refuted[-1]
        self._held.append(places | self._holding(self._found()))
        return None

    def _searched(self, places: frozenset[int]) -> Collection[object] | None:
        """What the refuter says, which is shown a check only once what it found has broken it."""
        while True:
            causes = self.refuter.refute(self.restricted(places), self.unmet, WHOLE_BUDGET)
            if causes is not None or self._met == self._checks:
                return causes
            typed = {flag: value for flag, value in self._found().items() if value is not None}
            broken = self.failures.broken(self.asked.engine, self.asked.facts, typed)
            if not broken:
                return None
            # What the two readers see differently is for the search to decide.
            self._met = self._met | broken if broken - self._met else self._checks

    def _found(self) -> dict[str, Value]:
        """What the search would type."""
        found = self.refuter.found
        return {flag: value for unit in self.units for flag, value in unit.typed(found[unit.name])}

    def _wider(self, places: frozenset[int]) -> Iterator[frozenset[int]]:
        """Everything that was asked for but the one pin that ``places`` lacks of pins that cannot hold together.

        Often that pin is all that is wrong, while ``places`` alone lacks what the model cannot do without.
        """
        missing = next((gone for one in self._refuted if places < one and len(gone := one - places) == 1), None)
        if missing is not None:
            yield frozenset(range(len(self.soft))) - missing

    def _holds(self, places: frozenset[int]) -> bool:
        """Whether the pins are known to hold together, or nobody found out."""
        return places in self._open or any(places <= held for held in self._held)

    def _holding(self, typed: Mapping[str, Value]) -> frozenset[int]:
        """The pins that ``typed`` fulfils."""
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
        return not passed_over(self._idle, self._typed(places), found.values)

    def refute_by(self, rule: str, places: frozenset[int]) -> frozenset[int] | None:
        """As `refute`, with no other check in force than ``rule``."""
        forbidden = self._forbidden.setdefault(rule, [])
        if (known := _least(forbidden, places)) is not None:
            return known
        off = self.checks_but(rule)
        if self._holds(places) or self.stands(places, off):
            return None
        pins = self._hung(places, (rule,))
        if pins is None:
            try:
                found = self.refuter.refute(self.restricted(places), off, WHOLE_BUDGET)
            except TooLarge:
                return None
            if found is None:
                return None
            pins = _pins(found)
        forbidden.append(pins)
        self._refuted.append(pins)
        return pins

    def _hung(self, places: frozenset[int], rules: Collection[str]) -> frozenset[int] | None:
        """The pins that one of ``rules`` broke for, seen from a run; None where what is not pinned had a part in it.

        No search is needed then: whatever else is typed, the rule breaks.
        """
        if self._idle is None:
            return None
        for operation in self.witness(places).broken:
            if operation.rule.id in rules:
                pins = self._reason(places - self.unset, operation)
                if pins is not None and pins <= places:
                    return pins
        return None

    def _reason(self, typed: frozenset[int], operation: Operation) -> frozenset[int] | None:
        """The pins that an operation broke for in a run; None where a flag that is open and has no pin had a part."""
        key = typed, id(operation)
        if key not in self._reasons:
            engine = self.asked.engine
            first = engine.first(self.asked.facts, self._typed(typed))
            names = self.failures.reason(engine, first, self.witness(typed), operation)
            flags = {name.removeprefix("typed.").partition(".")[0] for name in names}
            pinned = flags & self.open_flags <= self._pinned.keys()
            pins = frozenset(place for flag, place in self._pinned.items() if flag in flags)
            self._reasons[key] = pins if pinned else None
        return self._reasons[key]

    def checks_but(self, rule: str) -> frozenset[str]:
        """Every check of the program but one."""
        return self._checks - {rule}

    @property
    def unmet(self) -> frozenset[str]:
        """The checks that nothing found so far has broken."""
        return self._checks - self._met

    def witness(self, places: frozenset[int]) -> Resolution:
        """What SGLang does when the pins at ``places`` are typed and nothing else."""
        typed = places - self.unset
        if typed not in self._witnesses:
            self._witnesses[typed] = self.asked.engine.run(self.asked.facts, self._typed(typed))
        return self._witnesses[typed]

    def _typed(self, places: frozenset[int]) -> dict[str, Value]:
        pins = [self.soft[place] for place in sorted(places)]
        return {pin.flag: pin.value for pin in pins if pin.value is not None}

    def restricted(self, places: frozenset[int]) -> dict[str, Restriction]:
        """What the pins at ``places`` leave to each variable; pins elsewhere are not in force."""
        found: dict[str, Restriction] = {}
        for unit, pinned in self._typed_pins:
            here = tuple([place for place in pinned if place in places])
            if here:
                found[unit.name] = self._restrictions.get((unit.name, here)) or self._restricted(unit, here)
        for place, pin in enumerate(self.soft):
            if not pin.typed:
                causes = frozenset((("pin", place),)) if place in places else frozenset()
                found[pin.selector] = Restriction((place in places,), causes)
        return found

    def _restricted(self, unit: Unit, here: tuple[int, ...]) -> Restriction:
        values = rows_with(unit, {self.soft[place].flag: self.soft[place].value for place in here})
        found = self._restrictions[unit.name, here] = Restriction(values, frozenset(("pin", place) for place in here))
        return found

    @cached_property
    def _typed_pins(self) -> Sequence[tuple[Unit, Sequence[int]]]:
        """Of each unit that is not open, the pins that say what is typed."""
        found = []
        for unit in self.units:
            pinned = [self._pinned[flag] for flag in unit.flags if flag in self._pinned]
            if pinned := [place for place in pinned if self.soft[place].typed]:
                found.append((unit, pinned))
        return found

    @cached_property
    def blamable(self) -> tuple[str, ...]:
        """The rules of the problem, those that write first."""
        return self.refuter.rules_of(range(len(self.problem.definitions) + len(self.problem.constraints)))


def _least(known: Iterable[frozenset[int]], places: frozenset[int]) -> frozenset[int] | None:
    """The smallest of what is known not to hold that is part of ``places``."""
    return min((one for one in known if one <= places), key=len, default=None)


def _pins(causes: Collection[object]) -> frozenset[int]:
    return frozenset(one[1] for one in causes if isinstance(one, tuple))
