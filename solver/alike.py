"""Values of a variable that one failure does not tell apart: where one of them has failed, so do the others.

A value that folds each equation of the failure to the same form fails by it. And texts that these equations never name,
and that they only hand on and compare, can change places in all that meets them (value symmetry; Freuder 1991, Benhamou
1994): what refuted one refutes the other just so.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import reduce
from operator import or_
from typing import TypeAlias

from constraints.tree import All, Any_, Arithmetic, Call, Choice, Compare, Const, Group, Name, Node, Not
from constraints.values import FUNCTIONS, MAKING_TEXTS, Value

from .deduce import Allowed, Bits, Deducer
from .narrow import possible_values

# Texts on their own, and texts inside of groups, as bits.
Texts: TypeAlias = tuple[Bits, Bits]
_NONE: Texts = (0, 0)
_ANY: Texts = (-1, -1)


class Alike:
    """What forms of equations do with texts."""

    def __init__(self, deducer: Deducer) -> None:
        self._deducer = deducer
        self._equations = deducer.equations
        self._bits: dict[str, Bits] = {}
        self._texts: dict[tuple[Value, ...], Texts] = {}
        self._uses: dict[int, tuple[Bits, Bits, Bits]] = {}
        self._held: dict[str, Texts] = {}
        self._nothing = self._text("")  # the one text that is not true

    def others(
        self,
        name: str,
        failed: Value,
        left: Sequence[Value],
        forms: Mapping[int, int],
        allowed: Mapping[str, Allowed],
        causes: Bits,
    ) -> Sequence[Value]:
        """The values ``left`` without those that fail as ``failed`` did, in order.

        It failed by ``causes``, of which these ``forms`` of equations are open.
        """
        apart = self._folded_apart(name, failed, left, forms)
        if not apart or not isinstance(failed, str):
            return apart
        # A demand that is no cause had no part in the failure: the whole domain had.
        bound = {one: limits.values for one, limits in allowed.items() if not limits.causes & ~causes}
        return self._told_apart(failed, apart, forms, bound)

    def _folded_apart(
        self, name: str, failed: Value, left: Sequence[Value], forms: Mapping[int, int]
    ) -> Sequence[Value]:
        """The values that some equation is folded to another form by."""
        known = self._equations.forms
        bit = known.bits.get(name, 0)
        folded = [(form, known.put(form, name, failed)) for form in forms.values() if known.masks[form] & bit]
        return [value for value in left if any(known.put(form, name, value) != one for form, one in folded)]

    def _told_apart(
        self, failed: str, left: Sequence[Value], forms: Mapping[int, int], bound: Mapping[str, tuple[Value, ...]]
    ) -> Sequence[Value]:
        """The values that cannot change places with the text that failed; ``bound``: what is left to variables."""
        text, named = self._text(failed), self._nothing
        uses = [self._uses[form] if form in self._uses else self._use(form) for form in forms.values()]
        for told, _, _ in uses:
            named |= told
        if text & named:
            return left
        known, own = self._equations.forms, self._equations.own
        defined = reached = 0
        for index in forms:
            defined |= own[index] if index < len(own) else 0
        domains = []
        for name in frozenset().union(*[known.scopes[form] for form in forms.values()]):
            # What none of these equations defines may be whatever it may be elsewhere.
            if not known.bits[name] & defined:
                whole, inside = self._domain(bound[name]) if name in bound else self._may_hold(name)
                domains.append(whole)
                named |= inside
                reached |= known.bits[name] if whole & text else 0
        if text & named or self._looked_into(reached, forms, uses):
            return left
        return [value for value in left if not self._stands_for(value, text, named, domains)]

    def _stands_for(self, value: Value, text: Bits, named: Bits, domains: Iterable[Bits]) -> bool:
        """Whether a value can change places with a text, neither of which is ``named``."""
        if not isinstance(value, str) or (bit := self._text(value)) & named:
            return False
        return all(bool(whole & bit) is bool(whole & text) for whole in domains)

    def _looked_into(self, reached: Bits, forms: Iterable[int], uses: Iterable[tuple[Bits, Bits, Bits]]) -> bool:
        """Whether some equation looks into what has been ``reached``, or what that was handed on to."""
        own = self._equations.own
        for index, (_, handed, looked_into) in zip(forms, uses, strict=True):
            if looked_into & reached:
                return True
            if handed & reached and index < len(own):
                reached |= own[index]
        return False

    def _may_hold(self, name: str) -> Texts:
        """The texts that a variable or a derived value can ever have."""
        if name in self._equations.domains:
            return self._domain(self._equations.domains[name])
        if not self._held:
            # In order, so that each reads only what is known already.
            for one, nodes in self._deducer.derived():
                self._held[one] = self._either(map(self._of, nodes))
        return self._held[name]

    def _of(self, node: Node) -> Texts:
        """The texts that an expression can come to."""
        match node:
            case Const(value):
                return self._domain((value,))
            case Name(name):
                return self._may_hold(name)
            case Choice(_, then, otherwise):
                return self._either((self._of(then), self._of(otherwise)))
            case Group(items):
                whole, inside = self._either(map(self._of, items))
                return 0, whole | inside
            case Call(_, arguments):
                values = possible_values(node, self._equations.domains)  # a flag of a shape
                if values is not None:
                    return self._domain(values)
                return _NONE if self._either(map(self._of, arguments)) == _NONE else _ANY
        return _NONE

    @staticmethod
    def _either(several: Iterable[Texts]) -> Texts:
        whole = inside = 0
        for one in several:
            whole |= one[0]
            inside |= one[1]
        return whole, inside

    def _domain(self, values: tuple[Value, ...]) -> Texts:
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

    def _made(self, node: Call) -> Bits:
        """The texts that a function can make of those that it may be given."""
        whole, inside = self._either(map(self._of, node.arguments))
        if whole < 0 or inside:
            return -1
        made = FUNCTIONS[node.function]
        return reduce(or_, (self._literals(made(text)) for text, bit in [*self._bits.items()] if bit & whole), 0)

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
        use = _Use(self._literals, self._made)
        handed = use.value(self._equations.forms.nodes[form])
        mask = self._equations.forms.mask
        found = self._uses[form] = use.literals, mask(handed), mask(use.looked_into)
        return found


class _Use:
    """What one expression does with texts."""

    def __init__(self, literals: Callable[[Value], Bits], made: Callable[[Call], Bits]) -> None:
        self._literals = literals
        self._made = made
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
            case Call(function, arguments):
                if function in MAKING_TEXTS:
                    self.literals |= self._made(node)
                for argument in arguments:
                    self.looked_into |= self.value(argument)
        return frozenset()


def _is_list(node: Node) -> bool:
    return isinstance(node, Group) or (isinstance(node, Const) and isinstance(node.value, tuple))
