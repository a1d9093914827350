"""The bytes of a file -> its text, or an InputError: too large, binary, or in no encoding of text."""

from __future__ import annotations

import codecs
from pathlib import PurePath

from ..errors import InputError
from .kinds import SHELL

# The largest launch files are generated manifests of some hundred kilobytes.
MAX_BYTES = 1024 * 1024
_MARKS = ((codecs.BOM_UTF8, "utf-8"), (codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF16_BE, "utf-16-be"))


def decode(data: bytes, name: str) -> str:
    """The text of ``data``, without its byte order mark.

    Raises InputError.
    """
    if len(data) > MAX_BYTES:
        raise InputError(
            f"larger than the {MAX_BYTES >> 20} MB a launch file can have", name, "Give the file that launches SGLang."
        )
    encoding = "utf-8"
    for mark, named in _MARKS:
        if data.startswith(mark):
            data, encoding = data[len(mark) :], named
            break
    else:
        encoding = _unmarked(data)
    try:
        text = data.decode(encoding)
    except UnicodeDecodeError as fault:
        line = data[: fault.start].count(b"\n") + 1
        raise InputError(
            f"not a text file: line {line} is not {encoding.upper()}", name, "Give a command, a script or a manifest."
        ) from None
    if encoding.startswith("utf-16") and PurePath(name).suffix.lower() in SHELL:
        raise InputError(
            f"saved as {encoding.upper()}, which no shell can run", name, "Save it as UTF-8: iconv -f UTF-16 -t UTF-8"
        )
    if "\x00" in text:
        raise InputError("not a text file: it holds NUL characters", name, "Give a command, a script or a manifest.")
    return text


def _unmarked(data: bytes) -> str:
    """UTF-16 without its mark shows by every second byte of plain text being zero."""
    head = data[:64]
    if len(head) >= 4 and len(head) % 2 == 0:
        if not any(head[1::2]) and all(head[::2]):
            return "utf-16-le"
        if not any(head[::2]) and all(head[1::2]):
            return "utf-16-be"
    return "utf-8"
