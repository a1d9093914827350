"""Explanations of different kinds, byte for byte as a person reads them.

To write them anew: `python -m tests.test_golden`, then read each as someone who just lost ten minutes to it.
"""

from __future__ import annotations

import contextlib
import io
import shlex
import sys
from pathlib import Path

import pytest

from solver.cli.app import run

HERE = Path(__file__).resolve().parent
GOLDEN = HERE / "golden"
DEEPSEEK = "--model deepseek-ai/DeepSeek-V3"
COMMANDS = {
    "wrong-gpu": f"check 8xH200 {DEEPSEEK} -- --tp 8 --attention-backend trtllm_mla",
    "wrong-model": "check B200 --model Qwen/Qwen3-8B -- --attention-backend trtllm_mla",
    "wrong-dtype": f"check 8xB200 {DEEPSEEK} -- --tp 8 --attention-backend trtllm_mla --kv-cache-dtype fp8_e5m2",
    "too-few-gpus": "check H100 --model Qwen/Qwen3-8B --no-why -- --tp 2",
    "one-behind-another": f"check 8xH200 {DEEPSEEK} -- --tp 8 --attention-backend trtllm_mla --kv-cache-dtype fp8_e5m2",
    "missing-companion": "check H100 --model meta-llama/Llama-3.1-8B -- "
    "--speculative-algorithm EAGLE --speculative-num-steps 3",
    "value-that-is-gone": f"check 8xB200 {DEEPSEEK} -- --tp 8 --attention-backend cutlass_mla",
    "wanted-outcome": "explain Qwen/Qwen3-8B H200 --set attention_backend=trtllm_mla",
    "kept": f"check 8xH200 --keep attention_backend {DEEPSEEK} -- --tp 8 --attention-backend trtllm_mla",
    "which-gpu": "explain deepseek-ai/DeepSeek-V3 --set attention_backend=trtllm_mla --which gpu",
    "diagnosed": "diagnose tests/data/trtllm_mha.log",
    "unknown-message": "diagnose tests/data/unknown.log",
    "out-of-memory": "diagnose tests/data/out_of_memory.log --gpu 4xH100 --args '--model-path Qwen/Qwen3-32B'",
}


def answer(command: str) -> str:
    """What the command line prints."""
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        run([str(HERE.parent / word) if word.startswith("tests/") else word for word in shlex.split(command)])
    return out.getvalue()


@pytest.mark.parametrize("name", COMMANDS)
def test_golden(name: str) -> None:
    assert answer(COMMANDS[name]) == (GOLDEN / f"{name}.txt").read_text(encoding="utf-8")


@pytest.mark.parametrize("path", sorted(GOLDEN.glob("*.txt")), ids=lambda path: path.stem)
def test_fits_a_terminal(path: Path) -> None:
    assert path.stem in COMMANDS
    assert max(len(line) for line in path.read_text(encoding="utf-8").splitlines()) <= 80


if __name__ == "__main__":
    for name in sys.argv[1:] or COMMANDS:
        (GOLDEN / f"{name}.txt").write_text(answer(COMMANDS[name]), encoding="utf-8")
