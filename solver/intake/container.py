"""The command of a container as YAML lists it -> its launches, every word with its place in the file."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from .broken import broken_off
from .expand import Fixed, expanded
from .launch import FileKind, Launch, launch_from
from .places import Places, start_of
from .refusal import Refusal
from .tokens import HOST, PAD, Unbalanced, Word, plain_words
from .variables import Variables
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
            return script_launches(manifest, items[place][0], {**env, **outer})
    return command_launches(manifest, expanded(words, Fixed(outer)), env)


def command_launches(manifest: Manifest, words: Sequence[Word], env: Mapping[str, str]) -> list[Launch]:
    """The launch that a list of words is, if it is one; ``env`` is its container's."""
    command = launch_of(words, Variables(env), bare=False)
    return [] if command is None else [launch_from(command, manifest.kind, manifest.file)]


def script_launches(manifest: Manifest, node: Node, env: Mapping[str, str]) -> list[Launch]:
    """The launches of a scalar that is a script or a command.

    Raises InputError when it breaks off in the middle of one.
    """
    found = read_commands(_handed_on(manifest, node.text), bare=False, known=env)
    if isinstance(found, Refusal):
        if found.reason == "no-command":
            return []
        line, column = Places(manifest.lines, node).of(max(found.line, 1), max(found.column, 1))
        raise broken_off(found.reason, f"{manifest.file}:{line}:{column}")
    places = Places(manifest.lines, node)
    return [launch_from(_placed(one, places, manifest), manifest.kind, manifest.file) for one in found]


def _handed_on(manifest: Manifest, text: str) -> str:
    """A text as it reaches the container: compose puts in what its own host knows, and makes one of a doubled sign."""
    if manifest.kind != "compose":
        return text
    return text.replace("$$", f"{PAD}{PAD}").replace("$", HOST).replace(f"{PAD}{PAD}", f"{PAD}$")


def words_in(manifest: Manifest, node: Node) -> list[Word]:
    """The words of a command given as a text or as a list.

    Raises InputError.
    """
    if node.kind == "sequence":
        return [_word(manifest, item, node.flow) for item in scalars(node)]
    places = Places(manifest.lines, node)
    try:
        found = list(plain_words(_handed_on(manifest, node.text)))
    except Unbalanced as fault:
        line, column = places.of(fault.line, fault.column)
        raise broken_off(fault.reason, f"{manifest.file}:{line}:{column}") from None
    return [_moved(word, places, manifest.filled(word.text))._replace(origin=manifest.file) for word in found]


def _placed(command: CommandLine, places: Places, manifest: Manifest) -> CommandLine:
    def move(words: Iterable[Word]) -> tuple[Word, ...]:
        return tuple(
            _moved(word, places, manifest.filled(word.text))._replace(among=tuple(map(move, word.among)))
            for word in words
        )

    return command._replace(arguments=move(command.arguments), before=move(command.before))


def _moved(word: Word, places: Places, filled: bool) -> Word:
    line, column = places.of(word.line, word.column)
    last_line, last_column = places.of(word.stop[0], word.stop[1] - 1)
    return word._replace(
        line=line,
        column=column,
        stop=(last_line, last_column + 1),
        open=word.open or filled,
        chosen=tuple(places.of(row, 1)[0] for row in word.chosen),
    )


def _word(manifest: Manifest, node: Node, flow: bool) -> Word:
    line, column = start_of(node)
    return Word(
        node.text, line, column, manifest.file, manifest.filled(node.text), node.stop, "flow" if flow else "block"
    )
