"""A problem's equations under partial assignments: fold what is known, let settled definitions settle others.

Each equation (definitions first, then constraints) is kept in numbered folded forms, so that a fold is done once for
all the assignments that meet it, and a state of the search is a list of numbers.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

from constraints.expression import Const, Node, Value, fold, names

from .problem import Problem

Part = tuple[frozenset[str], tuple[int, ...]]


class Equations:
    """The equations of one problem and every form they were folded to so far."""

    def __init__(self, problem: Problem) -> None:
        self.domains = {variable.name: variable.domain for variable in problem.variables}
        self.defines: list[str | None] = [definition.name for definition in problem.definitions]
        self.defines += [None] * len(problem.constraints)
        self.forms: list[Node] = []
        self.scopes: list[frozenset[str]] = []
        self.equation: list[int] = []
        self._number: dict[tuple[int, Node], int] = {}
        self._folded: dict[tuple[int, str, str], int | Const] = {}
        self._keys: dict[int, str] = {}
        self.start = [
            self._form(index, equation.node)
            for index, equation in enumerate((*problem.definitions, *problem.constraints))
        ]

    def _form(self, equation: int, node: Node) -> int:
        key = (equation, node)
        if key not in self._number:
            self._number[key] = len(self.forms)
            self.forms.append(node)
            self.scopes.append(names(node))
            self.equation.append(equation)
        return self._number[key]

    def _fold(self, form: int, name: str, value: Value) -> int | Const:
        key = (form, name, repr(value))
        found = self._folded.get(key)
        if found is None:
            node = fold(self.forms[form], {name: value})
            found = node if isinstance(node, Const) else self._form(self.equation[form], node)
            self._folded[key] = found
        return found

    def settle_all(self) -> tuple[list[tuple[str, Value]], list[int]] | None:
        """The start: equations that are constants already are settled, with all that follows."""
        known: list[tuple[str, Value]] = []
        live = []
        for form in self.start:
            node = self.forms[form]
            defined = self.defines[self.equation[form]]
            if not isinstance(node, Const):
                live.append(form)
            elif defined is not None:
                known.append((defined, node.value))
            elif not node.value:
                return None
        return self.settle(known, live)

    def settle(
        self, known: Iterable[tuple[str, Value]], forms: Sequence[int]
    ) -> tuple[list[tuple[str, Value]], list[int]] | None:
        """Put ``known`` in, and every definition that it settles: (all that is known now, equations left).

        None when a constraint fails.
        """
        queue = list(known)
        done: list[tuple[str, Value]] = []
        live = list(forms)
        while queue:
            name, value = queue.pop()
            done.append((name, value))
            left: list[int] = []
            for form in live:
                if name not in self.scopes[form]:
                    left.append(form)
                    continue
                found = self._fold(form, name, value)
                if isinstance(found, int):
                    left.append(found)
                    continue
                defined = self.defines[self.equation[form]]
                if defined is not None:
                    queue.append((defined, found.value))
                elif not found.value:
                    return None
            live = left
        return done, live

    def split(self, free: frozenset[str], forms: Sequence[int], wanted: Collection[str] = ()) -> list[Part]:
        """The parts that share no name. A definition is dropped when nothing reads it and it is not ``wanted``."""
        needed: list[int] = []
        reads = set(wanted)
        for form in reversed(forms):
            defined = self.defines[self.equation[form]]
            if defined is None or defined in reads:
                needed.append(form)
                reads |= self.scopes[form]
        group: dict[str, str] = {}

        def find(name: str) -> str:
            while group.setdefault(name, name) != name:
                group[name] = name = group[group[name]]
            return name

        for form in needed:
            scope = self.scopes[form]
            first = find(next(iter(scope)))
            for name in scope:
                group[find(name)] = first
            defined = self.defines[self.equation[form]]
            if defined is not None:
                group[find(defined)] = first
        members: dict[str, list[int]] = {}
        for form in needed:
            members.setdefault(find(next(iter(self.scopes[form]))), []).append(form)
        variables: dict[str, set[str]] = {}
        for name in free:
            variables.setdefault(find(name), set()).add(name)
        # In the order of equations: a definition stands before what reads it, and equal parts are equal tuples.
        return [
            (frozenset(inside), tuple(sorted(members.get(key, ()), key=self.equation.__getitem__)))
            for key, inside in variables.items()
        ]
