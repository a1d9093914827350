"""The data of ``sglang/flags/*.yaml`` -> the flags of one release, and the options of other releases."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from .errors import Fault
from .read import Mapped
from .release import Span, release_key
from .schema import Action, Elsewhere, Flag, Flags, Renamed
from .values import frozen

TYPES = ("str", "int", "float", "bool", "json", "list")
ACTIONS = (
    *("store", "store_true", "store_false", "store_const", "append"),
    *("boolean_optional", "lora_paths", "ignore", "refuse", "translate", "config_file", "help"),
)
CONVERTERS = (
    *("", "json", "json_list", "human_readable_int", "nullable"),
    *("cuda_graph_backend", "cuda_graph_config", "by_field", "by_spelling", "log_level"),
)
_ACTION_KEYS = frozenset(
    (
        *("options", "action", "type", "converter", "nargs", "const", "choices"),
        *("required", "deprecated", "new_flag", "keys", "refused"),
    )
)
_FLAG_KEYS = _ACTION_KEYS | {"default", "field", "actions", "since", "until", "about", "note", "renamed_to"}


def load_flags(documents: Mapping[str, Mapped], release: str, faults: list[Fault]) -> Flags:
    """The flags of ``release`` by field name, from the documents of the folder by file name.

    Every fault of every revision is added to ``faults``, those of other releases' revisions too.
    """
    found = Flags()
    for file, name, flag in _revisions(documents, faults):
        if release not in flag.span:
            continue
        if name in found:
            faults.append(Fault(file, documents[file]["flags"].line_of(name), f"{name} stands twice in {release}"))
        found[name] = flag
    owners: dict[str, str] = {}
    for name, flag in found.items():
        for action in flag.actions:
            for option in action.options:
                if owners.setdefault(option, name) != name:
                    faults.append(Fault("flags", 1, f"{option} belongs to {owners[option]} and to {name} in {release}"))
    return found


def known_elsewhere(documents: Mapping[str, Mapped], release: str, faults: list[Fault]) -> dict[str, Elsewhere]:
    """The options that other releases know and ``release`` does not, by option string, the newest release's word.

    Choices that ``release`` does not have stand beside them, as ``flag=value``. ``new_flag`` is said only where
    ``release`` knows it, and takes the value it comes with.
    """
    everywhere = [(name, flag) for _, name, flag in _revisions(documents, faults)]
    present = {
        option: action
        for _, flag in everywhere
        if release in flag.span
        for action in flag.actions
        for option in action.options
    }
    found: dict[str, Elsewhere] = {}
    for name, flag in everywhere:
        for action in flag.actions:
            renamed = flag.renamed_to
            new_flag = renamed.flag if renamed else action.new_flag
            option, _, value = new_flag.partition("=")
            heir = present.get(option)
            known = heir is not None and (not value or heir.choices is None or value in heir.choices)
            for option in action.options:
                if option not in present and option not in found:
                    found[option] = Elsewhere(
                        option=option,
                        flag=name,
                        span=flag.span,
                        new_flag=new_flag if known else "",
                        values=renamed.values if renamed else {},
                        note=flag.note,
                    )
    return found | _values_elsewhere([flag for _, flag in everywhere], release)


def _values_elsewhere(flags: list[Flag], release: str) -> dict[str, Elsewhere]:
    here = {flag.name: flag.choices for flag in flags if release in flag.span and flag.choices is not None}
    found: dict[str, Elsewhere] = {}
    for flag in flags:
        for value in flag.choices or ():
            key = f"{flag.name}={value}"
            if flag.name in here and value not in here[flag.name] and key not in found:
                found[key] = Elsewhere(option=str(value), flag=flag.name, span=flag.span)
    return found


def _revisions(documents: Mapping[str, Mapped], faults: list[Fault]) -> Iterator[tuple[str, str, Flag]]:
    """Each revision of each flag as (file, name, flag)."""
    for file, document in documents.items():
        flags, group = document.get("flags"), document.get("group")
        if not isinstance(flags, Mapped) or not isinstance(group, str):
            faults.append(Fault(file, document.line, "needs `group` (a word) and `flags` (a mapping)"))
            continue
        for name, data in flags.items():
            if not isinstance(data, Mapped):
                faults.append(Fault(file, flags.line_of(name), f"{name} must be a mapping"))
                continue
            spans: list[Span] = []
            for revision in _spread(file, name, data, faults):
                flag = _flag(file, name, group, revision, data, faults)
                if any(flag.span.overlaps(other) for other in spans):
                    faults.append(Fault(file, data.line, f"{name}: two revisions hold for the same release"))
                spans.append(flag.span)
                yield file, name, flag


def _spread(file: str, name: str, data: Mapped, faults: list[Fault]) -> Iterator[dict[str, Any]]:
    """Each revision with the keys that stand beside ``revisions``."""
    beside = {key: value for key, value in data.items() if key != "revisions"}
    revisions = data.get("revisions", [{}])
    if not isinstance(revisions, list) or not all(isinstance(one, dict) for one in revisions) or not revisions:
        faults.append(Fault(file, data.line_of("revisions"), f"{name}: revisions must be a list of mappings"))
        return
    for revision in revisions:
        yield beside | revision


def _flag(file: str, name: str, group: str, revision: dict[str, Any], data: Mapped, faults: list[Fault]) -> Flag:
    def fault(message: str) -> None:
        faults.append(Fault(file, data.line, f"{name}: {message}"))

    for key in sorted(set(revision) - _FLAG_KEYS):
        fault(f"the key {key!r} is unknown")
    first = _action(revision, fault)
    further = revision.get("actions") or []
    if not isinstance(further, list) or not all(isinstance(one, Mapped) for one in further):
        fault("actions must be a list of mappings")
        further = []
    for one in further:
        for key in sorted(set(one) - _ACTION_KEYS):
            fault(f"the key {key!r} of an action is unknown")
    actions = (first, *(_action(one, fault) for one in further)) if first.options or further else ()
    usual = False if first.action == "store_true" else None
    return Flag(
        name=name,
        group=group,
        options=first.options,
        type="list" if first.nargs is not None and first.nargs != "?" else first.type,
        action=first.action,
        nargs=first.nargs,
        default=frozen(revision.get("default", usual)),
        choices=first.choices,
        const=first.const,
        span=_span(revision, fault),
        deprecated=(first.new_flag or "deprecated") if first.deprecated else "",
        converter=first.converter,
        negative=tuple(o for o in first.options if o.startswith("--no-")) if first.action == "boolean_optional" else (),
        about=str(revision.get("about", "")),
        actions=tuple(action for action in actions if action.options),
        in_record=bool(revision.get("field", True)),
        renamed_to=_renamed(revision.get("renamed_to"), fault),
        note=str(revision.get("note", "")),
    )


def _action(data: Mapping[str, Any], fault: Any) -> Action:
    word = data.get("action", "store")
    type_ = data.get("type", "bool" if word in ("store_true", "store_false", "boolean_optional") else "str")
    converter, nargs, options = data.get("converter", ""), data.get("nargs"), data.get("options", [])
    for given, allowed, what in (
        (word, ACTIONS, "action"),
        (type_, TYPES, "type"),
        (converter, CONVERTERS, "converter"),
    ):
        if given not in allowed:
            fault(f"{what} {given!r} is none of {', '.join(filter(None, allowed))}")
    if nargs not in (None, "?", "*", "+") and not isinstance(nargs, int):
        fault(f"nargs {nargs!r} is none of null ? * + or a number")
    if not isinstance(options, list) or not all(isinstance(o, str) and o.startswith("-") for o in options):
        fault("options must be a list of words that start with -")
        options = []
    choices = data.get("choices")
    if choices is not None and not isinstance(choices, list):
        fault("choices must be a list")
        choices = None
    return Action(
        options=tuple(options),
        action=str(word),
        type=str(type_),
        converter=str(converter),
        nargs=nargs,
        const=frozen(data.get("const")),
        choices=None if choices is None else tuple(frozen(choice) for choice in choices),
        required=bool(data.get("required", False)),
        deprecated=bool(data.get("deprecated", False)),
        new_flag=str(data.get("new_flag") or ""),
        keys=_words_by_key(data.get("keys"), "keys", fault),
        refused=_words_by_key(data.get("refused"), "refused", fault),
    )


def _words_by_key(data: Any, what: str, fault: Any) -> dict[str, tuple[str, ...]]:
    if data is None:
        return {}
    if not isinstance(data, Mapped) or not all(isinstance(words, list) for words in data.values()):
        fault(f"{what} must map words to lists of words")
        return {}
    return {key: tuple(str(word) for word in words) for key, words in data.items()}


def _span(revision: Mapping[str, Any], fault: Any) -> Span:
    since, until = revision.get("since"), revision.get("until")
    for text in (since, until):
        try:
            if text is not None:
                release_key(str(text).removeprefix("<="))
        except ValueError as wrong:
            fault(str(wrong))
            return Span()
    return Span(None if since is None else str(since), None if until is None else str(until))


def _renamed(data: Any, fault: Any) -> Renamed | None:
    if data is None:
        return None
    if not isinstance(data, Mapped) or not isinstance(data.get("flag"), str) or set(data) - {"flag", "values"}:
        fault("renamed_to must be {flag: --new, values: {old: new}}")
        return None
    return Renamed(flag=data["flag"], values={key: frozen(value) for key, value in (data.get("values") or {}).items()})
