"""Words and a release's options -> what was typed or a Refusal, by the algorithm of Python 3.11's argparse.

It is `_parse_known_args` of Lib/argparse.py for a parser without positionals: every word is first sorted into option
or value, which is where an ambiguous abbreviation is noticed; then options act from left to right; then a missing
required option, and last the words left over. Written out, since later Pythons changed theirs.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from constraints.schema import Action, Elsewhere, Flag, Flags
from constraints.values import Value

from ..near import nearest_names
from .parsed import Code, Notice, Parsed, Place
from .refusal import Reason, Refusal
from .tokens import Word
from .values import Structured, Unfit, convert, is_level, lora_path

_NEGATIVE = re.compile(r"-\d+|-\d*\.\d+")
_NO_VALUES = frozenset(("store_true", "store_false", "store_const", "boolean_optional", "ignore", "refuse", "help"))


class Option(NamedTuple):
    """A word sorted as an option: what it means, if anything, and the value after its `=`."""

    spelling: str
    owner: tuple[Flag, Action] | None
    inline: str | None = None


class Refused(Exception):
    def __init__(self, refusal: Refusal) -> None:
        self.refusal = refusal


class ArgumentParser:
    """One run of the algorithm."""

    def __init__(self, flags: Flags, elsewhere: Mapping[str, Elsewhere], words: Sequence[Word]) -> None:
        self.flags, self.elsewhere, self.words = flags, elsewhere, words
        self.options = flags.options
        self.typed: dict[str, Value] = {}
        self.spans: dict[str, Place] = {}
        self.notices: list[Notice] = []
        self.seen: set[tuple[str, ...]] = set()

    def run(self, needs_model: bool, env: dict[str, str], config: str) -> Parsed | Refusal:
        sorted_words, pattern = self._sort()
        extras: list[int] = []
        at = 0
        last = max(sorted_words, default=-1)
        while at <= last:
            option = sorted_words.get(at)
            if option is None or option.owner is None:
                extras.append(at)
                at += 1
            else:
                at = self._consume(at, option, pattern)
        extras += range(at, len(self.words))
        model = self._required(needs_model)
        if extras:
            return self._left_over(extras, sorted_words)
        self._check_levels()
        return Parsed(self.typed, model, self.spans, env, tuple(self.notices), config)

    def _sort(self) -> tuple[dict[int, Option], str]:
        """Each word as option (`O`), value (`A`) or `--`, after which all are values."""
        found: dict[int, Option] = {}
        pattern = ""
        for place, word in enumerate(self.words):
            if word.text == "--":
                return found, pattern + "-" + "A" * (len(self.words) - place - 1)
            option = self._option(place, word.text)
            pattern += "A" if option is None else "O"
            if option is not None:
                found[place] = option
        return found, pattern

    def _option(self, place: int, text: str) -> Option | None:
        if not text.startswith("-"):
            return None
        if text in self.options:
            return Option(text, self.options[text])
        if len(text) == 1:
            return None
        head, equals, tail = text.partition("=")
        if equals and head in self.options:
            return Option(head, self.options[head], tail)
        candidates = self._abbreviated(text, head, tail if equals else None)
        if len(candidates) > 1:
            names = tuple(sorted(one.spelling for one in candidates))
            known = self.elsewhere.get(head)
            raise Refused(self._refusal("ambiguous-option", place, head, candidates=names, elsewhere=known))
        if candidates:
            only = candidates[0]
            self._notice("abbreviated", head, only.spelling, place)
            return only
        if _NEGATIVE.fullmatch(text) or " " in text:
            return None
        return Option(text, None)

    def _abbreviated(self, text: str, head: str, tail: str | None) -> list[Option]:
        """The options ``text`` may stand for: those it begins, and for one dash the one whose letter it starts with."""
        if text.startswith("--"):
            return [Option(name, owner, tail) for name, owner in self.options.items() if name.startswith(head)]
        return [
            Option(name, owner, text[2:] if name == text[:2] else None)
            for name, owner in self.options.items()
            if name == text[:2] or name.startswith(text)
        ]

    def _consume(self, at: int, option: Option, pattern: str) -> int:
        assert option.owner is not None
        flag, action = option.owner
        if option.inline is not None:
            count = _take(action, "A")
            if count == 0 and not self._letters(option):
                raise Refused(self._refusal("takes-no-value", at, option.spelling, flag.name))
            texts, end = [option.inline] if count else [], at + 1
        else:
            count = _take(action, pattern[at + 1 :])
            end = at + 1 + (count or 0)
            texts = [word.text for word in self.words[at + 1 : end]]
        if count is None:
            expected = str(action.nargs) if action.nargs is not None else "1"
            raise Refused(self._refusal("missing-value", at, option.spelling, flag.name, expected=expected))
        self._act(at, end, option.spelling, flag, action, texts)
        return end

    def _letters(self, option: Option) -> bool:
        """Whether the rest of a one-dash word is one-letter options too, as in `-hh`."""
        one_dash = not option.spelling.startswith("--")
        return one_dash and bool(option.inline) and all(f"-{letter}" in self.options for letter in option.inline or "")

    def _act(self, at: int, end: int, spelling: str, flag: Flag, action: Action, texts: list[str]) -> None:
        self.seen.add(action.options)
        if action.action in ("help", "refuse"):
            reason: Reason = "help" if action.action == "help" else "retired-option"
            raise Refused(self._refusal(reason, at, spelling, flag.name, elsewhere=self.elsewhere.get(spelling)))
        value = self._value(at, end, spelling, flag, action, texts)
        if action.deprecated:
            self._notice("ignored" if action.action == "ignore" else "deprecated", spelling, action.new_flag, at)
        if action.action == "config_file":
            self._notice("unread-config", spelling, action.options[0], at)
        if action.action == "ignore" or not flag.in_record:
            return
        if isinstance(value, Structured):
            prefix = flag.name.removesuffix("_config")
            for name in [name for name in self.typed if name.startswith(f"{prefix}.")]:
                del self.typed[name]
            self.typed |= {f"{prefix}.{name}": part for name, part in value.parts}
            value = value.text
        if action.action == "append":
            before = self.typed.get(flag.name, flag.default)
            value = (*(before if isinstance(before, tuple) else ()), value)
        self.typed[flag.name] = value
        word = self.words[at]
        self.spans[flag.name] = Place(at, end, word.line, word.column, word.origin)

    def _value(
        self, at: int, end: int, spelling: str, flag: Flag, action: Action, texts: list[str]
    ) -> Value | Structured:
        match action.action:
            case "store_true":
                return True
            case "store_false":
                return False
            case "store_const":
                return action.const
            case "boolean_optional":
                return not spelling.startswith("--no-")
            case "ignore":
                return None
        if texts == ["--"]:  # `--flag=--`: argparse drops the dashes, and stores an empty list where one value was due
            if action.nargs is None:
                return ()
            texts = []
        if action.nargs == "?" and not texts:
            return action.const
        places = [min(at + 1 + number, end - 1) for number in range(len(texts))]
        read = lora_path if action.action == "lora_paths" else lambda text: convert(action, text)
        values: list[Value | Structured] = []
        for place, text in zip(places, texts, strict=True):
            value = read(text)
            if isinstance(value, Unfit):
                reason: Reason = "crash" if value.crash else "bad-value"
                raise Refused(self._refusal(reason, place, spelling, flag.name, text, expected=value.expected))
            values.append(value)
        for place, text, value in zip(places, texts, values, strict=True):
            if action.choices is not None and value not in action.choices:
                near = nearest_names(text, [str(choice) for choice in action.choices], 3)
                known = self.elsewhere.get(f"{flag.name}={text}")
                raise Refused(
                    self._refusal(
                        "bad-choice",
                        place,
                        spelling,
                        flag.name,
                        text,
                        choices=action.choices,
                        near=near,
                        elsewhere=known,
                    )
                )
        if action.action == "translate":
            return action.const
        if action.nargs is None or action.nargs == "?":
            return values[0]
        return tuple(value.text if isinstance(value, Structured) else value for value in values)

    def _required(self, needs_model: bool) -> str | None:
        model: str | None = None
        for flag, action in self.flags.required:
            if action.options in self.seen:
                model = str(self.typed[flag.name])
            elif needs_model:
                of_file = bool(self.words) and all(word.layout == "entry" for word in self.words)
                key = action.options[0].removeprefix("--") if of_file else ""
                raise Refused(Refusal("missing-required", action.options[0], flag.name, key=key))
        return model

    def _left_over(self, extras: list[int], sorted_words: Mapping[int, Option]) -> Refusal:
        first = extras[0]
        text = self.words[first].text
        left = tuple(self.words[place].text for place in extras)
        if first not in sorted_words:
            return self._refusal("unexpected-word", first, extras=left)
        name = text.partition("=")[0]
        near = nearest_names(name.replace("_", "-"), self.options, 3, 0.75)
        return self._refusal("unknown-option", first, name, near=near, extras=left, elsewhere=self.elsewhere.get(name))

    def _check_levels(self) -> None:
        """`prepare_server_args` looks the logging level up after parsing, and fails on one that is none."""
        for flag in self.flags.levels:
            if flag.name in self.typed and not is_level(self.typed[flag.name]):
                place = self.spans[flag.name].end - 1
                raise Refused(self._refusal("crash", place, flag.options[0], flag.name, expected=flag.converter))

    def _notice(
        self,
        code: Code,
        option: str,
        instead: str,
        place: int,
    ) -> None:
        word = self.words[place]
        self.notices.append(Notice(code, option, instead, place, word.line, word.column, self._key(place)))

    def _refusal(
        self,
        reason: Reason,
        place: int,
        option: str = "",
        flag: str = "",
        text: str | None = None,
        *,
        expected: str = "",
        choices: tuple[Value, ...] = (),
        candidates: tuple[str, ...] = (),
        near: tuple[str, ...] = (),
        extras: tuple[str, ...] = (),
        elsewhere: Elsewhere | None = None,
    ) -> Refusal:
        word = self.words[place]
        shown = word.text if text is None else text
        at = (word.line, word.column, place, word.origin)
        key = self._key(place)
        return Refusal(reason, option, flag, shown, *at, expected, choices, candidates, near, extras, elsewhere, key)

    def _key(self, place: int) -> str:
        """The key under which a word stands in a file of SGLang's options; "" for a word of a command line."""
        while place >= 0 and self.words[place].layout == "entry":
            text = self.words[place].text
            if text.startswith("--"):
                return text.removeprefix("--")
            place -= 1
        return ""


def _take(action: Action, pattern: str) -> int | None:
    """How many words from the start of ``pattern`` the action takes; None when they are too few."""
    if action.action in _NO_VALUES:
        return 0
    ready = len(pattern) - len(pattern.lstrip("A"))
    match action.nargs:
        case "*":
            return ready
        case "?":
            return min(ready, 1)
        case "+":
            return ready or None
        case int() as wanted:
            return wanted if ready >= wanted else None
    return 1 if ready else None
