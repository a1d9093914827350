"""What SGLang's page on attention backends says in words, held against what a release does with a command.

The claims are reviewed by hand and restated; what the code does, and the line that makes it so, are computed here.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from dataclasses import dataclass

from constraints.schema import Rule
from constraints.values import Value
from solver.api import Preflight
from solver.check import VERDICT_STAGES

PAGE = "docs/advanced_features/attention_backend.md"


@dataclass(frozen=True, slots=True)
class Claim:
    """A sentence of the page, and a command that would show it true.

    ``part`` of the page at the commit that `documentation.py` names. ``accepted``: whether the page says that SGLang
    starts it; ``value`` what ``flag`` then ends with, where the page says so. ``rule``: the one whose line leaves
    a value alone.
    """

    part: str
    says: str
    model: str
    gpu: str
    args: str
    accepted: bool
    flag: str = ""
    value: Value = None
    rule: str = ""


_DENSE, _MLA = "meta-llama/Llama-3.1-8B", "deepseek-ai/DeepSeek-V3"
_TREE = "--speculative-num-steps 3 --speculative-eagle-topk 4 --speculative-num-draft-tokens 8"
_EAGLE3 = f"--speculative-algorithm EAGLE3 --speculative-draft-model-path EAGLE3-LLaMA3.1-8B {_TREE}"
CLAIMS = (
    Claim(
        "MHA table",
        "trtllm_mha: pages of 16, 32 or 64",
        _DENSE,
        "B200",
        "--attention-backend trtllm_mha --page-size 128",
        True,
        "page_size",
        64,
        "trtllm-mha-pages",
    ),
    Claim(
        "MHA table",
        "dual_chunk_flash_attn is a backend",
        _DENSE,
        "H100",
        "--attention-backend dual_chunk_flash_attn",
        True,
        "attention_backend",
        "dual_chunk_flash_attn",
    ),
    Claim(
        "MLA table",
        "cutlass_mla is a backend",
        _MLA,
        "8xB200",
        "--tp 8 --attention-backend cutlass_mla",
        True,
        "attention_backend",
        "cutlass_mla",
    ),
    Claim("notes", "FlashAttention 4 is prefill-only", _DENSE, "B200", "--decode-attention-backend fa4", False),
    Claim(
        "notes",
        "nsa is the name of the DSA backend",
        "deepseek-ai/DeepSeek-V3.2",
        "8xB200",
        "--tp 8 --attention-backend nsa",
        True,
        "attention_backend",
        "nsa",
    ),
    Claim(
        "notes",
        "trtllm_mha does not decode behind FA4",
        _DENSE,
        "B200",
        "--prefill-attention-backend fa4 --decode-attention-backend trtllm_mha",
        False,
    ),
    Claim(
        "page sizes",
        "flashinfer on MLA models: pages of 1",
        _MLA,
        "8xH200",
        "--tp 8 --attention-backend flashinfer --page-size 16",
        True,
        "page_size",
        1,
    ),
    Claim(
        "page sizes",
        "flashmla: pages of 64",
        _MLA,
        "8xH200",
        "--tp 8 --attention-backend flashmla --page-size 32",
        True,
        "page_size",
        64,
    ),
    Claim(
        "page sizes",
        "trtllm_mla: pages of 32 or 64",
        _MLA,
        "8xB200",
        "--tp 8 --attention-backend trtllm_mla --page-size 128",
        True,
        "page_size",
        64,
    ),
    Claim(
        "hybrid attention",
        "trtllm_mha drafts chains only (top-k 1)",
        _DENSE,
        "B200",
        f"--attention-backend trtllm_mha {_EAGLE3}",
        False,
    ),
    Claim(
        "hybrid attention",
        "pages above 1 and top-k above 1: flashinfer only",
        _DENSE,
        "H100",
        f"--attention-backend fa3 --page-size 16 {_EAGLE3}",
        False,
    ),
    Claim(
        "hybrid attention",
        "pages above 1 and top-k above 1: flashinfer does",
        _DENSE,
        "H100",
        f"--attention-backend flashinfer --page-size 16 {_EAGLE3}",
        True,
        "page_size",
        16,
    ),
    Claim(
        "user guide", "flashinfer is the default on A100", _DENSE, "A100", "", True, "attention_backend", "flashinfer"
    ),
    Claim(
        "user guide",
        "flashinfer is the default on other machines than Hopper, such as Blackwell",
        _DENSE,
        "B200",
        "",
        True,
        "attention_backend",
        "flashinfer",
    ),
    Claim(
        "user guide",
        "flashinfer is the default on other machines than Hopper, also for MLA",
        "deepseek-ai/DeepSeek-V2-Lite",
        "A100",
        "",
        True,
        "attention_backend",
        "flashinfer",
    ),
    Claim("user guide", "fa3 is the default on Hopper", _DENSE, "H100", "", True, "attention_backend", "fa3"),
    Claim(
        "user guide",
        "fa3 is the default on Hopper, also for MLA",
        _MLA,
        "8xH200",
        "--tp 8",
        True,
        "attention_backend",
        "fa3",
    ),
    Claim(
        "user guide",
        "trtllm_mla is optimized for Blackwell (one among others)",
        _MLA,
        "8xH200",
        "--tp 8 --attention-backend trtllm_mla",
        True,
    ),
    Claim(
        "user guide",
        "fa4 prefills MLA models",
        _MLA,
        "8xB200",
        "--tp 8 --prefill-attention-backend fa4",
        True,
        "prefill_attention_backend",
        "fa4",
    ),
    Claim("user guide", "wave serves a plain launch", _DENSE, "H100", "--attention-backend wave", True),
)


def contradictions(release: str) -> Iterator[tuple[str, str, str, str]]:
    """(part of the page, what it says, the command, what the release does and the line that makes it so)."""
    preflight = Preflight(release)
    for claim in CLAIMS:
        did = differs(preflight, claim)
        if did:
            yield claim.part, claim.says, f"{claim.gpu}: {claim.args or 'nothing typed'}", did


def differs(preflight: Preflight, claim: Claim) -> str:
    """What the release does otherwise than the claim; empty where it is as claimed."""
    report = preflight.check(claim.model, claim.gpu, shlex.split(claim.args))
    if report.refusal is not None:
        return "has no such value" if claim.accepted else ""
    errors = [one.rule for one in report.findings if one.rule.kind == "error" and one.rule.stage in VERDICT_STAGES]
    if errors:
        return _cited("refuses it", errors[0], preflight.release) if claim.accepted else ""
    defects = [one.rule for one in report.findings if one.severity == "error"]
    if not claim.accepted:
        return "" if defects else "accepts it"
    if defects:
        return _cited("starts it, and fails later", defects[0], preflight.release)
    ends = report.effective.get(claim.flag) if claim.flag else None
    if not claim.flag or ends == claim.value:
        return ""
    writer = [one.rule for one in report.log if one.flag == claim.flag]
    cause = writer[-1] if writer else preflight.knowledge.rules.get(claim.rule)
    return _cited(f"runs {claim.flag} = {ends}", cause, preflight.release)


def _cited(said: str, rule: Rule | None, release: str) -> str:
    source = rule.source(release) if rule is not None else None
    return said if source is None else f"{said}, {source.file}:{source.line}"
