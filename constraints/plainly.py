"""An exception of Python or its libraries -> what is wrong, in words that a person who never met Python understands."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping

# What the JSON reader stumbles over, by the beginning of its own words.
_JSON = {
    "Expecting value": "a value is missing",
    "Expecting property name": "a key in double quotes is missing",
    "Expecting ',' delimiter": "a comma or a closing bracket is missing",
    "Expecting ':' delimiter": "a colon is missing",
    "Extra data": "more follows after its end",
    "Illegal trailing comma": "a comma stands before a closing bracket",
    "Invalid \\": "a backslash is followed by what it cannot be",
    "Invalid control character": "a text goes over the end of its line",
    "Unterminated string": "a text is not closed",
}
_OTHERS = {
    "Exceeds the limit": "a number has too many digits",
    "No closing quotation": "a quote is opened and never closed",
    "No escaped character": "the text ends in a backslash",
    "embedded null byte": "a name holds a NUL character",
}


def plainly(fault: BaseException) -> str:
    """What went wrong, as a clause without a capital and a full stop."""
    if isinstance(fault, json.JSONDecodeError):
        return f"{_said(fault.msg, _JSON) or 'it is not JSON'} at line {fault.lineno}, column {fault.colno}"
    if isinstance(fault, UnicodeError):
        return "it is no text in UTF-8"
    if isinstance(fault, RecursionError):
        return "it is nested too deeply"
    if isinstance(fault, OSError):
        return _refused(fault)
    text = str(fault).strip()
    return _said(text, _OTHERS) or text or "nobody says why"


def _said(text: str, table: Mapping[str, str]) -> str:
    return next((said for begin, said in table.items() if text.startswith(begin)), "")


def _refused(fault: OSError) -> str:
    """What the system says by its number, else what the library says that made it one of these without a number."""
    if isinstance(fault.errno, int) and fault.errno > 0 and not fault.strerror:
        text = os.strerror(fault.errno)
    else:
        text = str(fault.strerror or fault).strip().rstrip(".") or "the system refuses it"
    # A name in capitals keeps them.
    return text[:1].lower() + text[1:] if text[1:2].islower() else text
