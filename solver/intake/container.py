"""The command of a container as YAML lists it -> its launches, every word with its place in the file."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from .broken import broken_off
from .launch import FileKind, Launch, known_environment, launch_from
from .places import Places, start_of
from .refusal import Refusal
from .tokens import Unbalanced, Word, tokens
from .words import CommandLine, launch_of, read_commands
from .yamltree import Node

_SCRIPT_OPTION = re.compile(r"-[a-z]*c", re.ASCII)


@dataclass(frozen=True, slots=True)
class Manifest:
    """A YAML file being read: its name, its kind, its lines, and which texts somebody else fills in."""

    file: str
    kind: FileKind
    lines: list[str]
    filled: Callable[[str], bool]


def scalars(*nodes: Node | None) -> list[Node]:
    """The scalars of these lists, in order."""
    found: list[Node] = []
    for node in nodes:
        if node is not None:
            found += [item for item in (node.items if node.kind == "sequence" else [node]) if item.kind == "scalar"]
    return found


def text_of(node: Node | None) -> str:
    """A scalar's text; "" for anything else."""
    return node.text if node is not None and node.kind == "scalar" else ""


def listed_launches(
    manifest: Manifest,
    items: Sequence[tuple[Node, bool]],
    env: Mapping[str, str],
    outer: Mapping[str, str],
) -> list[Launch]:
    """The launches of a list of words; each comes with whether its list is in brackets.

    A word after `-c` is a script. ``env`` is the container's, which scripts see; ``outer`` fills the list itself.
    """
    words = [_word(manifest, node, flow) for node, flow in items]
    for place in range(1, len(words)):
        if _SCRIPT_OPTION.fullmatch(words[place - 1].text) and re.search(r"\s", words[place].text):
            found = script_launches(manifest, items[place][0], {**env, **outer})
            return [*found]
    command = launch_of(words, {}, bare=False)
    if command is None:
        return []
    launch = launch_from(command, manifest.kind, manifest.file, outer)
    assigned, unset = known_environment(command.env, env)
    return [replace(launch, env=assigned, unset=unset)]


def script_launches(manifest: Manifest, node: Node, env: Mapping[str, str]) -> list[Launch]:
    """The launches of a scalar that is a script or a command.

    Raises InputError when it breaks off in the middle of one.
    """
    found = read_commands(node.text, bare=False)
    if isinstance(found, Refusal):
        if found.reason == "no-command":
            return []
        line, column = Places(manifest.lines, node).of(max(found.line, 1), max(found.column, 1))
        raise broken_off(found.reason, f"{manifest.file}:{line}:{column}")
    places = Places(manifest.lines, node)
    placed = [_placed(one, places, manifest) for one in found]
    if manifest.kind == "compose":
        placed = [_interpolated(one) for one in placed]
    return [launch_from(one, manifest.kind, manifest.file, env) for one in placed]


def words_in(manifest: Manifest, node: Node) -> list[Word]:
    """The words of a command given as a text or as a list.

    Raises InputError.
    """
    if node.kind == "sequence":
        return [_word(manifest, item, node.flow) for item in scalars(node)]
    places = Places(manifest.lines, node)
    try:
        found = [token for token in tokens(node.text) if isinstance(token, Word)]
    except Unbalanced as fault:
        line, column = places.of(fault.line, fault.column)
        raise broken_off(fault.reason, f"{manifest.file}:{line}:{column}") from None
    return [_moved(word, places, manifest.filled(word.text))._replace(origin=manifest.file) for word in found]


def _placed(command: CommandLine, places: Places, manifest: Manifest) -> CommandLine:
    def move(words: Iterable[Word]) -> tuple[Word, ...]:
        return tuple(_moved(word, places, manifest.filled(word.text)) for word in words)

    lists = {name: move(found) for name, found in command.lists.items()}
    return command._replace(arguments=move(command.arguments), before=move(command.before), lists=lists)


def _interpolated(command: CommandLine) -> CommandLine:
    """A script as compose hands it on: a doubled sign is one, whatever quotes stand around it."""
    words = tuple(word._replace(text=word.text.replace("$$", "$"), quoted=()) for word in command.arguments)
    env = {name: value.replace("$$", "$") for name, value in command.env.items()}
    return command._replace(arguments=words, env=env)


def _moved(word: Word, places: Places, filled: bool) -> Word:
    line, column = places.of(word.line, word.column)
    last_line, last_column = places.of(word.stop[0], word.stop[1] - 1)
    return word._replace(line=line, column=column, stop=(last_line, last_column + 1), open=word.open or filled)


def _word(manifest: Manifest, node: Node, flow: bool) -> Word:
    line, column = start_of(node)
    return Word(
        node.text, line, column, manifest.file, manifest.filled(node.text), node.stop, "flow" if flow else "block"
    )
