"""A message of Python's argument parser -> the refusal it reports, as far as its words say."""

from __future__ import annotations

import re
from collections.abc import Mapping

from constraints.schema import Elsewhere, Flags

from .command import parse_arguments, words_of
from .refusal import Reason, Refusal

# Wordings of Python's argparse, 3.9 to 3.14.
_WORDINGS: tuple[tuple[Reason, re.Pattern[str]], ...] = (
    ("bad-choice", re.compile(r"argument (?P<option>[^:]+): invalid choice: '?(?P<word>[^' ]+)'?")),
    ("bad-value", re.compile(r"argument (?P<option>[^:]+): invalid \S+ value: '(?P<word>[^']*)'")),
    ("missing-value", re.compile(r"argument (?P<option>[^:]+): expected (?:one|at least one|\d+) argument")),
    ("takes-no-value", re.compile(r"argument (?P<option>[^:]+): ignored explicit argument '(?P<word>[^']*)'")),
    ("ambiguous-option", re.compile(r"ambiguous option: (?P<word>\S+) could match (?P<candidates>.+)")),
    ("missing-required", re.compile(r"the following arguments are required: (?P<option>\S+)")),
    ("unknown-option", re.compile(r"unrecognized arguments: (?P<word>\S+)")),
)


def read_usage(message: str, flags: Flags, elsewhere: Mapping[str, Elsewhere]) -> Refusal | None:
    """The refusal, with what this release and others know of the option; None for another kind of message."""
    for reason, wording in _WORDINGS:
        found = wording.search(message)
        if found is None:
            continue
        said = found.groupdict()
        option = (said.get("option") or "").split("/")[0].split(",")[0]
        word = said.get("word") or ""
        words = {"missing-value": [option], "missing-required": []}.get(reason, [one for one in (option, word) if one])
        again = parse_arguments(words_of(words), flags, needs_model=False, elsewhere=elsewhere)
        if isinstance(again, Refusal) and again.reason == reason:
            return again
        candidates = tuple(one.strip() for one in (said.get("candidates") or "").split(",") if one.strip())
        return Refusal(reason, option, word=word, candidates=candidates, expected="another value")
    return None
