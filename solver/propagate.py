"""A problem's equations under partial assignments: fold what is known, let settled definitions settle others.

Each equation (definitions first, then constraints) is kept in numbered folded forms, so that a fold is done once for
all the assignments that meet it, and a state of the search is a list of numbers.
"""

from __future__ import annotations

from collections.abc import Collection

from constraints.evaluate import fold
from constraints.tree import Const, Node
from constraints.values import Value, same

from .forms import Forms
from .problem import Constraint, Definition, Pending, Problem

State = dict[int, int]
Part = tuple[frozenset[str], tuple[tuple[int, int], ...]]
Known = list[tuple[str, Value]]


class Equations:
    """The equations of one problem, in the forms they were folded to so far.

    A state says, by equation, in which form those stand that are not settled yet.
    """

    def __init__(self, problem: Problem, forms: Forms | None = None) -> None:
        """``forms``: those of other problems on the same facts."""
        self._equations: tuple[Definition | Constraint | Pending, ...] = (*problem.definitions, *problem.constraints)
        self.forms = Forms() if forms is None else forms
        self.domains = {variable.name: variable.domain for variable in problem.variables}
        self.defines: list[str | None] = [definition.name for definition in problem.definitions]
        self.defines += [None] * len(problem.constraints)
        self._allowed: dict[int, tuple[str, tuple[Value, ...]] | None] = {}
        self.own = [0 if defined is None else self.forms.mask((defined,)) for defined in self.defines]
        # By name, the equations that read it in some form in which they were taken up.
        self._readers: dict[str, dict[int, None]] = {}
        self._taken: set[tuple[int, int]] = set()

    def first(self, index: int) -> int:
        """The form of an equation in which nothing is put in yet."""
        return self.forms.number_of(self._equations[index].node)

    def take(self, index: int, form: int) -> None:
        """Let an equation be met by the names that it reads in a form."""
        if (index, form) not in self._taken:
            self._taken.add((index, form))
            for name in self.forms.scopes[form]:
                self._readers.setdefault(name, {})[index] = None

    def only(self, form: int) -> tuple[str, tuple[Value, ...]] | None:
        """For a constraint on one variable alone: that variable and the values that meet it."""
        if form not in self._allowed:
            scope = self.forms.scopes[form]
            name = next(iter(scope)) if len(scope) == 1 else ""
            if name in self.domains:
                node = self.forms.nodes[form]
                values = tuple(value for value in self.domains[name] if _truth(fold(node, {name: value})))
                self._allowed[form] = (name, values)
            else:
                self._allowed[form] = None
        return self._allowed[form]

    def settle_all(self) -> tuple[Known, State] | None:
        """The start: equations that are constants already are settled, with all that follows."""
        known: Known = []
        live: State = {}
        for index in range(len(self._equations)):
            form = self.first(index)
            self.take(index, form)
            node = self.forms.nodes[form]
            defined = self.defines[index]
            if not isinstance(node, Const):
                live[index] = form
            elif defined is not None:
                known.append((defined, node.value))
            elif not node.value:
                return None
        return self.settle(known, live)

    def settle(self, known: Known, state: State) -> tuple[Known, State] | None:
        """Put ``known`` in, and all that it settles: (all that is known now, equations left).

        A definition that has become a constant is settled; so is a variable to which a constraint leaves one value.
        None when a constraint fails.
        """
        queue = list(known)
        done: Known = []
        seen: dict[str, Value] = {}
        left = dict(state)
        while queue:
            name, value = queue.pop()
            if name in seen:  # forced twice: by two constraints, or by one and a definition
                if not same(seen[name], value):
                    return None
                continue
            seen[name] = value
            done.append((name, value))
            folds = self.forms.folds(name, value)
            for index, form in self.meeting(name, left):
                found = folds.get(form)
                if found is None:
                    found = self.forms.fold(folds, form, name, value)
                defined = self.defines[index]
                if isinstance(found, int):
                    left[index] = found
                    if defined is None and (only := self.only(found)) is not None:
                        if not only[1]:
                            return None
                        if len(only[1]) == 1:
                            queue.append((only[0], only[1][0]))
                    continue
                del left[index]
                if defined is not None:
                    queue.append((defined, found.value))
                elif not found.value:
                    return None
        return done, left

    def meeting(self, name: str, left: State) -> list[tuple[int, int]]:
        """The equations of ``left`` that still read ``name``, with their forms."""
        masks, bit, readers = self.forms.masks, self.forms.bits.get(name, 0), self._readers.get(name, ())
        if len(left) < len(readers):
            return [(index, form) for index, form in left.items() if masks[form] & bit]
        return [(index, left[index]) for index in readers if index in left and masks[left[index]] & bit]

    def degrees(self, state: State) -> dict[str, int]:
        """For each variable, how many equations hang on it, through definitions too."""
        supports: dict[str, frozenset[str]] = {name: frozenset((name,)) for name in self.domains}
        counts = dict.fromkeys(self.domains, 0)
        for index in sorted(state):
            scope = self.forms.scopes[state[index]]
            support = frozenset().union(*(supports.get(name, frozenset()) for name in scope))
            defined = self.defines[index]
            if defined is not None:
                supports[defined] = support
            for name in support:
                counts[name] += 1
        return counts

    def split(self, free: frozenset[str], state: State, wanted: Collection[str] = ()) -> list[Part]:
        """The parts that share no name. A definition is dropped when nothing reads it and it is not ``wanted``."""
        needed: list[tuple[int, int, int]] = []
        reads = self.forms.mask(wanted)
        for index, form in reversed(state.items()):
            own = self.own[index]
            if not own or own & reads:
                mask = self.forms.masks[form]
                needed.append((index, form, mask | own))
                reads |= mask
        groups: list[_Group] = []
        for index, form, mask in needed:
            met = [group for group in groups if group.mask & mask]
            if not met:
                groups.append(_Group(mask, [(index, form)]))
                continue
            first = met[0]
            first.mask |= mask
            first.members.append((index, form))
            for group in met[1:]:
                first.mask |= group.mask
                first.members += group.members
                groups.remove(group)
        parts: dict[int, tuple[set[str], list[tuple[int, int]]]] = {}
        for name in free:
            bit = self.forms.bits.get(name, 0)
            place = next((place for place, group in enumerate(groups) if group.mask & bit), -1 - len(parts))
            parts.setdefault(place, (set(), groups[place].members if place >= 0 else []))[0].add(name)
        return [(frozenset(inside), tuple(sorted(members))) for inside, members in parts.values()]


class _Group:
    """Equations that hang together, and the names they are about."""

    __slots__ = ("mask", "members")

    def __init__(self, mask: int, members: list[tuple[int, int]]) -> None:
        self.mask = mask
        self.members = members


def _truth(node: Node) -> bool:
    return isinstance(node, Const) and bool(node.value)
