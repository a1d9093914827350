"""The kinds of knowledge, as frozen values: what a YAML file of each kind becomes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import Literal, NamedTuple

from .release import Span
from .tree import Node
from .values import Value

Kind = Literal["fill", "set", "rename", "error", "warning", "defect"]
Stage = Literal["parse", "args", "backend-init", "model-load", "serving"]

KINDS: tuple[Kind, ...] = ("fill", "set", "rename", "error", "warning", "defect")
STAGES: tuple[Stage, ...] = ("parse", "args", "backend-init", "model-load", "serving")
WRITERS: frozenset[Kind] = frozenset(("fill", "set", "rename"))
HARD: frozenset[Kind] = frozenset(("error", "defect"))


class Source(NamedTuple):
    """Where a release says so: ``file`` relative to the sglang package, ``anchor`` a few words of that line."""

    release: str
    file: str
    line: int
    anchor: str


class Example(NamedTuple):
    """A command with SGLang's own verdict on it, recorded per release; ``env`` holds variables that are set."""

    model: str
    gpu: str
    args: str
    env: tuple[tuple[str, str], ...] = ()
    verdicts: Mapping[str, str] = {}


class Case(NamedTuple):
    """One arm of a writing rule: under ``when`` (None: always) each target takes its value."""

    when: Node | None
    writes: tuple[tuple[str, Node], ...]


class Rule(NamedTuple):
    """A rule as it stands in one release.

    ``when`` None means always. ``require`` belongs to error, warning and defect; ``cases`` to fill, set, rename.
    ``accident``: SGLang does not refuse on purpose, it crashes. ``after_measures``: may read measures.
    ``note``: why it has no example, or why its example is refused elsewhere.
    """

    id: str
    subject: str
    kind: Kind
    stage: Stage
    step: str
    title: str
    reason: str
    fix: str
    when: Node | None
    require: Node | None
    cases: tuple[Case, ...]
    span: Span
    sources: tuple[Source, ...]
    file: str
    line: int
    at: int
    accident: bool = False
    after_measures: bool = False
    violates: tuple[Example, ...] = ()
    satisfies: tuple[Example, ...] = ()
    note: str = ""

    def source(self, release: str) -> Source | None:
        """The source of ``release``, else the first one known."""
        for source in self.sources:
            if source.release == release:
                return source
        return self.sources[0] if self.sources else None


class Step(NamedTuple):
    """One function of a release's resolution: lines ``start`` to ``end`` of ``file``.

    ``deferred``: the function reads the values as they stood when it was called; what it writes is seen after it
    returned. ``when`` guards all of its rules.
    """

    id: str
    title: str
    stage: Stage
    function: str
    file: str
    start: int
    end: int
    deferred: bool
    when: Node | None


# The facts of a question are named in these families; every other name is a flag or made of flags.
FACTS = frozenset(("gpu", "runtime", "package", "env", "env_set", "num_gpus", "nodes", "model", "draft"))


class Operation(NamedTuple):
    """One rule at one place of the resolution, with the guards and bindings of its call put in.

    ``path`` orders the program: the call lines down the tree, then the rule's own line. ``call`` names the step and,
    where it runs with bindings, what it is bound to. ``scope`` numbers the outermost deferred call it stands in
    (0: none): writes of a scope are seen after its last action.
    """

    rule: Rule
    step: str
    call: str
    path: tuple[tuple[int, int], ...]
    scope: int
    when: Node | None
    require: Node | None
    cases: tuple[Case, ...]


class Action(NamedTuple):
    """One thing the command line may say about a flag: argparse's action, with the options that call it.

    ``action`` is argparse's word, or ``boolean_optional`` (``--no-x`` stores false), ``lora_paths``, ``ignore``
    (accepted, does nothing), ``refuse`` (retired: stops the launch), ``translate`` (takes one of ``choices``, stores
    ``const``), ``config_file`` (replaced by the file's words), ``help``. ``type`` is that of one word, ``converter``
    says how SGLang reads it when not as Python would; ``new_flag`` what a deprecated one says to use. ``keys`` are
    those a JSON object may hold, by section, ``refused`` the values of a key that parsing refuses.
    """

    options: tuple[str, ...]
    action: str = "store"
    type: str = "str"
    converter: str = ""
    nargs: str | int | None = None
    const: Value = None
    choices: tuple[Value, ...] | None = None
    required: bool = False
    deprecated: bool = False
    new_flag: str = ""
    keys: Mapping[str, tuple[str, ...]] = {}
    refused: Mapping[str, tuple[Value, ...]] = {}


class Renamed(NamedTuple):
    """What a person should write instead of a flag that is gone: another flag, some values under new names."""

    flag: str
    values: Mapping[Value, Value] = {}


class Flag(NamedTuple):
    """A field of SGLang's ServerArgs in one release.

    ``options`` every spelling on the command line, the first preferred (none: no command line);
    ``type`` one of str int float bool json list; ``action`` argparse's word; ``choices`` None when open.
    These describe the first of ``actions``; the further ones are deprecated spellings that store here too.
    ``in_record`` False: the parser knows it, ServerArgs has no such field (``--config``).
    """

    name: str
    group: str
    options: tuple[str, ...]
    type: str
    action: str
    nargs: str | int | None
    default: Value
    choices: tuple[Value, ...] | None
    const: Value
    span: Span
    deprecated: str = ""
    converter: str = ""
    negative: tuple[str, ...] = ()
    about: str = ""
    actions: tuple[Action, ...] = ()
    in_record: bool = True
    renamed_to: Renamed | None = None
    note: str = ""


class Flags(dict[str, Flag]):
    """The flags of a release by field, and what a parser looks up in them."""

    @cached_property
    def options(self) -> Mapping[str, tuple[Flag, Action]]:
        """What each spelling on the command line means."""
        return {option: (flag, action) for flag, action in self._actions() for option in action.options}

    @cached_property
    def required(self) -> tuple[tuple[Flag, Action], ...]:
        """What a command line must name."""
        return tuple((flag, action) for flag, action in self._actions() if action.required)

    @cached_property
    def config(self) -> tuple[Flag, Action] | None:
        """What names a file of settings."""
        return next(((flag, action) for flag, action in self._actions() if action.action == "config_file"), None)

    @cached_property
    def levels(self) -> tuple[Flag, ...]:
        """The flags that take a logging level."""
        return tuple(flag for flag in self.values() if flag.converter == "log_level")

    def _actions(self) -> Iterator[tuple[Flag, Action]]:
        return ((flag, action) for flag in self.values() for action in flag.actions)


class Elsewhere(NamedTuple):
    """An option or a choice of other releases: whose, in which releases, what to write instead (``new_flag``)."""

    option: str
    flag: str
    span: Span
    new_flag: str = ""
    values: Mapping[Value, Value] = {}
    note: str = ""


class EnvVar(NamedTuple):
    """An environment variable in one release.

    ``type`` one of bool int float str json tuple; ``alias`` an older name read when this one is not set; ``reader``
    empty for SGLang's registry, ``strict_bool`` (true and 1 alone are true), ``is_one`` (1 alone is true).
    """

    name: str
    type: str
    default: Value
    span: Span
    reader: str = ""
    alias: str = ""
    about: str = ""


class Release(NamedTuple):
    """A release that was read, and the software facts of its official images by GPU vendor."""

    name: str
    date: str
    about: str
    images: Mapping[str, Mapping[str, Value]]
