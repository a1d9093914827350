"""A command line that names SGLang's --config file -> the words SGLang parses instead, as its merger builds them.

The file's settings come first, so that the command line wins. Bools become bare options, lists several words, objects
JSON; every other value its Python text.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from constraints.errors import KnowledgeError
from constraints.plainly import plainly
from constraints.schema import Action, Flags

from ..errors import InputError
from .refusal import Reason, Refusal
from .tokens import Word

if TYPE_CHECKING:
    from .yamltree import Node


def merge_config(
    words: Sequence[Word], flags: Flags, folder: Path | None = None
) -> tuple[Sequence[Word], str] | Refusal:
    """The words with the file's settings in place of its option, and the file's name ('' when none is named).

    SGLang looks for the bare word alone: with `=`, or abbreviated, the file is silently ignored.
    """
    if flags.config is None:
        return words, ""
    flag, action = flags.config
    places = [place for place, word in enumerate(words) if word.text in action.options]
    if not places:
        return words, ""
    at = words[places[0]]

    def refuse(reason: Reason, word: str = "", expected: str = "") -> Refusal:
        return Refusal(
            reason,
            at.text,
            flag.name,
            word or at.text,
            at.line,
            at.column,
            places[-1],
            expected=expected,
            origin=at.origin,
        )

    if len(places) > 1:
        return refuse("config-twice")
    if places[0] == len(words) - 1:
        return refuse("config-missing-name")
    name = words[places[0] + 1].text
    if not name:  # an empty name is left to the parser, which does nothing with it
        return words, ""
    path = (folder or Path()) / name
    if path.suffix.lower() not in (".yaml", ".yml"):
        return refuse("config-not-yaml", name)
    from constraints.read import MAX_FILE, is_endless, read_as_python

    try:
        if not path.exists():
            return refuse("config-not-found", name)
        if is_endless(path):
            return refuse("config-unreadable", name, f"it is no plain file of at most {MAX_FILE // 1_000_000} MB")
        text = path.read_text(encoding="utf-8")
        data = read_as_python(text, name)
    except (OSError, ValueError, KnowledgeError) as fault:  # also a name too long, a NUL in it, and no text
        return refuse("config-unreadable", name, plainly(fault))
    if data is None:
        data = {}
    if not isinstance(data, dict):
        return refuse("config-not-mapping", name)
    found = _settings(data, flags)
    if isinstance(found, str):
        return refuse("config-bad-key", found, name)
    merged = entry_words(found, _document(text, name), str(path))
    return [*merged, *words[: places[0]], *words[places[0] + 2 :]], name


def config_words(text: str, name: str, flags: Flags) -> list[tuple[str, list[str]]] | Refusal:
    """The words of each key of a file given by itself."""
    from constraints.read import read_as_python

    try:
        data = read_as_python(text, name)
    except KnowledgeError as fault:
        return Refusal("config-unreadable", word=str(fault))
    if not isinstance(data, dict):
        return Refusal("config-not-mapping")
    found = _settings(data, flags)
    return Refusal("config-bad-key", word=found) if isinstance(found, str) else found


def entry_words(found: Sequence[tuple[str, list[str]]], document: Node | None, file: str) -> list[Word]:
    """The words of each key, at its place in the file: an option at the key, what follows at its value."""
    places = {} if document is None else {key.text: (key, value) for key, value in document.pairs}
    words = []
    for key, texts in found:
        pair = places.get(key) or ((document, document) if document is not None else None)
        for number, text in enumerate(texts):
            word = Word(text, origin=file, layout="entry")
            if pair is not None:
                at = pair[min(number, 1)]
                word = word._replace(line=at.line, column=at.column, stop=at.stop)
            words.append(word)
    return words


def _document(text: str, name: str) -> Node | None:
    """The tree of a file, for its places; None where it is too deep or too large for one."""
    from .yamltree import read_documents

    try:
        return next(iter(read_documents(text, name)), None)
    except InputError:
        return None


def _settings(data: dict[Any, Any], flags: Flags) -> list[tuple[str, list[str]]] | str:
    """The words of each key, or a key that the merger cannot take."""
    how = flags.config[1].converter if flags.config is not None else ""
    unfit, bare = _unfit_keys(flags, how), _bare_keys(flags, how)
    found: list[tuple[str, list[str]]] = []
    for key, value in data.items():
        if not isinstance(key, str) or key.replace("-", "_") in unfit:
            return str(key)
        found.append((key, _texts(key, value, bare)))
    return found


def _texts(key: str, value: Any, bare: frozenset[str]) -> list[str]:
    option = f"--{key}"
    if isinstance(value, bool):
        if key.replace("-", "_") in bare:
            return [option] if value else []
        return [option, str(value).lower()]
    if isinstance(value, list):
        return [option, *map(str, value)] if value else []
    if isinstance(value, dict):
        return [option, json.dumps(value)]
    return [option, str(value)]


def _keys(flag: str, action: Action, how: str) -> set[str]:
    """The keys of the file that mean an action: its field alone, or also each long spelling (`by_spelling`)."""
    spellings = {option[2:].replace("-", "_") for option in action.options if option.startswith("--")}
    return {flag} | (spellings if how == "by_spelling" else set())


def _bare_keys(flags: Flags, how: str) -> frozenset[str]:
    """The keys whose action is argparse's own store_true; SGLang's deprecated one is a class of its own."""
    return frozenset(
        key
        for flag in flags.values()
        for action in flag.actions
        if action.action == "store_true" and not action.deprecated
        for key in _keys(flag.name, action, how)
    )


def _unfit_keys(flags: Flags, how: str) -> frozenset[str]:
    """The keys whose action the merger does not know."""
    fit: set[str] = set()
    unfit: set[str] = set()
    for flag in flags.values():
        for action in flag.actions:
            if action.action in ("config_file", "help"):
                if action.action == "config_file" and how == "by_spelling":
                    fit |= _keys(flag.name, action, how)
                continue
            plain = action.action in ("store", "store_true") and not action.deprecated
            one_value = how == "by_spelling" and action.nargs is None and action.action in ("store", "translate")
            (fit if plain or one_value else unfit).update(_keys(flag.name, action, how))
    return frozenset(unfit - fit if how == "by_spelling" else unfit)
