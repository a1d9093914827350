"""Words with variables in them, and what is known of these -> words with their values; unknown ones stay open."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping

from ..errors import InputError
from .template import is_template
from .tokens import Word

_VARIABLE = re.compile(
    r"\$\$|\$(?P<name>[A-Za-z_]\w*|\d|[@*])|\$\{(?P<braced>[A-Za-z_]\w*|\d+)(?::?[-=](?P<default>[^{}$]*))?\}"
    r"|\$\((?P<round>[A-Za-z_]\w*)\)",
    re.ASCII,
)
_COMMAND = re.compile(r"\$[({]|`")
_LIST = re.compile(r"\$\{([A-Za-z_]\w*)\[[@*]\]\}", re.ASCII)
# In place of a sign that a quote keeps from beginning a variable, while the others are put in.
_KEPT = {"$": "\ue002", "`": "\ue003"}
MOST_WORDS, _LONGEST = 4000, 100_000


def expanded(
    words: Iterable[Word], env: Mapping[str, str], lists: Mapping[str, tuple[Word, ...]] | None = None
) -> tuple[Word, ...]:
    """The words with variables put in; a word that is nothing but a variable may become several, or none."""
    found: list[Word] = []
    for word in words:
        named = _LIST.fullmatch(word.text)
        if named and lists is not None and named[1] in lists:
            found += expanded(lists[named[1]], env)
        else:
            found += _one(word, env)
    if len(found) > MOST_WORDS:
        raise InputError(f"more than {MOST_WORDS} words in one launch", None)
    return tuple(found)


def _one(word: Word, env: Mapping[str, str]) -> Iterator[Word]:
    if not word.open:
        yield word
        return
    text, left = expand(guarded(word.text, word.quoted), env)
    if text == word.text:  # nothing in it is known, and it was not open for nothing
        yield word
        return
    whole = _VARIABLE.fullmatch(word.text) is not None and word.layout == "words"
    if left or not whole:
        yield word._replace(text=text, open=left or is_template(text), quoted=())
    else:  # unquoted, a shell splits it
        yield from (word._replace(text=part, open=False, quoted=()) for part in text.split())


def _unquoted(text: str | None) -> str | None:
    """A default as the shell gives it: quotes around it are not part of it."""
    return text[1:-1] if text and len(text) > 1 and text[0] == text[-1] and text[0] in ("'", '"') else text


def guarded(text: str, quoted: Iterable[int]) -> str:
    """The text with its quoted signs hidden from `expand`, which shows them again."""
    marks = list(text)
    for place in quoted:
        marks[place] = _KEPT.get(marks[place], marks[place])
    return "".join(marks)


def shown(text: str) -> str:
    """The text with its quoted signs as they stood."""
    for sign, kept in _KEPT.items():
        text = text.replace(kept, sign)
    return text


def expand(text: str, env: Mapping[str, str]) -> tuple[str, bool]:
    """The text with what is known put in, once, and whether something unknown is left."""
    unknown = False

    def value(match: re.Match[str]) -> str:
        nonlocal unknown
        if match[0] == "$$":
            return "$"
        name = match["name"] or match["braced"] or match["round"]
        known = env.get(name)
        if known is None or (known == "" and match["default"]):
            known = _unquoted(match["default"])
        if known is None:
            unknown = True
            return match[0]
        return known

    put = _VARIABLE.sub(value, text)
    rest = _VARIABLE.sub("", text)
    left = unknown or is_template(put) or bool(_COMMAND.search(rest)) or len(put) > _LONGEST
    return shown(put[:_LONGEST]), left
