"""One launch command on one machine -> what SGLang does with it: refusals, rewrites, effective values."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from types import CodeType, MappingProxyType
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from constraints.evaluate import evaluate
from constraints.knowledge import Knowledge
from constraints.models_schema import Catalogue, ModelKnowledge
from constraints.values import Value

from .errors import InputError
from .facts import Platform, gather, untouched
from .initial import initial_values, json_object
from .intake.command import parse_arguments
from .intake.hub import Hub
from .intake.parsed import Parsed
from .intake.refusal import Refusal
from .intake.tokens import Word
from .machine import MAX_NODES
from .model_config import ModelFacts, model_facts
from .model_input import NOWHERE, ModelInput, State, read_model, state_of
from .operations import targets
from .resolution import Resolution
from .resolve import Program
from .spell import option_of

if TYPE_CHECKING:
    from .hinges import Hinges
    from .prepared import Prepared

# The stages at which SGLang itself says yes or no; what is found later decides exit codes, not the verdict.
VERDICT_STAGES = ("parse", "args", "backend-init")

# Each takes some megabytes once many questions were asked of it.
MOST_PREPARED = 8
# Facts and models take a tenth of one each. A matrix comes back to as many; a stream of commands does not end.
MOST_KEPT = 256

Key = TypeVar("Key")
Made = TypeVar("Made")

# SGLang reads some things off the name a checkpoint was given by.
MODEL_PATH = "model.path"


class Checked(NamedTuple):
    """What became of a command; ``refusal`` when it could not be parsed, else ``resolution``."""

    parsed: Parsed | Refusal
    facts: Mapping[str, Value]
    resolution: Resolution | None
    model: str | None = None

    @property
    def refusal(self) -> Refusal | None:
        """Why it could not be parsed."""
        return self.parsed if isinstance(self.parsed, Refusal) else None

    @property
    def refused(self) -> bool:
        """Whether SGLang refuses to start."""
        if self.resolution is None:
            return True
        return any(operation.rule.stage in VERDICT_STAGES for operation in self.resolution.refusals)


class _Latest(dict[Key, Made]):
    """What was made for the last keys that were asked for."""

    def recall(self, key: Key, make: Callable[[], Made]) -> Made:
        made = self.pop(key) if key in self else make()
        self[key] = made
        while len(self) > MOST_KEPT:
            del self[next(iter(self))]
        return made


class Engine:
    """The knowledge of one release, with programs folded for the models and machines asked about so far."""

    def __init__(
        self,
        knowledge: Knowledge,
        models: ModelKnowledge,
        catalogue: Catalogue,
        hub: Hub = NOWHERE,
        code: CodeType | None = None,
    ) -> None:
        """``code`` is that of the release's program, where it is at hand."""
        self.knowledge = knowledge
        self.models = models
        self.catalogue = catalogue
        self.hub = hub
        self.defaults: dict[str, Value] = {name: flag.default for name, flag in knowledge.flags.items()}
        derived = {target for operation in knowledge.program for target in targets(operation)}
        parts = {target for target in derived if not target.startswith(("local.", "env.", "env_set."))}
        self._shown = sorted(set(knowledge.flags) | parts)
        self._untouched = untouched(knowledge)
        self._inputs = _Latest[tuple[str, str | None, State], ModelInput]()
        self._models = _Latest[tuple[str, bool, str, str | None, State], ModelFacts]()
        self._facts = _Latest[tuple[object, ...], Mapping[str, Value]]()
        self._starts = _Latest[int, tuple[Mapping[str, Value], Mapping[str, Value]]]()
        self._prepared: dict[int, Prepared] = {}
        self._program = Program(knowledge.program, code)

    def model(self, reference: str, revision: str | None = None) -> ModelInput:
        """The checkpoint behind an id, a folder or a file; ``revision`` None: the one asked for.

        Raises InputError.
        """
        hub = self.hub if revision is None else self.hub._replace(revision=revision)
        return self._inputs.recall(
            (reference, hub.revision, state_of(reference, self.catalogue, hub)),
            lambda: read_model(reference, self.catalogue, self.models.headers, hub),
        )

    def draft(self, reference: str, revision: str | None = None) -> ModelInput:
        """The same for a draft model, whose revision is its own.

        Raises InputError.
        """
        hub = self.hub._replace(revision=revision)
        return read_model(reference, self.catalogue, self.models.headers, hub)

    def model_facts(
        self, reference: str, *, draft: bool = False, overrides: str = "{}", revision: str | None = None
    ) -> ModelFacts:
        """The facts of a checkpoint, as target or as draft; ``overrides`` is JSON that wins over its config.

        Raises InputError.
        """

        def read() -> ModelFacts:
            found = self.draft(reference, revision) if draft else self.model(reference, revision)
            return model_facts(found, self.models, draft, json_object(overrides), self._overrides_from())

        return self._models.recall(
            (reference, draft, overrides, revision, self._state(reference, draft, revision)), read
        )

    def _state(self, reference: str, draft: bool, revision: str | None) -> State:
        """The files of a target at ``revision`` (None: the one asked for), or of a draft, whose revision is its own."""
        hub = self.hub if revision is None and not draft else self.hub._replace(revision=revision)
        return state_of(reference, self.catalogue, hub)

    def _overrides_from(self) -> str:
        flag = self.knowledge.flags.get(self.knowledge.roles.get("config_overrides", ""))
        return (option_of(flag) if flag is not None else None) or "the overrides"

    def facts(
        self, model: str, platform: Platform, typed: Mapping[str, Value] = MappingProxyType({})
    ) -> Mapping[str, Value]:
        """The facts of a question; what is ``typed`` may name a draft model and override config values.

        Raises InputError; a draft model that cannot be looked into leaves its facts unset, and a typed revision that
        is not here is that of the catalogue (`notes_of` says both).
        """
        roles = self.knowledge.roles
        draft, overrides = typed.get(roles.get("draft", "")), typed.get(roles.get("config_overrides", ""))
        revision, of_draft = typed.get(roles.get("revision", "")), typed.get(roles.get("draft_revision", ""))

        def gathered() -> Mapping[str, Value]:
            over = str(overrides or "{}")
            found = [self._target(model, over, None if revision is None else str(revision))]
            if draft is not None:
                with contextlib.suppress(InputError):
                    at = None if of_draft is None else str(of_draft)
                    found.append(self.model_facts(str(draft), draft=True, overrides=over, revision=at))
            facts = gather(self.knowledge, self._untouched, platform, found)
            facts[MODEL_PATH] = model
            return facts

        states = (
            self._state(model, False, None if revision is None else str(revision)),
            () if draft is None else self._state(str(draft), True, None if of_draft is None else str(of_draft)),
        )
        return self._facts.recall((model, draft, overrides, revision, of_draft, platform.key, states), gathered)

    def _target(self, model: str, overrides: str, revision: str | None) -> ModelFacts:
        if revision is not None:
            with contextlib.suppress(InputError):
                return self.model_facts(model, overrides=overrides, revision=revision)
        return self.model_facts(model, overrides=overrides)

    def run(self, facts: Mapping[str, Value], typed: Mapping[str, Value]) -> Resolution:
        """What SGLang makes of typed values."""
        return self._program.run(self._start(facts), initial_values({}, typed))

    def _start(self, facts: Mapping[str, Value]) -> Mapping[str, Value]:
        """What stands where nothing is typed. The facts stay with it, so that their id is no other's."""
        return self._starts.recall(id(facts), lambda: (facts, self._program.start(facts, self.defaults)))[1]

    def first(self, facts: Mapping[str, Value], typed: Mapping[str, Value]) -> Mapping[str, Value]:
        """What a run starts from."""
        return {**self._start(facts), **initial_values({}, typed)}

    @cached_property
    def hinges(self) -> Hinges:
        """What runs hang on."""
        from .hinges import Hinges  # for questions that look around

        return Hinges(self.knowledge.program)

    def prepared(self, facts: Mapping[str, Value]) -> Prepared:
        """What constraint problems on these facts are made of, kept for the last few."""
        known = self._prepared.pop(id(facts), None)
        if known is None or known.facts is not facts:
            from .prepared import Prepared  # for questions that search

            known = Prepared(self.knowledge.program, self.defaults, self.knowledge.variables, facts)
        self._prepared[id(facts)] = known
        while len(self._prepared) > MOST_PREPARED:
            del self._prepared[next(iter(self._prepared))]
        return known

    def effective(self, values: Mapping[str, Value]) -> dict[str, Value]:
        """The value of every flag, and of the parts that flags are made of (``cuda_graph.decode.backend``)."""
        return dict(zip(self._shown, map(values.get, self._shown), strict=True))

    def check(
        self, model: str | None, platform: Platform, arguments: Sequence[str], folder: Path | None = None
    ) -> Checked:
        """What SGLang does with ``arguments``; ``model`` when they do not name one themselves.

        Raises InputError when no model is named or it cannot be read.
        """
        words = [Word(text, 1, index + 1) for index, text in enumerate(arguments)]
        parsed = parse_arguments(
            words,
            self.knowledge.flags,
            needs_model=model is None,
            elsewhere=self.knowledge.elsewhere,
            folder=folder,
        )
        if isinstance(parsed, Refusal):
            return Checked(parsed, {}, None)
        reference = parsed.model or model
        if reference is None:
            raise InputError("no model is named", "model", "Give --model-path or a model.")
        return self.resolve(reference, platform, parsed)

    def wanted(self, checked: Checked, platform: Platform) -> Platform:
        """The machine a command is for: nodes, and GPUs of each, as said; else as many as the command takes."""
        resolution = checked.resolution
        if resolution is None:
            return platform
        nodes = resolution.values.get(self.knowledge.roles["nodes"])
        if platform.nodes == 1 and isinstance(nodes, int) and 1 < nodes <= MAX_NODES:
            platform = replace(platform, nodes=nodes)
        used = evaluate(self.knowledge.names[self.knowledge.roles["gpus_used"]], resolution.values)
        if platform.counted or not isinstance(used, int):
            return platform
        return replace(platform, num_gpus=max(platform.num_gpus, -(-used // platform.nodes)))

    def resolve(self, model: str, platform: Platform, parsed: Parsed) -> Checked:
        """What SGLang makes of what was typed; InputError as `facts`, at its place in a file."""
        try:
            facts = self.facts(model, platform, parsed.typed)
        except InputError as fault:
            at = parsed.spans.get(self.knowledge.roles.get("config_overrides", ""))
            if at is None or not at.origin or fault.where != self._overrides_from():
                raise
            where = f"{at.origin}:{at.line}:{at.column}"
            raise InputError(fault.message, where, fault.hint, fault.near) from None
        return Checked(parsed, facts, self.run(facts, parsed.typed), model)
