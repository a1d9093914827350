"""Text that may hold what a terminal obeys instead of showing it -> text that only shows.

Control characters come from the files and words that are asked about. They are written out wherever the text goes: what
is not a terminal now may be shown on one later.
"""

from __future__ import annotations

import re

# Also what turns the direction of writing, and with it what a person reads. An end of line may have two characters.
_OBEYED = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069]|\r(?!\n)")


def visible(text: str) -> str:
    """The text with control characters, other than ends of lines and tabs, as Python writes them."""
    return _OBEYED.sub(lambda found: found[0].encode("unicode_escape").decode(), text)


def visible_json(text: str) -> str:
    """The same for a text of JSON, as JSON writes them."""
    if text.isascii() and "\x7f" not in text:  # every other control character of ASCII is written out by JSON itself
        return text
    return _OBEYED.sub(lambda found: f"\\u{ord(found[0]):04x}", text)
