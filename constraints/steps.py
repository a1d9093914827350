"""The step file of a release -> its functions and every call of them, in order."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from .errors import ExpressionError, Fault
from .expression import parse
from .read import Mapped
from .schema import STAGES, Stage, Step
from .tree import All, Node

MAX_CALL_DEPTH = 30


@dataclass(frozen=True, slots=True)
class Invocation:
    """One run of a step: where in the program, under which guard, with which names bound, in which deferred scope."""

    step: Step
    path: tuple[tuple[int, int], ...]
    guards: tuple[Node, ...]
    bind: Mapping[str, Node]
    scope: tuple[tuple[int, int], ...] | None

    @property
    def label(self) -> str:
        """The step's id; where names are bound, with the last part of each meaning's text."""
        return self.step.id


@dataclass(frozen=True, slots=True)
class _Call:
    parent: str
    at: int
    order: int
    when: Node | None
    bind: Mapping[str, Node]


class StepTree:
    """Every step of one release by id, and the invocations of each."""

    def __init__(self, document: Mapped, file: str, named: Mapping[str, Node], faults: list[Fault]) -> None:
        self.file = file
        self.steps: dict[str, Step] = {}
        self.parameters: set[str] = set()
        self._calls: dict[str, list[_Call]] = {}
        self._named = named
        self._faults = faults
        for order, entry in enumerate(document.get("steps") or []):
            self._read(entry, order)
        self._check_parents()
        self.steps = {name: self._inherit(name, set()) for name in self.steps}
        self._memo: dict[str, tuple[Invocation, ...]] = {}

    def invocations(self, step: str) -> tuple[Invocation, ...]:
        """Every run of ``step``, in program order."""
        if step not in self._memo:
            self._memo[step] = tuple(sorted(self._expand(step, 0), key=lambda run: run.path))
        return self._memo[step]

    def _fault(self, line: int, message: str) -> None:
        self._faults.append(Fault(self.file, line, message))

    def _node(self, text: object, line: int) -> Node | None:
        if text is None:
            return None
        try:
            return parse(str(text), self._named)
        except ExpressionError as fault:
            self._fault(line, str(fault))
            return None

    def _read(self, entry: Mapped, order: int) -> None:
        line = entry.line
        missing = [key for key in ("id", "function", "file", "lines") if key not in entry]
        if missing:
            self._fault(line, f"a step needs {', '.join(missing)}")
            return
        unknown = set(entry) - {"id", "function", "file", "lines", "calls", "stage", "deferred", "when", "title"}
        if unknown:
            self._fault(line, f"unknown key {', '.join(sorted(unknown))}")
        name = str(entry["id"])
        if name in self.steps:
            self._fault(line, f"the step {name} stands twice")
        stage = entry.get("stage", "")
        if stage and stage not in STAGES:
            self._fault(line, f"unknown stage {stage!r}")
        start, end = entry["lines"]
        self.steps[name] = Step(
            id=name,
            title=str(entry.get("title", name.replace("-", " "))),
            stage=stage,
            function=str(entry["function"]),
            file=str(entry["file"]),
            start=int(start),
            end=int(end),
            deferred=bool(entry.get("deferred", False)),
            when=self._node(entry.get("when"), line),
        )
        calls = []
        for call in entry.get("calls") or []:
            bind = {key: self._node(text, call.line) for key, text in (call.get("bind") or {}).items()}
            self.parameters.update(bind)
            kept = {key: node for key, node in bind.items() if node is not None}
            when = self._node(call.get("when"), call.line)
            ats = call.get("at", 0)
            for at in ats if isinstance(ats, list) else [ats]:
                calls.append(_Call(str(call.get("in", "")), int(at), order, when, kept))
        self._calls[name] = calls or [_Call("", 0, order, None, {})]

    def _check_parents(self) -> None:
        for name, calls in self._calls.items():
            for call in calls:
                parent = self.steps.get(call.parent)
                if call.parent and parent is None:
                    self._fault(1, f"step {name} is called in {call.parent}, which does not stand here")
                elif parent is not None and not parent.start <= call.at <= parent.end:
                    self._fault(1, f"step {name} is called at {call.at}, outside {call.parent}'s lines")

    def _inherit(self, name: str, seen: set[str]) -> Step:
        step = self.steps[name]
        if step.stage or name in seen:
            return step
        parent = self._calls[name][0].parent
        stage: Stage = self._inherit(parent, seen | {name}).stage if parent in self.steps else "args"
        return Step(
            step.id,
            step.title,
            stage or "args",
            step.function,
            step.file,
            step.start,
            step.end,
            step.deferred,
            step.when,
        )

    def _expand(self, name: str, depth: int) -> list[Invocation]:
        step = self.steps[name]
        if depth > MAX_CALL_DEPTH:
            self._fault(1, f"the calls of {name} run in a circle")
            return []
        runs = []
        for call in self._calls[name]:
            own = tuple(guard for guard in (call.when, step.when) if guard is not None)
            here = (call.at, call.order)
            if call.parent not in self.steps:
                runs.append(Invocation(step, (here,), own, call.bind, (here,) if step.deferred else None))
                continue
            for parent in self._expand(call.parent, depth + 1):
                path = (*parent.path, here)
                scope = parent.scope if parent.scope is not None else path if step.deferred else None
                runs.append(Invocation(step, path, (*parent.guards, *own), {**parent.bind, **call.bind}, scope))
        return runs


def conjunction(parts: tuple[Node, ...]) -> Node | None:
    """All of ``parts`` as one condition; None when there are none."""
    if not parts:
        return None
    return parts[0] if len(parts) == 1 else All(parts)
