"""Rules, values and refusals -> the short sentences that every form of output shares."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Sequence

from constraints.release import release_key
from constraints.schema import Rule, Source
from constraints.values import Value

from ..intake.broken import TRAILING, UNBALANCED
from ..intake.refusal import Refusal
from ..report import Finding

WIDTH = 80


LONGEST_WORD = 120
_SHOWN = 60
_LONG = re.compile(rf"\S{{{LONGEST_WORD},}}")
# Of a path the end tells which it is: only what names no file is cut.
_LONGER = re.compile(r"\S{1000,}")


def shown(value: Value) -> str:
    """A value as a person reads it: of one that nobody reads to its end, the beginning."""
    if value is None:
        return "unset"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return f"{value:.6g}"
    if isinstance(value, tuple):
        return "[" + ", ".join(shown(item) for item in value[:6]) + (", ..." if len(value) > 6 else "") + "]"
    if isinstance(value, int) and not is_writable(value):
        return f"a number of some {count(value.bit_length() * 30_103 // 100_000 + 1)} digits"
    text = str(value)
    return text if len(text) < LONGEST_WORD else _begun(text)


def is_writable(number: int) -> bool:
    """Whether Python writes a whole number out: not one of thousands of digits, which takes it long."""
    try:
        str(number)
    except ValueError:
        return False
    return True


def _begun(text: str) -> str:
    return f"{text[:_SHOWN]}... ({count(len(text))} characters)"


def choice(value: Value) -> str:
    """A value of what is chosen; of flags that are chosen as one those that are typed."""
    if not isinstance(value, tuple):
        return shown(value)
    return ", ".join(shown(one) for one in value if one is not None) or "unset"


def count(number: int) -> str:
    """A count with its thousands apart."""
    return f"{number:,}"


def counted(number: int, noun: str) -> str:
    """A count and what is counted."""
    return f"{count(number)} {noun}{'' if number == 1 else 's'}"


def cited(rule: Rule, source: Source | None) -> str:
    """Which rule, and the line of SGLang that says so."""
    if source is None:
        return f"{rule.id} (a rule of sglang-preflight)"
    return f"{rule.id}, SGLang {source.release} {source.file}:{source.line}"


def wrapped(text: str, indent: str = "", first: str | None = None, width: int = WIDTH) -> str:
    """A paragraph within ``width`` columns."""
    return textwrap.fill(
        " ".join(text.split()),
        width,
        initial_indent=indent if first is None else first,
        subsequent_indent=indent,
        break_long_words=False,
        break_on_hyphens=False,
    )


def remarks(release: str, asked: str, inferred: Sequence[str]) -> list[str]:
    """What to know before an answer: that it is another release's than was asked about, and what had to be inferred."""
    notes = [f"Note: {cut_path(note)}" for note in inferred]
    if asked.removeprefix("v") == release:
        return notes
    ours, theirs = release_key(release), release_key(asked)
    which = "" if ours == theirs else f", the {'newest older' if ours < theirs else 'oldest'} release that was,"
    return [f"Warning: SGLang {asked} was not read; this is what {release}{which} does.", *notes]


def finding_message(finding: Finding) -> str:
    """What is so and why, in one paragraph."""
    rule = finding.rule
    return f"{rule.title}: {' '.join(rule.reason.split())}" if rule.reason else rule.title


_REFUSALS = {
    "ambiguous-option": "{option} is short for several options: {candidates}",
    "unknown-option": "SGLang {release} has no option {word}",
    "unexpected-word": "the word {word!r} belongs to no option",
    "missing-value": "{option} needs a value",
    "takes-no-value": "{option} takes no value",
    "bad-value": "{word!r} is no value for {option}: it wants {expected}",
    "bad-choice": "{word!r} is no value of {option}",
    "retired-option": "{option} is retired: SGLang {release} refuses it",
    "missing-required": "{option} is missing",
    "help": "the command asks for help and starts nothing",
    "crash": "SGLang {release} crashes while it reads {option}",
    "unbalanced-quote": "a quote is opened and never closed",
    "trailing-backslash": "the text ends in a backslash",
    "no-command": "this is no SGLang launch command",
    "config-twice": "--config is given twice",
    "config-missing-name": "--config needs a file",
    "config-not-yaml": "the file of --config must end in .yaml or .yml",
    "config-not-found": "the file of --config is not there: {word}",
    "config-unreadable": "the file of --config cannot be read: {word}",
    "config-not-mapping": "the file of --config must be a mapping of options",
    "config-bad-key": "the file of --config holds a key that SGLang does not take there: {word}",
}
# What a file of SGLang's options says otherwise than a command line.
_OF_KEYS = {
    "ambiguous-option": "the key {option} is short for several options: {candidates}",
    "unknown-option": "SGLang {release} has no option {option}",
    "unexpected-word": "{option} does not take the value {word!r}",
}


def _spelled(refusal: Refusal, options: Sequence[str]) -> list[str]:
    """Options as the user writes them: on a command line, or as keys."""
    return [one.removeprefix("--") if refusal.key else one for one in options]


# What a converter wants, where its name says too little.
_EXPECTED = {
    "int": "a whole number",
    "float": "a number",
    "bool": "true or false",
    "json": "JSON",
    "json_list": "a JSON list",
    "json object": "a JSON object",
    "human_readable_int": "a whole number, such as 4096, 8k or 2Ki",
}
# Of these the word is a path, which is looked for by its end.
_PATHS = frozenset(("config-not-found", "config-unreadable"))


def cut(text: str, place: str = "") -> str:
    """The text with words that no person reads to their end cut short, but for the ``place`` that it speaks of."""
    if len(place) >= _SHOWN:
        return place.join(cut(part) for part in text.split(place))
    return _LONG.sub(lambda found: _begun(found[0]), text)


def cut_path(text: str) -> str:
    """The same for a text whose words may be paths."""
    return _LONGER.sub(lambda found: _begun(found[0]), text)


def refusal_message(refusal: Refusal, release: str) -> str:
    """Why a command line cannot be read."""
    template = _OF_KEYS.get(refusal.reason) if refusal.key else None
    message = (template or _REFUSALS[refusal.reason]).format(
        option=cut(refusal.key or refusal.option),
        word=cut_path(refusal.word) if refusal.reason in _PATHS else cut(refusal.word),
        expected=_EXPECTED.get(refusal.expected, refusal.expected),
        candidates=", ".join(_spelled(refusal, refusal.candidates)),
        release=release,
    )
    if refusal.choices:
        message += "; it takes " + ", ".join(shown(choice) for choice in refusal.choices)
    return message


# What helps where nothing else is known to.
_CURES = {
    "unknown-option": "`preflight flags` lists the options that there are.",
    "unexpected-word": "Quote a value that holds blanks.",
    "missing-value": "Write its value behind it.",
    "takes-no-value": "Leave the value out.",
    "retired-option": "Leave it out.",
    "missing-required": "Add it, with its value.",
    "help": "Leave the option out that asks for it.",
    "unbalanced-quote": UNBALANCED,
    "trailing-backslash": TRAILING,
    "config-twice": "Leave one out.",
    "config-missing-name": "Write its name behind the option.",
    "config-not-yaml": "Rename it.",
    "config-not-found": "Name it as it is seen from the folder of the launch.",
    "config-not-mapping": "Write OPTION: VALUE in each line.",
    "config-bad-key": "Give it on the command line, beside --config.",
}


_CURES_OF_KEYS = {
    "unexpected-word": "Write one value; of a switch true or false.",
    "missing-value": "Write its value behind the colon.",
    "takes-no-value": "Write true, or leave the key out.",
    "help": "Leave the key out that asks for it.",
}


def refusal_hint(refusal: Refusal) -> str:
    """What to do about it."""
    hints = []
    elsewhere = refusal.elsewhere
    if elsewhere is not None:
        if elsewhere.new_flag:
            hints.append(f"Write {_spelled(refusal, [elsewhere.new_flag])[0]} instead.")
        if elsewhere.span.until:
            hints.append(f"{elsewhere.option} is gone since {elsewhere.span.until}.")
        elif elsewhere.span.since and not elsewhere.span.since.startswith("<="):
            hints.append(f"{elsewhere.option} came with {elsewhere.span.since}.")
        if elsewhere.note:
            hints.append(elsewhere.note)
    if refusal.candidates:
        hints.append("Write one of them out: " + ", ".join(_spelled(refusal, refusal.candidates)) + ".")
    elif refusal.near:
        hints.append("Did you mean " + " or ".join(_spelled(refusal, refusal.near)) + "?")
    cures = {**_CURES, **_CURES_OF_KEYS} if refusal.key else _CURES
    return " ".join(hints) or cures.get(refusal.reason, "")
