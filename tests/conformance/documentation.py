"""SGLang's published support matrix of attention backends -> commands that show whether its code agrees.

    python -m tests.conformance.documentation --release 0.5.23 --out CASES.jsonl

The matrix is `docs/advanced_features/attention_backend.md` of sgl-project/sglang at commit 0c078e6f. Its marks are
restated here: what a backend can do for models with ordinary heads (MHA) and with latent attention (MLA). Columns
about kernels (native page sizes, chunked prefix) say nothing about what a command may ask, and are left out.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from constraints.knowledge import Knowledge
from constraints.load import load

SOURCE = "docs/advanced_features/attention_backend.md at 0c078e6f"
_NUMBERS = "--speculative-num-steps 3 --speculative-eagle-topk {} --speculative-num-draft-tokens {}"
COLUMNS = {
    "FP8 KV cache": "--kv-cache-dtype fp8_e4m3",
    "FP4 KV cache": "--kv-cache-dtype fp4_mx_block16",
    "speculation, top-k 1": _NUMBERS.format(1, 4),
    "speculation, top-k above 1": _NUMBERS.format(4, 8),
    "sliding window": "",
}
# (kind, row, backend, GPU, marks in the order of COLUMNS: + yes, - no, . not said)
MATRIX = (
    ("MHA", "FlashInfer", "flashinfer", "H100", "+-+++"),
    ("MHA", "FA3", "fa3", "H100", "+-+++"),
    ("MHA", "FA4", "fa4", "B200", "-+---"),
    ("MHA", "Triton", "triton", "H100", "-++++"),
    ("MHA", "Torch Native", "torch_native", "H100", "-+---"),
    ("MHA", "FlexAttention", "flex_attention", "H100", "-+---"),
    ("MHA", "TRTLLM MHA", "trtllm_mha", "B200", "+++-+"),
    ("MHA", "AITER", "aiter", "MI300X", "--++-"),
    ("MHA", "Wave", "wave", "MI300X", "-----"),
    ("MHA", "Intel AMX", "intel_amx", "CPU", "-----"),
    ("MLA", "FlashInfer MLA", "flashinfer", "H100", "-++-."),
    ("MLA", "FlashMLA", "flashmla", "H100", "+-+-."),
    ("MLA", "Cutlass MLA", "cutlass_mla", "B200", "+++-."),
    ("MLA", "TRTLLM MLA", "trtllm_mla", "B200", "+++-."),
    ("MLA", "FA3", "fa3", "H100", "--++."),
    ("MLA", "Triton", "triton", "H100", "--++."),
    ("MLA", "FA4", "fa4", "B200", "-+--."),
)
_EAGLE = ["--speculative-algorithm", "EAGLE3", "--speculative-draft-model-path", "@EAGLE3-LLaMA3.1-8B"]


def cases(knowledge: Knowledge) -> Iterator[dict[str, Any]]:
    """A command for each mark; backends that the release does not have are left out."""
    known = knowledge.flags["attention_backend"].choices or ()
    for kind, row, backend, gpu, marks in MATRIX:
        if backend not in known:
            continue
        for (column, words), mark in zip(COLUMNS.items(), marks, strict=True):
            if mark != ".":
                args = ["--attention-backend", backend, *words.split()]
                yield {
                    "id": f"{kind}/{row}/{column}/{mark}",
                    "gpu": gpu,
                    **_model(kind, column),
                    "args": [*args, *_speculation(kind, column)],
                }


def _model(kind: str, column: str) -> dict[str, Any]:
    if kind == "MLA":
        return {"model": "DeepSeek-V3", "num_gpus": 8}
    name = {"sliding window": "Gemma-3-27B"}.get(column, "Llama-3.1-8B" if "speculation" in column else "Qwen3-8B")
    return {"model": name, "num_gpus": 1}


def _speculation(kind: str, column: str) -> list[str]:
    words = ["--tp-size", "8"] if kind == "MLA" else []
    if "speculation" in column:
        words += ["--speculative-algorithm", "EAGLE"] if kind == "MLA" else _EAGLE
    return words


def contradictions(records: Iterable[Mapping[str, Any]]) -> Iterator[tuple[str, str, str, str]]:
    """(table and row, column, what the matrix says, what the code does) where they differ."""
    for record in records:
        kind, row, column, mark = str(record["id"]).split("/")
        accepted = record["verdict"] == "ok"
        value = record.get("resolved", {}).get("attention_backend")
        asked = record["args"][1]
        if accepted and value not in (asked, None):
            did = f"runs {value} instead"
        else:
            did = "accepts it" if accepted else f"refuses it, {record['where']}"
        if (mark == "+") != (accepted and value in (asked, None)):
            yield f"{kind}, {row}", column, "yes" if mark == "+" else "no", did


def main() -> None:
    """Write the cases."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--release", required=True)
    parser.add_argument("--out", required=True, type=Path)
    options = parser.parse_args()
    text = "".join(json.dumps(case) + "\n" for case in cases(load(options.release)))
    options.out.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
