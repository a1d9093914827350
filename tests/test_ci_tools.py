"""CI and shells: the steps of the action as a runner runs them, the hooks, completion in a real bash."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from constraints import store
from constraints.read import read_file

ROOT = Path(__file__).resolve().parents[1]
INTAKE = Path(__file__).parent / "data" / "intake"
BASH = shutil.which("bash")
needs_bash = pytest.mark.skipif(BASH is None, reason="there is no bash")


@pytest.fixture
def path(tmp_path: Path) -> str:
    """A PATH on which `preflight` is this program."""
    script = tmp_path / "bin" / "preflight"
    script.parent.mkdir()
    code = f"import sys; sys.path.insert(0, {str(ROOT)!r}); from solver.cli import main; main()"
    # As pip writes a console script: the program knows its name by the file.
    script.write_text(f"#!{sys.executable}\n{code}\n")
    script.chmod(0o755)
    return f"{script.parent}{os.pathsep}{os.environ['PATH']}"


def checked(tmp_path: Path, path: str, **inputs: str) -> tuple[int, str, str]:
    """The action's last step, run as a runner does: its inputs by name, with their defaults."""
    action = read_file(ROOT / "action.yml")
    values = {name: str(one.get("default") or "") for name, one in action["inputs"].items()} | inputs
    step = next(one for one in action["runs"]["steps"] if one.get("id") == "check")
    environment = {"PATH": path, "GITHUB_OUTPUT": str(tmp_path / "outputs"), "HOME": str(tmp_path)}
    for name, text in step["env"].items():
        environment[name] = values[text.removeprefix("${{ inputs.").removesuffix(" }}")]
    script = tmp_path / "step.sh"
    script.write_text(step["run"])
    words = [str(BASH), "--noprofile", "--norc", "-eo", "pipefail", str(script)]
    done = subprocess.run(
        words, capture_output=True, text=True, env=environment, cwd=tmp_path / "repo", check=False, timeout=120
    )
    outputs = tmp_path / "outputs"
    return done.returncode, done.stdout + done.stderr, outputs.read_text() if outputs.exists() else ""


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    """A repository with files that launch SGLang, good and bad."""
    place = tmp_path / "repo"
    (place / "deploy" / "a b").mkdir(parents=True)
    good = "python3 -m sglang.launch_server --model-path Qwen/Qwen3-8B\n"
    (place / "good.sh").write_text(good)
    (place / "deploy" / "bad.sh").write_text(good.strip() + " --attention-backend trtllm_mla\n")
    (place / "deploy" / "a b" / "deep.sh").write_text(good)
    return place


@needs_bash
def test_the_action_annotates(tmp_path: Path, path: str, repo: Path) -> None:
    code, said, outputs = checked(tmp_path, path, files="good.sh deploy/*.sh", gpu="H200")
    assert code == 1, said
    assert "::error file=deploy/bad.sh,line=1,col=" in said
    assert outputs == "holds=false\n"


@needs_bash
def test_the_action_says_yes(tmp_path: Path, path: str, repo: Path) -> None:
    code, said, outputs = checked(
        tmp_path, path, files="good.sh\ndeploy/*/deep.sh", gpu="H200", output="out.sarif", format="sarif"
    )
    assert code == 0, said
    assert outputs == "holds=true\n"
    assert (repo / "out.sarif").read_text().startswith("{")


@needs_bash
@pytest.mark.parametrize(
    ("files", "gpu", "said"),
    [
        ("nothing*.sh", "H200", "no file matches"),
        ("good.sh", "", "which GPU"),
        ("good.sh", "$(touch evil)", "no GPU is called"),
        ("$(touch evil)", "H200", ""),
        ("good.sh; touch evil", "H200", ""),
    ],
)
def test_the_action_says_what_is_wrong(tmp_path: Path, path: str, repo: Path, files: str, gpu: str, said: str) -> None:
    code, text, outputs = checked(tmp_path, path, files=files, gpu=gpu)
    assert code == 2, text
    assert said in text
    assert "true" not in outputs
    assert not (repo / "evil").exists()


def hooks() -> list[Any]:
    found: list[Any] = read_file(ROOT / ".pre-commit-hooks.yaml")
    return found


@needs_bash
@pytest.mark.parametrize("number", [0, 1])
def test_hooks_run_as_pre_commit_runs_them(number: int, path: str, repo: Path) -> None:
    hook = hooks()[number]
    bad, good = repo / "deploy" / "bad.sh", repo / "good.sh"
    words = [*shlex.split(hook["entry"]), "H200", str(bad), str(good)]
    environment = {"PATH": path, "HOME": str(repo)}
    first = subprocess.run(words, capture_output=True, text=True, env=environment, check=False, timeout=120)
    if hook["id"].endswith("-fix"):
        assert first.returncode == 0, first.stderr
        assert "trtllm_mla" not in bad.read_text()
        assert good.read_text().count("\n") == 1
    else:
        assert first.returncode == 1
        assert "trtllm-mla-needs-mla" in first.stdout


def test_hooks_take_the_files_that_launch() -> None:
    import re

    for hook in hooks():
        taken = re.compile(hook["files"])
        for name in (
            "deploy/sglang.yaml",
            "run_sglang.sh",
            "x/sglang@.service",
            "docker/Dockerfile.sglang",
            "SGLang-a.yml",
        ):
            assert taken.search(name), name
        for name in ("README.md", "compose.yaml", "sglang/model.py", "sglang.yaml.j2"):
            assert not taken.search(name), name


@needs_bash
def test_completion_in_a_shell(path: str, tmp_path: Path) -> None:
    pexpect = pytest.importorskip("pexpect")
    # The script that --install-completion would put into place.
    made = subprocess.run(
        ["preflight", "--show-completion", "bash"],
        capture_output=True, text=True, env={"PATH": path, "HOME": str(tmp_path)}, check=True, timeout=60,
    )  # fmt: skip
    environment = {"PATH": path, "HOME": str(tmp_path), "TERM": "dumb", "PS1": "ready> ", "INPUTRC": "/dev/null"}
    # A person has used the command before: its knowledge is read, which a completion does not wait for.
    environment["XDG_CACHE_HOME"] = os.environ.get("XDG_CACHE_HOME", str(Path.home() / ".cache"))
    store.knowledge_of(store.known_releases()[-1])
    shell = pexpect.spawn(
        str(BASH), ["--noprofile", "--norc", "-i"], env=environment, encoding="utf-8", timeout=40, dimensions=(60, 200)
    )
    try:
        file = tmp_path / "complete.sh"
        file.write_text(made.stdout)
        shell.sendline(f"PS1='ready> '; source {file}; echo sour''ced")
        shell.expect("sourced\r\nready> ")
        for typed, offered in (
            ("preflight rec\t", "recommend"),
            ("preflight recommend Qwen/Qwen3-8\t", "Qwen/Qwen3-8B"),
            ("preflight recommend Qwen/Qwen3-8B 8xB2\t", "8xB200"),
            ("preflight check --release 0.5.1\t", "0.5.18"),
        ):
            shell.send(typed)
            shell.expect_exact(offered)
            shell.sendcontrol("c")
            shell.expect_exact("ready> ")
    finally:
        shell.close(force=True)
