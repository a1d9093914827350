"""SGLang's own --config file, given by itself -> the launch it stands for, each word at the key it comes from."""

from __future__ import annotations

from constraints.schema import Flags

from ..errors import InputError
from .configfile import config_words, entry_words
from .launch import Launch
from .refusal import Refusal
from .tokens import Word
from .yamltree import Node

# A file of other settings may share a word or two with SGLang.
_SHARE = 0.6


def server_spellings(flags: Flags) -> frozenset[str]:
    """The keys that a file of SGLang's options can have; none where the release reads no such file."""
    if flags.config is None:
        return frozenset()
    return frozenset(flags) | {option.lstrip("-").replace("-", "_") for option in flags.options}


def is_server_config(document: Node, spellings: frozenset[str]) -> bool:
    """Whether most keys of a mapping are SGLang's options."""
    if document.kind != "mapping" or not document.pairs or not spellings:
        return False
    known = [key for key, _ in document.pairs if key.text.replace("-", "_") in spellings]
    return len(known) >= _SHARE * len(document.pairs)


def _unreadable(found: Refusal, file: str, document: Node) -> InputError:
    """Why SGLang does not read a file at all."""
    if found.reason != "config-bad-key":
        return InputError(f"SGLang cannot read this file: {found.word or 'it is no mapping'}", file)
    at = next((key for key, _ in document.pairs if key.text == found.word), document)
    where = f"{file}:{at.line}:{at.column}"
    hint = f"Give --{found.word} on the command line, beside --config."
    return InputError(f"SGLang does not take the key {found.word} in a file", where, hint)


def server_config_launch(file: str, text: str, document: Node, flags: Flags) -> Launch:
    """The launch of a configuration file.

    Raises InputError when SGLang could not read it.
    """
    found = config_words(text, file, flags)
    if isinstance(found, Refusal):
        raise _unreadable(found, file, document)
    words = entry_words(found, document, file)
    start = Word("", document.line, document.column, file)
    return Launch("config", file, start, tuple(words), entry="launch_server")
