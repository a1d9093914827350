"""Values of a variable that nothing left tells apart -> one of them: where it fails, so do the others.

Texts that no equation left names, and that are only handed on and compared, can change places in every solution
(value symmetry; Freuder 1991, Benhamou 1994). What refutes one refutes the other by the same equations.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from constraints.tree import All, Any_, Arithmetic, Call, Choice, Compare, Const, Group, Name, Node, Not
from constraints.values import Value

from .deduce import Allowed, Bits, Standing
from .propagate import Equations, State

# With fewer values it costs more to compare them than to try them.
FEW = 6


class Alike:
    """What the equations of a problem tell apart, as far as they are folded."""

    def __init__(self, equations: Equations) -> None:
        self._equations = equations
        self._bits: dict[str, Bits] = {}
        self._texts: dict[tuple[Value, ...], tuple[Bits, Bits]] = {}
        self._uses: dict[int, tuple[Bits, Bits, Bits]] = {}

    def apart(self, values: Sequence[Value], place: Standing, allowed: Mapping[str, Allowed]) -> Sequence[Value]:
        """The ``values`` of an open variable without those that would fail as an earlier one does."""
        if len(values) < FEW:
            return values
        state, known = place.state, place.known
        named = self._text("")  # the one text that is not true
        uses = [self._uses[form] if form in self._uses else self._use(form) for form in state.values()]
        for told, _, _ in uses:
            named |= told
        domains = []
        for one, domain in self._equations.domains.items():
            if one not in known:
                whole, inside = self._domain(allowed[one].values if one in allowed else domain)
                named |= inside
                domains.append((one, whole))
        free = self._domain(tuple(values))[0] & ~named
        if not free & (free - 1) or self._looked_into(free, domains, state, uses):  # one text alone is like no other
            return values
        kept: list[Value] = []
        seen: set[tuple[bool, ...]] = set()
        for value in values:
            bit = self._bits[value] if isinstance(value, str) else 0
            if bit & free:
                where = tuple([bool(whole & bit) for _, whole in domains])
                if where in seen:
                    continue
                seen.add(where)
            kept.append(value)
        return kept

    def _looked_into(
        self,
        free: Bits,
        domains: Sequence[tuple[str, Bits]],
        state: State,
        uses: Sequence[tuple[Bits, Bits, Bits]],
    ) -> bool:
        """Whether some equation looks into one of the texts that are ``free``, wherever it was handed on to."""
        forms, own = self._equations.forms, self._equations.own
        reached = forms.mask(one for one, whole in domains if whole & free)
        for index, (_, handed, looked_into) in zip(state, uses, strict=True):
            if looked_into & reached:
                return True
            if handed & reached and index < len(own):
                reached |= own[index]
        return False

    def _domain(self, values: tuple[Value, ...]) -> tuple[Bits, Bits]:
        """The texts among some values, and those inside of groups."""
        if values not in self._texts:
            whole = inside = 0
            for value in values:
                if isinstance(value, str):
                    whole |= self._text(value)
                elif isinstance(value, tuple):
                    inside |= self._literals(value)
            self._texts[values] = whole, inside
        return self._texts[values]

    def _text(self, text: str) -> Bits:
        return self._bits.setdefault(text, 1 << len(self._bits))

    def _literals(self, value: Value) -> Bits:
        if isinstance(value, str):
            return self._text(value)
        bits = 0
        if isinstance(value, tuple):
            for one in value:
                bits |= self._literals(one)
        return bits

    def _use(self, form: int) -> tuple[Bits, Bits, Bits]:
        """The texts that a form names, the names that it hands on, and those that it looks into."""
        use = _Use(self._literals)
        handed = use.value(self._equations.forms.nodes[form])
        mask = self._equations.forms.mask
        found = self._uses[form] = use.literals, mask(handed), mask(use.looked_into)
        return found


class _Use:
    """What one expression does with texts."""

    def __init__(self, literals: Callable[[Value], Bits]) -> None:
        self._literals = literals
        self.literals = 0
        self.looked_into: set[str] = set()

    def value(self, node: Node) -> frozenset[str]:
        """The names whose value the expression may have."""
        match node:
            case Const(value):
                self.literals |= self._literals(value)
            case Name(name):
                return frozenset((name,))
            case Choice(test, then, otherwise):
                self.value(test)
                return self.value(then) | self.value(otherwise)
            case Group(items):
                return frozenset().union(*map(self.value, items))
            case Not(operand):
                self.value(operand)
            case All(parts) | Any_(parts):
                for part in parts:
                    self.value(part)
            case Compare(sign, left, right):
                both = self.value(left) | self.value(right)
                if not (sign in ("==", "!=") or (sign in ("in", "not in") and _is_list(right))):
                    self.looked_into |= both
            case Arithmetic(_, left, right):
                self.looked_into |= self.value(left) | self.value(right)
            case Call(_, arguments):
                for argument in arguments:
                    self.looked_into |= self.value(argument)
        return frozenset()


def _is_list(node: Node) -> bool:
    return isinstance(node, Group) or (isinstance(node, Const) and isinstance(node.value, tuple))
