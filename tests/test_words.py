"""The text of a shell command line, read as a shell would."""

from __future__ import annotations

import shlex

import pytest

from solver.intake.refusal import Refusal
from solver.intake.words import CommandLine, read_command


def command(text: str) -> CommandLine:
    found = read_command(text)
    assert isinstance(found, CommandLine), found
    return found


@pytest.mark.parametrize(
    ("text", "arguments", "env", "entry"),
    [
        ("--tp 8", ["--tp", "8"], {}, ""),
        ("python3 -m sglang.launch_server --tp 8", ["--tp", "8"], {}, "launch_server"),
        ("A=1 B='x y' python -m sglang.launch_server --tp 8", ["--tp", "8"], {"A": "1", "B": "x y"}, "launch_server"),
        ("A=1 --tp 8", ["--tp", "8"], {"A": "1"}, ""),
        ("sglang serve m --tp 8", ["m", "--tp", "8"], {}, "serve"),
        ("/opt/venv/bin/sglang serve --tp 8", ["--tp", "8"], {}, "serve"),
        ("export A=1\ncd /x && sglang serve m > log 2>&1 &", ["m"], {"A": "1"}, "serve"),
        ("env -u X A=1 sglang serve m", ["m"], {"A": "1"}, "serve"),
        ("docker run -e A=1 --env B=2 img python3 -m sglang.launch_server --tp 8", ["--tp", "8"], {"A": "1", "B": "2"},
         "launch_server"),
        ("torchrun --nnodes 2 sglang/launch_server.py --tp 8", ["--tp", "8"], {}, "launch_server"),
        ("sglang serve m \\\n  --tp 8 \\\n  # more\n", ["m", "--tp", "8"], {}, "serve"),
        ("sglang serve m --x '{\"a\": 1}' --y \"b\\\"c\" --z a\\ b",
         ["m", "--x", '{"a": 1}', "--y", 'b"c', "--z", "a b"], {}, "serve"),
        ("sglang serve m --tp 2 | tee log", ["m", "--tp", "2"], {}, "serve"),
        ("sglang serve ${MODEL:-a b} --x a#b", ["a", "b", "--x", "a#b"], {}, "serve"),
        ("docker run -e A=1 img bash -lc 'B=2 sglang serve m --x'", ["m", "--x"], {"A": "1", "B": "2"}, "serve"),
        ("sglang serve m --x ''", ["m", "--x", ""], {}, "serve"),
    ],
)  # fmt: skip
def test_shell(text: str, arguments: list[str], env: dict[str, str], entry: str) -> None:
    found = command(text)
    assert [word.text for word in found.arguments] == arguments
    assert dict(found.env) == env
    assert found.entry == entry


def test_places() -> None:
    words = command("sglang serve m \\\n  --tp '8'").arguments
    assert [(word.line, word.column) for word in words] == [(1, 14), (2, 3), (2, 8)]
    inner = command("bash -c 'sglang serve m --tp 8'").arguments
    assert [word.column for word in inner] == [23, 25, 30]
    assert command("sglang serve $MODEL '$X'").arguments[0].open
    assert not command("sglang serve $MODEL '$X'").arguments[1].open


@pytest.mark.parametrize(
    ("text", "reason", "place"),
    [
        ("sglang serve 'm", "unbalanced-quote", (1, 14)),
        ('sglang serve m\n--x "a', "unbalanced-quote", (2, 5)),
        ("sglang serve m\\", "trailing-backslash", (1, 15)),
        ("ls -l", "no-command", (1, 1)),
        ("", "no-command", (0, 0)),
        ("sglang serve ${x", "unbalanced-quote", (1, 14)),
    ],
)
def test_unreadable(text: str, reason: str, place: tuple[int, int]) -> None:
    found = read_command(text)
    assert isinstance(found, Refusal)
    assert (found.reason, (found.line, found.column)) == (reason, place)


@pytest.mark.parametrize(
    "words", [["a b", ""], ["'", '"', "\\"], ["a\nb", "$x", "#"], ['{"a": [1, "b c"]}'], ["é", "a'b\"c"]]
)
def test_as_shlex_quotes(words: list[str]) -> None:
    assert [word.text for word in command("sglang serve " + shlex.join(words)).arguments] == words
