"""A pasted log or traceback -> the last failure in it (frames, error, message), the arguments it prints, its command.

Prefixes of containers and loggers may stand before every line. Nothing here knows SGLang's messages.
"""

from __future__ import annotations

import ast
import re
from collections import deque
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from constraints.values import Value

# Python recurses no deeper by itself; the last ones say where it failed.
_MOST_FRAMES = 1000
# What colours a terminal, which loggers write into files as well.
_COLOURS = re.compile(r"\x1b\[[0-9;:]{0,32}[mK]")
_FRAME = re.compile(r'File "(?P<file>[^"]+)", line (?P<line>\d{1,9})(?:, in (?P<function>[\w.<>]+))?')
_ERROR = re.compile(
    r"(?:^|[\s|:\]])(?P<type>(?:[A-Za-z_]\w*\.)*(?:[A-Z]\w*(?:Error|Exception|Exit|Interrupt)|Exception))"
    r"(?:: ?(?P<text>.*))?$"
)
_USAGE = re.compile(r"(?:^|\s)[\w./-]+: error: (?P<text>.+)$")
_ARGUMENTS = re.compile(r"server_args\s*=\s*(?:ServerArgs\(|\{)")
_PAIR = re.compile(r"\s*,?\s*(?:'(?P<key>\w+)'\s*:|(?P<name>\w+)\s*=)\s*")
_LAUNCH = re.compile(r"sglang\.launch_server|sglang/launch_server\.py|\bsglang serve\b")
_NUMBER = r"[0-9]{1,9}"
_RELEASE = re.compile(
    rf"sglang(?:[-_ =:]|version|v)*['\"]?({_NUMBER}\.{_NUMBER}\.{_NUMBER}(?:\.?(?:post|rc|dev){_NUMBER})?)",
    re.IGNORECASE,
)
_PACKAGE = re.compile(r"(?:^|/)sglang/(?=srt/|kernels/|launch_server|cli/)")
_PREFIX = re.compile(r"^(?:\S+\s*\|\s?|\[[^\]]*\]\s*|\d{4}-\d\d-\d\d[T ]\S+\s+(?:stderr F |stdout F )?)+")
MAX_CHARACTERS = 20_000_000
# The longest lines that servers print are their arguments: some 20,000 characters.
_LONGEST_LINE = 60_000


@dataclass(frozen=True, slots=True)
class Frame:
    """One line of a traceback; ``file`` below the sglang package."""

    file: str
    line: int
    function: str


@dataclass(frozen=True, slots=True)
class Log:
    """What a log says of one failure.

    ``usage``: the message is the argument parser's. ``arguments`` are printed values by name (None where it prints
    none); ``command`` the text of a launch. ``releases`` are those it names.
    """

    frames: tuple[Frame, ...] = ()
    error: str = ""
    message: str = ""
    usage: bool = False
    arguments: Mapping[str, Value] | None = None
    command: str = ""
    releases: tuple[str, ...] = ()
    text: str = field(default="", repr=False)


def read_log(text: str) -> Log:
    """The first failure of a log that has frames of the server, else the last message that looks like one."""
    text = _COLOURS.sub("", text[:MAX_CHARACTERS]).replace("\r\n", "\n").replace("\r", "\n").replace("\x00", "")
    lines = [_ends(line) for line in text.split("\n")]
    text = "\n".join(lines)
    failures = list(_failures(lines))
    ours = [one for one in failures if one[0]]
    frames, error, message = ours[0] if ours else failures[-1] if failures else ((), "", "")
    usage = False
    if not ours and (found := next((hit for line in lines if (hit := _USAGE.search(line))), None)):
        message, error, usage = found["text"].strip(), "", True
    if not message and not frames and len(text) < 2000 and not failures:
        message = " ".join(text.split())
    return Log(
        frames,
        error,
        message,
        usage,
        _arguments(text),
        _command(lines),
        tuple(dict.fromkeys(found[1] for found in _RELEASE.finditer(text))),
        text,
    )


def _ends(line: str) -> str:
    """A line without the middle of one that is longer than any server prints."""
    if len(line) <= _LONGEST_LINE:
        return line
    return f"{line[: _LONGEST_LINE // 2]} ... {line[-_LONGEST_LINE // 2 :]}"


def _failures(lines: list[str]) -> Iterator[tuple[tuple[Frame, ...], str, str]]:
    """Each error line with the frames that lead to it; messages may go on over several lines."""
    frames: deque[Frame] = deque(maxlen=_MOST_FRAMES)
    for place, line in enumerate(lines):
        if "Traceback (most recent call last)" in line:
            frames.clear()
        if found := _FRAME.search(line):
            inside = _PACKAGE.search(found["file"])
            if inside:
                frames.append(Frame(found["file"][inside.end() :], int(found["line"]), found["function"] or ""))
            continue
        if found := _ERROR.search(line):
            yield (
                tuple(frames),
                found["type"].rpartition(".")[2],
                _whole(found["text"] or "", lines[place + 1 : place + 13]),
            )
            frames.clear()


def _whole(first: str, following: list[str]) -> str:
    """A message with the lines it goes on for: up to an empty line or what begins anew."""
    parts = [first]
    for line in following:
        if not line.strip() or _PREFIX.match(line) or "Traceback" in line or _FRAME.search(line) or _ERROR.search(line):
            break
        parts.append(line)
    return " ".join(" ".join(parts).split())


def _arguments(text: str) -> dict[str, Value] | None:
    """The printed values of `server_args=`; those that are no plain values are left out."""
    begun = list(_ARGUMENTS.finditer(text))
    if not begun:
        return None
    found: dict[str, Value] = {}
    place = begun[-1].end()
    while pair := _PAIR.match(text, place):
        end = _end(text, pair.end())
        value = _plain(text[pair.end() : end])
        if value is not _OPAQUE:
            found[pair["key"] or pair["name"]] = value
        place = end
    return found


def _end(text: str, place: int) -> int:
    """Where the value at ``place`` ends: at a comma or a closing bracket outside of brackets and quotes."""
    depth, quote = 0, ""
    while place < len(text):
        sign = text[place]
        if quote:
            if sign == "\\":
                place += 1
            elif sign == quote:
                quote = ""
        elif sign in "'\"":
            quote = sign
        elif sign in "([{<":
            depth += 1
        elif sign in ")]}>":
            if depth == 0:
                return place
            depth -= 1
        elif (sign == "," and depth == 0) or sign == "\n":
            return place
        place += 1
    return place


_OPAQUE = object()


def _plain(text: str) -> Value:
    try:
        value = ast.literal_eval(text.strip())
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return _OPAQUE  # type: ignore[return-value]
    if isinstance(value, list | tuple):
        return tuple(value) if all(isinstance(one, str | int | float | bool) for one in value) else _OPAQUE  # type: ignore[return-value]
    return value if value is None or isinstance(value, str | int | float | bool) else _OPAQUE  # type: ignore[return-value]


def _command(lines: list[str]) -> str:
    """The last launch in the log, with the lines it goes on for, without what a logger or a prompt put before it."""
    for place in range(len(lines) - 1, -1, -1):
        line = lines[place]
        found = _LAUNCH.search(line)
        if not found or _FRAME.search(line) or _USAGE.search(line) or line.lstrip().startswith("usage:"):
            continue
        words = line[: found.start()].split()
        begin = line[found.start() :]
        while words and re.fullmatch(r"python[\d.]*|\S*/python[\d.]*|-m|[A-Z_][A-Z0-9_]*=\S*", words[-1]):
            begin = f"{words.pop()} {begin}"
        parts = [begin]
        while parts[-1].rstrip().endswith("\\") and place + 1 < len(lines):
            place += 1
            parts.append(_PREFIX.sub("", lines[place]))
        return "\n".join(parts)
    return ""
