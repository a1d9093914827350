"""A launch's words and the flags of a release -> what was typed, field by field, or the Refusal SGLang gives.

Typed values are hashable: several values a tuple, an object canonical JSON text. A flag that takes an object of
sections (`--cuda-graph-config`, field `cuda_graph_config`) also appears flattened: each key typed inside the JSON is
`cuda_graph.<section>.<key>`. The one-purpose flags beside it (`cuda_graph_backend_prefill`, `disable_cuda_graph`, ...)
appear under their own names only: SGLang folds them into the object while it resolves, below what the JSON says, and
locks every key so set; that precedence and the lock are rules (`kind: rename`), not parsing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from constraints.schema import Elsewhere, Flags

from .argparser import ArgumentParser, Refused
from .configfile import merge_config
from .parsed import Notice, Parsed, Place
from .refusal import Refusal
from .tokens import Word
from .words import CommandLine, Entry, read_command, words_of

__all__ = [
    "CommandLine",
    "Notice",
    "Parsed",
    "Place",
    "Refusal",
    "Word",
    "parse_arguments",
    "read_command",
    "typed_words",
    "words_of",
]

_SERVE_ONLY = "--model-type"  # taken out by `sglang serve` itself, before the parser of any release sees it


def parse_arguments(
    words: Sequence[Word],
    flags: Flags,
    *,
    env: Mapping[str, str] | None = None,
    entry: Entry = "",
    needs_model: bool = True,
    elsewhere: Mapping[str, Elsewhere] | None = None,
    folder: Path | None = None,
) -> Parsed | Refusal:
    """What ``words`` type in the release that has ``flags``.

    ``needs_model`` False: the model was named elsewhere. ``elsewhere`` explains options of other releases.
    ``folder`` is where a relative configuration file is looked for.
    """
    try:
        served = _served(words, flags) if entry == "serve" else words
        merged = merge_config(served, flags, folder)
        if isinstance(merged, Refusal):
            return merged
        return ArgumentParser(flags, elsewhere or {}, merged[0]).run(needs_model, dict(env or {}), merged[1])
    except Refused as refused:
        return refused.refusal


def typed_words(line: CommandLine, flags: Flags) -> list[str]:
    """The flags of a launch as they would be typed behind `launch_server`."""
    try:
        words = _served(line.arguments, flags) if line.entry == "serve" else line.arguments
    except Refused:  # left to the parser, which says what is wrong
        words = line.arguments
    return [word.text for word in words]


def _served(words: Sequence[Word], flags: Flags) -> list[Word]:
    """The words as `sglang serve` hands them on: without its own option, a leading model named by its option."""
    kept: list[Word] = []
    skip = False
    for place, word in enumerate(words):
        if skip:
            skip = False
        elif word.text == _SERVE_ONLY:
            if place + 1 == len(words) or not words[place + 1].text:
                raise Refused(
                    Refusal("missing-value", _SERVE_ONLY, "", word.text, word.line, word.column, place, expected="1")
                )
            skip = True
        elif not word.text.startswith(f"{_SERVE_ONLY}="):
            kept.append(word)
    if kept and flags.required and not kept[0].text.startswith("-"):
        _, required = flags.required[0]
        kept.insert(0, Word(required.options[0], kept[0].line, kept[0].column))
    return kept
