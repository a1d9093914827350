"""Environment variables in files: quoted signs, variables of variables, and what the file leaves to somebody else."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from constraints import store
from solver.cli.app import run
from solver.file_check import Asked, FileChecker
from solver.intake.files import read_launches
from solver.intake.launch import Launch

FLAGS = store.knowledge_of(store.known_releases()[-1]).flags
LAUNCH = "python3 -m sglang.launch_server --model-path Qwen/Qwen3-8B"
LIST = "[python3, -m, sglang.launch_server, --model-path, Qwen/Qwen3-8B]"


def launch(text: str, file: str) -> Launch:
    (found,) = read_launches(text, file, FLAGS)
    return found


def pod(env: str, command: str = LIST) -> str:
    return f"apiVersion: v1\nkind: Pod\nspec:\n  containers:\n  - name: a\n    env: {env}\n    command: {command}\n"


def compose(env: str, command: str = LAUNCH) -> str:
    return f"services:\n  a:\n    environment:\n      {env}\n    command: {command}\n"


SHELL = {
    f"A='x$y' {LAUNCH}": {"A": "x$y"},
    f'A="x\\$y" {LAUNCH}': {"A": "x$y"},
    f"A=x\\$y {LAUNCH}": {"A": "x$y"},
    f"A='$1 & `b`' {LAUNCH}": {"A": "$1 & `b`"},
    f"A=$'x\\ny' {LAUNCH}": {"A": "x\ny"},
    f"export A='x$y'\nB=\"z$A\" {LAUNCH}": {"A": "x$y", "B": "zx$y"},
    f"export A=1\nexport A=$A:2\n{LAUNCH}": {"A": "1:2"},
    f"A='$B'\"$B\" {LAUNCH}": {},
    f"B=1 A='$B'\"$B\" {LAUNCH}": {"B": "1", "A": "$B1"},
    f"docker run -e A='p$q' -e B=\"$HOME\" img {LAUNCH}": {"A": "p$q"},
}
DOCKER = {
    "ENV A='x$y'": {"A": "x$y"},
    'ENV A="x\\$y" B="c d"': {"A": "x$y", "B": "c d"},
    "ENV A=it\\ is B=a;b": {"A": "it is", "B": "a;b"},
    "ENV A=1\nENV B=$A A=2 C=$A": {"A": "2", "B": "1", "C": "1"},
    "ENV A the rest 5": {"A": "the rest 5"},
    "ENV A=1 \\\n  # why\n  B='#2'": {"A": "1", "B": "#2"},
    "ENV A=1\nENV A=$NOBODY": {},
}
KUBERNETES = {
    "[{name: A, value: 'x$y'}, {name: B, value: '$(A)z'}]": {"A": "x$y", "B": "x$yz"},
    "[{name: A, value: '1'}, {name: B, value: '$$(A)'}]": {"A": "1", "B": "$(A)"},
    "[{name: B, value: '$(A)'}, {name: A, value: '1'}]": {"A": "1", "B": "$(A)"},
    "[{name: A, valueFrom: {fieldRef: {fieldPath: x}}}]": {},
}
COMPOSE = {
    "A: x$$y": {"A": "x$y"},
    "- A=x$$y\n      - 'B=$HOME'": {"A": "x$y"},
    "A: ${X:-y}": {"A": "y"},
    "A: '$$$$'": {"A": "$$"},
}
UNIT = {"Environment=\"A=x$y\" B=p$$q 'C=$HOME'": {"A": "x$y", "B": "p$$q", "C": "$HOME"}}
CASES = [
    *[(f"{text}", "a.sh", env) for text, env in SHELL.items()],
    *[(f"FROM lmsysorg/sglang:v0.5.23\n{text}\nCMD {LAUNCH}\n", "Dockerfile", env) for text, env in DOCKER.items()],
    *[(pod(text), "pod.yaml", env) for text, env in KUBERNETES.items()],
    *[(compose(text), "compose.yaml", env) for text, env in COMPOSE.items()],
    *[(f"[Service]\n{text}\nExecStart=/bin/env {LAUNCH}\n", "a.service", env) for text, env in UNIT.items()],
]


@pytest.mark.parametrize(("text", "file", "env"), CASES)
def test_values_are_what_the_server_sees(text: str, file: str, env: Mapping[str, str]) -> None:
    assert dict(launch(text, file).env) == env


def test_a_script_in_compose_sees_its_container() -> None:
    script = """[bash, -c, 'exec python3 -m sglang.launch_server --model-path Qwen/Qwen3-8B --tp $$TP']"""
    found = launch(compose("TP: '4'", script), "compose.yaml")
    assert [word.text for word in found.arguments][-2:] == ["--tp", "4"]


@pytest.mark.parametrize(
    ("text", "file", "place"),
    [
        (compose("SGLANG_USE_AITER: ${X}"), "compose.yaml", (4, 7)),
        (compose("SGLANG_USE_AITER:"), "compose.yaml", (4, 7)),
        (compose("- SGLANG_USE_AITER"), "compose.yaml", (4, 9)),
        (pod("[{name: SGLANG_USE_AITER, valueFrom: {x: y}}]"), "pod.yaml", (6, 11)),
        (pod("[{name: SGLANG_USE_AITER, value: '{{ .Values.x }}'}]"), "pod.yaml", (6, 43)),
        (f"FROM x\nENV SGLANG_USE_AITER=$X\nCMD {LAUNCH}\n", "Dockerfile", (2, 5)),
        (f"SGLANG_USE_AITER=$X {LAUNCH}\n", "a.sh", (1, 32)),
    ],
)
def test_a_variable_that_is_read_and_not_said_is_told(text: str, file: str, place: tuple[int, int]) -> None:
    report = FileChecker(Asked("MI300X", why=False)).check(text, file)
    (unknown,) = report.launches[0].unknown
    assert unknown.option == "SGLANG_USE_AITER"
    assert (unknown.spot.line, unknown.spot.column) == place


def test_a_variable_that_nothing_reads_is_not_told() -> None:
    report = FileChecker(Asked("H100", why=False)).check(compose("OTHER: ${X}"), "compose.yaml")
    assert report.launches[0].unknown == ()


def test_a_quote_that_stays_open_in_env_is_told(tmp_path: object, capsys: pytest.CaptureFixture[str]) -> None:
    from pathlib import Path

    file = Path(str(tmp_path)) / "Dockerfile"
    file.write_text(f"FROM x\nENV A=1 B='c\nCMD {LAUNCH}\n")
    assert run(["check", "H100", str(file)]) == 2
    assert f"{file}:2:11: a quote is opened and never closed" in capsys.readouterr().err
