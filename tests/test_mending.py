"""`check --fix` and `--diff`: the file is mended where it stands, holds afterwards, and keeps everything else."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from solver.cli.app import run

DATA = Path(__file__).parent / "data" / "intake"
MENDED: list[tuple[str, str | None, list[str], list[str]]] = [
    ("compose-list.yml", "H200", ["- --attention-backend", "- trtllm_mla   # fast"], []),
    ("k8s-service.yaml", None, [', "--attention-backend", "trtllm_mla"'], []),
    ("server-config-dsv3.yml", "8xH200", ["attention-backend: trtllm_mla"], []),
    ("Dockerfile.shell", "2xB200", ["--attention-backend trtllm_mla"], []),
    ("qwq-x8.sh", "H100", ["--attention-backend trtllm_mla"], []),
    ("spaces.yaml", "1xH100", [], []),
]


@pytest.mark.parametrize(("name", "gpu", "gone", "kept"), MENDED, ids=[one[0] for one in MENDED])
def test_a_mended_file_holds(
    name: str, gpu: str | None, gone: list[str], kept: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / name
    shutil.copy(DATA / name, file)
    before = file.read_bytes()
    words = ["check", *([gpu] if gpu else []), str(file)]
    assert run([*words, "--diff"]) == 1
    assert file.read_bytes() == before
    shown = capsys.readouterr()
    assert shown.out.startswith("--- a/")
    assert run([*words, "--fix"]) == 0, capsys.readouterr().err
    after = file.read_bytes()
    assert after != before
    for text in gone:
        assert text.encode() in before
        assert text.encode() not in after
    # Every other line is as it was.
    removed = [row for row in before.splitlines() if row not in after.splitlines()]
    assert 0 < len(removed) <= 2
    assert (b"\r\n" in before) == (b"\r\n" in after)
    assert run(words) == 0
    capsys.readouterr()


def test_a_file_that_holds_is_left_alone(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "pair-good.sh"
    shutil.copy(DATA / "pair-good.sh", file)
    before = file.read_bytes()
    assert run(["check", "2xH100", str(file), "--fix", "--diff"]) == 0
    assert file.read_bytes() == before
    assert "holds as it is" in capsys.readouterr().err


def test_what_flags_cannot_mend_is_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "typo.sh"
    file.write_text("python3 -m sglang.launch_server --model-path Qwen/Qwen3-8B --attention-backend flashinfr\n")
    assert run(["check", "H100", str(file), "--fix"]) == 1
    assert "no change of flags" in capsys.readouterr().err


BESIDE = (
    "python3 -m sglang.launch_server --model-path Qwen/Qwen3-8B --config {} --page-size 7 --chunked-prefill-size 100\n"
)


def test_words_beside_a_file_of_options_are_the_ones_that_change(tmp_path: Path) -> None:
    """Places count the settings of that file: the words that went were some others."""
    (tmp_path / "a.yaml").write_text("port: 4\nhost: 0.0.0.0\n")
    file = tmp_path / "run.sh"
    file.write_text(BESIDE.format("a.yaml"))
    assert run(["check", "H100", str(file), "--fix"]) == 0
    assert file.read_text() in (
        BESIDE.format("a.yaml").replace(" --page-size 7", ""),
        BESIDE.format("a.yaml").replace(" --chunked-prefill-size 100", ""),
    )


def test_a_way_out_that_cannot_be_written_is_not_denied(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "a.yaml").write_text("attention-backend: flashmla\nport: 4\n")
    file = tmp_path / "run.sh"
    file.write_text("python3 -m sglang.launch_server --model-path Qwen/Qwen3-8B --config a.yaml\n")
    assert run(["check", "H100", str(file), "--diff"]) == 1
    assert "helps (see the ways out), and cannot be written here" in capsys.readouterr().err


def test_the_first_word_of_a_folded_line_leaves_the_indent(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Without it the text ended there, and it was said that nothing helps."""
    file = tmp_path / "compose.yaml"
    file.write_text(
        "services:\n  a:\n    command: >\n      python3 -m sglang.launch_server --model-path Qwen/Qwen3-8B\n"
        "      --attention-backend flashmla --host 0.0.0.0\n"
    )
    assert run(["check", "H100", str(file), "--fix"]) == 0, capsys.readouterr().err
    assert file.read_text().endswith("Qwen/Qwen3-8B\n      --host 0.0.0.0\n")
