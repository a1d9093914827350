"""What is known of models, as frozen values: derivations, architecture sets, config classes, drafts, checkpoints."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from .compose import Compiled


class Refused(NamedTuple):
    """A header of which SGLang cannot make a config; ``when`` None: every one."""

    when: Compiled | None
    why: str


class GgufHeader(NamedTuple):
    """How the config of one architecture comes from a header; ``unread``: SGLang knows how, we do not."""

    name: str
    config: Mapping[str, Compiled]
    needs: tuple[str, ...] = ()
    refuses: tuple[Refused, ...] = ()
    unread: bool = False


class Derivation(NamedTuple):
    """One fact: ``run`` gives its value from an environment of ``config.*``, ``text.*``, ``has.*`` and other facts."""

    name: str
    run: Compiled
    about: str
    file: str
    line: int


class ConfigClass(NamedTuple):
    """What the Python class of a ``model_type`` adds to the keys of config.json.

    ``values`` stand in for keys the file lacks. ``aliases``: one key, two spellings. ``follow`` computes a key that is
    absent or null, ``lift`` takes it from inside another, ``force`` replaces whatever stands there.
    ``parts`` are sub-configs with the class each has, ``own`` those whose own ``model_type`` decides instead,
    ``empty`` those that are null unless given. ``flat``: text keys may stand at the top. ``fold``: sub-configs that the
    class dissolves, whose keys are the class's own where it lacks them: all, or those that are renamed. ``kind`` is
    the class it counts as. ``inherits``: what the text part has, the top has too. ``checked``: the class compares what
    the file gives with the types it declares; ``nullable`` keys may be null all the same, ``untyped`` ones may be
    anything, ``required`` ones are never null. ``validated``: layers and positions are compared, whether or not types
    are.
    ``lenient`` ones compare nothing that is put over the file's values, because SGLang keeps a class of its own.
    """

    name: str
    kind: str = ""
    values: Mapping[str, Any] = {}
    aliases: Mapping[str, str] = {}
    follow: Mapping[str, Compiled] = {}
    force: Mapping[str, Compiled] = {}
    lift: Mapping[str, tuple[str, ...]] = {}
    parts: Mapping[str, str] = {}
    own: frozenset[str] = frozenset()
    empty: frozenset[str] = frozenset()
    flat: bool = False
    fold: Mapping[str, Mapping[str, str]] = {}
    inherits: bool = True
    checked: bool = False
    nullable: frozenset[str] = frozenset()
    untyped: frozenset[str] = frozenset()
    required: frozenset[str] = frozenset()
    validated: bool = False
    lenient: bool = False

    def takes(self, key: str, value: object, over: bool = False) -> bool:
        """Whether the class takes ``value`` for ``key``, of which it has a default or asks for a value.

        Values put ``over`` the file's may be null where only the class that reads the file asks for one.
        """
        if over and self.lenient:
            return True
        if value is None and key in self.required and not over:
            return False
        default = self.values.get(key)
        if not self.checked or key in self.untyped or not isinstance(default, (bool, int, float, str)):
            return True
        return key in self.nullable if value is None else type(value) is type(default)


class DraftRole(NamedTuple):
    """What SGLang makes of a checkpoint loaded as a draft: another architecture and a few other values."""

    architectures: tuple[str, ...]
    becomes: str
    unwrap: bool
    when: Compiled | None
    config: Mapping[str, Compiled]
    text: Mapping[str, Compiled]


class ModelKnowledge(NamedTuple):
    """All that is known of models in one release.

    ``choices``: under a condition on the file, the class to read it with, whatever its ``model_type``.
    ``numbers``: facts that are numbers in every model that can be served, ``positive`` those that are above zero.
    ``objects``: keys of objects, those in ``blank`` also of nothing in a file. In overrides, the class of the text part
    compares ``text_objects``, and ``read_objects`` are read whatever the class declares.
    ``misfits``: facts that hold keys which some rule refuses.
    ``headers``: those of GGUF files, by architecture.
    """

    release: str
    derivations: Mapping[str, Derivation]
    sets: Mapping[str, tuple[str, ...]]
    classes: Mapping[str, ConfigClass]
    drafts: tuple[DraftRole, ...]
    text_paths: tuple[tuple[str, ...], ...]
    text_at_top: Compiled
    choices: tuple[tuple[Compiled, str], ...]
    numbers: tuple[str, ...]
    headers: Mapping[str, GgufHeader] = {}
    positive: tuple[str, ...] = ()
    objects: tuple[str, ...] = ()
    blank: tuple[str, ...] = ()
    text_objects: tuple[str, ...] = ()
    read_objects: tuple[str, ...] = ()
    misfits: tuple[str, ...] = ()


class Checkpoint(NamedTuple):
    """A well-known checkpoint. ``config`` is the text of its JSON file, read only when asked for."""

    id: str
    file: str
    aliases: tuple[str, ...]
    parameters: float | None
    draft_of: str | None
    quantized: tuple[str, ...]
    about: str


class Catalogue(NamedTuple):
    """The well-known checkpoints, by lower-case id and alias; ``configs`` the JSON text of each file."""

    checkpoints: tuple[Checkpoint, ...]
    names: Mapping[str, Checkpoint]
    configs: Mapping[str, str]
