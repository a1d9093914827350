"""The config values of a checkpoint -> facts about the model (``model.is_mla``), as one SGLang release derives them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from constraints.models_schema import DraftRole, ModelKnowledge
from constraints.values import Value

from .config_sense import Places, expect_objects, expect_sizes
from .config_view import ConfigView, Log, PlainView, Reads, plain, walk
from .errors import InputError
from .model_input import ModelInput

_TARGET, _DRAFT = "model.", "draft."


class Origin(NamedTuple):
    """Where a fact came from: keys ``found`` in the file, keys looked for and ``absent``."""

    found: tuple[str, ...]
    absent: tuple[str, ...]


class ModelFacts(NamedTuple):
    """Facts by name, the keys each came from, and what had to be inferred."""

    values: Mapping[str, Value]
    origins: Mapping[str, Origin]
    inferred: tuple[str, ...]


def model_facts(
    model: ModelInput,
    known: ModelKnowledge,
    draft: bool = False,
    over: Mapping[str, Any] | None = None,
    over_where: str = "the overrides",
) -> ModelFacts:
    """Every fact of a model; ``draft`` reads it as a draft model and names the facts ``draft.*``.

    ``over`` holds values that win over the file's, an object those of a part; ``over_where`` is where they were given.

    Raises InputError for values no model can have, unless SGLang refuses them itself.
    """
    log = Log()
    top = ConfigView(model.config, known.classes.get(_class_of(model.config, known, log)), known, log, over=over)
    expect_objects(model, known)
    for key in known.read_objects:
        if key not in top.cls.parts and not isinstance(top.over.get(key), (Mapping, type(None))):
            said = f"{key} is {str(top.over[key])[:40]}, and has to be an object"
            raise InputError(said, over_where, "Correct it there, or leave the key out.")
    facts = _Facts(top, known, draft)
    if draft:
        role = _role(facts, known)
        if role is not None:
            facts = _Facts(_as_draft(facts, role, known), known, draft, _text_values(facts, role))
    for name in known.derivations:
        facts[name]  # computes and remembers
    places = Places(model.where, facts.top.raw, over or {}, over_where)
    expect_sizes(facts, lambda name: facts.origin(name).found, known, places)
    prefix = _DRAFT if draft else _TARGET
    shown = [name for name in known.derivations if name.startswith(_TARGET)]  # `part.*` are steps on the way
    renamed = {name: prefix + name.removeprefix(_TARGET) for name in shown}
    return ModelFacts(
        {renamed[name]: facts[name] for name in shown},
        _Origins(facts, {renamed[name]: name for name in shown}),
        (*_inferred(facts, known), *model.notes),
    )


class _Facts(Mapping[str, Value]):
    """The environment of derivations: ``config.*`` and ``text.*`` read the config, other facts are computed once."""

    def __init__(
        self,
        top: ConfigView,
        known: ModelKnowledge,
        draft: bool,
        text_over: Mapping[str, Any] | None = None,
    ) -> None:
        self.top = top
        self.text = top
        self._known = known
        self._log = top.log
        self._draft = draft
        self._values: dict[str, Value] = {}
        self._origins: dict[str, Reads] = {}
        if not known.text_at_top(self):
            self.text = _text_of(top, known)
        if text_over:
            self.text.over = {**self.text.over, **text_over}

    def __getitem__(self, name: str) -> Value:
        if name in self._values:
            self._log.reads.take(self._origins[name])
            return self._values[name]
        derivation = self._known.derivations.get(name)
        if derivation is None:
            return self._leaf(name)
        outer, inner = self._log.reads, Reads()
        self._log.reads = inner
        try:
            value = derivation.run(self)
        finally:
            self._log.reads = outer
        self._origins[name] = inner
        outer.take(inner)
        self._values[name] = value
        return value

    def _leaf(self, name: str) -> Value:
        root, _, rest = name.partition(".")
        names = rest.split(".")
        if root == "text":
            return plain(walk(self.text, names))
        if root == "config":
            return plain(walk(self._config(names[0]), names[1:]))
        if root == "own":
            return plain(walk(self.top.get(names[0]), names[1:]))
        if root == "stated":
            return plain(walk((self.text if names[0] == "text" else self.top).stated(names[1]), names[2:]))
        if root == "has":
            return self._has(names)
        if name == "is_draft":
            return self._draft
        if name == "kind.config":
            return self.top.cls.kind or None
        if name == "kind.text":
            return self.text.cls.kind or None
        if name == "kind.vision":
            vision = self._config("vision_config")
            return (vision.cls.kind or None) if isinstance(vision, ConfigView) else None
        if name == "kind.text_is_part":
            return self.text is not self.top
        if name == "kind.config_is_validated":
            return self.top.cls.validated
        if name == "kind.text_is_validated":
            return self.text.cls.validated
        if root == "misfits":
            return self._misfits(rest)
        raise KeyError(name)

    def _config(self, key: str) -> Any:
        # SGLang copies text values that the top lacks to the top, except for classes that it loads itself.
        if not self.top.has(key) and self.top.cls.inherits and self.text is not self.top:
            return self.text.get(key)
        return self.top.get(key)

    def _has(self, names: list[str]) -> bool:
        view: Any = self.top if names[0] == "config" else self.text
        for name in names[1:-1]:
            view = view.get(name)
            if not isinstance(view, ConfigView):
                return False
        inherited = view is self.top and self.top.cls.inherits and self.text.get(names[-1]) is not None
        return bool(view.has(names[-1]) or inherited)

    def _misfits(self, where: str) -> tuple[str, ...]:
        parts = (self.top, self.text, self._config("vision_config"))
        views = {id(part): part for part in parts if isinstance(part, ConfigView)}
        return tuple(key for view in views.values() for key in view.misfits(where == "over", self._objects(view)))

    def _objects(self, view: ConfigView) -> Iterator[str]:
        """The keys of which the class of this view declares that they hold objects."""
        yield from (key for key in self._known.objects if key in view.cls.parts)
        if view is self.text:
            yield from self._known.text_objects

    def origin(self, name: str) -> Origin:
        """The keys a fact came from."""
        return Origin(*self._origins.get(name, Reads()).keys())

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)


class _Origins(Mapping[str, Origin]):
    """Where facts came from, by the name they are shown under: looked up when it is asked for."""

    def __init__(self, facts: _Facts, names: Mapping[str, str]) -> None:
        self._facts = facts
        self._names = names

    def __getitem__(self, name: str) -> Origin:
        return self._facts.origin(self._names[name])

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)


def _text_of(top: ConfigView, known: ModelKnowledge) -> ConfigView:
    for path in known.text_paths:
        found = walk(top, list(path))
        if isinstance(found, ConfigView):
            return found
    return top


def _role(facts: _Facts, known: ModelKnowledge) -> DraftRole | None:
    architecture = facts[_TARGET + "architecture"]
    for role in known.drafts:
        if architecture in role.architectures and (role.when is None or role.when(facts)):
            return role
    return None


def _text_values(facts: _Facts, role: DraftRole) -> dict[str, Any]:
    return {name: run(facts) for name, run in role.text.items()}


def _as_draft(facts: _Facts, role: DraftRole, known: ModelKnowledge) -> ConfigView:
    view = facts.text if role.unwrap else facts.top
    architectures = view.get("architectures") or ()
    over: dict[str, Any] = {"architectures": (role.becomes, *architectures[1:])}
    over |= {name: run(facts) for name, run in role.config.items()}
    return ConfigView(view.raw, view.cls, known, view.log, view.path, {**view.over, **over})


def _class_of(config: Mapping[str, Any], known: ModelKnowledge, log: Log) -> str:
    bare = PlainView(ConfigView(config, None, known, log))
    for when, name in known.choices:
        if when(bare):
            return name
    return str(config.get("model_type"))


def _inferred(facts: _Facts, known: ModelKnowledge) -> Iterator[str]:
    architecture, kind = facts[_TARGET + "architecture"], facts[_TARGET + "model_type"]
    if architecture is not None and architecture not in known.sets.get("supported", ()):
        yield f"{architecture} is not among the architectures of SGLang {known.release}: facts come from values alone"
    if facts.top.cls.name == "":
        lacking = "the config has no model_type" if kind is None else f"model_type {kind} has no known config class"
        yield f"{lacking}: keys are read as they stand, nothing is added"
