"""SGLang's own --config file, given by itself -> the launch it stands for, each word at the key it comes from."""

from __future__ import annotations

from constraints.schema import Flags

from ..errors import InputError
from .configfile import config_words
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


def server_config_launch(file: str, text: str, document: Node, flags: Flags) -> Launch:
    """The launch of a configuration file.

    Raises InputError when SGLang could not read it.
    """
    found = config_words(text, file, flags)
    if isinstance(found, Refusal):
        raise InputError(f"SGLang cannot read this file: {found.reason} {found.word}".rstrip(), file)
    places = {key.text: (key, value) for key, value in document.pairs}
    words: list[Word] = []
    for key, texts in found:
        node, value = places.get(key, (document, document))
        for number, one in enumerate(texts):
            at = node if number == 0 else value
            words.append(Word(one, at.line, at.column, file, False, at.stop, "entry"))
    start = Word("", document.line, document.column, file)
    return Launch("config", file, start, tuple(words), entry="launch_server")
